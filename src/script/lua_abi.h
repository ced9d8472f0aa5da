/*
 * lua_abi: what Lua sees of the engine: a few structs and the functions named tide_.
 *
 * Why: this one text is read by the C compiler and by LuaJIT's ffi.cdef (the build makes a string
 * of every line that does not begin with '#', and lua_state hands it to Lua as moontide.abi), so no
 * declaration is typed twice. Hence only plain declarations here: no macros, no attributes, no
 * inline functions.
 *
 * The functions never touch lua_State and never call back into Lua: compiled code calls them
 * directly.
 *
 * Thread: each function runs on the thread that runs the Lua state.
 * Borrows: all strings are Lua's, valid for the call; what must stay is copied.
 */
#ifndef SCRIPT_LUA_ABI_H
#define SCRIPT_LUA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIDE_BATCH_MAX = 256, /* records of one lua_pcall */
    TIDE_VIEWS = 1024,    /* records until a view object is used again */
    TIDE_NO_RECORD = -1,
};

/* The head of struct record (stream/record.h), same offsets. */
struct tide_record {
    const char *key;
    const char *value;
    uint32_t key_size;
    uint32_t value_size;
    int64_t offset;
    int64_t timestamp_ms;
    const char *topic;
    int32_t partition;
};

/* struct header (stream/record.h), same offsets. */
struct tide_header {
    const char *name;
    const char *value;
    uint32_t name_size;
    uint32_t value_size;
};

/* What a script holds as `rec`: the record, and what the script put in place of its parts. Fields
 * have an underscore so that they never hide a name that scripts use. */
struct tide_view {
    const struct tide_record *_rec; /* NULL: stale */
    uint32_t _flags;                /* TIDE_HAS_..., TIDE_CACHED_... */
    uint32_t _header_count;
    uint32_t _key_size;
    uint32_t _value_size;
    const char *_key;
    const char *_value;
    int64_t _timestamp_ms;
    const struct tide_header *_headers;
};

/* Bits of _flags: the view's own part counts, not the record's; the string is in Lua's cache. */
enum {
    TIDE_HAS_KEY = 1,
    TIDE_HAS_VALUE = 2,
    TIDE_HAS_TIMESTAMP = 4,
    TIDE_HAS_HEADERS = 8,
    TIDE_HEADERS_OBJECT = 16,
    TIDE_CACHED_KEY = 32,
    TIDE_CACHED_VALUE = 64,
};

/* One call of ctx:emit. */
struct tide_output {
    const char *topic; /* NULL: the default output */
    const char *key;
    const char *value;
    uint32_t topic_size;
    uint32_t key_size;
    uint32_t value_size;
    int32_t partition; /* -1: by key */
    int64_t timestamp_ms;
    const struct tide_header *headers; /* in the effects' arena already */
    uint32_t header_count;
};

struct script_files;

/* The way of a batch from C to Lua and back; one a state, anchored in Lua. */
struct tide_call {
    const struct tide_record *items[TIDE_BATCH_MAX];
    int32_t at; /* index of the record that runs, or TIDE_NO_RECORD */
    uint32_t worker;
    struct script_files *files; /* NULL once the script has loaded */
    bool mute;                  /* a trial load: the script's log is dropped */
    uint32_t verdict;           /* TIDE_FAIL and so on: what tide_fail makes of it; 0: raised */
    int32_t retry_delay_ms;     /* with TIDE_RETRY; -1: by the policy */
};

/* How a record fails. */
enum {
    TIDE_FAIL = 1,
    TIDE_RETRY = 2,
    TIDE_SKIP = 3,
    TIDE_DEAD_LETTER = 4,
    TIDE_NO_MEMORY = 5,
};

/* The emission of `return rec`: the record's bytes where the view has none of its own. */
void tide_forward(const struct tide_view *view);
/* Appends an emission to the effects of the record that runs; key, value and topic are copied. */
void tide_emit(const struct tide_call *call, const struct tide_output *output);
/* A copy in the effects of the record that runs, and lives as long as they do. */
const char *tide_copy(const struct tide_call *call, const char *bytes, size_t size);
/* Reads the record's headers into the view. */
void tide_read_headers(struct tide_view *view);
/* An array for `count` headers in the effects of the record that runs. */
struct tide_header *tide_new_headers(const struct tide_call *call, uint32_t count);
/* The record that runs has failed, in the way of call.verdict, which is 0 afterwards: its effects
 * vanish, the text becomes the reason. */
void tide_fail(struct tide_call *call, const char *text, size_t size);

/* Levels as in base/log.h: 0 error, 1 warn, 2 info, 3 debug. `text` ends with NUL. */
bool tide_log_enabled(const struct tide_call *call, int level);
void tide_log(const struct tide_call *call, int level, const char *text, const char *place);

/* Blocks the thread. */
void tide_sleep_ns(int64_t duration_ns);
/* -1 when the text is no duration. */
int64_t tide_duration_ns(const char *text);
/* The name that was meant, or NULL. Borrowed from `names`. */
const char *tide_nearest(const char *name, const char *const *names, size_t count);
/* The source of a module beside the script, and its path in `place`. NULL: there is none; `place`
 * says where it was looked for. */
const char *tide_module(struct script_files *files, const char *name, size_t *size,
                        const char **place);

#endif
