/*
 * Stress test of worker_metrics and the registry: one thread runs batches and lets windows come and
 * go, the other takes snapshots. What a reader sees at hand always belongs together, and counters
 * never fall.
 *
 * Usage: prop_worker_metrics [SEED [BATCHES]]
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/thread.h"
#include "metrics/metrics_snapshot.h"

enum { TOPICS = 3 };

static const char *const NAMES[TOPICS] = {"a", "b", "c"};

struct writer {
    struct metrics_registry *registry;
    struct worker_metrics *metrics;
    int64_t batches;
    uint64_t seed;
    atomic_bool ended;
};

/* Offset, partition, topic and time of a batch follow from its number. */
static void write_all(void *context)
{
    struct writer *writer = context;
    struct window_metrics *window = NULL;
    uint64_t dice = writer->seed;
    for (int64_t i = 1; i <= writer->batches; i++) {
        worker_metrics_begin(writer->metrics, NAMES[i % TOPICS], (int32_t)(i % 1000), i, 3 * i);
        worker_metrics_end(writer->metrics, 2, 1, 3 * i + 1);
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        if (dice >> 60 == 0) {
            if (window) {
                metrics_registry_remove_window(writer->registry, window);
                window = NULL;
            } else {
                window = metrics_registry_add_window(writer->registry, 0, NAMES[i % TOPICS], 0);
            }
        }
    }
    worker_metrics_set_state(writer->metrics, WORKER_CLOSED);
    atomic_store(&writer->ended, true);
}

static bool belongs_together(const struct worker_reading *reading)
{
    int64_t i = reading->at_hand.offset;
    return reading->at_hand.topic == NULL || (reading->at_hand.topic == NAMES[i % TOPICS] &&
                                              reading->at_hand.partition == (int32_t)(i % 1000) &&
                                              reading->at_hand.since_ns == 3 * i);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    struct writer writer = {.seed = seed,
                            .batches = argc > 2 ? strtoll(argv[2], NULL, 0) : 2000000};
    printf("prop_worker_metrics seed %" PRIu64 "\n", seed);
    writer.registry = metrics_registry_create();
    writer.metrics = metrics_registry_add_worker(writer.registry, 0, 0);
    struct thread thread = {.running = false};
    thread_start(&thread, "writer", ROLE_WORKER, write_all, &writer);
    bool good = true;
    int64_t done = 0;
    int64_t reads = 0;
    int64_t seen_at_hand = 0;
    while (good) {
        bool last = atomic_load(&writer.ended);
        struct metrics_snapshot snapshot;
        metrics_snapshot_take(&snapshot, writer.registry);
        const struct worker_reading *reading = snapshot.workers;
        good = snapshot.worker_count == 1 && belongs_together(reading) && reading->done >= done &&
               snapshot.task_count <= 1;
        done = reading->done;
        seen_at_hand += reading->at_hand.topic != NULL;
        reads++;
        metrics_snapshot_fini(&snapshot);
        if (last) {
            break;
        }
    }
    thread_join(&thread);
    good = good && done == 2 * writer.batches;
    printf("%" PRId64 " reads, %" PRId64 " with a record at hand\n", reads, seen_at_hand);
    metrics_registry_destroy(writer.registry);
    printf("%d passed, %d failed, 0 skipped\n", good ? 1 : 0, good ? 0 : 1);
    return good ? 0 : 1;
}
