#include "sim/sim_source.h"

#include <string.h>

#include "base/check.h"
#include "base/memory.h"

/* One assigned partition; a new one for each assignment, so that stale handles can be told. */
struct sim_assigned {
    struct sim_assigned *next;
    int32_t partition;
    uint64_t serial; /* tells a new one at an old address from the old one */
    uint32_t at;     /* index of the next record to fetch */
    bool end_told;
    bool revoked; /* in an event that is open */
    bool lost;    /* it belongs to nobody or somebody else already */
};

struct sim_source {
    struct source base;
    struct sim_world *world;
    int pipeline;
    struct sim_assigned *assigned;
    struct source_partition event_parts[SIM_PARTITIONS_MAX];
    size_t event_count;
    enum source_event_kind due;  /* ASSIGN, REVOKE or LOST that poll is to tell; else NOTHING */
    enum source_event_kind open; /* told, and waits for its answer */
    bool ready_due, ready_told;
    struct source_commit commits[SIM_PARTITIONS_MAX];
    uint64_t commit_serials[SIM_PARTITIONS_MAX];
    uint64_t serial;
    size_t commit_count;
    int commit_delay; /* polls until the answer */
    bool commit_refused;
    bool closing, closed_told;
    bool fatal_due, fenced;
    struct error error;
};

static struct sim_source *self(struct source *source)
{
    return (struct sim_source *)source;
}

static void source_attach(struct source *source, struct wakeup *wakeup)
{
    (void)source;
    (void)wakeup;
}

static void tell_parts(struct sim_source *s, enum source_event_kind kind)
{
    s->due = kind;
    sim_say(s->world, "pipeline %d: %s of %zu", s->pipeline,
            kind == SOURCE_ASSIGN   ? "assign"
            : kind == SOURCE_REVOKE ? "revoke"
                                    : "lost",
            s->event_count);
}

static void add_to_event(struct sim_source *s, struct sim_assigned *one)
{
    s->event_parts[s->event_count++] =
        (struct source_partition){.topic = "sim", .partition = one->partition, .handle = one};
}

static bool is_busy(const struct sim_source *s)
{
    return s->due != SOURCE_NOTHING || s->open != SOURCE_NOTHING;
}

static uint32_t first_index(const struct sim_partition *part)
{
    uint32_t at = 0;
    while (at < part->records && part->offsets[at] < part->committed) {
        at++;
    }
    return at;
}

static void begin_revoke(struct sim_source *s, bool all)
{
    s->event_count = 0;
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        if (all || s->world->target[one->partition] != s->pipeline) {
            one->revoked = true;
            add_to_event(s, one);
        }
    }
    if (s->event_count > 0) {
        s->world->counts[SIM_REVOKES]++;
        tell_parts(s, SOURCE_REVOKE);
    }
}

static void begin_assign(struct sim_source *s)
{
    struct sim_world *world = s->world;
    s->event_count = 0;
    for (int32_t p = 0; p < world->partition_count; p++) {
        struct sim_partition *part = &world->partitions[p];
        if (world->target[p] != s->pipeline || part->owner != -1) {
            continue;
        }
        part->owner = s->pipeline;
        part->assignment++;
        sim_begin_era(world, p);
        struct sim_assigned *one = memory_alloc(sizeof *one);
        one->partition = p;
        one->serial = ++s->serial;
        one->at = first_index(part);
        one->next = s->assigned;
        s->assigned = one;
        add_to_event(s, one);
    }
    if (s->event_count > 0 || !s->ready_told) {
        tell_parts(s, SOURCE_ASSIGN);
    }
}

void sim_source_rebalance(struct source *source)
{
    struct sim_source *s = self(source);
    if (is_busy(s) || s->closing || s->fenced) {
        return;
    }
    bool moved = false;
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        moved = moved || s->world->target[one->partition] != s->pipeline;
    }
    if (moved) {
        begin_revoke(s, !s->world->cooperative);
    }
    if (!is_busy(s)) {
        begin_assign(s);
    }
}

