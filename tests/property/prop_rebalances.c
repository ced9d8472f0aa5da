/*
 * prop_rebalances: the engine with real threads, whose partitions are revoked and lost under load,
 * over and over. Each time all that is in flight and queued of a partition that went comes back to
 * nothing, and the next assignment still flows: nothing leaks that would end in "fully loaded".
 * Runs under ThreadSanitizer. prop_rebalances [SEED] [REBALANCES]
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "metrics/metrics_snapshot.h"
#include "support/memory_ports.h"

enum {
    PARTITIONS = 3,
    WORKERS = 3,
    KEYS = 16,
    REBALANCES = 1000,
    PATIENCE_MS = 20000, /* for one step, on a machine that has other things to do */
    STEADY_MAX = 300,    /* records between two rebalances */
};

enum step {
    ASSIGN_DUE, /* those that are away come */
    READY_DUE,
    STEADY,    /* until enough was fetched */
    LEAVE_DUE, /* some go */
    SETTLING,  /* until nothing is left of them */
    CLOSING,
    CLOSED,
};

struct part {
    int32_t partition;
    int64_t next;      /* offset of the next fetch */
    int64_t committed; /* where a loss goes back to */
    int64_t out;       /* fetched and not released */
    bool away;
    bool going;
};

/* All fields belong to the poll thread, but those in words. */
struct restless {
    struct source base;
    struct wakeup *wakeup;
    struct metrics_registry *metrics; /* constant */
    struct clock_source clock;
    unsigned seed;
    enum step step;
    bool lost; /* those that go are lost, not revoked */
    bool open; /* an event waits for its answer */
    int64_t until_ms;
    int64_t to_fetch;
    struct part parts[PARTITIONS];
    struct source_partition event_parts[PARTITIONS];
    struct source_commit commits[PARTITIONS];
    size_t commit_count;
    int wanted;
    int revoked, losses;
    atomic_int done; /* poll thread -> main thread: rebalances that settled */
    atomic_bool stuck;
};

static unsigned draw(struct restless *s, unsigned below)
{
    return (unsigned)rand_r(&s->seed) % below;
}

static void enter(struct restless *s, enum step step)
{
    s->step = step;
    s->until_ms = clock_ms(&s->clock) + PATIENCE_MS;
}

static void source_attach(struct source *source, struct wakeup *wakeup)
{
    struct restless *s = (struct restless *)source;
    s->wakeup = wakeup;
    enter(s, ASSIGN_DUE);
}

/* --- what happens to the membership -------------------------------------------------------- */

static struct source_event come(struct restless *s)
{
    size_t count = 0;
    for (int i = 0; i < PARTITIONS; i++) {
        struct part *part = &s->parts[i];
        if (part->away) {
            part->away = false;
            part->next = part->committed;
            s->event_parts[count++] = (struct source_partition){
                .topic = "restless", .partition = part->partition, .handle = part};
        }
    }
    s->open = true;
    enter(s, READY_DUE);
    return (struct source_event){
        .kind = SOURCE_ASSIGN, .partitions = s->event_parts, .partition_count = count};
}

static struct source_event leave(struct restless *s, bool all)
{
    size_t count = 0;
    for (int i = 0; i < PARTITIONS; i++) {
        struct part *part = &s->parts[i];
        if (part->going) {
            continue; /* it did not settle */
        }
        part->going = !part->away && (all || draw(s, 2) || (i + 1 == PARTITIONS && count == 0));
        if (part->going) {
            s->event_parts[count++] = (struct source_partition){
                .topic = "restless", .partition = part->partition, .handle = part};
        }
    }
    s->lost = !all && draw(s, 3) == 0;
    s->open = true;
    enter(s, all ? CLOSED : SETTLING);
    return (struct source_event){.kind = s->lost ? SOURCE_LOST : SOURCE_REVOKE,
                                 .partitions = s->event_parts,
                                 .partition_count = count};
}

/* Nothing of those that went is in flight, queued, or shown. */
static bool is_settled(struct restless *s)
{
    bool settled = true;
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, s->metrics);
    for (int i = 0; i < PARTITIONS; i++) {
        struct part *part = &s->parts[i];
        settled = settled && (!part->going || part->out == 0);
        settled =
            settled && (!part->going || metrics_snapshot_find(&snapshot, "restless", i) == NULL);
    }
    metrics_snapshot_fini(&snapshot);
    return settled;
}

