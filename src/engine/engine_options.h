/*
 * engine_options: what the engine is told, as plain values. The names are those of the
 * configuration.
 *
 * Why: the engine knows no configuration files; the command line fills this in.
 *
 * Thread: read-only after the start.
 */
#ifndef ENGINE_ENGINE_OPTIONS_H
#define ENGINE_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/failure_policy.h"
#include "stream/processing.h"

struct engine_options {
    unsigned num_stream_threads;   /* N: workers of the process */
    unsigned num_threads_per_task; /* K: workers of one pipeline */
    enum processing_order order;
    enum processing_emit emit;
    enum processing_null_key null_key;
    uint32_t window_records; /* per partition; a power of two */
    size_t window_bytes;     /* per partition */
    int64_t commit_interval_ms;
    int64_t drain_timeout_ms;    /* for partitions that are given away */
    int64_t shutdown_timeout_ms; /* for all, at the end */
    int64_t slow_record_warn_ms; /* a record that runs longer is told in the log; 0: none is */
    struct failure_policy failure;
    bool exit_at_end; /* stop when every partition was read to its end and committed */
};

#endif
