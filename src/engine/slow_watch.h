/*
 * slow_watch: which record each worker is at when a batch takes long, and a warning when that one
 * record does.
 *
 * Why: a worker in user code cannot say how long it has been there. The poll thread looks a few
 * times a second, which costs nothing while batches are short; it owns the slots, so it may read
 * where a record came from while a worker runs it.
 *
 * A record is warned about once, while it runs, as soon as a look finds it older than the limit.
 * Its age counts from the start of its batch when it is the first one of it, else from the look
 * that saw it first.
 *
 * Thread: poll thread.
 * Borrows: workers and table.
 */
#ifndef ENGINE_SLOW_WATCH_H
#define ENGINE_SLOW_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_role.h"
#include "engine/partition_table.h"
#include "engine/worker.h"
#include "metrics/pipeline_metrics.h"

struct slow_watch_entry {
    int64_t batch_ns;        /* start of the batch that was seen last; 0: none */
    const struct work *work; /* only compared */
    struct slot *slot;       /* of the work; NULL: it is in no window */
    bool told;
    struct record_place place;
};

/* Embedded; the fields are private. */
struct slow_watch {
    struct worker *const *workers;
    size_t count;
    struct slow_watch_entry *entries; /* one a worker */
};

/* The workers live until fini. Main thread. */
void slow_watch_init(struct slow_watch *watch, struct worker *const *workers, size_t count);
void slow_watch_fini(struct slow_watch *watch);

/* One look. `warn_ms` 0: nothing is warned about. */
void slow_watch_look(struct slow_watch *watch, const struct partition_table *table,
                     struct pipeline_metrics *counters, int64_t warn_ms, int64_t now_ns)
    ON_THREAD(poll_thread);

#endif
