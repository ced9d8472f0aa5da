#include "engine/partition.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <inttypes.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/memory.h"

/* tag: | id 16 | epoch 12 | sequence 36 | */
enum { SEQUENCE_BITS = 36, EPOCH_BITS = 12 };
enum { RETIRE_MAX = 1024 }; /* slots a turn, so that a turn stays short */

struct partition {
    struct source_partition where;
    const struct engine_options *engine;
    struct source *source;
    struct sink *sink;
    struct exchange *exchange;
    struct commit_window *window;
    struct mailbox *mailboxes; /* VIRTUAL_KEYS of them; NULL with K = 1 */
    struct metrics_registry *metrics;
    struct pipeline_metrics *counters;
    struct window_metrics *shown; /* NULL: hidden */
    struct commit_window_counts published;
    uint64_t head_sequence; /* the oldest record, and since when it is that */
    int64_t head_since_ms;
    uint32_t id;
    bool at_end;
    uint32_t stash_first; /* records fetched and not admitted: stash[first .. first + count) */
    uint32_t stash_count;
    struct record stash[PARTITION_FETCH_MAX];
};

static_assert(16 + EPOCH_BITS + SEQUENCE_BITS == 64, "a tag is one word");

static uint16_t route(const struct partition *part, const struct record *rec);
static size_t admit_stash(struct partition *part, struct slot **slots, bool *regressed)
    ON_THREAD(poll_thread);
static void release_stash(struct partition *part) ON_THREAD(poll_thread);

/* --- life ---------------------------------------------------------------------------------- */

struct partition *partition_create(const struct partition_options *options)
{
    CHECK(options->id < PARTITION_ID_MAX);
    CHECK(options->where.topic != NULL);
    struct partition *part = memory_alloc(sizeof *part);
    part->where = options->where;
    part->engine = options->engine;
    part->source = options->source;
    part->sink = options->sink;
    part->exchange = options->exchange;
    part->id = options->id;
    part->metrics = options->metrics;
    part->counters = options->counters;
    part->head_since_ms = -1;
    part->shown = metrics_registry_add_window(options->metrics, options->pipeline,
                                              options->where.topic, options->where.partition);
    if (exchange_has_mailboxes(options->exchange)) {
        part->mailboxes = memory_alloc_array(VIRTUAL_KEYS, sizeof *part->mailboxes);
    }
    part->window = commit_window_create(&(struct commit_window_options){
        .capacity = options->engine->window_records,
        .bytes_max = options->engine->window_bytes,
        .epoch = options->epoch,
        .emit = options->engine->emit,
        .owner = part,
    });
    return part;
}

void partition_destroy(struct partition *part, bool force)
{
    if (part == NULL) {
        return;
    }
    release_stash(part);
    partition_hide(part);
    if (commit_window_mode(part->window) != WINDOW_DEAD) {
        CHECK(force);
        commit_window_set_mode(part->window, WINDOW_DEAD);
    }
    if (force) {
        commit_window_forget(part->window);
    }
    struct record rec;
    while (commit_window_take_abandoned(part->window, &rec)) {
        part->source->ops->release(part->source, &rec);
    }
    commit_window_destroy(part->window);
    memory_free(part->mailboxes);
    memory_free(part);
}

void partition_drain(struct partition *part)
{
    if (commit_window_mode(part->window) == WINDOW_RUN) {
        commit_window_set_mode(part->window, WINDOW_DRAIN);
    }
    release_stash(part);
}

void partition_kill(struct partition *part)
{
    partition_hide(part);
    commit_window_set_mode(part->window, WINDOW_DEAD);
    release_stash(part);
}

void partition_hide(struct partition *part)
{
    if (part->shown) {
        metrics_registry_remove_window(part->metrics, part->shown);
        part->shown = NULL;
    }
}

void partition_give_stash(struct partition *part, struct partition *heir)
{
    CHECK(heir->stash_count == 0);
    for (uint32_t i = 0; i < part->stash_count; i++) {
        heir->stash[i] = part->stash[part->stash_first + i];
    }
    heir->stash_first = 0;
    heir->stash_count = part->stash_count;
    heir->at_end = part->at_end; /* it was said behind what is in the stash */
    part->stash_count = 0;
}

static void release_stash(struct partition *part)
{
    for (uint32_t i = 0; i < part->stash_count; i++) {
        part->source->ops->release(part->source, &part->stash[part->stash_first + i]);
    }
    part->stash_count = 0;
}

void partition_set_at_end(struct partition *part)
{
    part->at_end = true;
}

/* --- admit --------------------------------------------------------------------------------- */

