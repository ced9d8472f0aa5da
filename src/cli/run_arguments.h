/*
 * run_arguments: the options that run, check and config dump share, as a filled configuration.
 *
 * Why: what `check` accepts and `config dump` shows must be what `run` would do with the same
 * words.
 *
 * Thread: main thread.
 */
#ifndef CLI_RUN_ARGUMENTS_H
#define CLI_RUN_ARGUMENTS_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "config/config.h"

/* The rows, for struct command. One operand, the script. */
extern const struct argument RUN_ARGUMENTS[];

/* Fills a new config from defaults, the file of -c and the options. The caller ends it with
 * config_fini in both cases. Sends the log where the config wants it. */
bool run_arguments_load(const struct arguments *args, struct config *cfg, struct error *err);

#endif
