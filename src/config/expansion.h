/*
 * expansion: ${VAR}, ${VAR:-text} and ${file:PATH} in the values of a configuration file.
 *
 * Why: secrets and addresses come from the environment or from mounted files, not from the file
 * that is under version control. $$ is a dollar sign; a dollar sign before anything else is itself.
 * There is no nesting. Values of the command line are left alone: the shell has expanded them
 * already.
 *
 * Thread: main thread (reads the environment).
 */
#ifndef CONFIG_EXPANSION_H
#define CONFIG_EXPANSION_H

#include <stdbool.h>

#include "base/byte_buffer.h"
#include "base/error.h"

/* Appends the value with its variables replaced. *secret becomes true when a file was read, of
 * which the newline at the end is dropped. */
bool expansion_apply(const char *value, struct byte_buffer *out, bool *secret, struct error *err);
/* Appends the text such that expansion_apply gives it back. */
void expansion_escape(const char *text, struct byte_buffer *out);

#endif