enum partition_result partition_admit(struct partition *part, bool *regressed)
{
    *regressed = false;
    if (commit_window_mode(part->window) != WINDOW_RUN || commit_window_is_held(part->window) ||
        exchange_room(part->exchange) == 0) {
        return PARTITION_IDLE;
    }
    if (part->stash_count == 0) {
        part->stash_first = 0;
        size_t got = part->source->ops->fetch(part->source, part->where.handle, part->stash,
                                              PARTITION_FETCH_MAX);
        CHECK(got <= PARTITION_FETCH_MAX);
        part->stash_count = (uint32_t)got;
        if (got == 0) {
            return PARTITION_IDLE;
        }
        part->at_end = false;
    }
    struct slot *slots[PARTITION_FETCH_MAX];
    size_t count = admit_stash(part, slots, regressed);
    exchange_submit(part->exchange, slots, count);
    return count ? PARTITION_WORKED : PARTITION_IDLE;
}

static size_t admit_stash(struct partition *part, struct slot **slots, bool *regressed)
{
    size_t room = exchange_room(part->exchange);
    size_t count = 0;
    while (part->stash_count > 0 && count < room) {
        const struct record *rec = &part->stash[part->stash_first];
        if (commit_window_regressed(part->window, rec->offset)) {
            /* what is in the window is finished first: it may lie below where the source begins
             * again, and would be lost with its epoch */
            *regressed = commit_window_used(part->window) == 0;
            break;
        }
        uint16_t key = part->mailboxes ? route(part, rec) : 0;
        struct slot *slot = commit_window_admit(part->window, rec, key);
        if (slot == NULL) {
            break;
        }
        slot->mailbox = part->mailboxes && key != NO_KEY ? &part->mailboxes[key] : NULL;
        slots[count++] = slot;
        part->stash_first++;
        part->stash_count--;
    }
    return count;
}

/* Which records may not run beside each other: those of one virtual key. */
static uint16_t route(const struct partition *part, const struct record *rec)
{
    switch (part->engine->order) {
    case ORDER_NONE:
        return NO_KEY;
    case ORDER_PARTITION:
        return 0;
    case ORDER_KEY:
        break;
    }
    if (rec->key == NULL) {
        return part->engine->null_key == NULL_KEY_SERIAL ? 0 : NO_KEY;
    }
    return (uint16_t)(XXH3_64bits(rec->key, rec->key_size) % VIRTUAL_KEYS);
}

/* --- complete, retire, ack, release -------------------------------------------------------- */

enum partition_result partition_complete(struct partition *part, struct slot *slot,
                                         struct error *err)
{
    const struct slot *current = commit_window_complete(
        part->window, commit_window_epoch(part->window), slot->sequence, slot->attempt);
    if (current == NULL || current->work.outcome != OUTCOME_FAILED ||
        !commit_window_stop_at(part->window, current)) {
        return PARTITION_WORKED;
    }
    error_set(err, E_RECORD, "%s [%" PRId32 "] at offset %" PRId64 ": %s", part->where.topic,
              part->where.partition, slot->work.rec.offset,
              slot->work.reason ? slot->work.reason : "failed without a reason");
    return PARTITION_FAILED;
}

static uint64_t make_tag(const struct partition *part, const struct slot *slot)
{
    uint64_t epoch = commit_window_epoch(part->window) & ((1u << EPOCH_BITS) - 1);
    uint64_t sequence = slot->sequence & ((UINT64_C(1) << SEQUENCE_BITS) - 1);
    return (uint64_t)part->id << (EPOCH_BITS + SEQUENCE_BITS) | epoch << SEQUENCE_BITS | sequence;
}

uint32_t partition_tag_id(uint64_t tag)
{
    return (uint32_t)(tag >> (EPOCH_BITS + SEQUENCE_BITS));
}

static enum sink_result send_effects(struct partition *part, struct slot *slot, struct error *err)
    ON_THREAD(poll_thread)
{
    uint64_t tag = make_tag(part, slot);
    while (slot->unsent) {
        enum sink_result result = part->sink->ops->send(part->sink, slot->unsent, tag, err);
        if (result != SINK_TAKEN) {
            return result;
        }
        commit_window_sent(part->window, slot);
        metric_add(&part->counters->emitted, 1);
    }
    return SINK_TAKEN;
}

