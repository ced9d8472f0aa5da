/*
 * retry_queue: slots that wait for their next attempt, ordered by the time when it is due.
 *
 * Why: no thread sleeps for a retry. A heap finds the next one that is due, one entry a slot,
 * however often it has failed.
 *
 * Thread: poll thread.
 * Owns: its array. Borrows: slots, which are WAITING while they are here.
 */
#ifndef ENGINE_RETRY_QUEUE_H
#define ENGINE_RETRY_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "commit/commit_window.h"

struct retry_entry {
    int64_t due_ms; /* on the engine's clock */
    struct slot *slot;
};

/* Embedded; the fields but `count` are private. All zero is an empty queue. */
struct retry_queue {
    struct retry_entry *entries; /* a heap, the earliest first; equals by sequence */
    size_t count;
    size_t capacity;
};

/* Frees the array; the slots stay whose they are. */
void retry_queue_fini(struct retry_queue *queue);
void retry_queue_put(struct retry_queue *queue, struct slot *slot, int64_t due_ms);
/* When the first is due; INT64_MAX: none waits. */
int64_t retry_queue_due_ms(const struct retry_queue *queue);
/* Takes the first one; NULL when it is empty. */
struct slot *retry_queue_take(struct retry_queue *queue);
/* Takes one that may not begin (slot_may_begin), due or not; NULL: none. */
struct slot *retry_queue_take_stopped(struct retry_queue *queue);

#endif
