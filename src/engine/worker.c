#include "engine/worker.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/thread.h"

enum {
    BATCH_FIRST = 16,       /* while the cost of a record is unknown */
    BATCH_TIME_NS = 1000000 /* work worth a batch */
};

enum step { STEP_TAKE, STEP_RUN, STEP_GIVE };

struct worker {
    unsigned index; /* constant, and so are the next seven */
    struct exchange *exchange;
    struct processor *processor;
    const struct clock_source *clock;
    const struct failure_policy *policy;
    size_t batch_max;
    struct wakeup *observer; /* or NULL */
    struct worker_metrics *metrics;
    struct worker_metrics unread; /* what `metrics` is when nobody reads */
    struct thread thread;
    ATOMIC(worker_thread, any) atomic_bool running;
    enum step step OWNED_BY(worker_thread);
    int64_t
        record_ns OWNED_BY(worker_thread); /* moving average of the cost of a record; 0: unknown */
    size_t count OWNED_BY(worker_thread);
    size_t run_count OWNED_BY(worker_thread);
    struct slot *batch[WORKER_BATCH_MAX] OWNED_BY(worker_thread);
    struct work *run[WORKER_BATCH_MAX] OWNED_BY(worker_thread); /* those of the batch that begin */
};

static bool take(struct worker *worker) ON_THREAD(worker_thread);
static void run(struct worker *worker) ON_THREAD(worker_thread);
static size_t run_all(struct worker *worker) ON_THREAD(worker_thread);
static void note_cost(struct worker *worker, int64_t record_ns) ON_THREAD(worker_thread);
static void note_memory(struct worker *worker) ON_THREAD(worker_thread);
static void give(struct worker *worker) ON_THREAD(worker_thread);
static void loop(void *context);

struct worker *worker_create(const struct worker_options *options)
{
    CHECK(options->batch_max <= WORKER_BATCH_MAX);
    CHECK(options->processor != NULL);
    CHECK(options->policy != NULL);
    struct worker *worker = memory_alloc_aligned(sizeof *worker);
    worker->index = options->index;
    worker->exchange = options->exchange;
    worker->processor = options->processor;
    worker->clock = options->clock;
    worker->policy = options->policy;
    worker->observer = options->observer;
    worker->metrics = options->metrics ? options->metrics : &worker->unread;
    atomic_init(&worker->running, false);
    worker->batch_max = options->batch_max ? options->batch_max : WORKER_BATCH_MAX;
    return worker;
}

void worker_destroy(struct worker *worker)
{
    if (worker == NULL) {
        return;
    }
    CHECK(!worker->thread.running);
    worker->processor->ops->destroy(worker->processor);
    memory_free(worker);
}

void worker_start(struct worker *worker)
{
    char name[16];
    snprintf(name, sizeof name, "worker-%u", worker->index);
    atomic_store_explicit(&worker->running, true, memory_order_relaxed);
    thread_start(&worker->thread, name, ROLE_WORKER, loop, worker);
}

void worker_join(struct worker *worker)
{
    thread_join(&worker->thread);
}

static void loop(void *context)
{
    struct worker *worker = context;
    thread_assert_worker();
    note_memory(worker);
    do {
        worker_metrics_set_state(worker->metrics, WORKER_TAKING);
        while (worker_turn(worker)) {
        }
        worker_metrics_set_state(worker->metrics, WORKER_IDLE);
    } while (exchange_wait(worker->exchange));
    worker->processor->ops->close(worker->processor);
    worker_metrics_set_state(worker->metrics, WORKER_CLOSED);
    atomic_store_explicit(&worker->running, false, memory_order_release);
    if (worker->observer) {
        wakeup_signal(worker->observer);
    }
}

const struct work *worker_current(const struct worker *worker)
{
    const struct processor *processor = worker->processor;
    return processor->ops->current ? processor->ops->current(processor) : NULL;
}

struct worker_metrics *worker_get_metrics(struct worker *worker)
{
    return worker->metrics;
}

bool worker_has_ended(const struct worker *worker)
{
    return !atomic_load_explicit(&worker->running, memory_order_acquire);
}

