/*
 * worker_metrics: what one worker thread is doing and has done.
 *
 * Why: "which record holds partition 3 up, and since when" is the first question about a slow
 * script (rule R7). The worker tells its batch and the first record of it, which costs nothing a
 * record; once a batch takes long, the poll thread finds out which record it is at, and tells that.
 *
 * Time in the script is measured by the batch: two readings of the clock serve all of its records,
 * each of which counts as an equal part. A batch is about a millisecond of work, so what takes
 * longer than that is measured alone, but for the first of its kind.
 *
 * Thread: locate: the poll thread of its pipeline; the other setters: its worker. read: any. The
 * registry owns it.
 * Borrows: the topics' names, which are immutable and outlive all readers (the source keeps them).
 */
#ifndef METRICS_WORKER_METRICS_H
#define METRICS_WORKER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"
#include "metrics/histogram.h"
#include "metrics/metric.h"
#include "metrics/record_mark.h"

enum worker_state {
    WORKER_IDLE,    /* sleeps until there is work */
    WORKER_TAKING,  /* takes work, or gives it back */
    WORKER_RUNNING, /* in user code */
    WORKER_CLOSED,  /* has ended */
    WORKER_STATE_COUNT
};

/* The fields are private. */
struct worker_metrics {
    _Alignas(CACHE_LINE) unsigned pipeline IMMUTABLE;
    unsigned worker IMMUTABLE;
    struct metric state; /* enum worker_state */
    struct metric done;
    struct metric failed;
    struct metric batches;
    struct metric busy_ns;
    struct metric memory_bytes;
    int64_t began_ns; /* the worker's own: of the batch at hand */
    struct record_mark batch;
    struct histogram run_time;                       /* histogram_fine */
    _Alignas(CACHE_LINE) struct record_mark located; /* by the poll thread */
};

/* A copy for the reader. */
struct worker_reading {
    unsigned pipeline;
    unsigned worker;
    enum worker_state state;
    int64_t done;
    int64_t failed;
    int64_t batches;
    int64_t busy_ns;      /* in user code, batches that have ended */
    int64_t memory_bytes; /* that its scripts have allocated */
    struct histogram_reading run_time;
    /* The record at hand, as far as it is known: the first one of the batch, until the poll thread
     * has looked. */
    struct record_place at_hand;
};

/* IDLE, TAKING or CLOSED. */
void worker_metrics_set_state(struct worker_metrics *metrics, enum worker_state state);
void worker_metrics_set_memory(struct worker_metrics *metrics, size_t bytes);
/* A batch begins to run; its first record is this one. The state is RUNNING. */
void worker_metrics_begin(struct worker_metrics *metrics, const char *topic, int32_t partition,
                          int64_t offset, int64_t now_ns);
/* The batch ended. The state is TAKING. */
void worker_metrics_end(struct worker_metrics *metrics, size_t done, size_t failed, int64_t now_ns);

/* Which record the worker is at; `place->batch_ns` names the batch, and once that has ended this is
 * void. */
void worker_metrics_locate(struct worker_metrics *metrics, const struct record_place *place);

void worker_metrics_read(const struct worker_metrics *metrics, struct worker_reading *reading);
/* The batch at hand alone, with its first record; topic NULL: none. */
void worker_metrics_read_batch(const struct worker_metrics *metrics, struct record_place *place);

/* "running"; constant. */
const char *worker_state_name(enum worker_state state);

#endif
