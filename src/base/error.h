/*
 * error: what the world said no to, with a code for programs and a sentence for people.
 *
 * Why: a function that can fail returns false and fills an error; callers add context on the way up
 * and the place that handles it logs it once. On success the error is untouched.
 *
 * Thread: an error belongs to its caller.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

#include "base/annotations.h"

/* Names are stable: they appear in messages, logs and tests. The exit code follows from the code.
 */
enum error_code {
    E_NONE,
    E_USAGE,           /* exit 2: the command line */
    E_CONFIG,          /* exit 2: a value or file of the configuration */
    E_CONFIG_UNKNOWN,  /* exit 2: no such key */
    E_CONFIG_RESERVED, /* exit 2: a key that would break the contract */
    E_CONFIG_THREADS,  /* exit 2: num.stream.threads < num.threads.per.task */
    E_ORDER_CONFIG,    /* exit 2: an order is asked for that the configuration cannot give */
    E_SCRIPT,          /* exit 3: the script does not load */
    E_RECORD,          /* exit 4: a record failed and the policy is to stop */
    E_BROKER,          /* exit 5: broker, group or producer said no for good */
    E_TESTS,           /* exit 6: tests of scripts failed */
    E_DRAIN,           /* exit 7: the drain deadline passed */
    E_IO,              /* exit 1: file, pipe or socket */
    E_CLOSED,  /* exit 0: nobody reads our output any more, as with `| head`; not a failure */
    E_RUNTIME, /* exit 1: anything else */
    ERROR_CODE_COUNT
};

enum { ERROR_TEXT_MAX = 4096 };

struct error {
    enum error_code code;
    char text[ERROR_TEXT_MAX]; /* a message fit for the user as it is; cut with "..." when longer */
};

/* Sets code and text. Returns false, so that a caller can say `return error_set(...)`. */
bool error_set(struct error *err, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Puts "<context>: " before the text; the code stays. Returns false. */
bool error_prefix(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* "E_CONFIG_THREADS"; borrowed, constant. */
const char *error_code_name(enum error_code code);

/* The exit code of the process that ends because of this code (0 for E_NONE). */
int error_exit_code(enum error_code code);

#endif
