#include "commit/slot_ring.h"

#include <assert.h>

#include "base/check.h"
#include "base/memory.h"

enum { CHUNK_SLOTS = 64 };

struct slot_chunk {
    struct slot_chunk *older;
    _Alignas(CACHE_LINE) struct slot slots[CHUNK_SLOTS];
};

static_assert(sizeof(struct slot) <= (size_t)4 * CACHE_LINE,
              "a slot stays small: windows have many");
static_assert(offsetof(struct slot, work) == 0, "a work is the head of its slot");

static void add_chunk(struct slot_ring *ring);

void slot_ring_init(struct slot_ring *ring, uint32_t capacity, struct commit_window *window)
{
    CHECK(capacity > 0);
    CHECK((capacity & (capacity - 1)) == 0);
    *ring = (struct slot_ring){
        .slots = memory_alloc_array(capacity, sizeof(struct slot *)),
        .mask = capacity - 1,
        .window = window,
    };
}

void slot_ring_fini(struct slot_ring *ring)
{
    CHECK(ring->head == ring->tail);
    while (ring->chunks) {
        struct slot_chunk *chunk = ring->chunks;
        ring->chunks = chunk->older;
        for (size_t i = 0; i < CHUNK_SLOTS; i++) {
            effects_fini(&chunk->slots[i].work.effects);
        }
        memory_free(chunk);
    }
    memory_free(ring->slots);
}

struct slot *slot_ring_push(struct slot_ring *ring)
{
    CHECK(slot_ring_count(ring) <= ring->mask);
    if (ring->spare == NULL) {
        add_chunk(ring);
    }
    struct slot *slot = ring->spare;
    ring->spare = slot->next;
    DCHECK(slot_get_state(slot) == SLOT_FREE);
    DCHECK(slot->work.effects.count == 0);
    slot->sequence = ring->tail;
    slot->next = NULL;
    ring->slots[ring->tail & ring->mask] = slot;
    ring->tail++;
    return slot;
}

static void add_chunk(struct slot_ring *ring)
{
    struct slot_chunk *chunk = memory_alloc_aligned(sizeof *chunk);
    chunk->older = ring->chunks;
    ring->chunks = chunk;
    for (size_t i = CHUNK_SLOTS; i-- > 0;) {
        struct slot *slot = &chunk->slots[i];
        slot->window = ring->window;
        effects_init(&slot->work.effects);
        slot->next = ring->spare;
        ring->spare = slot;
    }
}

void slot_ring_pop(struct slot_ring *ring)
{
    CHECK(slot_ring_count(ring) > 0);
    struct slot *slot = slot_ring_at(ring, ring->head);
    effects_clear(&slot->work.effects);
    slot->work.reason = NULL;
    slot->last_resort = false;
    slot_set_state(slot, SLOT_FREE);
    slot->next = ring->spare;
    ring->spare = slot;
    ring->head++;
}
