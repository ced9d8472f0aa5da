#include "engine/pipeline.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wakeup.h"
#include "engine/commit_plan.h"
#include "engine/partition_table.h"
#include "engine/rebalance.h"
#include "engine/slow_watch.h"

enum {
    COLLECT_MAX = 1024, /* slots, reports and events a turn: a turn stays short */
    SLOTS_MAX = 256,
    REPORTS_MAX = 256,
    EVENTS_MAX = 64,
    CHECK_TURNS = 64,        /* debug builds check the invariants every so many turns */
    IDLE_MS = 250,           /* the longest sleep: keeps the membership alive */
    IDLE_ENDING_MS = 5,      /* while a drain waits for the clock */
    COMMIT_RETRY_MS = 100,   /* after a refusal, when the end waits for it */
    REVOKE_COMMIT_MS = 5000, /* for the commit of what is revoked */
    LEAVE_MS = 5000,         /* for the farewell to the group */
    LEAVE_HURRY_MS = 2000,
    LOOK_MS = 100 /* between two looks at what changes slowly */
};

enum stop_request { STOP_NONE, STOP_DRAIN, STOP_HURRY };

struct pipeline {
    unsigned index; /* constant, and so are the next nine */
    const struct engine_options *engine;
    const struct clock_source *clock;
    struct source *source;
    struct sink *sink;
    struct exchange *exchange;
    struct wakeup *observer; /* or NULL */
    struct metrics_registry *metrics;
    struct metrics_registry *own_metrics; /* what `metrics` is when nobody reads, else NULL */
    struct pipeline_metrics *counters;
    struct wakeup wakeup;
    struct thread thread;
    ATOMIC(any, poll_thread) atomic_int stop;  /* enum stop_request */
    ATOMIC(poll_thread, any) atomic_int state; /* enum pipeline_state */
    ATOMIC(poll_thread, any) atomic_bool at_end;
    ATOMIC(poll_thread, any) atomic_bool failed;
    struct partition_table table OWNED_BY(poll_thread);
    struct commit_plan plan OWNED_BY(poll_thread);
    struct rebalance rebalance OWNED_BY(poll_thread);
    struct slow_watch slow OWNED_BY(poll_thread);
    int64_t look_ms OWNED_BY(poll_thread);   /* time of the next look */
    size_t admit_next OWNED_BY(poll_thread); /* where the next turn begins to admit */
    int64_t end_ms OWNED_BY(poll_thread);    /* DRAINING, CLOSING: give up then */
    bool ready OWNED_BY(poll_thread);        /* the assignment is whole */
    bool source_closed OWNED_BY(poll_thread);
    bool sink_broken OWNED_BY(poll_thread); /* it was told and acted upon */
    bool source_dead OWNED_BY(poll_thread); /* SOURCE_FATAL: nothing can be committed */
    bool undrained OWNED_BY(poll_thread);
    uint64_t failures OWNED_BY(poll_thread);
    struct failure_log failure_log OWNED_BY(poll_thread);
    struct error error; /* of the first failure, or of the record that a restart begins with; read
                           by others after CLOSED */
};