void sim_source_lose(struct source *source)
{
    struct sim_source *s = self(source);
    if (is_busy(s) || s->closing || s->fenced || s->assigned == NULL) {
        return;
    }
    s->event_count = 0;
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        one->revoked = true;
        one->lost = true;
        s->world->partitions[one->partition].owner = -1;
        add_to_event(s, one);
    }
    s->world->counts[SIM_LOSSES]++;
    tell_parts(s, SOURCE_LOST);
}

void sim_source_fence(struct source *source)
{
    struct sim_source *s = self(source);
    if (is_busy(s) || s->closing) {
        return;
    }
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        if (!one->lost) {
            one->lost = true;
            s->world->partitions[one->partition].owner = -1;
        }
    }
    s->fatal_due = true;
    s->fenced = true;
    s->world->counts[SIM_FATALS]++;
    sim_say(s->world, "pipeline %d: is fenced", s->pipeline);
}

void sim_source_regress(struct source *source)
{
    struct sim_source *s = self(source);
    struct sim_assigned *one = s->assigned;
    if (one == NULL || one->revoked || s->fenced) {
        return;
    }
    uint32_t first = first_index(&s->world->partitions[one->partition]);
    if (one->at > first) {
        one->at = first + (uint32_t)sim_below(s->world, one->at - first);
        one->end_told = false;
        s->world->counts[SIM_REGRESSIONS]++;
        s->world->eras[sim_begin_era(s->world, one->partition)].went_back = true;
        sim_say(s->world, "pipeline %d: partition %d goes back to @%u", s->pipeline, one->partition,
                one->at);
    }
}

static struct sim_assigned *find(const struct sim_source *s, const void *handle)
{
    struct sim_assigned *one = s->assigned;
    while (one && one != handle) {
        one = one->next;
    }
    return one;
}

/* The answer to a commit: what is still assigned is stored. */
static void settle_commit(struct sim_source *s, bool arrives)
{
    for (size_t i = 0; i < s->commit_count; i++) {
        const struct sim_assigned *one = find(s, s->commits[i].handle);
        bool same = one && one->serial == s->commit_serials[i];
        bool stored = arrives && same && !one->lost && !s->commit_refused;
        s->commits[i].refused = !stored;
        if (stored) {
            s->world->partitions[one->partition].committed = s->commits[i].position;
        }
    }
}

