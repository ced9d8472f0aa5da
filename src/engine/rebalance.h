/*
 * rebalance: a revoke that is under way: drain first, fence second.
 *
 * Why: while some partitions are given back in good order, the others run on. The steps are states
 * and not a nested loop, so every turn of the pipeline serves all partitions alike: drain until
 * quiet or the deadline -> freeze -> commit what was acked -> kill (epoch ends) -> answer
 *
 * Thread: poll thread.
 * Borrows: partitions of the table.
 */
#ifndef ENGINE_REBALANCE_H
#define ENGINE_REBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_role.h"
#include "engine/commit_plan.h"
#include "engine/partition_table.h"
#include "stream/source.h"

/* Embedded; the fields are read-only outside rebalance.c. */
struct rebalance {
    bool open; /* a REVOKE waits for its answer */
    bool commit_sent;
    int64_t drain_until_ms;
    int64_t commit_until_ms;
    struct partition **revoked;
    size_t count;
    size_t capacity;
};

void rebalance_init(struct rebalance *rebalance);
void rebalance_fini(struct rebalance *rebalance);

/* The REVOKE event: its partitions begin to drain, until drain_until_ms at most; the commit may
 * take until commit_until_ms. */
void rebalance_begin(struct rebalance *rebalance, const struct partition_table *table,
                     const struct source_event *event, int64_t drain_until_ms,
                     int64_t commit_until_ms) ON_THREAD(poll_thread);

/* One step. True when the revoke was answered: its partitions are dead. */
bool rebalance_turn(struct rebalance *rebalance, struct partition_table *table,
                    struct commit_plan *plan, struct source *source, int64_t now_ms)
    ON_THREAD(poll_thread);

#endif