static bool collect(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static bool try_again(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static bool deliver(struct pipeline *pipeline) ON_THREAD(poll_thread);
static bool follow(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static bool retire(struct pipeline *pipeline) ON_THREAD(poll_thread);
static bool commit(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static bool admit(struct pipeline *pipeline) ON_THREAD(poll_thread);
static bool advance(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static void look(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static void publish(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread);
static void fail(struct pipeline *pipeline, const struct error *err) ON_THREAD(poll_thread);
static void tell_observer(struct pipeline *pipeline);
static void loop(void *context);

/* --- life ---------------------------------------------------------------------------------- */

struct pipeline *pipeline_create(const struct pipeline_options *options) NO_THREAD_ANALYSIS
{
    CHECK(options->workers >= 1);
    CHECK(options->source != NULL);
    CHECK(options->sink != NULL);
    struct pipeline *pipeline = memory_alloc_aligned(sizeof *pipeline);
    pipeline->index = options->index;
    pipeline->engine = options->engine;
    pipeline->clock = options->clock;
    pipeline->source = options->source;
    pipeline->sink = options->sink;
    pipeline->observer = options->observer;
    pipeline->own_metrics = options->metrics ? NULL : metrics_registry_create();
    pipeline->metrics = options->metrics ? options->metrics : pipeline->own_metrics;
    pipeline->counters = metrics_registry_add_pipeline(pipeline->metrics, options->index);
    wakeup_init(&pipeline->wakeup);
    pipeline->exchange = exchange_create(options->workers, &pipeline->wakeup);
    atomic_init(&pipeline->stop, STOP_NONE);
    atomic_init(&pipeline->state, PIPELINE_RUNNING);
    atomic_init(&pipeline->at_end, false);
    atomic_init(&pipeline->failed, false);
    partition_table_init(&pipeline->table);
    commit_plan_init(&pipeline->plan);
    rebalance_init(&pipeline->rebalance);
    pipeline->source->ops->attach(pipeline->source, &pipeline->wakeup);
    pipeline->sink->ops->attach(pipeline->sink, &pipeline->wakeup);
    return pipeline;
}

void pipeline_destroy(struct pipeline *pipeline) NO_THREAD_ANALYSIS
{
    if (pipeline == NULL) {
        return;
    }
    CHECK(!pipeline->thread.running);
    pipeline->sink->ops->destroy(pipeline->sink); /* it may borrow bytes of slots */
    enum thread_role_kind role = thread_role_get();
    thread_role_set(ROLE_POLL); /* the poll thread has ended; records go back on that thread only */
    partition_table_fini(&pipeline->table);
    thread_role_set(role);
    pipeline->source->ops->destroy(pipeline->source);
    slow_watch_fini(&pipeline->slow);
    rebalance_fini(&pipeline->rebalance);
    commit_plan_fini(&pipeline->plan);
    exchange_destroy(pipeline->exchange);
    metrics_registry_destroy(pipeline->own_metrics);
    wakeup_fini(&pipeline->wakeup);
    memory_free(pipeline);
}

void pipeline_watch(struct pipeline *pipeline, struct worker *const *workers,
                    size_t count) NO_THREAD_ANALYSIS
{
    CHECK(pipeline->slow.count == 0);
    slow_watch_init(&pipeline->slow, workers, count);
}

void pipeline_start(struct pipeline *pipeline)
{
    char name[16];
    snprintf(name, sizeof name, "poll-%u", pipeline->index);
    thread_start(&pipeline->thread, name, ROLE_POLL, loop, pipeline);
}

void pipeline_join(struct pipeline *pipeline)
{
    thread_join(&pipeline->thread);
}

static void loop(void *context)
{
    struct pipeline *pipeline = context;
    thread_assert_poll();
    while (pipeline_state(pipeline) != PIPELINE_CLOSED) {
        if (pipeline_turn(pipeline)) {
            continue;
        }
        wakeup_prepare(&pipeline->wakeup);
        if (pipeline_turn(pipeline)) { /* the second look that the wake-up protocol asks for */
            wakeup_cancel(&pipeline->wakeup);
        } else {
            wakeup_wait(&pipeline->wakeup, pipeline_idle_ms(pipeline));
        }
    }
}

/* --- the turn ------------------------------------------------------------------------------ */

bool pipeline_turn(struct pipeline *pipeline)
{
    thread_assert_poll();
    int64_t now_ms = clock_ms(pipeline->clock);
    bool worked = collect(pipeline, now_ms);
    worked |= try_again(pipeline, now_ms);
    worked |= deliver(pipeline);
    worked |= follow(pipeline, now_ms);
    worked |= retire(pipeline);
    worked |= commit(pipeline, now_ms);
    worked |= admit(pipeline);
    worked |= advance(pipeline, now_ms);
    look(pipeline, now_ms);
    publish(pipeline, now_ms);
#ifdef TIDE_DEBUG
    if (pipeline->admit_next % CHECK_TURNS == 0) {
        pipeline_check(pipeline, false);
    }
#endif
    return worked;
}

/* What need not be known at every turn. */
static void look(struct pipeline *pipeline, int64_t now_ms)
{
    if (now_ms < pipeline->look_ms) {
        return;
    }
    pipeline->look_ms = now_ms + LOOK_MS;
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        partition_look(pipeline->table.active[i], now_ms);
    }
    struct source *source = pipeline->source;
    bool away = source->ops->is_away && source->ops->is_away(source);
    metric_set(&pipeline->counters->away, away);
    slow_watch_look(&pipeline->slow, &pipeline->table, pipeline->counters,
                    pipeline->engine->slow_record_warn_ms, clock_ns(pipeline->clock));
}

static_assert((int)PHASE_RUNNING == (int)PIPELINE_RUNNING, "one number");
static_assert((int)PHASE_DRAINING == (int)PIPELINE_DRAINING, "one number");
static_assert((int)PHASE_CLOSING == (int)PIPELINE_CLOSING, "one number");
static_assert((int)PHASE_CLOSED == (int)PIPELINE_CLOSED, "one number");

static void publish(struct pipeline *pipeline, int64_t now_ms)
{
    struct pipeline_metrics *counters = pipeline->counters;
    metric_set(&counters->turn_ms, now_ms);
    metric_set(&counters->phase, (int64_t)pipeline_state(pipeline));
    metric_set(&counters->partitions, (int64_t)pipeline->table.active_count);
    if (pipeline->ready) {
        metric_set(&counters->assignment, ASSIGNMENT_WHOLE);
    } else if (metric_get(&counters->assignment) == ASSIGNMENT_WHOLE) {
        metric_set(&counters->assignment, ASSIGNMENT_OPEN);
    }
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        partition_publish(pipeline->table.active[i], now_ms);
    }
    for (size_t i = 0; i < pipeline->table.dead_count; i++) {
        partition_publish(pipeline->table.dead[i], now_ms);
    }
}

/* Takes back what the workers finished. */
static bool collect(struct pipeline *pipeline, int64_t now_ms)
{
    struct slot *slots[SLOTS_MAX];
    size_t total = 0;
    while (total < COLLECT_MAX) {
        size_t count = exchange_collect(pipeline->exchange, slots, SLOTS_MAX);
        for (size_t i = 0; i < count; i++) {
            struct error err;
            struct partition *part = commit_window_owner(slots[i]->window);
            if (partition_complete(part, slots[i], now_ms, &err) == PARTITION_FAILED) {
                fail(pipeline, &err);
            }
        }
        total += count;
        if (count < SLOTS_MAX) {
            break;
        }
    }
    return total > 0;
}

/* Hands out again what failed and is due. */
static bool try_again(struct pipeline *pipeline, int64_t now_ms)
{
    bool worked = false;
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        worked |= partition_retry(pipeline->table.active[i], now_ms) == PARTITION_WORKED;
    }
    for (size_t i = 0; i < pipeline->table.dead_count; i++) {
        worked |= partition_retry(pipeline->table.dead[i], now_ms) == PARTITION_WORKED;
    }
    return worked;
}

/* Takes the sink's delivery reports. */
static bool deliver(struct pipeline *pipeline)
{
    struct delivery reports[REPORTS_MAX];
    struct error err;
    size_t total = 0;
    while (total < COLLECT_MAX) {
        size_t count = pipeline->sink->ops->poll(pipeline->sink, reports, REPORTS_MAX);
        for (size_t i = 0; i < count; i++) {
            struct partition *part =
                partition_table_find(&pipeline->table, partition_tag_id(reports[i].tag));
            if (part && partition_ack(part, &reports[i], &err) == PARTITION_FAILED) {
                fail(pipeline, &err);
            }
        }
        total += count;
        if (count < REPORTS_MAX) {
            break;
        }
    }
    if (!pipeline->sink_broken && pipeline->sink->ops->broken(pipeline->sink, &err)) {
        pipeline->sink_broken = true;
        fail(pipeline, &err);
        pipeline_stop(pipeline, true); /* a drain would wait for reports that never come */
    }
    return total > 0;
}

/* --- what the source says ------------------------------------------------------------------ */

static struct partition_options partition_defaults(struct pipeline *pipeline) ON_THREAD(poll_thread)
{
    return (struct partition_options){
        .engine = pipeline->engine,
        .source = pipeline->source,
        .sink = pipeline->sink,
        .exchange = pipeline->exchange,
        .clock = pipeline->clock,
        .metrics = pipeline->metrics,
        .counters = pipeline->counters,
        .failures = &pipeline->failure_log,
        .pipeline = pipeline->index,
    };
}

static void assign(struct pipeline *pipeline, const struct source_event *event)
    ON_THREAD(poll_thread)
{
    for (size_t i = 0; i < event->partition_count; i++) {
        struct partition_options options = partition_defaults(pipeline);
        options.where = event->partitions[i];
        struct partition *part = partition_table_add(&pipeline->table, &options);
        log_info("partition assigned", LOG_STR("event", "assign"),
                 LOG_STR("topic", options.where.topic),
                 LOG_INT("partition", options.where.partition),
                 LOG_INT("epoch", commit_window_epoch(partition_window(part))),
                 LOG_INT("pipeline", pipeline->index));
        if (pipeline_state(pipeline) != PIPELINE_RUNNING) {
            partition_drain(part);
        }
    }
    pipeline->source->ops->answer(pipeline->source);
}

/* What is revoked by the end of the pipeline had its drain before. */
static void revoke(struct pipeline *pipeline, const struct source_event *event, int64_t now_ms)
    ON_THREAD(poll_thread)
{
    pipeline->ready = false;
    bool ending = pipeline_state(pipeline) == PIPELINE_CLOSING;
    int64_t drain_until_ms = ending ? now_ms : now_ms + pipeline->engine->drain_timeout_ms;
    rebalance_begin(&pipeline->rebalance, &pipeline->table, event, drain_until_ms,
                    drain_until_ms + REVOKE_COMMIT_MS);
}

static void lose(struct pipeline *pipeline, const struct source_event *event) ON_THREAD(poll_thread)
{
    pipeline->ready = false;
    for (size_t i = 0; i < event->partition_count; i++) {
        struct partition *part =
            partition_table_find_handle(&pipeline->table, event->partitions[i].handle);
        CHECK(part != NULL);
        log_warn("partition lost", LOG_STR("event", "lost"),
                 LOG_STR("topic", partition_where(part)->topic),
                 LOG_INT("partition", partition_where(part)->partition),
                 LOG_INT("abandoned", commit_window_used(partition_window(part))));
        partition_table_kill(&pipeline->table, part);
    }
    pipeline->source->ops->answer(pipeline->source);
}

static void confirm(struct pipeline *pipeline, const struct source_event *event, int64_t now_ms)
    ON_THREAD(poll_thread)
{
    size_t refused = commit_plan_confirm(&pipeline->plan, &pipeline->table, event);
    histogram_add(&pipeline->counters->commit_time, &histogram_coarse,
                  now_ms - pipeline->plan.sent_ms, 1);
    metric_add(refused ? &pipeline->counters->commits_refused : &pipeline->counters->commits, 1);
    if (refused > 0) {
        pipeline->plan.retry_ms = now_ms + COMMIT_RETRY_MS;
        log_warn("commit refused, will be tried again", LOG_STR("event", "commit_refused"),
                 LOG_INT("pipeline", pipeline->index), LOG_INT("partitions", refused),
                 LOG_STR("reason", event->err ? event->err->text : NULL));
    }
}

static void handle(struct pipeline *pipeline, const struct source_event *event, int64_t now_ms)
    ON_THREAD(poll_thread)
{
    struct partition *part;
    switch (event->kind) {
    case SOURCE_NOTHING:
        break;
    case SOURCE_ASSIGN:
        assign(pipeline, event);
        break;
    case SOURCE_REVOKE:
        revoke(pipeline, event, now_ms);
        break;
    case SOURCE_LOST:
        lose(pipeline, event);
        break;
    case SOURCE_END:
        part = partition_table_find_handle(&pipeline->table, event->handle);
        if (part) {
            partition_set_at_end(part);
        }
        break;
    case SOURCE_COMMITTED:
        confirm(pipeline, event, now_ms);
        break;
    case SOURCE_READY:
        pipeline->ready = true;
        break;
    case SOURCE_FAILED:
        fail(pipeline, event->err);
        break;
    case SOURCE_FATAL:
        pipeline->source_dead = true;
        fail(pipeline, event->err);
        break;
    case SOURCE_CLOSED:
        pipeline->source_closed = true;
        break;
    }
}

static bool follow(struct pipeline *pipeline, int64_t now_ms)
{
    int count = 0;
    while (count < EVENTS_MAX && !pipeline->source_closed) {
        struct source_event event = pipeline->source->ops->poll(pipeline->source);
        if (event.kind == SOURCE_NOTHING) {
            break;
        }
        handle(pipeline, &event, now_ms);
        count++;
    }
    bool answered = rebalance_turn(&pipeline->rebalance, &pipeline->table, &pipeline->plan,
                                   pipeline->source, now_ms);
    return count > 0 || answered;
}

/* --- retire, commit, admit ----------------------------------------------------------------- */

static bool retire(struct pipeline *pipeline)
{
    bool sent = false;
    bool released = partition_table_reap(&pipeline->table);
    struct error err;
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        struct partition *part = pipeline->table.active[i];
        enum partition_result result = partition_retire(part, &err);
        if (result == PARTITION_FAILED) {
            fail(pipeline, &err);
        }
        sent |= result == PARTITION_WORKED;
        released |= partition_release(part) == PARTITION_WORKED;
    }
    pipeline->sink->ops->push(pipeline->sink);
    return sent || released;
}

/* All of the active partitions are as drained as they get. */
static bool is_quiet(struct pipeline *pipeline) ON_THREAD(poll_thread)
{
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        if (!partition_is_quiet(pipeline->table.active[i])) {
            return false;
        }
    }
    return true;
}

static bool is_read_to_end(const struct pipeline *pipeline) ON_THREAD(poll_thread)
{
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        if (!partition_is_at_end(pipeline->table.active[i])) {
            return false;
        }
    }
    return pipeline->ready && !pipeline->rebalance.open;
}

