#include "base/spsc_ring.h"

#include <assert.h>

#include "base/check.h"
#include "base/memory.h"

static_assert(offsetof(struct spsc_ring, tail) == SPSC_RING_GAP, "producer on lines of its own");
static_assert(offsetof(struct spsc_ring, head) == (size_t)2 * SPSC_RING_GAP,
              "consumer on lines of its own");
static_assert(sizeof(struct spsc_ring) == (size_t)3 * SPSC_RING_GAP,
              "no neighbour on the consumer's lines");

static size_t smaller(size_t a, size_t b);

void spsc_ring_init(struct spsc_ring *ring, size_t capacity)
{
    CHECK(capacity >= 1);
    CHECK(capacity <= SPSC_RING_CAPACITY_MAX);
    CHECK((capacity & (capacity - 1)) == 0);
    ring->cells = memory_alloc_aligned(capacity * sizeof *ring->cells);
    ring->capacity = capacity;
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
    ring->head_seen = 0;
    ring->tail_seen = 0;
}

void spsc_ring_fini(struct spsc_ring *ring)
{
    memory_free(ring->cells);
    ring->cells = NULL;
}

size_t spsc_ring_push(struct spsc_ring *ring, void *const *items, size_t count)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed); /* written here only */
    size_t room = ring->capacity - (tail - ring->head_seen);
    if (room < count) {
        /* pairs with R2 in spsc_ring_pop: the cells below head have been read */
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        room = ring->capacity - (tail - ring->head_seen);
    }
    DCHECK(room <= ring->capacity);
    size_t taken = smaller(count, room);
    if (taken == 0) {
        return 0;
    }
    for (size_t i = 0; i < taken; i++) { /* beats two memcpy in small batches */
        ring->cells[(tail + i) & (ring->capacity - 1)] = items[i];
    }
    /* R1: publishes the cells below tail and all that they point to */
    atomic_store_explicit(&ring->tail, tail + taken, memory_order_release);
    return taken;
}

size_t spsc_ring_pop(struct spsc_ring *ring, void **items, size_t max)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed); /* written here only */
    size_t ready = ring->tail_seen - head;
    if (ready < max) {
        /* pairs with R1 in spsc_ring_push: the cells below tail have been written */
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        ready = ring->tail_seen - head;
    }
    DCHECK(ready <= ring->capacity);
    size_t given = smaller(max, ready);
    if (given == 0) {
        return 0;
    }
    for (size_t i = 0; i < given; i++) {
        items[i] = ring->cells[(head + i) & (ring->capacity - 1)];
    }
    /* R2: gives the cells below head back to the producer */
    atomic_store_explicit(&ring->head, head + given, memory_order_release);
    return given;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t spsc_ring_count(const struct spsc_ring *ring)
{
    /* head first: it cannot pass the tail that is read after it. A third thread may see both move
     * in between, hence the bound. Acquire, as in push and pop: pairs with R1 and R2. */
    size_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return smaller(tail - head, ring->capacity);
}

bool spsc_ring_is_empty(const struct spsc_ring *ring)
{
    return spsc_ring_count(ring) == 0;
}

void spsc_ring_check(const struct spsc_ring *ring)
{
    size_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    CHECK(tail - head <= ring->capacity);
    CHECK(head - ring->head_seen <= ring->capacity);
    CHECK(tail - ring->tail_seen <= ring->capacity);
    CHECK(ring->tail_seen - head <= ring->capacity);
}
