#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

struct code_row {
    const char *name;
    int exit_code;
};

static const struct code_row CODES[] = {
    [E_NONE] = {"E_NONE", 0},
    [E_USAGE] = {"E_USAGE", 2},
    [E_CONFIG] = {"E_CONFIG", 2},
    [E_CONFIG_UNKNOWN] = {"E_CONFIG_UNKNOWN", 2},
    [E_CONFIG_RESERVED] = {"E_CONFIG_RESERVED", 2},
    [E_CONFIG_THREADS] = {"E_CONFIG_THREADS", 2},
    [E_ORDER_CONFIG] = {"E_ORDER_CONFIG", 2},
    [E_SCRIPT] = {"E_SCRIPT", 3},
    [E_RECORD] = {"E_RECORD", 4},
    [E_BROKER] = {"E_BROKER", 5},
    [E_TESTS] = {"E_TESTS", 6},
    [E_DRAIN] = {"E_DRAIN", 7},
    [E_IO] = {"E_IO", 1},
    [E_CLOSED] = {"E_CLOSED", 0},
    [E_RUNTIME] = {"E_RUNTIME", 1},
};
static_assert(sizeof CODES / sizeof CODES[0] == ERROR_CODE_COUNT, "one row for each code");

static void mark_cut(struct error *err, int wanted)
{
    if (wanted >= ERROR_TEXT_MAX) {
        memcpy(err->text + ERROR_TEXT_MAX - 4, "...", 4);
    }
}

bool error_set(struct error *err, enum error_code code, const char *format, ...)
{
    CHECK(err != NULL);
    CHECK(code > E_NONE && code < ERROR_CODE_COUNT);
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->code = code;
    mark_cut(err, wanted);
    return false;
}

bool error_prefix(struct error *err, const char *format, ...)
{
    CHECK(err != NULL);
    char context[512];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    struct error old = *err;
    int wanted = snprintf(err->text, sizeof err->text, "%s: %s", context, old.text);
    mark_cut(err, wanted);
    return false;
}

const char *error_code_name(enum error_code code)
{
    CHECK(code < ERROR_CODE_COUNT);
    return CODES[code].name;
}

int error_exit_code(enum error_code code)
{
    CHECK(code < ERROR_CODE_COUNT);
    return CODES[code].exit_code;
}
