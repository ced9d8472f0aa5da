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

/* The rows, for struct command. One operand, the script. The macro is for tables that add to them.
 */
extern const struct argument RUN_ARGUMENTS[];

#define RUN_ARGUMENT_ROWS                                                                          \
    {'c', "config", "FILE", false, "configuration file (INI)"},                                    \
        {0, "in", "TOPIC", true, "read a topic, file:PATH, or - for stdin"},                       \
        {0, "out", "TOPIC", true,                                                                  \
         "write to a topic, file:PATH or -; NAME=file:PATH for emit(NAME)"},                       \
        {'b', "brokers", "HOST:PORT,...", false, "Kafka brokers (bootstrap.servers)"},             \
        {'g', "group", "GROUP", false, "consumer group (application.id)"},                         \
        {'X', "option", "KEY=VALUE", true, "engine option, or kafka.NAME=VALUE for librdkafka"},   \
        {0, "set", "NAME=VALUE", true, "parameter of the script"},                                 \
        {0, "frame", NULL, false, "length-framed records in files and pipes (local.framing)"},     \
        {0, "from-start", NULL, false, "begin input files at their start (local.from.start)"},     \
        {0, "embedded", NULL, false, "run a Kafka inside the process"},                            \
        {0, "admin", "ADDRESS", false, "serve metrics and status on HOST:PORT or unix:PATH"},      \
        {'q', "quiet", NULL, false, "no progress line on the terminal (log.progress=off)"},        \
    {                                                                                              \
        'e', "exit-at-end", NULL, false, "exit 0 at the end of every partition"                    \
    }

/* Fills a new config from defaults, the file of -c and the options. The caller ends it with
 * config_fini in both cases. Sends the log where the config wants it. */
bool run_arguments_load(const struct arguments *args, struct config *cfg, struct error *err);

#endif
