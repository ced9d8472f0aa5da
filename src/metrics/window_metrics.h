/*
 * window_metrics: the commit window of one assigned partition, as it was at the last turn.
 *
 * Thread: set, add: the poll thread of its pipeline. read: any. The registry owns it and keeps it
 * when the partition is given away, for the next assignment.
 *
 * Owns: the topic's name.
 */
#ifndef METRICS_WINDOW_METRICS_H
#define METRICS_WINDOW_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/annotations.h"
#include "metrics/histogram.h"
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
    int64_t end_offset;    /* behind the last record of the partition; -1: not known */
    int64_t lag;           /* offsets from commit_pos to there; -1: not known */
    enum hold_reason hold;
};

/* What grows, over all assignments to this pipeline. */
struct window_totals {
    int64_t holds[HOLD_REASON_COUNT]; /* how often it began to be held, by reason */
    struct histogram_reading latency; /* from the timestamp of a record to its retirement */
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
    struct metric end_offset;
    struct metric lag;
    struct metric hold;
    struct metric holds[HOLD_REASON_COUNT];
    struct histogram latency; /* histogram_coarse */
};

/* Also counts the hold when the reason is a new one. */
void window_metrics_set(struct window_metrics *metrics, const struct window_reading *reading);
/* A record with a timestamp retired, so many milliseconds after it. */
void window_metrics_add_latency(struct window_metrics *metrics, int64_t latency_ms);

void window_metrics_read(const struct window_metrics *metrics, struct window_reading *reading);
void window_metrics_read_totals(const struct window_metrics *metrics, struct window_totals *totals);

/* "records"; constant. */
const char *hold_reason_name(enum hold_reason reason);

#endif