static struct source_event source_poll(struct source *source)
{
    struct sim_source *s = self(source);
    if (s->fatal_due) {
        s->fatal_due = false;
        error_set(&s->error, E_BROKER, "fenced by the seed");
        return (struct source_event){.kind = SOURCE_FATAL, .err = &s->error};
    }
    if (s->commit_count > 0 && !sim_is_away(s->world) && s->commit_delay-- <= 0) {
        settle_commit(s, true);
        struct source_event event = {.kind = SOURCE_COMMITTED,
                                     .commits = s->commits,
                                     .commit_count = s->commit_count,
                                     .err = &s->error};
        s->commit_count = 0;
        return event;
    }
    if (s->due != SOURCE_NOTHING) {
        s->open = s->due;
        s->due = SOURCE_NOTHING;
        return (struct source_event){
            .kind = s->open, .partitions = s->event_parts, .partition_count = s->event_count};
    }
    if (s->ready_due) {
        s->ready_due = false;
        return (struct source_event){.kind = SOURCE_READY};
    }
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        bool at_end = one->at == s->world->partitions[one->partition].records;
        if (at_end && !one->end_told && s->open == SOURCE_NOTHING) {
            one->end_told = true;
            return (struct source_event){.kind = SOURCE_END, .handle = one};
        }
    }
    if (s->closing && !is_busy(s) && !s->closed_told) {
        if (s->assigned) {
            begin_revoke(s, true);
            return source_poll(source);
        }
        s->closed_told = true;
        return (struct source_event){.kind = SOURCE_CLOSED};
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static void source_answer(struct source *source)
{
    struct sim_source *s = self(source);
    CHECK(s->open != SOURCE_NOTHING);
    if (s->open != SOURCE_ASSIGN) {
        struct sim_assigned **at = &s->assigned;
        while (*at) {
            struct sim_assigned *one = *at;
            if (!one->revoked) {
                at = &one->next;
                continue;
            }
            if (!one->lost) {
                s->world->partitions[one->partition].owner = -1;
            }
            *at = one->next;
            memory_free(one);
        }
    }
    s->ready_told = s->open == SOURCE_ASSIGN || s->world->cooperative;
    s->ready_due = s->ready_told;
    s->open = SOURCE_NOTHING;
}

bool sim_source_is_settled(const struct source *source)
{
    const struct sim_source *s = (const struct sim_source *)source;
    return s->ready_told && !s->ready_due && !is_busy(s);
}

static size_t source_fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    struct sim_source *s = self(source);
    struct sim_assigned *one = find(s, handle);
    CHECK(one != NULL); /* a handle is valid until the answer to its revoke */
    const struct sim_partition *part = &s->world->partitions[one->partition];
    size_t count = sim_is_away(s->world) ? 0 : sim_below(s->world, 8);
    count = count < max ? count : max;
    size_t i = 0;
    for (; i < count && one->at < part->records && !one->revoked && !s->fenced; i++) {
        sim_make_record(s->world, one->partition, one->at++, &recs[i]);
    }
    if (i > 0) {
        one->end_told = false;
    }
    return i;
}

static void source_release(struct source *source, struct record *rec)
{
    sim_release(self(source)->world, rec);
}

static void source_commit(struct source *source, const struct source_commit *commits, size_t count)
{
    struct sim_source *s = self(source);
    CHECK(s->commit_count == 0);
    CHECK(count > 0 && count <= SIM_PARTITIONS_MAX);
    memcpy(s->commits, commits, count * sizeof *commits);
    s->commit_count = count;
    s->commit_delay = (int)sim_below(s->world, 10);
    s->commit_refused = sim_rough_fault(s->world, 100);
    s->world->counts[SIM_REFUSALS] += s->commit_refused;
    error_set(&s->error, E_BROKER, "refused by the seed");
    for (size_t i = 0; i < count; i++) {
        const struct sim_assigned *one = find(s, commits[i].handle);
        CHECK(one != NULL); /* never after the answer to its revoke */
        s->commit_serials[i] = one->serial;
        sim_say(s->world, "pipeline %d: commit %d at %lld%s", s->pipeline, one->partition,
                (long long)commits[i].position, s->commit_refused ? ", refused" : "");
        if (!one->lost) {
            sim_judge_commit(s->world, s->pipeline, one->partition, commits[i].position);
        }
    }
}

static void source_close(struct source *source)
{
    self(source)->closing = true;
}

void sim_source_die(struct source *source)
{
    struct sim_source *s = self(source);
    if (s->commit_count > 0) {
        settle_commit(s, sim_below(s->world, 2) == 0);
    }
    for (struct sim_assigned *one = s->assigned; one; one = one->next) {
        if (!one->lost) {
            s->world->partitions[one->partition].owner = -1;
        }
    }
}

static void source_destroy(struct source *source)
{
    struct sim_source *s = self(source);
    while (s->assigned) {
        struct sim_assigned *one = s->assigned;
        s->assigned = one->next;
        memory_free(one);
    }
    memory_free(s);
}

static const struct source_ops OPS = {
    .attach = source_attach,
    .poll = source_poll,
    .answer = source_answer,
    .fetch = source_fetch,
    .release = source_release,
    .commit = source_commit,
    .close = source_close,
    .destroy = source_destroy,
};

struct source *sim_source_create(struct sim_world *world, int pipeline)
{
    struct sim_source *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    s->world = world;
    s->pipeline = pipeline;
    return &s->base;
}
