/*
 * Cost of spsc_ring: ns per item at several batch sizes, on one thread (the instructions alone) and
 * between two (with the traffic of cache lines).
 *
 * Usage: bench_spsc_ring [ITEMS]
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/spsc_ring.h"

enum { BATCH_MAX = 256, CAPACITY = 4096 };

struct flow {
    struct spsc_ring ring;
    uint64_t items;
    size_t batch;
};

static void push_all(struct flow *flow)
{
    void *batch[BATCH_MAX] = {0};
    for (uint64_t done = 0; done < flow->items;) {
        size_t put = spsc_ring_push(&flow->ring, batch, flow->batch);
        done += put;
        if (put == 0) {
            sched_yield();
        }
    }
}

static void *produce(void *argument)
{
    push_all(argument);
    return NULL;
}

static double on_one_thread(struct flow *flow)
{
    struct clock_source clock = clock_system();
    void *batch[BATCH_MAX] = {0};
    int64_t start = clock_ns(&clock);
    for (uint64_t done = 0; done < flow->items; done += flow->batch) {
        CHECK(spsc_ring_push(&flow->ring, batch, flow->batch) == flow->batch);
        CHECK(spsc_ring_pop(&flow->ring, batch, flow->batch) == flow->batch);
    }
    return (double)(clock_ns(&clock) - start) / (double)flow->items;
}

static double between_two_threads(struct flow *flow)
{
    struct clock_source clock = clock_system();
    void *batch[BATCH_MAX];
    int64_t start = clock_ns(&clock);
    pthread_t producer;
    CHECK(pthread_create(&producer, NULL, produce, flow) == 0);
    for (uint64_t done = 0; done < flow->items;) {
        size_t got = spsc_ring_pop(&flow->ring, batch, flow->batch);
        done += got;
        if (got == 0) {
            sched_yield();
        }
    }
    CHECK(pthread_join(producer, NULL) == 0);
    return (double)(clock_ns(&clock) - start) / (double)flow->items;
}

int main(int argc, char **argv)
{
    static const size_t batches[] = {1, 16, 256};
    uint64_t items = argc > 1 ? strtoull(argv[1], NULL, 0) : 20000000;
    items = items / BATCH_MAX * BATCH_MAX;
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        struct flow *flow = memory_alloc_aligned(sizeof *flow);
        flow->items = items;
        flow->batch = batches[i];
        spsc_ring_init(&flow->ring, CAPACITY);
        double alone = on_one_thread(flow);
        double pair = between_two_threads(flow);
        printf("spsc_ring batch %3zu: %6.2f ns/item on one thread, %6.2f between two\n", batches[i],
               alone, pair);
        spsc_ring_fini(&flow->ring);
        memory_free(flow);
    }
    return 0;
}