static void set_at_end(struct pipeline *pipeline, bool at_end)
{
    if (at_end != atomic_load_explicit(&pipeline->at_end, memory_order_relaxed)) {
        atomic_store_explicit(&pipeline->at_end, at_end, memory_order_release);
        tell_observer(pipeline);
    }
}

static bool commit(struct pipeline *pipeline, int64_t now_ms)
{
    struct commit_plan *plan = &pipeline->plan;
    bool ended = is_read_to_end(pipeline);
    bool dirty = commit_plan_is_dirty(&pipeline->table);
    set_at_end(pipeline, ended && !dirty && !plan->in_flight);
    /* not between a revoke and the assignment after it: the group refuses it, and librdkafka before
     * 2.10 loses the assignment over it */
    if (!dirty || plan->in_flight || pipeline->rebalance.open || !pipeline->ready ||
        pipeline->source_dead || pipeline_state(pipeline) >= PIPELINE_CLOSING) {
        return false;
    }
    bool last = ended && pipeline->engine->exit_at_end;
    bool draining = pipeline_state(pipeline) == PIPELINE_DRAINING && is_quiet(pipeline);
    bool due = (now_ms >= plan->due_ms || last || draining) && now_ms >= plan->retry_ms;
    if (!due || !commit_plan_send(plan, &pipeline->table, pipeline->source, now_ms)) {
        return false;
    }
    plan->due_ms = now_ms + pipeline->engine->commit_interval_ms;
    return true;
}

