#include "engine/partition.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/dead_letter.h"
#include "engine/hold_log.h"
#include "engine/ready_queue.h"
#include "engine/retry_queue.h"

/* tag: | id 16 | epoch 12 | sequence 36 | */
enum { SEQUENCE_BITS = 36, EPOCH_BITS = 12 };
enum { RETIRE_MAX = 1024 }; /* slots a turn, so that a turn stays short */

struct partition {
    struct source_partition where;
    const struct engine_options *engine;
    struct source *source;
    struct sink *sink;
    struct exchange *exchange;
    const struct clock_source *clock;
    struct commit_window *window;
    struct mailbox *mailboxes; /* VIRTUAL_KEYS of them */
    struct retry_queue retries;
    struct slot_list letters; /* RETIRED slots whose dead letter is still to be sent */
    struct metrics_registry *metrics;
    struct pipeline_metrics *counters;
    struct failure_log *failures;
    struct window_metrics *shown; /* NULL: hidden */
    struct commit_window_counts published;
    uint64_t head_sequence; /* the oldest record, and since when it is that */
    int64_t head_since_ms;
    int64_t end_offset; /* behind the last record, as the source said last; -1: not known */
    struct hold_log hold_log;
    uint32_t id;
    bool at_end;
    bool given_up;
    bool frozen;
    uint32_t stash_first; /* records fetched and not admitted: stash[first .. first + count) */
    uint32_t stash_count;
    struct record stash[PARTITION_FETCH_MAX];
};

static_assert((int)CAUSE_RAISED == (int)FAILURE_RAISED, "one number");
static_assert((int)CAUSE_FAILED == (int)FAILURE_FAILED, "one number");
static_assert((int)CAUSE_MEMORY == (int)FAILURE_MEMORY, "one number");
static_assert((int)CAUSE_TIMEOUT == (int)FAILURE_TIMEOUT, "one number");
static_assert((int)CAUSE_COUNT == (int)FAILURE_KIND_COUNT, "one number");
static_assert(16 + EPOCH_BITS + SEQUENCE_BITS == 64, "a tag is one word");

static enum failure_action production_action(const struct partition *part, const struct slot *slot);
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
    part->clock = options->clock;
    part->id = options->id;
    part->metrics = options->metrics;
    part->counters = options->counters;
    part->failures = options->failures;
    part->head_since_ms = -1;
    part->end_offset = -1;
    part->shown = metrics_registry_add_window(options->metrics, options->pipeline,
                                              options->where.topic, options->where.partition);
    part->mailboxes = memory_alloc_array(VIRTUAL_KEYS, sizeof *part->mailboxes);
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
    retry_queue_fini(&part->retries);
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

void partition_freeze(struct partition *part)
{
    part->frozen = true;
}

