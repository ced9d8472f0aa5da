/*
 * command: one word after `moontide`, with all that is known of it.
 *
 * Why: finding, parsing, help and running are driven by one table (command_table.c); a new command
 * is a row and a function.
 *
 * Thread: main thread.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/arguments.h"

struct command {
    const char *name;    /* may be two words: "config dump" */
    const char *usage;   /* what follows the name */
    const char *summary; /* one line */
    const char *details; /* paragraphs for help, each line ended; NULL: none */
    const struct argument *arguments;
    size_t operand_max;
    /* False: err is shown and decides the exit code (error_exit_code). */
    bool (*run)(const struct arguments *args, struct error *err);
};

/* The commands in the order of `moontide help`. */
const struct command *command_table(size_t *count);

/* The command named by the first words, and how many words that took; NULL: none. */
const struct command *command_find(int argc, char *const *argv, int *words);
/* Error for a word that is no command, with the nearest name. Returns false. */
bool command_unknown(const char *word, struct error *err);

/* The options of demo. */
extern const struct argument DEMO_ARGUMENTS[];
/* Those of check, test. */
extern const struct argument CHECK_ARGUMENTS[];
extern const struct argument TEST_ARGUMENTS[];

/* As many operands as are given. */
enum { OPERANDS_MANY = 1 << 20 };

/* What the commands do; each in a file of its name. */
bool check_command(const struct arguments *args, struct error *err);
bool config_command(const struct arguments *args, struct error *err);
bool config_dump_command(const struct arguments *args, struct error *err);
bool demo_command(const struct arguments *args, struct error *err);
bool doc_command(const struct arguments *args, struct error *err);
bool help_command(const struct arguments *args, struct error *err);
bool new_command(const struct arguments *args, struct error *err);
bool run_command(const struct arguments *args, struct error *err);
bool test_command(const struct arguments *args, struct error *err);
bool types_command(const struct arguments *args, struct error *err);
bool version_command(const struct arguments *args, struct error *err);

#endif