static bool admit(struct pipeline *pipeline)
{
    if (pipeline_state(pipeline) != PIPELINE_RUNNING) {
        return false;
    }
    bool worked = false;
    size_t count = pipeline->table.active_count;
    for (size_t i = 0; i < count; i++) {
        /* every turn begins with another partition, so that a small room serves all */
        size_t index = (pipeline->admit_next + i) % count;
        struct partition *part = pipeline->table.active[index];
        bool regressed;
        worked |= partition_admit(part, &regressed) == PARTITION_WORKED;
        if (regressed) {
            struct partition_options options = partition_defaults(pipeline);
            options.where = *partition_where(part);
            log_warn("the source went back, the partition begins a new epoch",
                     LOG_STR("event", "regress"), LOG_STR("topic", options.where.topic),
                     LOG_INT("partition", options.where.partition));
            partition_table_rebuild(&pipeline->table, part, &options);
            worked = true;
        }
    }
    pipeline->admit_next++;
    return worked;
}

/* --- the end ------------------------------------------------------------------------------- */

static void tell_observer(struct pipeline *pipeline)
{
    if (pipeline->observer) {
        wakeup_signal(pipeline->observer);
    }
}

static void set_state(struct pipeline *pipeline, enum pipeline_state state)
{
    atomic_store_explicit(&pipeline->state, state, memory_order_release);
    tell_observer(pipeline);
}