static void settle(struct restless *s)
{
    for (int i = 0; i < PARTITIONS; i++) {
        s->parts[i].away = s->parts[i].away || s->parts[i].going;
        s->parts[i].going = false;
    }
    *(s->lost ? &s->losses : &s->revoked) += 1;
    atomic_fetch_add(&s->done, 1);
    s->to_fetch = draw(s, STEADY_MAX);
    enter(s, ASSIGN_DUE);
}

static void check_patience(struct restless *s)
{
    if (clock_ms(&s->clock) < s->until_ms || atomic_load(&s->stuck)) {
        return;
    }
    printf("after %d rebalances step %d does not end:", atomic_load(&s->done), (int)s->step);
    for (int i = 0; i < PARTITIONS; i++) {
        printf(" [%d] %s %lld in flight", i, s->parts[i].going ? "going," : "here,",
               (long long)s->parts[i].out);
    }
    printf("\n");
    atomic_store(&s->stuck, true);
}

static struct source_event nothing(void)
{
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static struct source_event source_poll(struct source *source)
{
    struct restless *s = (struct restless *)source;
    if (s->commit_count > 0) {
        struct source_event event = {
            .kind = SOURCE_COMMITTED, .commits = s->commits, .commit_count = s->commit_count};
        s->commit_count = 0;
        return event;
    }
    if (s->open) {
        return nothing();
    }
    switch (s->step) {
    case ASSIGN_DUE:
        return come(s);
    case READY_DUE:
        enter(s, STEADY);
        return (struct source_event){.kind = SOURCE_READY};
    case STEADY:
        if (s->to_fetch <= 0) {
            enter(s, LEAVE_DUE);
        }
        break;
    case LEAVE_DUE:
        return leave(s, false);
    case SETTLING:
        if (is_settled(s)) {
            settle(s);
        }
        wakeup_signal(s->wakeup);
        break;
    case CLOSING:
        return leave(s, true);
    case CLOSED:
        return (struct source_event){.kind = SOURCE_CLOSED};
    }
    check_patience(s);
    return nothing();
}

static void source_answer(struct source *source)
{
    struct restless *s = (struct restless *)source;
    CHECK(s->open);
    s->open = false;
    wakeup_signal(s->wakeup);
}

static void source_close(struct source *source)
{
    enter((struct restless *)source, CLOSING);
}

/* --- records ------------------------------------------------------------------------------- */

static size_t source_fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    static const char KEYS_TEXT[] = "abcdefghijklmnop";
    static_assert(sizeof KEYS_TEXT == KEYS + 1, "a letter each");
    struct restless *s = (struct restless *)source;
    struct part *part = handle;
    CHECK(!part->away && !part->going);
    size_t count = draw(s, 20);
    count = count < max ? count : max;
    for (size_t i = 0; i < count; i++) {
        recs[i] = (struct record){
            .offset = part->next++,
            .topic = "restless",
            .partition = part->partition,
            .leader_epoch = -1,
            .key = &KEYS_TEXT[draw(s, KEYS)],
            .key_size = 1,
            .value = "value",
            .value_size = 5,
            .message = part,
        };
    }
    part->out += (int64_t)count;
    s->to_fetch -= (int64_t)count;
    return count;
}

static void source_release(struct source *source, struct record *rec)
{
    (void)source;
    struct part *part = rec->message;
    CHECK(part->out > 0);
    part->out--;
}

static void source_commit(struct source *source, const struct source_commit *commits, size_t count)
{
    struct restless *s = (struct restless *)source;
    CHECK(s->commit_count == 0);
    memcpy(s->commits, commits, count * sizeof *commits);
    s->commit_count = count;
    for (size_t i = 0; i < count; i++) {
        struct part *part = commits[i].handle;
        part->committed = commits[i].position;
    }
    wakeup_signal(s->wakeup);
}

static void source_destroy(struct source *source)
{
    (void)source; /* it is main's */
}

static const struct source_ops SOURCE_OPS = {
    .attach = source_attach,
    .poll = source_poll,
    .answer = source_answer,
    .fetch = source_fetch,
    .release = source_release,
    .commit = source_commit,
    .close = source_close,
    .destroy = source_destroy,
};