enum partition_result partition_retire(struct partition *part, struct error *err)
{
    enum partition_result result = PARTITION_IDLE;
    for (int i = 0; i < RETIRE_MAX; i++) {
        struct slot *slot = commit_window_next_retirable(part->window);
        if (slot == NULL) {
            break;
        }
        switch (send_effects(part, slot, err)) {
        case SINK_TAKEN:
            commit_window_retire(part->window, slot);
            result = PARTITION_WORKED;
            break;
        case SINK_FULL:
            return result;
        case SINK_REFUSED:
            error_prefix(err, "%s [%" PRId32 "] at offset %" PRId64 ": output refused",
                         part->where.topic, part->where.partition, slot->work.rec.offset);
            commit_window_refuse(part->window, slot);
            commit_window_stop_at(part->window, slot);
            return PARTITION_FAILED;
        }
    }
    return result;
}

enum partition_result partition_ack(struct partition *part, const struct delivery *report,
                                    struct error *err)
{
    uint32_t epoch = commit_window_epoch(part->window);
    uint64_t epoch_mask = (UINT64_C(1) << EPOCH_BITS) - 1;
    uint64_t mask = (UINT64_C(1) << SEQUENCE_BITS) - 1;
    if ((report->tag >> SEQUENCE_BITS & epoch_mask) != (epoch & epoch_mask)) {
        epoch++; /* any other: the window counts it as late */
    }
    const struct slot *head = commit_window_head(part->window);
    uint64_t base = head ? head->sequence : 0;
    uint64_t sequence = base + ((report->tag - base) & mask);
    struct slot *slot = commit_window_ack(part->window, epoch, sequence, report->failed);
    metric_add(report->failed ? &part->counters->undeliverable : &part->counters->delivered, 1);
    if (slot == NULL || !report->failed) {
        return PARTITION_WORKED;
    }
    error_set(err, E_BROKER, "%s [%" PRId32 "] at offset %" PRId64 ": delivery failed: %s",
              part->where.topic, part->where.partition, slot->work.rec.offset, report->reason);
    return PARTITION_FAILED;
}

enum partition_result partition_release(struct partition *part)
{
    enum partition_result result = PARTITION_IDLE;
    struct record rec;
    while (commit_window_take_acked(part->window, &rec)) {
        part->source->ops->release(part->source, &rec);
        result = PARTITION_WORKED;
    }
    return result;
}

/* --- metrics ------------------------------------------------------------------------------- */

static enum hold_reason hold_reason(const struct commit_window *win)
{
    if (commit_window_mode(win) != WINDOW_RUN) {
        return HOLD_DRAIN;
    }
    if (!commit_window_is_held(win)) {
        return HOLD_NONE;
    }
    bool slots = commit_window_used(win) * 4 >= commit_window_capacity(win) * 3;
    return slots ? HOLD_RECORDS : HOLD_BYTES;
}

static void publish_counts(struct partition *part)
{
    struct commit_window_counts counts = commit_window_counts(part->window);
    metric_add(&part->counters->admitted, (int64_t)(counts.admitted - part->published.admitted));
    metric_add(&part->counters->retired, (int64_t)(counts.retired - part->published.retired));
    metric_add(&part->counters->late_completions, (int64_t)(counts.late - part->published.late));
    part->published = counts;
}

void partition_publish(struct partition *part, int64_t now_ms)
{
    publish_counts(part);
    if (part->shown == NULL) {
        return;
    }
    const struct commit_window *win = part->window;
    const struct slot *head = commit_window_head(win);
    if (head == NULL) {
        part->head_since_ms = -1;
    } else if (part->head_since_ms < 0 || head->sequence != part->head_sequence) {
        part->head_sequence = head->sequence;
        part->head_since_ms = now_ms;
    }
    window_metrics_set(part->shown, &(struct window_reading){
                                        .epoch = commit_window_epoch(win),
                                        .used = commit_window_used(win),
                                        .capacity = commit_window_capacity(win),
                                        .bytes = (int64_t)commit_window_bytes(win),
                                        .head_since_ms = part->head_since_ms,
                                        .commit_pos = commit_window_commit_pos(win),
                                        .committed_pos = commit_window_committed_pos(win),
                                        .hold = hold_reason(win),
                                    });
}

/* --- queries ------------------------------------------------------------------------------- */

const struct source_partition *partition_where(const struct partition *part)
{
    return &part->where;
}

struct commit_window *partition_window(const struct partition *part)
{
    return part->window;
}

uint32_t partition_id(const struct partition *part)
{
    return part->id;
}

bool partition_is_gone(const struct partition *part)
{
    return commit_window_mode(part->window) == WINDOW_DEAD &&
           commit_window_outstanding(part->window) == 0 &&
           commit_window_undelivered(part->window) == 0;
}

bool partition_is_at_end(const struct partition *part)
{
    return part->at_end && part->stash_count == 0 && commit_window_used(part->window) == 0;
}
