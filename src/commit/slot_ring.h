/*
 * slot_ring: the slots of a window: a ring by sequence number over slots that are made when needed.
 *
 * Why: slots are reused last in, first out, so that the memory that is touched is what is in flight
 * and not the whole window, which keeps it in the cache; and a window that is never full never has
 * all of its slots.
 *
 * Thread: poll thread; the state and work of a slot belong to the worker that holds it.
 * Owns: the slots and their effects. The bytes of records are the source's.
 */
#ifndef COMMIT_SLOT_RING_H
#define COMMIT_SLOT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"
#include "stream/work.h"

struct commit_window;
struct mailbox;
struct slot_chunk; /* private */

enum slot_state {
    SLOT_FREE,
    SLOT_ADMITTED,
    SLOT_BEGUN,
    SLOT_COMPLETED,
    SLOT_WAITING,
    SLOT_RETIRED,
    SLOT_ACKED,
};

enum { NO_KEY = UINT16_MAX, VIRTUAL_KEYS = 4096 };

/* One admitted record. `work` is first: a struct work * of a slot is its struct slot *. */
struct slot {
    struct work work;
    struct commit_window *window;
    uint64_t sequence; /* position in the window's history, without gaps, from 0 */
    struct slot *next; /* of the list it is in: a mailbox, a ready list, or the retire list */
    struct mailbox *mailbox;
    struct emission *unsent; /* next emission to hand to the sink */
    uint32_t stamp;          /* order of submission among all slots of the exchange */
    uint32_t unacked;        /* emissions sent and without a report */
    uint32_t generation;     /* of the script that it belongs to */
    uint32_t attempt;        /* of running it, from 0 */
    uint16_t virtual_key;    /* NO_KEY: may run beside anything */
    uint16_t holder;         /* worker that has it */
    ATOMIC(holder, check) _Atomic uint8_t state; /* enum slot_state */
    bool outstanding;       /* on the way to a worker, with it, or on the way back */
    bool undeliverable : 1; /* a report said no: not acked unless forgiven */
    bool last_resort : 1;   /* what it sends is its dead letter */
    bool told_slow : 1;     /* a warning was given */
};

/* Embedded; the fields are private to slot_ring.c but for reading. */
struct slot_ring {
    struct slot **slots; /* mask + 1 of them; in use from head to tail */
    uint64_t mask;
    uint64_t head; /* sequence of the oldest slot in use */
    uint64_t tail; /* sequence of the next slot to be taken into use */
    struct slot *spare;
    struct slot_chunk *chunks;
    struct commit_window *window; /* what slots point back to */
};

/* `capacity` is a power of two. */
void slot_ring_init(struct slot_ring *ring, uint32_t capacity, struct commit_window *window);
/* No slot is in use. */
void slot_ring_fini(struct slot_ring *ring);

/* Takes the slot of the sequence `tail` into use: state ADMITTED to be set by the caller, all other
 * fields of its last use, effects empty. There is room. */
struct slot *slot_ring_push(struct slot_ring *ring);
/* Gives the slot of the sequence `head` back; its effects are dropped. There is one. */
void slot_ring_pop(struct slot_ring *ring);

/* Slots in use. */
static inline uint64_t slot_ring_count(const struct slot_ring *ring)
{
    return ring->tail - ring->head;
}

/* The slot of a sequence from head to below tail. */
static inline struct slot *slot_ring_at(const struct slot_ring *ring, uint64_t sequence)
{
    return ring->slots[sequence & ring->mask];
}

static inline void slot_set_state(struct slot *slot, enum slot_state state)
{
    atomic_store_explicit(&slot->state, (uint8_t)state, memory_order_relaxed);
}

static inline enum slot_state slot_get_state(const struct slot *slot)
{
    return (enum slot_state)atomic_load_explicit(&slot->state, memory_order_relaxed);
}

#endif