static void fail(struct pipeline *pipeline, const struct error *err)
{
    pipeline->failures++;
    bool earlier = err->code == E_RECORD && pipeline->error.code == E_RECORD;
    if (pipeline->failures > 1 && !earlier) {
        return;
    }
    if (err->code == E_CLOSED) {
        log_info("the pipeline ends", LOG_STR("event", "stop"),
                 LOG_INT("pipeline", pipeline->index), LOG_STR("reason", err->text));
    } else {
        /* the whole text, with its traceback, is the end's to show */
        log_error("the pipeline stops", LOG_STR("event", "stop"),
                  LOG_INT("pipeline", pipeline->index), LOG_STR("code", error_code_name(err->code)),
                  LOG_BYTES("reason", err->text, strcspn(err->text, "\n")));
    }
    pipeline->error = *err;
    atomic_store_explicit(&pipeline->failed, true, memory_order_release);
    tell_observer(pipeline);
    pipeline_stop(pipeline, false);
}

static void begin_drain(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread)
{
    set_state(pipeline, PIPELINE_DRAINING);
    pipeline->end_ms = now_ms + pipeline->engine->shutdown_timeout_ms;
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        partition_drain(pipeline->table.active[i]);
    }
}

static void begin_close(struct pipeline *pipeline, int64_t now_ms) ON_THREAD(poll_thread)
{
    pipeline->undrained =
        !is_quiet(pipeline) || commit_plan_is_dirty(&pipeline->table) || pipeline->plan.in_flight;
    set_state(pipeline, PIPELINE_CLOSING);
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        partition_freeze(pipeline->table.active[i]);
    }
    bool hurry = atomic_load_explicit(&pipeline->stop, memory_order_relaxed) == STOP_HURRY;
    pipeline->end_ms = now_ms + (hurry ? LEAVE_HURRY_MS : LEAVE_MS);
    pipeline->source->ops->close(pipeline->source);
}

