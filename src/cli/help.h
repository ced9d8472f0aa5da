/*
 * help: what a command does, from its row in the table.
 *
 * Thread: main thread.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

#include "base/byte_buffer.h"
#include "cli/command.h"

/* Appends the help of one command, or with NULL the list of all. */
void help_text(const struct command *command, struct byte_buffer *out);
/* Prints it to stdout. Returns true. */
bool help_print(const struct command *command);

#endif