bool worker_turn(struct worker *worker)
{
    thread_assert_worker();
    switch (worker->step) {
    case STEP_TAKE:
        return take(worker);
    case STEP_RUN:
        run(worker);
        return true;
    case STEP_GIVE:
        give(worker);
        return true;
    }
    return false;
}

static size_t batch_limit(const struct worker *worker) ON_THREAD(worker_thread)
{
    int64_t limit = worker->record_ns ? BATCH_TIME_NS / worker->record_ns : BATCH_FIRST;
    if (limit < 1) {
        limit = 1;
    }
    return (size_t)limit < worker->batch_max ? (size_t)limit : worker->batch_max;
}

static bool take(struct worker *worker)
{
    worker->count = exchange_take(worker->exchange, worker->batch, batch_limit(worker));
    worker->run_count = 0;
    for (size_t i = 0; i < worker->count; i++) {
        if (slot_begin(worker->batch[i], (uint16_t)worker->index)) {
            worker->run[worker->run_count++] = &worker->batch[i]->work;
        }
    }
    worker->step = worker->count ? STEP_RUN : STEP_TAKE;
    return worker->count > 0;
}

static void note_memory(struct worker *worker)
{
    struct processor *processor = worker->processor;
    if (processor->ops->memory) {
        worker_metrics_set_memory(worker->metrics, processor->ops->memory(processor));
    }
}

static void run(struct worker *worker)
{
    if (worker->run_count > 0) {
        const struct record *first = &worker->run[0]->rec;
        int64_t before_ns = clock_ns(worker->clock);
        worker_metrics_begin(worker->metrics, first->topic, first->partition, first->offset,
                             before_ns);
        size_t failed = run_all(worker);
        int64_t after_ns = clock_ns(worker->clock);
        note_cost(worker, (after_ns - before_ns) / (int64_t)worker->run_count + 1);
        for (size_t i = 0; i < worker->run_count; i++) {
            slot_finish((struct slot *)worker->run[i]);
        }
        worker_metrics_end(worker->metrics, worker->run_count - failed, failed, after_ns);
        note_memory(worker);
    }
    worker->step = STEP_GIVE;
}

/* The slot at `at - 1` will run again: what comes behind it in its mailbox must not run before. */
static void withdraw_behind(struct worker *worker, size_t at) ON_THREAD(worker_thread)
{
    const struct mailbox *box = ((const struct slot *)worker->run[at - 1])->mailbox;
    if (box == NULL) {
        return;
    }
    size_t kept = at;
    for (size_t i = at; i < worker->run_count; i++) {
        struct slot *slot = (struct slot *)worker->run[i];
        if (slot->mailbox == box) {
            slot_withdraw(slot);
        } else {
            worker->run[kept++] = worker->run[i];
        }
    }
    worker->run_count = kept;
}

/* Runs what began, and decides at once what becomes of each record that fails. Returns how many
 * did. */
static size_t run_all(struct worker *worker)
{
    size_t failed = 0;
    for (size_t at = 0; at < worker->run_count;) {
        size_t left = worker->run_count - at;
        size_t ran = worker->processor->ops->run(worker->processor, worker->run + at, left);
        CHECK(ran >= 1);
        CHECK(ran <= left);
        at += ran;
        struct slot *last = (struct slot *)worker->run[at - 1];
        if (last->work.outcome != OUTCOME_FAILED) {
            continue;
        }
        failed++;
        failure_policy_apply(worker->policy, &last->work, last->attempt);
        if (last->work.outcome == OUTCOME_RETRY) {
            withdraw_behind(worker, at);
        }
    }
    return failed;
}

/* The average goes up at once and down slowly: one slow record is enough to spread the next ones.
 */
static void note_cost(struct worker *worker, int64_t record_ns)
{
    bool slower = record_ns > worker->record_ns;
    worker->record_ns += (record_ns - worker->record_ns) / (slower ? 2 : 8);
    if (worker->record_ns < 1) {
        worker->record_ns = 1;
    }
}

static void give(struct worker *worker)
{
    exchange_give(worker->exchange, worker->batch, worker->count);
    worker->count = 0;
    worker->step = STEP_TAKE;
}