/* The steps of the end; false: waits. */
static bool advance(struct pipeline *pipeline, int64_t now_ms)
{
    int stop = atomic_load_explicit(&pipeline->stop, memory_order_acquire);
    switch (pipeline_state(pipeline)) {
    case PIPELINE_RUNNING:
        if (stop == STOP_NONE) {
            return false;
        }
        begin_drain(pipeline, now_ms);
        return true;
    case PIPELINE_DRAINING:
        if (stop != STOP_HURRY && now_ms < pipeline->end_ms) {
            pipeline->sink->ops->hurry(pipeline->sink);
            bool saved = pipeline->source_dead ||
                         (!commit_plan_is_dirty(&pipeline->table) && !pipeline->plan.in_flight);
            if (!is_quiet(pipeline) || !saved) {
                return false;
            }
        }
        begin_close(pipeline, now_ms);
        return true;
    case PIPELINE_CLOSING:
        if (!pipeline->source_closed && now_ms < pipeline->end_ms) {
            return false;
        }
        failure_log_flush(&pipeline->failure_log);
        set_state(pipeline, PIPELINE_CLOSED);
        return true;
    case PIPELINE_CLOSED:
        break;
    }
    return false;
}

void pipeline_stop(struct pipeline *pipeline, bool hurry)
{
    int wanted = hurry ? STOP_HURRY : STOP_DRAIN;
    int present = atomic_load_explicit(&pipeline->stop, memory_order_relaxed);
    while (present < wanted &&
           !atomic_compare_exchange_weak_explicit(&pipeline->stop, &present, wanted,
                                                  memory_order_release, memory_order_relaxed)) {
    }
    wakeup_post(&pipeline->wakeup);
}

