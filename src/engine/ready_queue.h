/*
 * ready_queue: slots that may run, oldest first.
 *
 * Why: effects leave in offset order, so the oldest record that can run should run next: whatever
 * runs before it waits for it in the window. A plain FIFO of keys runs the n-th record of every key
 * in the n-th round, however far apart they lie, and retirement comes in bursts. Exact order is not
 * worth a heap under the lock: slots lie in buckets of BUCKET_STAMPS neighbours, found by a bitmap.
 *
 * Thread: whoever holds the lock around it.
 * Borrows: slots, through their `next`.
 */
#ifndef ENGINE_READY_QUEUE_H
#define ENGINE_READY_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "commit/commit_window.h"

enum { READY_BUCKETS = 4096, BUCKET_STAMPS = 32 };

/* A list of slots through their `next`. */
struct slot_list {
    struct slot *first;
    struct slot *last;
    size_t count;
};

void slot_list_append(struct slot_list *list, struct slot *slot);
/* NULL when it is empty. */
struct slot *slot_list_take(struct slot_list *list);

/* Embedded; the fields but `count` are private. All zero is an empty queue. Stamps that are further
 * apart than READY_BUCKETS * BUCKET_STAMPS lose their order, nothing else. */
struct ready_queue {
    size_t count;
    uint32_t low; /* no bucket before this one has slots; counts on beyond READY_BUCKETS */
    uint64_t used[READY_BUCKETS / 64];
    struct slot_list buckets[READY_BUCKETS];
};

/* By slot->stamp, which grows with each submitted slot. */
void ready_queue_put(struct ready_queue *queue, struct slot *slot);
/* The oldest; NULL when it is empty. */
struct slot *ready_queue_take(struct ready_queue *queue);

#endif
