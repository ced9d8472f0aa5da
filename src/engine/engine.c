#include "engine/engine.h"

#include <stdatomic.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/wakeup.h"
#include "engine/pipeline.h"
#include "engine/thread_groups.h"
#include "engine/worker.h"

enum {
    CHECK_MS = 250, /* between two looks at the pipelines when nobody signals */
    GRACE_MS = 1000 /* for workers that are still in user code when all pipelines are closed */
};

struct engine {
    const struct engine_options *options; /* constant, and so are the next two */
    const struct clock_source *clock;
    const struct engine_ports *ports;
    struct metrics_registry *metrics;
    struct pipeline **pipelines;
    unsigned pipeline_count;
    struct worker **workers;
    unsigned worker_count;
    struct wakeup wakeup;
    bool stopping;
    bool ended;
    bool stuck;
    int64_t grace_until_ms; /* 0: some pipeline is still open */
};

static bool create_pipeline(struct engine *engine, unsigned index, struct error *err);
static bool create_workers(struct engine *engine, unsigned index, struct error *err);
static bool look(struct engine *engine);
static bool end_workers(struct engine *engine);

struct engine *engine_create(const struct engine_options *options, const struct engine_ports *ports,
                             const struct clock_source *clock, struct error *err)
{
    unsigned n = options->num_stream_threads;
    unsigned k = options->num_threads_per_task;
    if (!thread_groups_check(n, k, err)) {
        return NULL;
    }
    struct engine *engine = memory_alloc_aligned(sizeof *engine);
    engine->options = options;
    engine->ports = ports;
    engine->clock = clock;
    engine->metrics = metrics_registry_create();
    wakeup_init(&engine->wakeup);
    unsigned count = thread_groups_count(n, k);
    engine->pipelines = memory_alloc_array(count, sizeof *engine->pipelines);
    engine->workers = memory_alloc_array(n, sizeof *engine->workers);
    for (unsigned i = 0; i < count; i++) {
        if (!create_pipeline(engine, i, err) || !create_workers(engine, i, err)) {
            engine_destroy(engine);
            return NULL;
        }
    }
    CHECK(engine->worker_count == n);
    return engine;
}

static bool create_pipeline(struct engine *engine, unsigned index, struct error *err)
{
    const struct engine_options *options = engine->options;
    struct source *source = engine->ports->open_source(engine->ports->context, index, err);
    if (source == NULL) {
        return false;
    }
    struct sink *sink = engine->ports->open_sink(engine->ports->context, index, err);
    if (sink == NULL) {
        source->ops->destroy(source);
        return false;
    }
    engine->pipelines[engine->pipeline_count++] = pipeline_create(&(struct pipeline_options){
        .index = index,
        .workers =
            thread_groups_size(options->num_stream_threads, options->num_threads_per_task, index),
        .engine = options,
        .clock = engine->clock,
        .source = source,
        .sink = sink,
        .metrics = engine->metrics,
        .observer = &engine->wakeup,
    });
    return true;
}

static bool create_workers(struct engine *engine, unsigned index, struct error *err)
{
    const struct engine_options *options = engine->options;
    const struct processor_factory *factory = &engine->ports->processors;
    unsigned size =
        thread_groups_size(options->num_stream_threads, options->num_threads_per_task, index);
    for (unsigned i = 0; i < size; i++) {
        struct processor *processor = factory->create(factory->context, engine->worker_count, err);
        if (processor == NULL) {
            return false;
        }
        engine->workers[engine->worker_count] = worker_create(&(struct worker_options){
            .index = engine->worker_count,
            .exchange = pipeline_exchange(engine->pipelines[index]),
            .processor = processor,
            .clock = engine->clock,
            .policy = &options->failure,
            .metrics = metrics_registry_add_worker(engine->metrics, index, engine->worker_count),
            .observer = &engine->wakeup,
        });
        engine->worker_count++;
    }
    pipeline_watch(engine->pipelines[index], engine->workers + engine->worker_count - size, size);
    return true;
}

