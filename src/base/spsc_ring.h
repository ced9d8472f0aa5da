/*
 * spsc_ring: a bounded queue of pointers from one thread to one other, without locks.
 *
 * Why: threads share nothing but rings and read-only data. Whoever pushes hands the object over
 * whole; whoever pops owns it from then on. Batches make the price of the two atomics vanish.
 *
 * Each side keeps its own position and a copy of its peer's, and looks at the peer's line only when
 * that copy says "full" or "empty"; the two sides lie 128 bytes apart, because processors fetch
 * cache lines in pairs. Positions run freely and wrap; their difference is the count.
 *
 * Invariants: 1. tail - head <= capacity. 2. head_seen never passes head, tail_seen never passes
 * tail.
 *
 * Thread: push: the producer. pop: the consumer. count, is_empty: any.
 * Owns: the array of cells, not what the pointers name.
 */
#ifndef BASE_SPSC_RING_H
#define BASE_SPSC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/annotations.h"

enum { SPSC_RING_GAP = 2 * CACHE_LINE, SPSC_RING_CAPACITY_MAX = 1 << 30 };

/* Embedded; the fields are private. What embeds it comes from memory_alloc_aligned. */
struct spsc_ring {
    _Alignas(CACHE_LINE) void **cells IMMUTABLE;
    size_t capacity IMMUTABLE; /* a power of two */
    char gap_before_producer[SPSC_RING_GAP - sizeof(void *) - sizeof(size_t)];

    atomic_size_t tail ATOMIC(producer, any); /* pushed so far */
    size_t head_seen;                         /* producer's: head when it last looked */
    char gap_before_consumer[SPSC_RING_GAP - 2 * sizeof(size_t)];

    atomic_size_t head ATOMIC(consumer, any); /* popped so far */
    size_t tail_seen;                         /* consumer's: tail when it last looked */
    char gap_behind[SPSC_RING_GAP - 2 * sizeof(size_t)];
};

/* Makes an empty ring. `capacity` is a power of two from 1 to SPSC_RING_CAPACITY_MAX. */
void spsc_ring_init(struct spsc_ring *ring, size_t capacity);
/* Frees the cells; what is still in the ring is the caller's to free before. */
void spsc_ring_fini(struct spsc_ring *ring);

/* Puts in the first items of the array, as many as there is room for; returns how many. */
size_t spsc_ring_push(struct spsc_ring *ring, void *const *items, size_t count) MUST_USE;
/* Takes out up to `max` of the oldest items, in order; returns how many. */
size_t spsc_ring_pop(struct spsc_ring *ring, void **items, size_t max) MUST_USE;

/* Items inside: exact for both sides while the other stands still. The producer never sees less,
 * the consumer never more, than what is true when the call returns. */
size_t spsc_ring_count(const struct spsc_ring *ring);
/* True when there was nothing to pop. What was pushed before a wakeup_signal is seen after the
 * matching wakeup_prepare. */
bool spsc_ring_is_empty(const struct spsc_ring *ring);

/* Executes the invariants; for tests, with both sides at rest. */
void spsc_ring_check(const struct spsc_ring *ring);

#endif
