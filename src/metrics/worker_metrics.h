/*
 * worker_metrics: what one worker thread is doing and has done.
 *
 * Why: "which record holds partition 3 up, and since when" is the first question about a slow
 * script (rule R7). Topic, partition and offset at hand are read as they belong together: a
 * sequence number is odd while the writer changes them, and a reader that saw it change looks
 * again.
 *
 * Thread: the setters: its worker. read: any. The registry owns it.
 * Borrows: the topic's name, which is immutable and outlives all readers (the source keeps it).
 */
#ifndef METRICS_WORKER_METRICS_H
#define METRICS_WORKER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"
#include "metrics/metric.h"

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
    ATOMIC(worker, any) atomic_uint sequence; /* odd: the next four are being changed */
    ATOMIC(worker, any) const char *_Atomic topic;
    ATOMIC(worker, any) _Atomic int64_t partition;
    ATOMIC(worker, any) _Atomic int64_t offset;
    ATOMIC(worker, any) _Atomic int64_t since_ns;
};

/* A copy for the reader. */
struct worker_reading {
    unsigned pipeline;
    unsigned worker;
    enum worker_state state;
    int64_t done;
    int64_t failed;
    int64_t batches;
    int64_t busy_ns; /* in user code, batches that have ended */
    /* The first record of the batch at hand; topic NULL: none. */
    const char *topic; /* borrowed as in the metrics */
    int32_t partition;
    int64_t offset;
    int64_t since_ns; /* on the clock of the worker */
};

/* IDLE, TAKING or CLOSED. */
void worker_metrics_set_state(struct worker_metrics *metrics, enum worker_state state);
/* A batch begins to run; its first record is this one. The state is RUNNING. */
void worker_metrics_begin(struct worker_metrics *metrics, const char *topic, int32_t partition,
                          int64_t offset, int64_t now_ns);
/* The batch ended. The state is TAKING. */
void worker_metrics_end(struct worker_metrics *metrics, size_t done, size_t failed, int64_t now_ns);

void worker_metrics_read(const struct worker_metrics *metrics, struct worker_reading *reading);

/* "running"; constant. */
const char *worker_state_name(enum worker_state state);

#endif