void engine_destroy(struct engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (unsigned i = 0; i < engine->worker_count; i++) {
        worker_destroy(engine->workers[i]);
    }
    for (unsigned i = 0; i < engine->pipeline_count; i++) {
        pipeline_destroy(engine->pipelines[i]);
    }
    metrics_registry_destroy(engine->metrics);
    wakeup_fini(&engine->wakeup);
    memory_free(engine->workers);
    memory_free(engine->pipelines);
    memory_free(engine);
}

void engine_start(struct engine *engine)
{
    for (unsigned i = 0; i < engine->worker_count; i++) {
        worker_start(engine->workers[i]);
    }
    for (unsigned i = 0; i < engine->pipeline_count; i++) {
        pipeline_start(engine->pipelines[i]);
    }
}

bool engine_wait(struct engine *engine, int timeout_ms)
{
    int64_t end_ms = clock_ms(engine->clock) + timeout_ms;
    while (!engine->ended) {
        wakeup_prepare(&engine->wakeup);
        if (look(engine)) {
            wakeup_cancel(&engine->wakeup);
            engine->ended = true;
            break;
        }
        int64_t left_ms = timeout_ms < 0 ? CHECK_MS : end_ms - clock_ms(engine->clock);
        if (left_ms <= 0) {
            wakeup_cancel(&engine->wakeup);
            return false;
        }
        wakeup_wait(&engine->wakeup, left_ms < CHECK_MS ? (int)left_ms : CHECK_MS);
    }
    return true;
}

/* Looks at all threads and stops them when it is time. True: the end. */
static bool look(struct engine *engine)
{
    bool closed = true;
    bool at_end = true;
    bool failed = false;
    for (unsigned i = 0; i < engine->pipeline_count; i++) {
        closed = closed && pipeline_state(engine->pipelines[i]) == PIPELINE_CLOSED;
        at_end = at_end && pipeline_is_at_end(engine->pipelines[i]);
        failed = failed || pipeline_has_failed(engine->pipelines[i]);
    }
    if (!engine->stopping && (failed || (at_end && engine->options->exit_at_end))) {
        engine->stopping = true;
        engine_stop(engine, false);
    }
    return closed && end_workers(engine);
}

/* All pipelines are closed: sends the workers home. True: they are, or their grace is over. */
static bool end_workers(struct engine *engine)
{
    int64_t now_ms = clock_ms(engine->clock);
    if (engine->grace_until_ms == 0) {
        engine->grace_until_ms = now_ms + GRACE_MS;
        for (unsigned i = 0; i < engine->pipeline_count; i++) {
            pipeline_join(engine->pipelines[i]);
            exchange_close(pipeline_exchange(engine->pipelines[i]));
        }
    }
    bool all = true;
    for (unsigned i = 0; i < engine->worker_count; i++) {
        all = all && worker_has_ended(engine->workers[i]);
    }
    if (!all) {
        engine->stuck = now_ms >= engine->grace_until_ms;
        return engine->stuck;
    }
    for (unsigned i = 0; i < engine->worker_count; i++) {
        worker_join(engine->workers[i]);
    }
    return true;
}

void engine_stop(struct engine *engine, bool hurry)
{
    for (unsigned i = 0; i < engine->pipeline_count; i++) {
        pipeline_stop(engine->pipelines[i], hurry);
    }
}

bool engine_result(const struct engine *engine, struct error *err)
{
    CHECK(engine->ended);
    bool good = true;
    for (unsigned i = 0; i < engine->pipeline_count; i++) {
        struct error one;
        if (!pipeline_result(engine->pipelines[i], &one) && (good || err->code == E_DRAIN)) {
            *err = one;
            good = false;
        }
    }
    return good;
}

bool engine_is_stuck(const struct engine *engine)
{
    return engine->stuck;
}

struct metrics_registry *engine_metrics(const struct engine *engine)
{
    return engine->metrics;
}

unsigned engine_pipeline_count(const struct engine *engine)
{
    return engine->pipeline_count;
}
