/*
 * window_metrics: the commit window of one assigned partition, as it was at the last turn.
 *
 * Thread: set: the poll thread of its pipeline. read: any. The registry owns it and keeps it when
 * the partition is given away, for the next assignment.
 *
 * Owns: the topic's name.
 */
#ifndef METRICS_WINDOW_METRICS_H
#define METRICS_WINDOW_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/annotations.h"
#include "metrics/metric.h"

/* Why the partition's queue is not drained. */
enum hold_reason {
    HOLD_NONE,
    HOLD_RECORDS, /* all slots are in use */
    HOLD_BYTES,   /* the byte limit is reached */
    HOLD_RETRY,   /* full, and something in it waits for its next attempt */
    HOLD_DRAIN,   /* it is being given away, or the pipeline ends */
    HOLD_REASON_COUNT
};

/* What the poll thread writes and the reader gets. */
struct window_reading {
    int64_t epoch;
    int64_t used;     /* slots */
    int64_t capacity; /* slots */
    int64_t bytes;
    int64_t head_since_ms; /* since when the oldest record is the oldest; -1: none */
    int64_t commit_pos;    /* -1: none */
    int64_t committed_pos; /* -1: none */
    enum hold_reason hold;
};

/* The fields are private. */
struct window_metrics {
    _Alignas(CACHE_LINE) unsigned pipeline IMMUTABLE;
    int32_t partition IMMUTABLE;
    const char *topic IMMUTABLE; /* owned */
    bool assigned;               /* under the lock of the registry */
    struct metric epoch;
    struct metric used;
    struct metric capacity;
    struct metric bytes;
    struct metric head_since_ms;
    struct metric commit_pos;
    struct metric committed_pos;
    struct metric hold;
};

void window_metrics_set(struct window_metrics *metrics, const struct window_reading *reading);
void window_metrics_read(const struct window_metrics *metrics, struct window_reading *reading);

/* "records"; constant. */
const char *hold_reason_name(enum hold_reason reason);

#endif
