/*
 * bench_engine: nanoseconds a record of window + exchange + threads, without Kafka and without Lua.
 *   bench_engine [RECORDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/check.h"
#include "base/log.h"
#include "engine/engine.h"
#include "support/memory_ports.h"

struct bench {
    struct memory_topic topic;
    struct engine_options options;
};

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct bench *bench = context;
    return memory_source_create(&bench->topic, pipeline, 1);
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    (void)pipeline;
    struct bench *bench = context;
    return memory_sink_create(bench->topic.partitions, false);
}

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)context;
    (void)err;
    return memory_processor_create(worker, 0);
}

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static void measure(unsigned k, uint64_t records, uint32_t keys)
{
    struct bench bench = {
        .topic = {.partitions = 4, .records = records / 4, .keys = keys},
        .options =
            {
                .num_stream_threads = k,
                .num_threads_per_task = k,
                .window_records = 16384,
                .window_bytes = 64 << 20,
                .commit_interval_ms = 1000,
                .drain_timeout_ms = 5000,
                .shutdown_timeout_ms = 30000,
                .exit_at_end = true,
            },
    };
    struct engine_ports ports = {
        .open_source = open_source,
        .open_sink = open_sink,
        .context = &bench,
        .processors = {.create = create_processor, .context = &bench},
    };
    struct clock_source clock = clock_system();
    struct error err;
    struct engine *engine = engine_create(&bench.options, &ports, &clock, &err);
    CHECK(engine != NULL);
    double cpu = cpu_seconds();
    int64_t begin = clock_ns(&clock);
    engine_start(engine);
    CHECK(engine_wait(engine, -1));
    double wall = (double)(clock_ns(&clock) - begin);
    cpu = cpu_seconds() - cpu;
    CHECK(engine_result(engine, &err));
    engine_destroy(engine);
    printf("%-28s %4u %10u %12.1f %12.1f\n", "window+exchange, one emission", k, keys,
           wall / (double)records, cpu * 1e9 / (double)records);
}

int main(int argc, char **argv)
{
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
    log_set_level(LOG_LEVEL_WARN);
    printf("%-28s %4s %10s %12s %12s\n", "bench_engine", "K", "keys", "wall ns/rec", "cpu ns/rec");
    measure(1, records, 10000);
    measure(2, records, 10000);
    measure(4, records, 10000);
    measure(4, records, 20);
    return 0;
}