/* --- queries ------------------------------------------------------------------------------- */

/* The longest sleep: while workers run something, it may turn out to be slow. */
static int longest_idle_ms(const struct pipeline *pipeline) ON_THREAD(poll_thread)
{
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        if (commit_window_outstanding(partition_window(pipeline->table.active[i])) > 0) {
            return LOOK_MS;
        }
    }
    return IDLE_MS;
}

int pipeline_idle_ms(const struct pipeline *pipeline)
{
    if (pipeline_state(pipeline) != PIPELINE_RUNNING || pipeline->rebalance.open) {
        return IDLE_ENDING_MS;
    }
    int longest_ms = longest_idle_ms(pipeline);
    int64_t due_ms = commit_plan_is_dirty(&pipeline->table) ? pipeline->plan.due_ms : INT64_MAX;
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        int64_t retry_ms = partition_retry_due_ms(pipeline->table.active[i]);
        due_ms = retry_ms < due_ms ? retry_ms : due_ms;
    }
    int64_t wait_ms = due_ms - clock_ms(pipeline->clock);
    if (wait_ms < 1) {
        wait_ms = 1;
    }
    return wait_ms < longest_ms ? (int)wait_ms : longest_ms;
}

struct exchange *pipeline_exchange(struct pipeline *pipeline)
{
    return pipeline->exchange;
}

enum pipeline_state pipeline_state(const struct pipeline *pipeline)
{
    return (enum pipeline_state)atomic_load_explicit(&pipeline->state, memory_order_acquire);
}

bool pipeline_is_at_end(const struct pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->at_end, memory_order_acquire);
}

bool pipeline_has_failed(const struct pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->failed, memory_order_acquire);
}

bool pipeline_result(const struct pipeline *pipeline, struct error *err) NO_THREAD_ANALYSIS
{
    CHECK(pipeline_state(pipeline) == PIPELINE_CLOSED);
    if (pipeline->failures > 0) {
        *err = pipeline->error;
        return false;
    }
    if (pipeline->undrained) {
        return error_set(err, E_DRAIN,
                         "pipeline %u: not all records at work were finished and committed before "
                         "the end; they will be read again after a restart",
                         pipeline->index);
    }
    return true;
}

void pipeline_check(const struct pipeline *pipeline, bool exact)
{
    for (size_t i = 0; i < pipeline->table.active_count; i++) {
        commit_window_check(partition_window(pipeline->table.active[i]), exact);
    }
    for (size_t i = 0; i < pipeline->table.dead_count; i++) {
        commit_window_check(partition_window(pipeline->table.dead[i]), exact);
    }
}
