#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/thread_groups.h"
#include "metrics/metrics_snapshot.h"
#include "support/memory_ports.h"

/* The rules of the proposal, each by its name, on the whole engine with real threads. R4 and R5 are
 * also in test_thread_groups.c, R6 in the tests of script. */

enum { PIPELINES_MAX = 8, MEETING_MS = 5000, SLOW_MS = 700 };

struct setup {
    struct memory_topic topic;
    struct engine_options options;
    unsigned pipelines;
    struct sink *sinks[PIPELINES_MAX];
    struct source *sources[PIPELINES_MAX];
    /* for processors that meet: how many are in user code, and how many were at most */
    int meeting;
    atomic_int inside;
    atomic_int most;
    atomic_bool hold;   /* processors wait while it is set */
    atomic_int stopped; /* how many wait */
    int64_t fail_at;    /* offset of a record that fails; -1: none */
    int64_t slow_at;    /* offset of a record that takes half a second; -1: none */
    bool mute;          /* processors do not say which record they are at */
};

struct test_processor {
    struct processor base;
    struct setup *setup;
    const struct work *_Atomic current;
};

static void emit(struct work *work)
{
    struct emission *emission = effects_emit(&work->effects);
    emission->partition = work->rec.partition;
    emission->value = arena_copy(&work->effects.arena, &work->rec.offset, sizeof(int64_t));
    emission->value_size = sizeof(int64_t);
    work->outcome = OUTCOME_DONE;
}

static void run_one(struct setup *setup, struct work *work)
{
    int inside = atomic_fetch_add(&setup->inside, 1) + 1;
    int most = atomic_load(&setup->most);
    while (inside > most && !atomic_compare_exchange_weak(&setup->most, &most, inside)) {
    }
    for (int i = 0; i < MEETING_MS && atomic_load(&setup->most) < setup->meeting; i++) {
        usleep(1000);
    }
    atomic_fetch_add(&setup->stopped, 1);
    while (atomic_load(&setup->hold)) {
        usleep(1000);
    }
    atomic_fetch_sub(&setup->stopped, 1);
    emit(work);
    if (work->rec.offset == setup->fail_at) {
        effects_clear(&work->effects);
        work->reason = "no good";
        work->outcome = OUTCOME_FAILED;
    }
    atomic_fetch_sub(&setup->inside, 1);
}

static size_t run_all(struct processor *processor, struct work *const *batch, size_t count)
{
    struct test_processor *self = (struct test_processor *)processor;
    for (size_t i = 0; i < count; i++) {
        atomic_store(&self->current, batch[i]);
        if (batch[i]->rec.offset == self->setup->slow_at) {
            usleep(SLOW_MS * 1000);
        }
        run_one(self->setup, batch[i]);
    }
    atomic_store(&self->current, NULL);
    return count;
}

static const struct work *current(const struct processor *processor)
{
    return atomic_load(&((const struct test_processor *)processor)->current);
}

static void close_nothing(struct processor *processor)
{
    (void)processor;
}

static void destroy(struct processor *processor)
{
    memory_free(processor);
}

static const struct processor_ops TELLING = {
    .run = run_all, .close = close_nothing, .destroy = destroy, .current = current};
static const struct processor_ops OPS = {
    .run = run_all, .close = close_nothing, .destroy = destroy};

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)worker;
    (void)err;
    struct test_processor *processor = memory_alloc(sizeof *processor);
    processor->setup = context;
    processor->base.ops = processor->setup->mute ? &OPS : &TELLING;
    return &processor->base;
}

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct setup *setup = context;
    setup->sources[pipeline] = memory_source_create(&setup->topic, pipeline, setup->pipelines);
    return setup->sources[pipeline];
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)err;
    struct setup *setup = context;
    setup->sinks[pipeline] = memory_sink_create(setup->topic.partitions, true);
    return setup->sinks[pipeline];
}

static void prepare(struct setup *setup, unsigned n, unsigned k, int32_t partitions)
{
    log_set_level(LOG_LEVEL_ERROR);
    memset(setup, 0, sizeof *setup);
    setup->fail_at = -1;
    setup->slow_at = -1;
    setup->topic = (struct memory_topic){.partitions = partitions, .records = 2000, .keys = 100};
    setup->pipelines = k <= n ? thread_groups_count(n, k) : 0;
    setup->options = (struct engine_options){
        .num_stream_threads = n,
        .num_threads_per_task = k,
        .window_records = 256,
        .window_bytes = 1 << 20,
        .commit_interval_ms = 10,
        .drain_timeout_ms = 5000,
        .shutdown_timeout_ms = 10000,
        .exit_at_end = true,
    };
}

