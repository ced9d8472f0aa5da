/*
 * prop_engine: the engine with real threads against a naive serial loop, over a grid of (N, K),
 * orders and emit modes. Runs under ThreadSanitizer. prop_engine [RECORDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/thread_groups.h"
#include "support/memory_ports.h"

enum { PIPELINES_MAX = 16, PARTITIONS = 5 };

struct run {
    struct memory_topic topic;
    struct engine_options options;
    unsigned pipelines;
    unsigned sleep_us;
    struct source *sources[PIPELINES_MAX];
    struct sink *sinks[PIPELINES_MAX];
};

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct run *run = context;
    run->sources[pipeline] = memory_source_create(&run->topic, pipeline, run->pipelines);
    return run->sources[pipeline];
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct run *run = context;
    run->sinks[pipeline] = memory_sink_create(run->topic.partitions, true);
    return run->sinks[pipeline];
}

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)err;
    struct run *run = context;
    return memory_processor_create(worker, run->sleep_us);
}

/* R3: with emit=input what comes out is what a serial loop over the partition would write. */
static bool is_serial(const struct run *run, int32_t partition, struct memory_output output)
{
    for (uint64_t i = 0; i < run->topic.records; i++) {
        if (output.offsets[i] != memory_offset(i)) {
            printf("partition %d: output %llu has offset %lld\n", partition, (unsigned long long)i,
                   (long long)output.offsets[i]);
            return false;
        }
    }
    return true;
}

/* With emit=completion the order within each key is kept, and nothing is lost or doubled. */
static bool is_ordered_by_key(const struct run *run, int32_t partition, struct memory_output output)
{
    int64_t *last = memory_alloc_array(run->topic.keys, sizeof *last);
    char *seen = memory_alloc(run->topic.records);
    bool good = true;
    for (size_t i = 0; i < output.count && good; i++) {
        uint64_t index = (uint64_t)(output.offsets[i] - output.offsets[i] / 8);
        CHECK(memory_offset(index) == output.offsets[i]);
        uint32_t key = memory_key(&run->topic, partition, index);
        good = !seen[index] && (last[key] == 0 || last[key] < output.offsets[i] + 1);
        seen[index] = 1;
        last[key] = output.offsets[i] + 1;
    }
    memory_free(last);
    memory_free(seen);
    return good;
}

static bool is_right(const struct run *run)
{
    int64_t end = memory_offset(run->topic.records - 1) + 1;
    for (int32_t p = 0; p < run->topic.partitions; p++) {
        unsigned pipeline = (unsigned)p % run->pipelines;
        struct memory_output output = memory_sink_output(run->sinks[pipeline], p);
        if (output.count != run->topic.records) {
            printf("partition %d: %zu of %llu records came out\n", p, output.count,
                   (unsigned long long)run->topic.records);
            return false;
        }
        if (memory_source_committed(run->sources[pipeline], p) != end) {
            printf("partition %d: committed %lld of %lld\n", p,
                   (long long)memory_source_committed(run->sources[pipeline], p), (long long)end);
            return false;
        }
        bool serial = run->options.emit == EMIT_INPUT || run->options.num_threads_per_task == 1;
        bool right = serial ? is_serial(run, p, output)
                            : run->options.order == ORDER_NONE || is_ordered_by_key(run, p, output);
        if (!right) {
            return false;
        }
    }
    return true;
}

static bool try(const struct engine_options *options, uint64_t records, unsigned sleep_us)
{
    struct run run = {
        .topic = {.partitions = PARTITIONS, .records = records, .keys = 50},
        .options = *options,
        .pipelines =
            thread_groups_count(options->num_stream_threads, options->num_threads_per_task),
        .sleep_us = sleep_us,
    };
    struct engine_ports ports = {
        .open_source = open_source,
        .open_sink = open_sink,
        .context = &run,
        .processors = {.create = create_processor, .context = &run},
    };
    struct clock_source clock = clock_system();
    struct error err;
    struct engine *engine = engine_create(&run.options, &ports, &clock, &err);
    CHECK(engine != NULL);
    engine_start(engine);
    CHECK(engine_wait(engine, -1));
    bool good = engine_result(engine, &err) && is_right(&run);
    if (!good) {
        printf("FAILED: N=%u K=%u order=%d emit=%d window=%u sleep=%u us\n",
               options->num_stream_threads, options->num_threads_per_task, options->order,
               options->emit, options->window_records, sleep_us);
    }
    engine_destroy(engine);
    return good;
}

int main(int argc, char **argv)
{
    static const unsigned GRID[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 2}, {4, 4}, {7, 3}, {8, 8}};
    static const uint32_t WINDOWS[] = {2, 64, 4096};
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
    log_set_level(LOG_LEVEL_WARN);
    int passed = 0, failed = 0;
    for (size_t g = 0; g < sizeof GRID / sizeof GRID[0]; g++) {
        for (int mode = 0; mode < 6; mode++) {
            for (size_t w = 0; w < sizeof WINDOWS / sizeof WINDOWS[0]; w++) {
                struct engine_options options = {
                    .num_stream_threads = GRID[g][0],
                    .num_threads_per_task = GRID[g][1],
                    .order = (enum processing_order)(mode % 3),
                    .emit = (enum processing_emit)(mode / 3),
                    .window_records = WINDOWS[w],
                    .window_bytes = w == 1 ? 300 : 1 << 20,
                    .commit_interval_ms = 5,
                    .drain_timeout_ms = 5000,
                    .shutdown_timeout_ms = 30000,
                    .exit_at_end = true,
                };
                bool good = try(&options, records, 0) && try(&options, records / 50, 300);
                passed += good;
                failed += !good;
            }
        }
    }
    printf("prop_engine: %d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
