#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "script/lua_tool.h"

static const char ENDING[] = "_test.lua";

enum { WORDS_MAX = 65536 };

const struct argument TEST_ARGUMENTS[] = {
    {'k', "pattern", "TEXT", false, "only cases whose name holds TEXT"},
    {0, "junit", "FILE", false, "write the results as JUnit XML as well"},
    {0, "tap", NULL, false, "TAP also on a terminal"},
    {0, "plain", NULL, false, "lines for people also in a pipe"},
    {'v', "verbose", NULL, false, "show what scripts and engine log"},
    {0, NULL, NULL, false, NULL},
};

struct words {
    struct lua_tool_word *items;
    size_t count;
    size_t capacity;
    char **owned; /* paths that were found */
    size_t owned_count;
};

static void add(struct words *words, const char *name, const char *value)
{
    if (words->count == words->capacity) {
        words->capacity = words->capacity ? words->capacity * 2 : 32;
        words->items = memory_resize(words->items, words->capacity * sizeof *words->items);
    }
    words->items[words->count++] = (struct lua_tool_word){name, value};
}

static bool is_test(const char *path)
{
    size_t size = strlen(path);
    size_t ending = sizeof ENDING - 1;
    return size > ending && strcmp(path + size - ending, ENDING) == 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All tests below a folder, in the order of their names; hidden folders are left out. */
static bool add_folder(struct words *words, const char *folder, struct error *err)
{
    char *roots[] = {memory_copy_text(folder), NULL};
    for (size_t size = strlen(roots[0]); size > 1 && roots[0][size - 1] == '/'; size--) {
        roots[0][size - 1] = 0;
    }
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    size_t before = words->owned_count;
    for (FTSENT *entry = walk ? fts_read(walk) : NULL; entry; entry = fts_read(walk)) {
        bool is_hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
        if (entry->fts_info == FTS_D && is_hidden) {
            fts_set(walk, entry, FTS_SKIP);
        } else if ((entry->fts_info == FTS_F || entry->fts_info == FTS_SL) &&
                   is_test(entry->fts_name) && words->owned_count < WORDS_MAX) {
            words->owned =
                memory_resize(words->owned, (words->owned_count + 1) * sizeof *words->owned);
            words->owned[words->owned_count++] = memory_copy_text(entry->fts_path);
        }
    }
    if (walk) {
        fts_close(walk);
    }
    memory_free(roots[0]);
    size_t found = words->owned_count - before;
    if (found == 0) {
        return error_set(err, E_USAGE, "there is no *%s below %s", ENDING, folder);
    }
    qsort(words->owned + before, found, sizeof *words->owned, compare);
    for (size_t i = before; i < words->owned_count; i++) {
        add(words, "file", words->owned[i]);
    }
    return true;
}

static bool add_operand(struct words *words, const char *path, struct error *err)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return error_set(err, E_USAGE, "%s: %s", path, strerrordesc_np(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return add_folder(words, path, err);
    }
    if (!is_test(path)) {
        return error_set(err, E_USAGE, "%s: a test is named NAME%s, and tests NAME.lua beside it",
                         path, ENDING);
    }
    add(words, "file", path);
    return true;
}

static void add_options(struct words *words, const struct arguments *args)
{
    const struct argument_given *pattern = arguments_find(args, "pattern");
    const struct argument_given *junit = arguments_find(args, "junit");
    bool plain = arguments_find(args, "plain") ||
                 (isatty(STDOUT_FILENO) && arguments_find(args, "tap") == NULL);
    add(words, "format", plain ? "plain" : "tap");
    if (pattern) {
        add(words, "pattern", pattern->value);
    }
    if (junit) {
        add(words, "junit", junit->value);
    }
}

/* Failures that a test expects are no news. */
static void open_log(bool verbose)
{
    int fd = verbose ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_open(fd < 0 ? STDERR_FILENO : fd, LOG_LEVEL_INFO, LOG_FORMAT_AUTO);
}

bool test_command(const struct arguments *args, struct error *err)
{
    if (args->operand_count == 0) {
        return error_set(err, E_USAGE, "test needs a folder with *%s files, or such files", ENDING);
    }
    struct words words = {.items = NULL};
    bool ok = true;
    for (size_t i = 0; i < args->operand_count && ok; i++) {
        ok = add_operand(&words, args->operands[i], err);
    }
    add_options(&words, args);
    open_log(arguments_find(args, "verbose") != NULL);
    ok = ok && lua_tool_run("test_tool", words.items, words.count, err);
    for (size_t i = 0; i < words.owned_count; i++) {
        memory_free(words.owned[i]);
    }
    memory_free(words.owned);
    memory_free(words.items);
    return ok;
}
