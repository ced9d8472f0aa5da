/*
 * state_log: the state of pipelines, threads and tasks as lines of the log.
 *
 * Why: SIGUSR1 asks a process what it is doing where nobody has opened a port beforehand.
 *
 * Thread: main thread.
 */
#ifndef CLI_STATE_LOG_H
#define CLI_STATE_LOG_H

#include <stdint.h>

#include "metrics/metrics_snapshot.h"

/* Writes one line for each, with event=state, whatever the level is. */
void state_log_write(const struct metrics_snapshot *snapshot, int64_t now_ns);

#endif
