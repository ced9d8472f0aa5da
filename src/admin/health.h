/*
 * health: whether the process works, and if not, why, in sentences.
 *
 * Why: an orchestrator asks two questions. Live: would a restart help? Only when a poll thread
 * makes no turn for long. Ready: does it do its work now? Not before its partitions are assigned,
 * while they move, while no broker can be reached, while it stops.
 *
 * Thread: any.
 */
#ifndef ADMIN_HEALTH_H
#define ADMIN_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/byte_buffer.h"
#include "metrics/metrics_snapshot.h"

enum {
    HEALTH_READY_MS = 5000, /* a poll thread without a turn for so long is stuck: not ready, */
    HEALTH_LIVE_MS = 30000, /* and not alive */
};

/* Appends one line for each reason against. `now_ms` is on the engine's clock. */
bool health_is_live(const struct metrics_snapshot *snapshot, int64_t now_ms,
                    struct byte_buffer *reasons);
bool health_is_ready(const struct metrics_snapshot *snapshot, int64_t now_ms,
                     struct byte_buffer *reasons);

#endif
