/*
 * arguments: the words of a command line, read by a table of options.
 *
 * Why: parsing, errors and help come from the same rows, so they agree. Options and operands may be
 * mixed; what follows "--" is an operand; "-" is an operand or a value. Short options without a
 * value may share a dash; values follow as "-c FILE", "-cFILE", "--config FILE" or "--config=FILE".
 *
 * Thread: main thread.
 * Owns: two arrays; all strings are borrowed from argv and the table.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/byte_buffer.h"
#include "base/error.h"

/* One option. The table ends with a row without letter and name. */
struct argument {
    char letter;            /* 0: none */
    const char *name;       /* without its dashes; NULL: none */
    const char *value_name; /* NULL: takes no value */
    bool repeated;          /* may be given more than once */
    const char *doc;
};

/* One occurrence. */
struct argument_given {
    const struct argument *argument;
    char flag[32];     /* "-X" or "--in", as it was spelled */
    const char *value; /* NULL: takes none */
};

struct arguments {
    struct argument_given *given; /* in their order */
    size_t given_count;
    const char **operands;
    size_t operand_count;
};

/* Reads argc words. False (E_USAGE): nothing to free. Operands over operand_max are refused. */
bool arguments_parse(struct arguments *args, const struct argument *table, size_t operand_max,
                     int argc, char *const *argv, struct error *err);
void arguments_fini(struct arguments *args);

/* The last occurrence of the option with this long name (or letter, as a string); NULL: none. */
const struct argument_given *arguments_find(const struct arguments *args, const char *name);

/* Appends one line an option, in the order of the table. */
void arguments_print_help(const struct argument *table, struct byte_buffer *out);

#endif
