/*
 * metrics_snapshot: everything a registry shows, copied at one moment, and the view of a task in
 * it.
 *
 * Why: readers work on plain values without a lock, and all that print agree. A task (rule R7) is
 * one assigned partition: its window, and the K threads of the pipeline that work on it in tandem.
 *
 * Thread: belongs to its caller; taken on any thread.
 * Owns: its arrays. Borrows: names, until the registry and the sources end.
 */
#ifndef METRICS_METRICS_SNAPSHOT_H
#define METRICS_METRICS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics_registry.h"

/* One assigned partition. */
struct task_view {
    const char *topic;
    int32_t partition;
    unsigned pipeline;
    struct window_reading window;
    struct window_totals totals;
    const struct worker_reading *workers; /* of the pipeline; borrowed from the snapshot */
    size_t worker_count;                  /* K of this group */
};

/* Embedded; read-only outside metrics_snapshot.c. */
struct metrics_snapshot {
    const struct pipeline_metrics **pipelines; /* their numbers are read when they are printed */
    size_t pipeline_count;
    struct worker_reading *workers; /* ordered by pipeline, then by worker */
    size_t worker_count;
    struct task_view *tasks; /* ordered by topic, then by partition */
    size_t task_count;
};

void metrics_snapshot_take(struct metrics_snapshot *snapshot, struct metrics_registry *registry);
void metrics_snapshot_fini(struct metrics_snapshot *snapshot);

/* NULL when no pipeline of the process has the partition. Borrowed until fini. */
const struct task_view *metrics_snapshot_find(const struct metrics_snapshot *snapshot,
                                              const char *topic, int32_t partition);

#endif
