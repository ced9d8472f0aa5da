/*
 * script_case: one case of a test of a script, on the engine's own pipeline, window and worker.
 *
 * Why: a test must show what a run would do, so nothing of the engine is rebuilt here: only source,
 * sink and clock are in memory, and one thread takes the turns of both sides. The functions
 * tide_case_* of script/tool_abi.h are implemented here; the test's Lua code calls them.
 *
 * Thread: one, which plays poll thread and worker.
 * Owns: configuration, script, engine parts and all records, until close.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "cli/case_processor.h"
#include "cli/case_sink.h"
#include "cli/case_source.h"
#include "cli/runtime.h"
#include "config/config.h"
#include "engine/pipeline.h"
#include "engine/worker.h"
#include "script/lua_processor.h"
#include "script/lua_tool.h"

enum { MS_NS = 1000000, TURNS_MAX = 100000 };

/* The clock of a new case: milliseconds since 1970 at 2024-01-01T00:00:00Z. */
#define EPOCH_MS INT64_C(1704067200000)

struct tide_case {
    struct config cfg;
    struct runtime runtime;
    struct clock_source clock;
    int64_t now_ns;
    struct source *source; /* the pipeline's */
    struct sink *sink;     /* the pipeline's */
    struct processor *processor;
    struct pipeline *pipeline;
    struct worker *worker;
    struct arena arena; /* bytes of the input */
    bool stopped;
    struct error why;
};

static int64_t monotonic_ns(void *context)
{
    return ((struct tide_case *)context)->now_ns;
}

static int64_t wall_ms(void *context)
{
    return EPOCH_MS + ((struct tide_case *)context)->now_ns / MS_NS;
}

static bool load_config(struct tide_case *run, const char *script,
                        const struct tide_setting *settings, size_t count, struct error *err)
{
    struct config_setting *all = memory_alloc_array(count + 2, sizeof *all);
    struct config_request request = {.settings = all, .setting_count = count + 2};
    all[0] = (struct config_setting){"script", "script", "file", script};
    all[1] = (struct config_setting){"output", "moontide", "output.topic", "output"};
    for (size_t i = 0; i < count; i++) {
        struct config_setting *one = &all[i + 2];
        *one = (struct config_setting){"options", settings[i].section, settings[i].name,
                                       settings[i].value};
        if (one->section == NULL) {
            config_split_key(settings[i].name, &one->section, &one->name);
        }
    }
    config_init(&run->cfg);
    bool ok = config_load(&run->cfg, &request, err);
    memory_free(all);
    return ok;
}

static bool start(struct tide_case *run, struct error *err)
{
    struct processor_factory factory = lua_processor_factory(run->runtime.script);
    struct processor *within = factory.create(factory.context, 0, err);
    if (within == NULL) {
        return false;
    }
    run->processor = case_processor_create(within);
    run->source = case_source_create();
    run->sink = case_sink_create(run->cfg.output_topic, &run->clock);
    run->pipeline = pipeline_create(&(struct pipeline_options){
        .workers = 1,
        .engine = &run->runtime.options,
        .clock = &run->clock,
        .source = run->source,
        .sink = run->sink,
    });
    run->worker = worker_create(&(struct worker_options){
        .exchange = pipeline_exchange(run->pipeline),
        .processor = run->processor,
        .clock = &run->clock,
        .policy = &run->runtime.options.failure,
    });
    return true;
}

static bool turn_worker(struct tide_case *run)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    bool worked = worker_turn(run->worker);
    case_processor_settle(run->processor);
    return worked;
}

/* Both sides take turns until neither has anything to do now; a record that is tried again at once
 * and for ever does not hold up the test. */
static void settle(struct tide_case *run)
{
    bool worked = true;
    for (unsigned turns = 0; worked && turns < TURNS_MAX; turns++) {
        thread_role_set(ROLE_POLL);
        thread_assert_poll();
        worked = pipeline_turn(run->pipeline);
        worked |= turn_worker(run);
        worked = worked && pipeline_state(run->pipeline) != PIPELINE_CLOSED;
    }
    thread_role_set(ROLE_NONE);
}

/* The longest step that nothing which is due in it comes too late. */
static void pass(struct tide_case *run, int64_t ms)
{
    settle(run);
    while (ms > 0 && pipeline_state(run->pipeline) != PIPELINE_CLOSED) {
        thread_role_set(ROLE_POLL);
        thread_assert_poll();
        int64_t step_ms = pipeline_idle_ms(run->pipeline);
        step_ms = step_ms < 1 ? 1 : step_ms;
        step_ms = step_ms < ms ? step_ms : ms;
        run->now_ns += step_ms * MS_NS;
        ms -= step_ms;
        settle(run);
    }
    run->now_ns += ms * MS_NS;
}

static void end(struct tide_case *run)
{
    if (run->worker) {
        pipeline_stop(run->pipeline, false);
        while (pipeline_state(run->pipeline) != PIPELINE_CLOSED) {
            pass(run, 1000);
        }
        thread_role_set(ROLE_WORKER);
        run->processor->ops->close(run->processor);
        thread_role_set(ROLE_NONE);
    }
    worker_destroy(run->worker);
    pipeline_destroy(run->pipeline);
    runtime_close(&run->runtime);
    config_fini(&run->cfg);
    arena_fini(&run->arena);
    memory_free(run);
}

