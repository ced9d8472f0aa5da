/*
 * tool_abi: what the Lua code of commands (test, check, doc) sees of C beside lua_abi.h.
 *
 * Why: these commands read scripts and talk about them, which is easier in Lua; what they need of
 * the machine and of the engine comes through here. Read by the C compiler and by ffi.cdef: plain
 * declarations only.
 *
 *   tide_tool_*   files, for all commands (lua_tool.c)
 *   tide_case_*   one case of a test on the engine's own code (cli/script_case.c); not for scripts
 *
 * Thread: main thread.
 * Owns: the tool owns what it opened and frees it at its end, whatever Lua does.
 */
#ifndef SCRIPT_TOOL_ABI_H
#define SCRIPT_TOOL_ABI_H

#include "script/lua_abi.h"

struct tide_tool;
struct tide_case;

/* Opens a script for its text and the modules beside it, in place of the last one. NULL: the
 * reason is in `why`, borrowed until the next call. */
struct script_files *tide_tool_open(struct tide_tool *tool, const char *path, const char **why);
/* Writes a new file; false: it exists already or cannot be written, `why` says so. */
bool tide_tool_create(struct tide_tool *tool, const char *path, const char *text, size_t size,
                      const char **why);
/* Makes a folder where there is none. */
bool tide_tool_make_folder(struct tide_tool *tool, const char *path, const char **why);

/* A value of the configuration, as `-X KEY=VALUE` and `--set NAME=VALUE` give it. */
struct tide_setting {
    const char *section; /* NULL: the key says */
    const char *name;
    const char *value;
};

/* A record that goes in or came out. */
struct tide_case_record {
    const char *topic; /* NUL-terminated */
    const char *key;
    const char *value;
    uint32_t key_size;
    uint32_t value_size;
    int64_t timestamp_ms; /* in: -1 is the time of the case */
    int64_t offset;       /* in: -1 is the next one */
    int32_t partition;    /* out: -1 is by key */
    uint32_t header_count;
    const struct tide_header *headers;
};

/* One attempt that failed. */
struct tide_case_failure {
    const char *topic;
    const char *reason;
    int64_t offset;
    int32_t partition;
    uint32_t attempt; /* from 1 */
    uint32_t outcome; /* TIDE_CASE_ and what became of it */
};

enum {
    TIDE_CASE_STOPS = 1,
    TIDE_CASE_RETRIES = 2,
    TIDE_CASE_SKIPS = 3,
    TIDE_CASE_LETTERS = 4,
};

/* Loads the script and starts an engine of one worker around it. NULL: `why`, borrowed until the
 * next call; `*loads` says whether the script itself did. The last case is closed. */
struct tide_case *tide_case_open(struct tide_tool *tool, const char *script,
                                 const struct tide_setting *settings, size_t count, bool *loads,
                                 const char **why);
/* Ends the engine as a run does; what init and close do is done. */
void tide_case_close(struct tide_tool *tool);

/* Appends a record to the input and runs the engine until nothing is left to do now. False: the
 * engine has stopped and reads nothing more, or the offset is behind the last one. */
bool tide_case_push(struct tide_case *run, const struct tide_case_record *record);
/* Lets time pass: what becomes due runs in its turn. */
void tide_case_advance(struct tide_case *run, int64_t ms);
/* The attempts at the record with this offset fail, on every partition, before the script sees it;
 * `times` of them. */
void tide_case_fail_at(struct tide_case *run, int64_t offset, uint32_t times);

/* What came out, in order; borrowed until the case is closed. False: there are no more. */
bool tide_case_output(const struct tide_case *run, size_t index, struct tide_case_record *out);
bool tide_case_failure(const struct tide_case *run, size_t index, struct tide_case_failure *out);
/* Why the engine has stopped; NULL: it has not. */
const char *tide_case_stopped(struct tide_case *run);
/* The names that the configuration gives: NULL: none. */
const char *tide_case_output_topic(const struct tide_case *run);
const char *tide_case_letter_topic(const struct tide_case *run);
/* Milliseconds since 1970 on the clock of the case. */
int64_t tide_case_now_ms(const struct tide_case *run);

#endif