void partition_kill(struct partition *part)
{
    partition_hide(part);
    commit_window_set_mode(part->window, WINDOW_DEAD);
    part->letters = (struct slot_list){0};
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

void partition_give_up(struct partition *part)
{
    part->given_up = true;
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
        uint16_t key = route(part, rec);
        struct slot *slot = commit_window_admit(part->window, rec, key);
        if (slot == NULL) {
            break;
        }
        slot->mailbox = key != NO_KEY ? &part->mailboxes[key] : NULL;
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

static void note_failure(struct partition *part, const struct slot *slot, const char *action,
                         int64_t retry_in_ms, int64_t now_ms) ON_THREAD(poll_thread)
{
    failure_log_add(
        part->failures,
        &(struct failure_event){.action = action,
                                .kind = failure_kind_name((enum failure_kind)slot->work.failure),
                                .reason = slot->work.reason,
                                .rec = &slot->work.rec,
                                .attempt = slot->attempt,
                                .retry_in_ms = retry_in_ms},
        now_ms);
}

static void wait_for_retry(struct partition *part, struct slot *slot, int64_t now_ms)
    ON_THREAD(poll_thread)
{
    uint64_t seed = (uint64_t)slot->work.rec.offset << 16 ^ part->id;
    int64_t delay_ms =
        failure_policy_delay_ms(&part->engine->failure, &slot->work, slot->attempt, seed);
    if (commit_window_mode(part->window) != WINDOW_DEAD) {
        note_failure(part, slot, "retry", delay_ms, now_ms);
        metric_add(&part->counters->retried, 1);
    }
    commit_window_wait(part->window, slot);
    retry_queue_put(&part->retries, slot, now_ms + delay_ms);
}

static enum partition_result stop_at(struct partition *part, const struct slot *slot,
                                     struct error *err) ON_THREAD(poll_thread)
{
    metric_add(&part->counters->failed, 1);
    if (!commit_window_stop_at(part->window, slot)) {
        return PARTITION_WORKED;
    }
    char how[160];
    failure_policy_explain(&part->engine->failure, &slot->work, slot->attempt, how, sizeof how);
    error_set(err, E_RECORD, "%s [%" PRId32 "] at offset %" PRId64 "%s: %s", part->where.topic,
              part->where.partition, slot->work.rec.offset, how,
              slot->work.reason ? slot->work.reason : "failed without a reason");
    return PARTITION_FAILED;
}

enum partition_result partition_complete(struct partition *part, struct slot *slot, int64_t now_ms,
                                         struct error *err)
{
    struct slot *current = commit_window_complete(part->window, commit_window_epoch(part->window),
                                                  slot->sequence, slot->attempt);
    if (current == NULL || current->work.outcome == OUTCOME_DONE) {
        return PARTITION_WORKED;
    }
    CHECK(current->work.failure < FAILURE_KIND_COUNT);
    if (current->work.outcome != OUTCOME_UNRUN) {
        metric_add(&part->counters->failures[current->work.failure], 1);
    }
    switch ((enum outcome)current->work.outcome) {
    case OUTCOME_RETRY:
        wait_for_retry(part, current, now_ms);
        break;
    case OUTCOME_SKIPPED:
        note_failure(part, current, "skip", -1, now_ms);
        metric_add(&part->counters->skipped, 1);
        break;
    case OUTCOME_DEAD_LETTER:
        note_failure(part, current, "dlq", -1, now_ms);
        metric_add(&part->counters->dead_letters, 1);
        break;
    case OUTCOME_FAILED:
        return stop_at(part, current, err);
    case OUTCOME_NONE:
    case OUTCOME_DONE:
    case OUTCOME_UNRUN:
        break;
    }
    return PARTITION_WORKED;
}

enum partition_result partition_retry(struct partition *part, int64_t now_ms)
{
    enum partition_result result = PARTITION_IDLE;
    bool running = commit_window_mode(part->window) == WINDOW_RUN;
    while (part->retries.count > 0 && exchange_room(part->exchange) > 0) {
        bool due = retry_queue_due_ms(&part->retries) <= now_ms;
        struct slot *slot = due       ? retry_queue_take(&part->retries)
                            : running ? NULL
                                      : retry_queue_take_stopped(&part->retries);
        if (slot == NULL) {
            break;
        }
        commit_window_retry(part->window, slot);
        exchange_submit(part->exchange, &slot, 1);
        result = PARTITION_WORKED;
    }
    return result;
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

/* Before the first of several emissions: they leave all or none, as far as it can be known. Where
 * the policy is to go on without one, each is judged when its turn comes. */
static enum sink_result check_effects(struct partition *part, const struct slot *slot,
                                      struct error *err)
{
    const struct emission *emission = slot->work.effects.first;
    if (emission == NULL || emission->next == NULL || slot->unsent != emission ||
        production_action(part, slot) == FAILURE_SKIP) {
        return SINK_TAKEN;
    }
    for (; emission; emission = emission->next) {
        enum sink_result result = part->sink->ops->check(part->sink, emission, err);
        if (result != SINK_TAKEN) {
            return result;
        }
    }
    return SINK_TAKEN;
}

static enum sink_result send_effects(struct partition *part, struct slot *slot, struct error *err)
    ON_THREAD(poll_thread)
{
    uint64_t tag = make_tag(part, slot);
    enum sink_result checked = check_effects(part, slot, err);
    if (checked != SINK_TAKEN) {
        return checked;
    }
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

/* What becomes of a record with an output that will never be delivered. */
static enum failure_action production_action(const struct partition *part, const struct slot *slot)
{
    const struct failure_policy *policy = &part->engine->failure;
    if (slot->last_resort) {
        return FAILURE_STOP;
    }
    bool letter = policy->production == FAILURE_DEAD_LETTER && policy->dead_letter_topic;
    bool skip = policy->production == FAILURE_SKIP;
    return letter ? FAILURE_DEAD_LETTER : skip ? FAILURE_SKIP : FAILURE_STOP;
}

/* Tells of an output that will never be delivered, err says why; makes err fit for a stop. */
static enum failure_action judge_output(struct partition *part, struct slot *slot, const char *what,
                                        struct error *err) ON_THREAD(poll_thread)
{
    metric_add(&part->counters->undeliverable, 1);
    enum failure_action action = production_action(part, slot);
    if (action != FAILURE_STOP) {
        log_warn("output lost", LOG_STR("event", "output_lost"),
                 LOG_STR("action", action == FAILURE_SKIP ? "skip" : "dlq"),
                 LOG_STR("topic", part->where.topic), LOG_INT("partition", part->where.partition),
                 LOG_INT("offset", slot->work.rec.offset), LOG_STR("reason", err->text));
        if (slot->work.reason == NULL) {
            slot->work.reason =
                arena_copy(&slot->work.effects.arena, err->text, strlen(err->text) + 1);
        }
        return action;
    }
    if (slot->last_resort) {
        err->code = E_RECORD;
        what = "the dead letter cannot be written";
    }
    error_prefix(err, "%s [%" PRId32 "] at offset %" PRId64 ": %s", part->where.topic,
                 part->where.partition, slot->work.rec.offset, what);
    return action;
}

/* The dead letter of a record that has retired, of which outputs are lost, and all reports here. */
static void write_letter(struct partition *part, struct slot *slot) ON_THREAD(poll_thread)
{
    bool due = slot->undeliverable && slot->unacked == 0 && slot_get_state(slot) == SLOT_RETIRED &&
               production_action(part, slot) == FAILURE_DEAD_LETTER;
    if (due) {
        metric_add(&part->counters->dead_letters, 1);
        dead_letter_emit(&part->engine->failure, &slot->work, slot->attempt, "production",
                         slot->work.reason);
        commit_window_send_letter(part->window, slot);
        slot_list_append(&part->letters, slot);
    }
}

/* The sink will never take the next output of this slot. False: stop, with err. */
static bool refuse(struct partition *part, struct slot *slot, struct error *err)
    ON_THREAD(poll_thread)
{
    switch (judge_output(part, slot, "output refused", err)) {
    case FAILURE_SKIP:
        commit_window_drop(part->window, slot);
        return true;
    case FAILURE_DEAD_LETTER:
        commit_window_lose(part->window, slot);
        return true;
    case FAILURE_STOP:
    case FAILURE_RETRY:
        break;
    }
    commit_window_refuse(part->window, slot);
    commit_window_stop_at(part->window, slot);
    return false;
}

/* Sends the dead letters of records that had retired when an output was lost. */
static enum partition_result send_letters(struct partition *part, struct error *err)
    ON_THREAD(poll_thread)
{
    enum partition_result result = PARTITION_IDLE;
    while (part->letters.first) {
        struct slot *slot = part->letters.first;
        switch (send_effects(part, slot, err)) {
        case SINK_TAKEN:
            slot_list_take(&part->letters);
            commit_window_forgive(part->window, slot);
            result = PARTITION_WORKED;
            break;
        case SINK_FULL:
            return result;
        case SINK_REFUSED:
            slot_list_take(&part->letters);
            judge_output(part, slot, "output refused", err);
            return PARTITION_FAILED;
        }
    }
    return result;
}

/* One reading of the clock serves all that retires in a turn. */
static void note_latency(struct partition *part, const struct slot *slot, int64_t *wall_ms)
    ON_THREAD(poll_thread)
{
    if (slot->work.rec.timestamp_ms < 0 || part->shown == NULL) {
        return;
    }
    if (*wall_ms == 0) {
        *wall_ms = clock_wall_ms(part->clock);
    }
    window_metrics_add_latency(part->shown, *wall_ms - slot->work.rec.timestamp_ms);
}

enum partition_result partition_retire(struct partition *part, struct error *err)
{
    if (part->frozen) {
        return PARTITION_IDLE;
    }
    int64_t wall_ms = 0;
    enum partition_result result = send_letters(part, err);
    if (result == PARTITION_FAILED) {
        return result;
    }
    for (int i = 0; i < RETIRE_MAX; i++) {
        struct slot *slot = commit_window_next_retirable(part->window);
        if (slot == NULL) {
            break;
        }
        switch (send_effects(part, slot, err)) {
        case SINK_TAKEN:
            note_latency(part, slot, &wall_ms);
            commit_window_retire(part->window, slot);
            write_letter(part, slot);
            result = PARTITION_WORKED;
            break;
        case SINK_FULL:
            return result;
        case SINK_REFUSED:
            if (!refuse(part, slot, err)) {
                return PARTITION_FAILED;
            }
            break;
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
    if (!report->failed) {
        metric_add(&part->counters->delivered, 1);
    }
    if (slot == NULL) {
        return PARTITION_WORKED;
    }
    enum failure_action action = FAILURE_DEAD_LETTER;
    if (report->failed) {
        error_set(err, E_BROKER, "%s", report->reason);
        action = judge_output(part, slot, "delivery failed", err);
    }
    if (action == FAILURE_SKIP) {
        commit_window_forgive(part->window, slot);
    } else if (action == FAILURE_DEAD_LETTER) {
        write_letter(part, slot);
    }
    return action == FAILURE_STOP ? PARTITION_FAILED : PARTITION_WORKED;
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
    if (commit_window_waiting(win) > 0) {
        return HOLD_RETRY;
    }
    bool slots = commit_window_used(win) * 4 >= commit_window_capacity(win) * 3;
    return slots ? HOLD_RECORDS : HOLD_BYTES;
}

static int64_t lag(const struct partition *part)
{
    int64_t commit_pos = commit_window_commit_pos(part->window);
    if (partition_is_at_end(part)) {
        return 0;
    }
    if (part->end_offset < 0 || commit_pos < 0) {
        return -1;
    }
    /* the end is asked for now and then only, and may lie behind */
    return part->end_offset > commit_pos ? part->end_offset - commit_pos : 0;
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
                                        .end_offset = part->end_offset,
                                        .lag = lag(part),
                                        .hold = hold_reason(win),
                                    });
}

void partition_look(struct partition *part, int64_t now_ms)
{
    const struct source_ops *ops = part->source->ops;
    if (ops->end_offset) {
        part->end_offset = ops->end_offset(part->source, part->where.handle);
    }
    hold_log_note(&part->hold_log, hold_reason(part->window), &part->where,
                  commit_window_used(part->window), now_ms);
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

bool partition_is_quiet(const struct partition *part)
{
    return part->letters.first == NULL && commit_window_is_quiet(part->window);
}

int64_t partition_retry_due_ms(const struct partition *part)
{
    return retry_queue_due_ms(&part->retries);
}

bool partition_is_dirty(const struct partition *part)
{
    return !part->given_up && commit_window_is_dirty(part->window);
}

bool partition_is_gone(const struct partition *part)
{
    return commit_window_mode(part->window) == WINDOW_DEAD &&
           commit_window_outstanding(part->window) == 0 &&
           commit_window_waiting(part->window) == 0 && commit_window_undelivered(part->window) == 0;
}

bool partition_is_at_end(const struct partition *part)
{
    return part->at_end && part->stash_count == 0 && commit_window_used(part->window) == 0;
}
