#include <criterion/criterion.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "metrics/metrics_snapshot.h"
#include "support/memory_ports.h"

/* Records that never come to an end by themselves, in the whole engine with real threads. */

enum { WINDOW = 64, RECORDS = 2000, KEYS = 100, WORKERS = 2, PATIENCE_MS = 20000 };

struct setup {
    struct memory_topic topic;
    struct engine_options options;
    unsigned failing_keys; /* the first ones */
    int32_t failing_partition;
    struct source *source;
    struct sink *sink;
    struct engine *engine;
    atomic_ullong attempts; /* that failed */
};

struct test_processor {
    struct processor base;
    struct setup *setup;
};

static bool fails(const struct setup *setup, const struct record *rec)
{
    char text[16] = "";
    memcpy(text, rec->key, rec->key_size);
    return rec->partition == setup->failing_partition &&
           strtoul(text + 1, NULL, 10) < setup->failing_keys;
}

static size_t run(struct processor *processor, struct work *const *batch, size_t count)
{
    struct setup *setup = ((struct test_processor *)processor)->setup;
    for (size_t i = 0; i < count; i++) {
        struct work *work = batch[i];
        if (fails(setup, &work->rec)) {
            work->reason = arena_copy(&work->effects.arena, "it never ends", 13);
            work->outcome = OUTCOME_FAILED;
            work->failure = FAILURE_FAILED;
            work->request = REQUEST_RETRY;
            work->retry_delay_ms = atomic_fetch_add(&setup->attempts, 1) % 8 == 0;
            return i + 1;
        }
        struct emission *emission = effects_emit(&work->effects);
        emission->value = arena_copy(&work->effects.arena, &work->rec.offset, sizeof(int64_t));
        emission->value_size = sizeof(int64_t);
        work->outcome = OUTCOME_DONE;
    }
    return count;
}

static void close_nothing(struct processor *processor)
{
    (void)processor;
}

static void destroy(struct processor *processor)
{
    memory_free(processor);
}

static const struct processor_ops OPS = {.run = run, .close = close_nothing, .destroy = destroy};

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)worker;
    (void)err;
    struct test_processor *processor = memory_alloc(sizeof *processor);
    processor->base.ops = &OPS;
    processor->setup = context;
    return &processor->base;
}

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct setup *setup = context;
    return setup->source = memory_source_create(&setup->topic, pipeline, 1);
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)pipeline;
    (void)err;
    struct setup *setup = context;
    return setup->sink = memory_sink_create(setup->topic.partitions, false);
}

static void start(struct setup *setup, int32_t partitions, unsigned failing_keys)
{
    static struct clock_source clock;
    static struct engine_ports ports;
    log_set_level(LOG_LEVEL_ERROR);
    setup->topic =
        (struct memory_topic){.partitions = partitions, .records = RECORDS, .keys = KEYS};
    setup->failing_keys = failing_keys;
    setup->options.num_stream_threads = WORKERS;
    setup->options.num_threads_per_task = WORKERS;
    setup->options.window_records = WINDOW;
    setup->options.window_bytes = 1 << 20;
    setup->options.commit_interval_ms = 10;
    setup->options.shutdown_timeout_ms = 10000;
    setup->options.exit_at_end = true;
    clock = clock_system();
    ports = (struct engine_ports){.open_source = open_source,
                                  .open_sink = open_sink,
                                  .context = setup,
                                  .processors = {create_processor, setup}};
    struct error err;
    setup->engine = engine_create(&setup->options, &ports, &clock, &err);
    cr_assert_not_null(setup->engine);
    engine_start(setup->engine);
}

static void await_attempts(struct setup *setup, unsigned long long attempts)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(&setup->attempts) < attempts; i++) {
        usleep(1000);
    }
    cr_assert_geq(atomic_load(&setup->attempts), attempts);
}

static struct window_reading window_of(struct setup *setup, int32_t partition)
{
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(setup->engine));
    const struct task_view *task = metrics_snapshot_find(&snapshot, "memory", partition);
    cr_assert_not_null(task);
    struct window_reading reading = task->window;
    metrics_snapshot_fini(&snapshot);
    return reading;
}

