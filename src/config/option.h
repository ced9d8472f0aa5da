/*
 * option: one engine option: how its value is read, checked and printed.
 *
 * Why: the type of an option decides all three, so that a new option needs no code
 * (option_table.h).
 *
 * Thread: any; options are constant, the config is the caller's.
 */
#ifndef CONFIG_OPTION_H
#define CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byte_buffer.h"
#include "base/error.h"
#include "config/config.h"

enum option_type {
    OPTION_INT,          /* int64_t */
    OPTION_POWER_OF_TWO, /* int64_t, rounded up */
    OPTION_BOOL,         /* bool */
    OPTION_ENUM,         /* int, index of the choice */
    OPTION_DURATION_MS,  /* int64_t */
    OPTION_BYTES,        /* int64_t */
    OPTION_STRING,       /* const char *, NULL when empty */
    OPTION_LIST,         /* struct config_list, separated by commas */
};

struct option {
    const char *section;
    const char *name;
    enum option_type type;
    size_t offset;        /* of the field in struct config */
    const char *fallback; /* the default as text; NULL: not set */
    int64_t min;          /* of numbers */
    int64_t max;
    const char *const *choices; /* of OPTION_ENUM, ends with NULL */
    const char *flag;           /* on the command line, NULL: only -X */
    const char *doc;            /* one line */
};

/* Reads and checks one value into the field; a list grows. The error is a predicate: "must be ...".
 */
bool option_parse(const struct option *option, const char *text, struct config *cfg,
                  struct error *err);
/* Forgets what is in the field: an empty list, a string that is not set, 0. */
void option_clear(const struct option *option, struct config *cfg);
/* Appends the value as option_parse would read it; nothing for a string that is not set. */
void option_print(const struct option *option, const struct config *cfg, struct byte_buffer *out);
/* Appends type and bounds: "int 1..256", "key | partition | none". */
void option_print_type(const struct option *option, struct byte_buffer *out);

#endif