/* --- the script ---------------------------------------------------------------------------- */

struct moody {
    struct processor base;
    unsigned seed;
};

/* Takes its time now and then; one attempt in eight is tried again. */
static size_t run_some(struct processor *processor, struct work *const *batch, size_t count)
{
    struct moody *moody = (struct moody *)processor;
    for (size_t i = 0; i < count; i++) {
        struct work *work = batch[i];
        if (rand_r(&moody->seed) % 16 == 0) {
            usleep((unsigned)rand_r(&moody->seed) % 300);
        }
        if (rand_r(&moody->seed) % 8 == 0) {
            work->outcome = OUTCOME_FAILED;
            work->failure = FAILURE_FAILED;
            work->request = REQUEST_RETRY;
            work->retry_delay_ms = rand_r(&moody->seed) % 3;
            return i + 1;
        }
        struct emission *emission = effects_emit(&work->effects);
        emission->partition = 0;
        emission->value = "out";
        emission->value_size = 3;
        work->outcome = OUTCOME_DONE;
    }
    return count;
}

static void close_nothing(struct processor *processor)
{
    (void)processor;
}

static void destroy_moody(struct processor *processor)
{
    memory_free(processor);
}

static const struct processor_ops PROCESSOR_OPS = {
    .run = run_some, .close = close_nothing, .destroy = destroy_moody};

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)err;
    struct moody *moody = memory_alloc(sizeof *moody);
    moody->base.ops = &PROCESSOR_OPS;
    moody->seed = ((const struct restless *)context)->seed + worker;
    return &moody->base;
}

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)pipeline;
    (void)err;
    return &((struct restless *)context)->base;
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)context;
    (void)pipeline;
    (void)err;
    return memory_sink_create(1, false);
}

/* --- main ---------------------------------------------------------------------------------- */

static bool run(struct restless *s, enum processing_emit emit)
{
    struct engine_ports ports = {.open_source = open_source,
                                 .open_sink = open_sink,
                                 .context = s,
                                 .processors = {create_processor, s}};
    struct engine_options options = {
        .num_stream_threads = WORKERS,
        .num_threads_per_task = WORKERS,
        .emit = emit,
        .window_records = 64,
        .window_bytes = 1 << 20,
        .commit_interval_ms = 2,
        .drain_timeout_ms = 20,
        .shutdown_timeout_ms = 10000,
        .failure = {.max_retries = RETRIES_UNBOUNDED},
    };
    struct error err;
    struct engine *engine = engine_create(&options, &ports, &s->clock, &err);
    CHECK(engine != NULL);
    s->metrics = engine_metrics(engine);
    engine_start(engine);
    while (atomic_load(&s->done) < s->wanted && !atomic_load(&s->stuck)) {
        usleep(1000);
    }
    engine_stop(engine, false);
    CHECK(engine_wait(engine, 60000));
    bool good = engine_result(engine, &err) && !atomic_load(&s->stuck);
    engine_destroy(engine);
    for (int i = 0; i < PARTITIONS; i++) {
        good = good && s->parts[i].out == 0;
    }
    return good;
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : (unsigned)time(NULL);
    int wanted = argc > 2 ? atoi(argv[2]) : REBALANCES;
    log_set_level(LOG_LEVEL_ERROR);
    printf("prop_rebalances %u %d\n", seed, wanted);
    int failed = 0;
    for (int emit = EMIT_INPUT; emit <= EMIT_COMPLETION; emit++) {
        struct restless s = {.base.ops = &SOURCE_OPS, .clock = clock_system(), .seed = seed};
        s.wanted = wanted / 2;
        for (int i = 0; i < PARTITIONS; i++) {
            s.parts[i] = (struct part){.partition = i, .away = true};
        }
        bool good = run(&s, (enum processing_emit)emit);
        printf("%s emit=%s: %d revoked, %d lost\n", good ? "ok  " : "FAIL",
               emit == EMIT_INPUT ? "input" : "completion", s.revoked, s.losses);
        failed += !good;
    }
    printf("%d passed, %d failed\n", 2 - failed, failed);
    return failed > 0;
}
