/*
 * metrics_registry: the metrics of all pipelines, workers and windows of a process.
 *
 * Why: a reader (text for Prometheus, a view of a task, the final summary) finds everything in one
 * place, without touching the engine. Windows come and go with rebalances; their entries stay, so
 * that no reader holds something that is freed, and are used again when the partition returns.
 *
 * Thread: create, destroy: main thread. The rest: any; a lock guards the lists, not the numbers.
 * Owns: all metrics.
 */
#ifndef METRICS_METRICS_REGISTRY_H
#define METRICS_METRICS_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "metrics/pipeline_metrics.h"
#include "metrics/window_metrics.h"
#include "metrics/worker_metrics.h"

struct metrics_registry;

struct metrics_registry *metrics_registry_create(void);
/* Accepts NULL. Nobody writes or reads any more. */
void metrics_registry_destroy(struct metrics_registry *registry);

/* Each is borrowed until destroy, and has one writer. `worker` counts over the whole process. */
struct pipeline_metrics *metrics_registry_add_pipeline(struct metrics_registry *registry,
                                                       unsigned pipeline);
struct worker_metrics *metrics_registry_add_worker(struct metrics_registry *registry,
                                                   unsigned pipeline, unsigned worker);
/* The partition is assigned to the pipeline. The name is copied. At most one window of a partition
 * is assigned to one pipeline at a time. */
struct window_metrics *metrics_registry_add_window(struct metrics_registry *registry,
                                                   unsigned pipeline, const char *topic,
                                                   int32_t partition);
/* It was given away: not shown until it is added again. */
void metrics_registry_remove_window(struct metrics_registry *registry,
                                    struct window_metrics *window);

/* Copies the addresses of up to `max` of them, in the order in which they were added first, and
 * returns how many there are; windows: the assigned ones. */
size_t metrics_registry_pipelines(struct metrics_registry *registry,
                                  const struct pipeline_metrics **pipelines, size_t max);
size_t metrics_registry_workers(struct metrics_registry *registry,
                                const struct worker_metrics **workers, size_t max);
size_t metrics_registry_windows(struct metrics_registry *registry,
                                const struct window_metrics **windows, size_t max);

#endif