static struct engine *create(struct setup *setup, struct error *err)
{
    static struct clock_source clock; /* read-only once set */
    static struct engine_ports ports;
    clock = clock_system();
    ports = (struct engine_ports){.open_source = open_source,
                                  .open_sink = open_sink,
                                  .context = setup,
                                  .processors = {create_processor, setup}};
    return engine_create(&setup->options, &ports, &clock, err);
}

static bool is_in_order(const struct setup *setup, int32_t partition)
{
    unsigned pipeline = (unsigned)partition % setup->pipelines;
    struct memory_output output = memory_sink_output(setup->sinks[pipeline], partition);
    bool good = output.count == setup->topic.records;
    for (size_t i = 0; i < output.count && good; i++) {
        good = output.offsets[i] == memory_offset(i);
    }
    return good;
}

static void run_to_end(struct setup *setup)
{
    struct error err;
    struct engine *engine = create(setup, &err);
    cr_assert_not_null(engine);
    engine_start(engine);
    cr_assert(engine_wait(engine, 60000));
    cr_assert(engine_result(engine, &err));
    for (int32_t p = 0; p < setup->topic.partitions; p++) {
        cr_expect(is_in_order(setup, p), "partition %d", p);
        unsigned pipeline = (unsigned)p % setup->pipelines;
        cr_expect_eq(memory_source_committed(setup->sources[pipeline], p),
                     memory_offset(setup->topic.records - 1) + 1);
    }
    engine_destroy(engine);
}

Test(engine, R1_one_thread_a_task_equals_a_serial_loop)
{
    struct setup setup;
    prepare(&setup, 1, 1, 3);
    run_to_end(&setup);
    cr_assert_eq(atomic_load(&setup.most), 1, "one record at a time");
}

Test(engine, R2_several_threads_run_records_of_one_task_at_once)
{
    struct setup setup;
    prepare(&setup, 4, 4, 1);
    setup.meeting = 4;
    run_to_end(&setup);
    cr_assert_eq(atomic_load(&setup.most), 4, "four were in user code at the same time");
}

Test(engine, R3_outputs_and_commits_leave_in_order)
{
    struct setup setup;
    prepare(&setup, 6, 3, 4);
    setup.meeting = 3;
    run_to_end(&setup);
}

Test(engine, R4_seven_threads_by_three_form_three_pipelines)
{
    struct setup setup;
    prepare(&setup, 7, 3, 6);
    struct error err;
    struct engine *engine = create(&setup, &err);
    cr_assert_not_null(engine);
    cr_assert_eq(engine_pipeline_count(engine), 3);
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(engine));
    unsigned sizes[3] = {0};
    for (size_t i = 0; i < snapshot.worker_count; i++) {
        sizes[snapshot.workers[i].pipeline]++;
    }
    cr_assert_eq(sizes[0], 3);
    cr_assert_eq(sizes[1], 3);
    cr_assert_eq(sizes[2], 1);
    metrics_snapshot_fini(&snapshot);
    engine_destroy(engine);
}

Test(engine, R5_fewer_threads_than_a_task_needs_are_refused)
{
    struct setup setup;
    prepare(&setup, 2, 3, 1);
    struct error err = {.code = E_NONE};
    cr_assert_null(create(&setup, &err));
    cr_assert_eq(err.code, E_CONFIG_THREADS);
    cr_assert_eq(error_exit_code(err.code), 2);
}

Test(engine, R7_metrics_show_the_threads_and_the_window_of_a_task)
{
    struct setup setup;
    prepare(&setup, 3, 3, 1);
    setup.meeting = 3;
    atomic_store(&setup.hold, true);
    struct error err;
    struct engine *engine = create(&setup, &err);
    cr_assert_not_null(engine);
    engine_start(engine);
    for (int i = 0; i < MEETING_MS && atomic_load(&setup.stopped) < 3; i++) {
        usleep(1000);
    }
    usleep(50000); /* the poll thread publishes once a turn, and turns often */
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(engine));
    const struct task_view *task = metrics_snapshot_find(&snapshot, "memory", 0);
    cr_assert_not_null(task);
    cr_assert_eq(task->worker_count, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(task->workers[i].state, WORKER_RUNNING);
        cr_expect_str_eq(task->workers[i].at_hand.topic, "memory");
    }
    cr_expect_eq(task->window.used, 256);
    cr_expect_eq(task->window.hold, HOLD_RECORDS);
    cr_expect_eq(task->window.commit_pos, 0);
    metrics_snapshot_fini(&snapshot);
    atomic_store(&setup.hold, false);
    cr_assert(engine_wait(engine, 60000));
    cr_assert(engine_result(engine, &err));
    engine_destroy(engine);
}

