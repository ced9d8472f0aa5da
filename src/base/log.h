/*
 * log: structured events on one descriptor, one line each.
 *
 * Why: people read the log at a terminal, machines read it everywhere else; both want the same
 * events: a constant message that can be searched for, and fields that can be compared.
 *
 *     log_info("partition assigned", LOG_STR("topic", topic), LOG_INT("partition", partition));
 *
 * A line is built in full and written by one write(2) under a lock, so that lines of threads never
 * mix. A disabled level costs one load; its fields are not evaluated.
 *
 * Thread: log_open before other threads start; all others any.
 * Owns: nothing; the sink of the process is the one mutable object behind it (stderr by default).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

enum log_format {
    LOG_FORMAT_AUTO, /* text on a terminal, logfmt elsewhere */
    LOG_FORMAT_TEXT,
    LOG_FORMAT_LOGFMT,
    LOG_FORMAT_JSON,
};

enum log_kind { LOG_KIND_END, LOG_KIND_TEXT, LOG_KIND_INT, LOG_KIND_NUMBER, LOG_KIND_BOOL };

/* Made by the macros below; everything is borrowed for the call. */
struct log_field {
    const char *name; /* a literal: letters, digits, '_' and '.' */
    enum log_kind kind;
    union {
        const char *text; /* NULL: null */
        int64_t integer;
        double number;
        bool truth;
    };
    size_t size; /* of text; SIZE_MAX: up to its NUL */
};

/* clang-format off */
#define LOG_MADE(n, k, ...)   ((struct log_field){.name = (n), .kind = (k), __VA_ARGS__})
#define LOG_STR(n, v)         LOG_MADE(n, LOG_KIND_TEXT, .text = (v), .size = SIZE_MAX)
#define LOG_BYTES(n, v, s)    LOG_MADE(n, LOG_KIND_TEXT, .text = (v), .size = (s))
#define LOG_INT(n, v)         LOG_MADE(n, LOG_KIND_INT, .integer = (int64_t)(v))
#define LOG_NUMBER(n, v)      LOG_MADE(n, LOG_KIND_NUMBER, .number = (v))
#define LOG_BOOL(n, v)        LOG_MADE(n, LOG_KIND_BOOL, .truth = (v))
#define LOG_END               ((struct log_field){.kind = LOG_KIND_END})

/* message, then any number of fields */
#define log_error(...) LOG_AT(LOG_LEVEL_ERROR, __VA_ARGS__, LOG_END)
#define log_warn(...)  LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__, LOG_END)
#define log_info(...)  LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__, LOG_END)
#define log_debug(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__, LOG_END)
/* clang-format on */

enum { LOG_FOOTER_MAX = 255 };

/* The level may be an expression; LOG_END must be the last argument. */
#define LOG_AT(level, message, ...)                                                                \
    do {                                                                                           \
        if (log_enabled(level)) {                                                                  \
            log_write(level, message, (const struct log_field[]){__VA_ARGS__});                    \
        }                                                                                          \
    } while (0)

/* Sends the log to `fd`, which stays the caller's. Without a call: stderr, info, auto. */
void log_open(int fd, enum log_level level, enum log_format format);
/* May be called at any time by any thread. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);
/* A line without line break that stays below the log on a terminal: it is drawn at once, and again
 * after each line of the log. "" takes it away. Up to LOG_FOOTER_MAX bytes are shown. */
void log_set_footer(const char *text);
/* Use the macros. `fields` ends with LOG_END. What cannot be written is dropped. */
void log_write(enum log_level level, const char *message, const struct log_field *fields);

#endif
