#include "metrics/window_metrics.h"

#include <assert.h>

#include "base/check.h"

static const char *const HOLD_NAMES[] = {
    [HOLD_NONE] = "none",        [HOLD_RECORDS] = "records", [HOLD_BYTES] = "bytes",
    [HOLD_RETRY] = "retry_full", [HOLD_DRAIN] = "drain",
};
static_assert(sizeof HOLD_NAMES / sizeof HOLD_NAMES[0] == HOLD_REASON_COUNT, "one for each");

void window_metrics_set(struct window_metrics *metrics, const struct window_reading *reading)
{
    DCHECK(reading->used <= reading->capacity);
    DCHECK(reading->committed_pos <= reading->commit_pos);
    metric_set(&metrics->epoch, reading->epoch);
    metric_set(&metrics->used, reading->used);
    metric_set(&metrics->capacity, reading->capacity);
    metric_set(&metrics->bytes, reading->bytes);
    metric_set(&metrics->head_since_ms, reading->head_since_ms);
    metric_set(&metrics->commit_pos, reading->commit_pos);
    metric_set(&metrics->committed_pos, reading->committed_pos);
    metric_set(&metrics->end_offset, reading->end_offset);
    metric_set(&metrics->lag, reading->lag);
    if (metric_get(&metrics->hold) != (int64_t)reading->hold) {
        metric_set(&metrics->hold, (int64_t)reading->hold);
        metric_add(&metrics->holds[reading->hold], 1);
    }
}

void window_metrics_add_latency(struct window_metrics *metrics, int64_t latency_ms)
{
    histogram_add(&metrics->latency, &histogram_coarse, latency_ms, 1);
}

void window_metrics_read(const struct window_metrics *metrics, struct window_reading *reading)
{
    *reading = (struct window_reading){
        .epoch = metric_get(&metrics->epoch),
        .used = metric_get(&metrics->used),
        .capacity = metric_get(&metrics->capacity),
        .bytes = metric_get(&metrics->bytes),
        .head_since_ms = metric_get(&metrics->head_since_ms),
        .commit_pos = metric_get(&metrics->commit_pos),
        .committed_pos = metric_get(&metrics->committed_pos),
        .end_offset = metric_get(&metrics->end_offset),
        .lag = metric_get(&metrics->lag),
        .hold = (enum hold_reason)metric_get(&metrics->hold),
    };
}

void window_metrics_read_totals(const struct window_metrics *metrics, struct window_totals *totals)
{
    for (int i = 0; i < HOLD_REASON_COUNT; i++) {
        totals->holds[i] = metric_get(&metrics->holds[i]);
    }
    histogram_read(&metrics->latency, &totals->latency);
}

const char *hold_reason_name(enum hold_reason reason)
{
    CHECK(reason < HOLD_REASON_COUNT);
    return HOLD_NAMES[reason];
}
