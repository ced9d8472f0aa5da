#include "admin/health.h"

#include <inttypes.h>
#include <stddef.h>

enum { MS_PER_SECOND = 1000 };

static bool is_stuck(const struct pipeline_metrics *pipeline, int64_t now_ms, int64_t limit_ms,
                     struct byte_buffer *reasons)
{
    int64_t turn_ms = metric_get(&pipeline->turn_ms);
    bool ended = metric_get(&pipeline->phase) == PHASE_CLOSED;
    if (ended || turn_ms == 0 || now_ms - turn_ms < limit_ms) {
        return false;
    }
    byte_buffer_printf(reasons, "pipeline %u: its poll thread is stuck for %" PRId64 " s\n",
                       pipeline->pipeline, (now_ms - turn_ms) / MS_PER_SECOND);
    return true;
}

bool health_is_live(const struct metrics_snapshot *snapshot, int64_t now_ms,
                    struct byte_buffer *reasons)
{
    bool live = true;
    for (size_t i = 0; i < snapshot->pipeline_count; i++) {
        live &= !is_stuck(snapshot->pipelines[i], now_ms, HEALTH_LIVE_MS, reasons);
    }
    return live;
}

/* NULL: nothing speaks against it. */
static const char *obstacle(const struct pipeline_metrics *pipeline)
{
    if (metric_get(&pipeline->phase) == PHASE_CLOSED) {
        return "has ended";
    }
    if (metric_get(&pipeline->phase) != PHASE_RUNNING) {
        return "is stopping";
    }
    if (metric_get(&pipeline->turn_ms) == 0) {
        return "has not begun";
    }
    if (metric_get(&pipeline->away)) {
        return "no broker can be reached";
    }
    if (metric_get(&pipeline->assignment) == ASSIGNMENT_NONE) {
        return "no partitions are assigned yet";
    }
    if (metric_get(&pipeline->assignment) == ASSIGNMENT_OPEN) {
        return "a rebalance is under way";
    }
    return NULL;
}

bool health_is_ready(const struct metrics_snapshot *snapshot, int64_t now_ms,
                     struct byte_buffer *reasons)
{
    bool ready = true;
    if (snapshot->pipeline_count == 0) {
        byte_buffer_append_text(reasons, "no pipeline has begun\n");
        return false;
    }
    for (size_t i = 0; i < snapshot->pipeline_count; i++) {
        const struct pipeline_metrics *pipeline = snapshot->pipelines[i];
        const char *reason = obstacle(pipeline);
        if (reason) {
            byte_buffer_printf(reasons, "pipeline %u: %s\n", pipeline->pipeline, reason);
        }
        ready &= !is_stuck(pipeline, now_ms, HEALTH_READY_MS, reasons) && reason == NULL;
    }
    return ready;
}
