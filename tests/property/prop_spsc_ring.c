/*
 * Property and stress test of spsc_ring: random operations against a naive queue, then two threads
 * with random batch sizes; nothing is lost, doubled or out of order, and what an item points to is
 * visible to the one who pops it.
 *
 * Usage: prop_spsc_ring [SEED [ITEMS]]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/spsc_ring.h"

enum { BATCH_MAX = 300, MODEL_OPERATIONS = 200000, PAYLOADS = 1 << 16 };

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The naive model: two counters and the rule that item n is the number n. */
static bool agrees_with_model(uint64_t seed, size_t capacity)
{
    struct spsc_ring ring;
    spsc_ring_init(&ring, capacity);
    uintptr_t pushed = 0;
    uintptr_t popped = 0;
    bool good = true;
    void *batch[BATCH_MAX];
    for (int step = 0; step < MODEL_OPERATIONS && good; step++) {
        uint64_t dice = next_random(&seed);
        size_t wanted =
            (size_t)((dice >> 8) % (capacity < BATCH_MAX - 2 ? capacity + 2 : BATCH_MAX));
        size_t inside = pushed - popped;
        if (dice & 1) {
            for (size_t i = 0; i < wanted; i++) {
                batch[i] = (void *)(pushed + i);
            }
            size_t room = capacity - inside;
            size_t done = spsc_ring_push(&ring, batch, wanted);
            good = done == (wanted < room ? wanted : room);
            pushed += done;
        } else {
            size_t done = spsc_ring_pop(&ring, batch, wanted);
            good = done == (wanted < inside ? wanted : inside);
            for (size_t i = 0; i < done && good; i++) {
                good = batch[i] == (void *)(popped + i);
            }
            popped += done;
        }
        spsc_ring_check(&ring);
        good = good && spsc_ring_count(&ring) == pushed - popped;
        good = good && spsc_ring_is_empty(&ring) == (pushed == popped);
    }
    spsc_ring_fini(&ring);
    return good;
}

/* What an item points to; written before the push, read after the pop, not atomic. */
struct payload {
    uint64_t number;
};

struct flow {
    struct spsc_ring ring;
    struct payload *payloads;
    uint64_t items;
    uint64_t seed;
};

static void *produce(void *argument)
{
    struct flow *flow = argument;
    uint64_t seed = flow->seed;
    void *batch[BATCH_MAX];
    uint64_t next = 0;
    while (next < flow->items) {
        size_t wanted = 1 + (size_t)(next_random(&seed) % BATCH_MAX);
        size_t room = flow->ring.capacity - spsc_ring_count(&flow->ring);
        wanted = wanted < room ? wanted : room; /* a payload is rewritten only when it was read */
        wanted = wanted < flow->items - next ? wanted : (size_t)(flow->items - next);
        for (size_t i = 0; i < wanted; i++) {
            struct payload *payload = flow->payloads + (next + i) % PAYLOADS;
            payload->number = next + i;
            batch[i] = payload;
        }
        size_t done = spsc_ring_push(&flow->ring, batch, wanted);
        CHECK(done == wanted); /* the producer never sees less room than there is */
        next += done;
        if (done == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static bool two_threads_keep_order(uint64_t seed, size_t capacity, uint64_t items)
{
    CHECK(capacity * 2 <= PAYLOADS);
    struct flow *flow = memory_alloc_aligned(sizeof *flow);
    flow->payloads = memory_alloc_array(PAYLOADS, sizeof *flow->payloads);
    flow->items = items;
    flow->seed = seed ^ 0x5eed;
    spsc_ring_init(&flow->ring, capacity);
    pthread_t producer;
    CHECK(pthread_create(&producer, NULL, produce, flow) == 0);
    bool good = true;
    uint64_t next = 0;
    void *batch[BATCH_MAX];
    while (next < items) {
        size_t done =
            spsc_ring_pop(&flow->ring, batch, 1 + (size_t)(next_random(&seed) % BATCH_MAX));
        for (size_t i = 0; i < done; i++) {
            const struct payload *payload = batch[i];
            good = good && payload->number == next + i;
        }
        next += done;
        if (done == 0) {
            sched_yield();
        }
    }
    CHECK(pthread_join(producer, NULL) == 0);
    good = good && spsc_ring_is_empty(&flow->ring);
    spsc_ring_check(&flow->ring);
    spsc_ring_fini(&flow->ring);
    memory_free(flow->payloads);
    memory_free(flow);
    return good;
}

static void report(bool good, const char *what, size_t capacity, int *passed, int *failed)
{
    if (good) {
        ++*passed;
    } else {
        ++*failed;
        printf("FAILED: %s, capacity %zu\n", what, capacity);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    uint64_t items = argc > 2 ? strtoull(argv[2], NULL, 0) : 10000000;
    int passed = 0;
    int failed = 0;
    printf("prop_spsc_ring seed %" PRIu64 "\n", seed);
    for (size_t capacity = 1; capacity <= 1024; capacity *= 2) {
        report(agrees_with_model(seed + capacity, capacity), "model", capacity, &passed, &failed);
    }
    report(two_threads_keep_order(seed, 1, items / 1000), "threads", 1, &passed, &failed);
    report(two_threads_keep_order(seed, 16, items / 10), "threads", 16, &passed, &failed);
    report(two_threads_keep_order(seed, 4096, items), "threads", 4096, &passed, &failed);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
