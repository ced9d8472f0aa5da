/*
 * Runs a fuzz target on files and on the files of folders, one after the other.
 *
 * Usage: fuzz_NAME PATH...
 *
 * Names each file before it runs, so that the last line before a crash says which one it was.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/file_bytes.h"
#include "base/memory.h"
#include "fuzz/fuzz_target.h"

enum { SECONDS_MAX = 60 /* for one input */ };

static size_t replay_file(const char *path)
{
    printf("%s\n", path);
    fflush(stdout);
    struct byte_buffer bytes = {0};
    struct error err;
    if (!file_bytes_read(path, &bytes, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    uint8_t *exact = malloc(bytes.size ? bytes.size : 1); /* a read behind it is found */
    CHECK(exact != NULL);
    memcpy(exact, byte_buffer_text(&bytes), bytes.size);
    alarm(SECONDS_MAX);
    LLVMFuzzerTestOneInput(exact, bytes.size);
    alarm(0);
    free(exact);
    byte_buffer_fini(&bytes);
    return 1;
}

static size_t replay_folder(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    CHECK(count >= 0);
    size_t replayed = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            struct byte_buffer file = {0};
            byte_buffer_printf(&file, "%s/%s", path, entries[i]->d_name);
            replayed += replay_file(byte_buffer_text(&file));
            byte_buffer_fini(&file);
        }
        free(entries[i]);
    }
    free(entries);
    return replayed;
}

int main(int argc, char **argv)
{
    size_t replayed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) != 0) {
            fprintf(stderr, "%s: no such file or folder\n", argv[i]);
            return 1;
        }
        replayed += S_ISDIR(status.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    bool none = replayed == 0; /* a replay of nothing proves nothing */
    printf("\n%zu passed, %d failed, 0 skipped\n", replayed, none);
    return none;
}