/* It shows between two attempts. */
static void await_hold(struct setup *setup, enum hold_reason reason)
{
    int i = 0;
    while (window_of(setup, 0).hold != reason) {
        cr_assert_lt(i++, PATIENCE_MS, "it is never held for reason %d", (int)reason);
        usleep(300);
    }
    cr_assert_eq(window_of(setup, 0).used, WINDOW);
}

struct counts {
    int64_t admitted;
    int64_t delivered;
};

static struct counts counts_of(struct setup *setup)
{
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(setup->engine));
    struct counts counts = {.admitted = metric_get(&snapshot.pipelines[0]->admitted),
                            .delivered = metric_get(&snapshot.pipelines[0]->delivered)};
    metrics_snapshot_fini(&snapshot);
    return counts;
}

/* The index of the first record of partition 0 that fails. */
static uint64_t first_failing(const struct setup *setup)
{
    uint64_t index = 0;
    while (memory_key(&setup->topic, 0, index) >= setup->failing_keys) {
        index++;
    }
    return index;
}

static void end_undrained(struct setup *setup)
{
    engine_stop(setup->engine, true);
    cr_assert(engine_wait(setup->engine, PATIENCE_MS));
    engine_destroy(setup->engine);
}

Test(retries, a_key_that_always_fails_takes_no_more_memory_and_holds_at_the_bound)
{
    struct setup setup = {.options.failure.max_retries = RETRIES_UNBOUNDED};
    start(&setup, 2, 1);
    int64_t wanted = (int64_t)(RECORDS + first_failing(&setup) + WINDOW); /* the other one: all */
    for (int i = 0; i < PATIENCE_MS && counts_of(&setup).admitted < wanted; i++) {
        usleep(1000);
    }
    await_attempts(&setup, atomic_load(&setup.attempts) + 500);
    await_hold(&setup, HOLD_RETRY);
    cr_expect_eq(window_of(&setup, 0).commit_pos, memory_offset(first_failing(&setup)));
    size_t heap = mallinfo2().uordblks;
    await_attempts(&setup, atomic_load(&setup.attempts) + 10000);
    size_t later = mallinfo2().uordblks;
    cr_expect_leq(later, heap + 65536, "10,000 attempts took %zu bytes", later - heap);
    cr_expect_eq(counts_of(&setup).admitted, wanted, "nothing more was taken in");
    end_undrained(&setup);
}

Test(retries, healthy_keys_flow_until_the_window_is_full_of_what_fails)
{
    struct setup setup = {.options.failure.max_retries = RETRIES_UNBOUNDED,
                          .options.emit = EMIT_COMPLETION};
    start(&setup, 1, KEYS / 5);
    uint64_t wanted = first_failing(&setup) + WINDOW;
    int64_t healthy = 0;
    for (uint64_t i = 0; i < wanted; i++) {
        healthy += memory_key(&setup.topic, 0, i) >= setup.failing_keys;
    }
    for (int i = 0; i < PATIENCE_MS && counts_of(&setup).delivered < healthy; i++) {
        usleep(1000);
    }
    await_attempts(&setup, atomic_load(&setup.attempts) + 2000);
    cr_expect_eq(counts_of(&setup).admitted, (int64_t)wanted);
    cr_expect_eq(counts_of(&setup).delivered, healthy);
    await_hold(&setup, HOLD_RETRY);
    end_undrained(&setup);
}

Test(retries, with_a_bound_of_retries_what_fails_lets_the_rest_pass)
{
    struct setup setup = {.options.failure = {.max_retries = 3, .dead_letter_topic = "dead"}};
    start(&setup, 1, KEYS / 5);
    cr_assert(engine_wait(setup.engine, PATIENCE_MS));
    struct error err;
    cr_assert(engine_result(setup.engine, &err));
    uint64_t failing = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        failing += memory_key(&setup.topic, 0, i) < setup.failing_keys;
    }
    cr_assert_gt(failing, RECORDS / 10);
    cr_expect_eq(atomic_load(&setup.attempts), failing * 4, "the first attempt and three more");
    cr_expect_eq(memory_sink_count(setup.sink), RECORDS, "an output or a dead letter of each");
    cr_expect_eq(memory_source_committed(setup.source, 0), memory_offset(RECORDS - 1) + 1);
    engine_destroy(setup.engine);
}