/* How many warnings of a slow record there are, and the last one. */
static int warnings(FILE *log, char *last, size_t size)
{
    char line[1024];
    int count = 0;
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        if (strstr(line, "event=slow")) {
            snprintf(last, size, "%s", line);
            count++;
        }
    }
    return count;
}

static void run_slow(struct setup *setup, char *last, size_t size)
{
    FILE *log = tmpfile();
    cr_assert_not_null(log);
    setup->options.slow_record_warn_ms = 200;
    struct error err;
    struct engine *engine = create(setup, &err);
    cr_assert_not_null(engine);
    log_open(fileno(log), LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
    engine_start(engine);
    cr_assert(engine_wait(engine, 60000));
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(engine));
    cr_expect_eq(metric_get(&snapshot.pipelines[0]->slow_records), 1);
    cr_expect_eq(snapshot.tasks[0].totals.latency.count, (int64_t)setup->topic.records);
    metrics_snapshot_fini(&snapshot);
    cr_assert_eq(warnings(log, last, size), 1);
    engine_destroy(engine);
    fclose(log);
}

Test(engine, a_slow_record_is_warned_about_once_by_its_name)
{
    struct setup setup;
    char line[1024];
    prepare(&setup, 1, 1, 1);
    setup.slow_at = memory_offset(1234);
    run_slow(&setup, line, sizeof line);
    char offset[32];
    snprintf(offset, sizeof offset, " offset=%lld ", (long long)setup.slow_at);
    cr_assert(
        strstr(line, "level=warn msg=\"record is slow\" event=slow topic=memory partition=0"));
    cr_assert(strstr(line, offset), "%s", line);
    cr_assert(strstr(line, " thread=worker-0 pipeline=0"));
    int age_ms = atoi(strstr(line, "age_ms=") + strlen("age_ms="));
    cr_assert(age_ms >= 200 && age_ms < SLOW_MS, "%d", age_ms);
}

Test(engine, a_slow_record_is_found_beside_others_of_its_task)
{
    struct setup setup;
    char line[1024];
    prepare(&setup, 4, 4, 1);
    setup.slow_at = memory_offset(1234);
    run_slow(&setup, line, sizeof line);
    char offset[32];
    snprintf(offset, sizeof offset, " offset=%lld ", (long long)setup.slow_at);
    cr_assert(strstr(line, offset), "%s", line);
}

Test(engine, a_processor_that_does_not_tell_is_warned_about_by_its_batch)
{
    struct setup setup;
    char line[1024];
    prepare(&setup, 1, 1, 1);
    setup.mute = true;
    setup.slow_at = memory_offset(1234);
    run_slow(&setup, line, sizeof line);
}

Test(engine, a_failed_record_stops_all_and_its_offset_stays)
{
    struct setup setup;
    prepare(&setup, 4, 2, 2);
    setup.fail_at = memory_offset(777);
    struct error err;
    struct engine *engine = create(&setup, &err);
    cr_assert_not_null(engine);
    engine_start(engine);
    cr_assert(engine_wait(engine, 60000));
    cr_assert_not(engine_result(engine, &err));
    cr_assert_eq(err.code, E_RECORD);
    cr_assert_not_null(strstr(err.text, "memory ["));
    cr_assert_not_null(strstr(err.text, "at offset 888: no good"));
    /* the two partitions may both have met it; none is committed beyond it */
    for (int32_t p = 0; p < 2; p++) {
        cr_expect_leq(memory_source_committed(setup.sources[p], p), setup.fail_at);
        struct memory_output output = memory_sink_output(setup.sinks[p], p);
        cr_expect_leq(output.count, 777);
    }
    engine_destroy(engine);
}

Test(engine, a_stop_drains_what_runs_and_commits_it)
{
    struct setup setup;
    prepare(&setup, 2, 2, 1);
    setup.topic.records = 1000000;
    setup.options.exit_at_end = false;
    struct error err;
    struct engine *engine = create(&setup, &err);
    cr_assert_not_null(engine);
    engine_start(engine);
    cr_assert_not(engine_wait(engine, 100));
    engine_stop(engine, false);
    cr_assert(engine_wait(engine, 60000));
    cr_assert(engine_result(engine, &err), "drained");
    size_t count = memory_sink_output(setup.sinks[0], 0).count;
    cr_assert_gt(count, 0);
    cr_assert_lt(count, 1000000);
    /* offsets have gaps: anything from the one behind the last output to the next record will do */
    int64_t committed = memory_source_committed(setup.sources[0], 0);
    cr_assert_gt(committed, memory_offset(count - 1));
    cr_assert_leq(committed, memory_offset(count));
    engine_destroy(engine);
}
