/*
 * runtime: everything that a run needs beside the engine, made from a configuration: the script,
 * the embedded cluster, the outputs, and the ports that the engine asks for.
 *
 * Why: run, check and demo put the same pieces together; what check finds good is what run would
 * do.
 *
 * Thread: main thread.
 * Owns: script, cluster, outputs. Borrows: the configuration until close.
 */
#ifndef CLI_RUNTIME_H
#define CLI_RUNTIME_H

#include <stdbool.h>

#include "admin/admin_address.h"
#include "base/error.h"
#include "config/config.h"
#include "engine/engine.h"
#include "kafka/embedded_cluster.h"
#include "kafka/kafka_settings.h"
#include "local/local_routes.h"
#include "script/script.h"

/* Embedded; the fields are read-only outside runtime.c. */
struct runtime {
    const struct config *cfg;
    struct script *script;
    struct embedded_cluster *cluster;
    struct local_routes *routes;
    struct admin_address admin;
    struct kafka_settings kafka;
    struct kafka_setting *settings; /* behind the lists of `kafka` */
    struct engine_options options;
    struct engine_ports ports;
    const char **inputs;  /* scratch for the inputs of one pipeline */
    const char **outputs; /* local ones: the default output, then those with a name */
    size_t output_count;
};

/* Loads the script and checks all that can be checked without a broker (R5, R6, inputs, settings);
 * inputs and brokers may be missing, which config_check_run sees. */
bool runtime_check(struct runtime *runtime, const struct config *cfg, struct error *err);
/* After runtime_check: starts the embedded cluster with its topics, if there is to be one, and
 * opens local outputs. The engine can be created afterwards. */
bool runtime_open(struct runtime *runtime, struct error *err);
/* Ends all; the engine is destroyed. Also after a failure of the other two. */
void runtime_close(struct runtime *runtime);

#endif
