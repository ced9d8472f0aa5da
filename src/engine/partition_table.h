/*
 * partition_table: the partitions of a pipeline: those assigned, and those given away whose last
 * parts are still with a worker or the sink.
 *
 * Why: delivery tags and commit results name partitions by id and epoch, which must be found in a
 * step and never confused after a rebalance.
 *
 * Thread: poll thread.
 * Owns: all partitions.
 */
#ifndef ENGINE_PARTITION_TABLE_H
#define ENGINE_PARTITION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_role.h"
#include "engine/partition.h"

/* Embedded; the fields are read-only outside partition_table.c. */
struct partition_table {
    struct partition **active; /* in order of assignment */
    size_t active_count;
    struct partition **dead;
    size_t dead_count;
    struct partition **by_id; /* NULL: the id is free */
    size_t capacity;          /* of each array */
    uint32_t epoch;           /* of the newest partition */
};

void partition_table_init(struct partition_table *table);
/* Destroys all partitions; no worker and no sink exists any more. */
void partition_table_fini(struct partition_table *table) ON_THREAD(poll_thread);

/* Creates an active partition in a new epoch; id and epoch of the options are set here. */
struct partition *partition_table_add(struct partition_table *table,
                                      const struct partition_options *options)
    ON_THREAD(poll_thread);
/* Kills an active partition; it is destroyed by reap once all of it is back. */
void partition_table_kill(struct partition_table *table, struct partition *part)
    ON_THREAD(poll_thread);
/* Replaces an active partition by itself in a new epoch, because its source went back. */
struct partition *partition_table_rebuild(struct partition_table *table, struct partition *part,
                                          const struct partition_options *options)
    ON_THREAD(poll_thread);
/* Destroys the dead ones that are gone. True when there was one. */
bool partition_table_reap(struct partition_table *table) ON_THREAD(poll_thread);

/* The partition with this id, also a dead one; NULL when the id is free. */
struct partition *partition_table_find(const struct partition_table *table, uint32_t id);
/* The active partition with this handle of the source, or NULL. */
struct partition *partition_table_find_handle(const struct partition_table *table,
                                              const void *handle);

#endif