EXPORTED struct tide_case *tide_case_open(struct tide_tool *tool, const char *script,
                                          const struct tide_setting *settings, size_t count,
                                          bool *loads, const char **why)
{
    CHECK(settings != NULL);
    struct tide_case *run = memory_alloc(sizeof *run);
    run->clock = (struct clock_source){monotonic_ns, wall_ms, run};
    run->now_ns = MS_NS; /* 0 means "not yet" in some places */
    arena_init(&run->arena);
    lua_tool_set_case(tool, run, end);
    struct error err = {.code = E_NONE};
    bool ok = load_config(run, script, settings, count, &err) &&
              runtime_check(&run->runtime, &run->cfg, &err) && start(run, &err);
    *loads = ok || err.code != E_SCRIPT;
    if (!ok) {
        *why = lua_tool_keep(tool, err.text);
        lua_tool_set_case(tool, NULL, NULL);
        return NULL;
    }
    settle(run);
    return run;
}

EXPORTED void tide_case_close(struct tide_tool *tool)
{
    lua_tool_set_case(tool, NULL, NULL);
}

static const char *copy_or_null(struct tide_case *run, const char *bytes, size_t size)
{
    return bytes ? arena_copy(&run->arena, bytes, size) : NULL;
}

EXPORTED bool tide_case_push(struct tide_case *run, const struct tide_case_record *record)
{
    if (pipeline_state(run->pipeline) != PIPELINE_RUNNING) {
        return false;
    }
    struct header *headers = arena_alloc(&run->arena, record->header_count * sizeof *headers);
    for (uint32_t i = 0; i < record->header_count; i++) {
        const struct tide_header *one = &record->headers[i];
        headers[i] = (struct header){.name = arena_copy(&run->arena, one->name, one->name_size),
                                     .value = copy_or_null(run, one->value, one->value_size),
                                     .name_size = one->name_size,
                                     .value_size = one->value_size};
    }
    struct case_input input = {
        .rec = {.key = copy_or_null(run, record->key, record->key_size),
                .value = copy_or_null(run, record->value, record->value_size),
                .key_size = record->key_size,
                .value_size = record->value_size,
                .offset = record->offset,
                .timestamp_ms = record->timestamp_ms < 0 ? wall_ms(run) : record->timestamp_ms,
                .topic = record->topic,
                .partition = record->partition,
                .leader_epoch = -1},
        .headers = headers,
        .header_count = record->header_count,
    };
    bool ok = case_source_push(run->source, &input);
    settle(run);
    return ok;
}

EXPORTED void tide_case_advance(struct tide_case *run, int64_t ms)
{
    CHECK(ms >= 0);
    pass(run, ms);
}

EXPORTED void tide_case_fail_at(struct tide_case *run, int64_t offset, uint32_t times)
{
    case_processor_fail_at(run->processor, offset, times);
}

EXPORTED bool tide_case_output(const struct tide_case *run, size_t index,
                               struct tide_case_record *out)
{
    const struct emission *output = case_sink_output(run->sink, index);
    if (output == NULL) {
        return false;
    }
    *out = (struct tide_case_record){
        .topic = output->topic,
        .key = output->key,
        .value = output->value,
        .key_size = output->key_size,
        .value_size = output->value_size,
        .timestamp_ms = output->timestamp_ms,
        .offset = -1,
        .partition = output->partition,
        .header_count = output->header_count,
        .headers = (const struct tide_header *)output->headers,
    };
    return true;
}

static uint32_t fate(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_RETRY:
        return TIDE_CASE_RETRIES;
    case OUTCOME_SKIPPED:
        return TIDE_CASE_SKIPS;
    case OUTCOME_DEAD_LETTER:
        return TIDE_CASE_LETTERS;
    default:
        return TIDE_CASE_STOPS;
    }
}

EXPORTED bool tide_case_failure(const struct tide_case *run, size_t index,
                                struct tide_case_failure *out)
{
    const struct case_failure *failure = case_processor_failure(run->processor, index);
    if (failure == NULL) {
        return false;
    }
    *out = (struct tide_case_failure){
        .topic = failure->topic,
        .reason = failure->reason,
        .offset = failure->offset,
        .partition = failure->partition,
        .attempt = failure->attempt,
        .outcome = fate(failure->outcome),
    };
    return true;
}

EXPORTED const char *tide_case_stopped(struct tide_case *run)
{
    if (!run->stopped && pipeline_has_failed(run->pipeline)) {
        for (int i = 0; i < 100 && pipeline_state(run->pipeline) != PIPELINE_CLOSED; i++) {
            pass(run, 1000);
        }
        run->stopped = true;
        if (pipeline_state(run->pipeline) != PIPELINE_CLOSED ||
            pipeline_result(run->pipeline, &run->why)) {
            error_set(&run->why, E_RECORD, "a record failed");
        }
    }
    return run->stopped ? run->why.text : NULL;
}

EXPORTED const char *tide_case_output_topic(const struct tide_case *run)
{
    return run->cfg.output_topic;
}

EXPORTED const char *tide_case_letter_topic(const struct tide_case *run)
{
    return run->cfg.dead_letter_topic;
}

EXPORTED int64_t tide_case_now_ms(const struct tide_case *run)
{
    return EPOCH_MS + run->now_ns / MS_NS;
}
