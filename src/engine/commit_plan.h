/*
 * commit_plan: which positions go into the next commit, and what became of the last one.
 *
 * Why: one batched asynchronous commit is in flight at most; a refused one is neither fatal nor a
 * success: the position stays dirty and is tried again.
 *
 * Thread: poll thread.
 * Borrows: table and source for each call.
 */
#ifndef ENGINE_COMMIT_PLAN_H
#define ENGINE_COMMIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_role.h"
#include "engine/partition_table.h"
#include "stream/source.h"

/* Embedded; the fields are read-only outside commit_plan.c. */
struct commit_plan {
    bool in_flight;
    int64_t sent_ms;  /* of the last commit */
    int64_t due_ms;   /* time of the next regular commit */
    int64_t retry_ms; /* not before this time, however urgent */
    struct source_commit *entries;
    size_t capacity;
    uint64_t sent_count;    /* commits, ever */
    uint64_t refused_count; /* positions that were refused, ever */
};

void commit_plan_init(struct commit_plan *plan);
void commit_plan_fini(struct commit_plan *plan);

/* True when a position of an active partition is worth a commit. */
bool commit_plan_is_dirty(const struct partition_table *table) ON_THREAD(poll_thread);

/* Sends the dirty positions of all active partitions in one commit, unless one is in flight. True
 * when it was sent. */
bool commit_plan_send(struct commit_plan *plan, const struct partition_table *table,
                      struct source *source, int64_t now_ms) ON_THREAD(poll_thread);

/* The SOURCE_COMMITTED event. Positions of partitions that are no longer in that epoch are ignored.
 * Returns how many were refused. */
size_t commit_plan_confirm(struct commit_plan *plan, const struct partition_table *table,
                           const struct source_event *event) ON_THREAD(poll_thread);

#endif
