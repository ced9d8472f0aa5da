#include "support/fuzz_dump.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

const char *fuzz_file(const void *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        CHECK(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    int cut = ftruncate(fd, 0);
    CHECK(cut == 0);
    ssize_t written = pwrite(fd, data, size, 0);
    CHECK(written == (ssize_t)size);
    return path;
}

/* The next line that is no comment, its size without its end; NULL: there is none. */
static const char *next_line(const char *at, size_t *size)
{
    while (*at == '#') {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *size = strcspn(at, "\n");
    return *at ? at : NULL;
}

static const char *after(const char *line, size_t size)
{
    return line + size + (line[size] == '\n');
}

bool fuzz_same_dump(const char *dump, const char *again)
{
    if (strstr(dump, "***") || strstr(dump, "# a file cannot hold this")) {
        return true;
    }
    size_t size = 0;
    size_t other_size = 0;
    const char *line = next_line(dump, &size);
    const char *other = next_line(again, &other_size);
    while (line && other && size == other_size && memcmp(line, other, size) == 0) {
        line = next_line(after(line, size), &size);
        other = next_line(after(other, other_size), &other_size);
    }
    return line == NULL && other == NULL;
}
