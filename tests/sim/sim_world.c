#include "sim/sim_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { KEY_BYTES = 8, VALUE_BYTES = 16, PATIENCE_MS = 1000000000 };
enum { KEY_AT = sizeof(struct sim_message *), VALUE_AT = KEY_AT + KEY_BYTES };

static uint64_t next_random(struct sim_world *world)
{
    uint64_t x = world->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t sim_below(struct sim_world *world, uint64_t n)
{
    return next_random(world) % n;
}

bool sim_fault(struct sim_world *world, unsigned permille)
{
    return world->faults && sim_below(world, 1000) < permille;
}

bool sim_rough_fault(struct sim_world *world, unsigned permille)
{
    return sim_fault(world, permille) && !world->calm;
}

void sim_say(const struct sim_world *world, const char *format, ...)
{
    if (world->verbose) {
        va_list args;
        va_start(args, format);
        printf("%10.3f ms  ", (double)world->now_ns * 1e-6);
        vprintf(format, args);
        printf("\n");
        va_end(args);
    }
}

void sim_fail(const struct sim_world *world, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("oracle: ");
    vprintf(format, args);
    printf(" (at %.3f ms)\n", (double)world->now_ns * 1e-6);
    va_end(args);
    abort();
}

static int64_t monotonic_ns(void *context)
{
    return ((struct sim_world *)context)->now_ns;
}

static int64_t wall_ms(void *context)
{
    return ((struct sim_world *)context)->now_ns / 1000000;
}

/* How often what fails, and what is to become of it. A calm run only knows retries. */
static void draw_failures(struct sim_world *world)
{
    static const unsigned OFTEN[] = {0, 0, 3, 40, 200};
    struct failure_policy *policy = &world->options.failure;
    world->script_failure = OFTEN[sim_below(world, 5)];
    world->delivery_failure = OFTEN[sim_below(world, 5)] / 3;
    for (int i = 0; i < FAILURE_KIND_COUNT; i++) {
        policy->actions[i] = world->calm ? FAILURE_RETRY : (enum failure_action)sim_below(world, 4);
    }
    static const enum failure_action OUTPUTS[] = {FAILURE_STOP, FAILURE_SKIP, FAILURE_DEAD_LETTER};
    policy->production = OUTPUTS[sim_below(world, 3)];
    policy->max_retries = world->calm ? RETRIES_UNBOUNDED : (int64_t)sim_below(world, 6) - 1;
    policy->backoff_ms = (int64_t)sim_below(world, 100);
    policy->backoff_max_ms = (int64_t)sim_below(world, 1000);
    policy->dead_letter_topic = sim_below(world, 4) ? "letters" : NULL;
    policy->script = "sim.lua";
    policy->generation = "0";
    if (world->calm) {
        world->delivery_failure = 0;
    }
}

static void draw_options(struct sim_world *world)
{
    world->pipelines = (unsigned)sim_below(world, SIM_PIPELINES_MAX) + 1;
    world->workers = (unsigned)sim_below(world, 4) + 1;
    world->options = (struct engine_options){
        .num_stream_threads = world->pipelines * world->workers,
        .num_threads_per_task = world->workers,
        .order = (enum processing_order)sim_below(world, 3),
        .emit = (enum processing_emit)sim_below(world, 2),
        .null_key = (enum processing_null_key)sim_below(world, 2),
        .window_records = UINT32_C(2) << sim_below(world, 6),
        .window_bytes = sim_below(world, 3) ? 1 << 20 : 1 + sim_below(world, 400),
        .commit_interval_ms = 1 + (int64_t)sim_below(world, 200),
        .drain_timeout_ms = (int64_t)sim_below(world, 200),
        .shutdown_timeout_ms = 1000,
        .exit_at_end = sim_below(world, 2) == 0,
    };
    world->cooperative = sim_below(world, 2) == 0;
    world->calm = sim_below(world, 3) == 0;
    draw_failures(world);
    if (world->calm) {
        world->options.drain_timeout_ms = PATIENCE_MS;
        world->options.shutdown_timeout_ms = PATIENCE_MS;
    }
}

void sim_world_init(struct sim_world *world, uint64_t seed, bool verbose)
{
    memset(world, 0, sizeof *world);
    world->random = seed * UINT64_C(0x2545f4914f6cdd1d);
    world->verbose = verbose;
    world->faults = true;
    world->now_ns = 1000000;
    world->clock = (struct clock_source){monotonic_ns, wall_ms, world};
    draw_options(world);
    world->partition_count = (int32_t)sim_below(world, SIM_PARTITIONS_MAX) + 1;
    for (int32_t p = 0; p < world->partition_count; p++) {
        struct sim_partition *part = &world->partitions[p];
        part->records = (uint32_t)sim_below(world, SIM_RECORDS_MAX);
        part->committed = -1;
        part->owner = -1;
        part->era = SIM_ERAS_MAX;
        int64_t offset = (int64_t)sim_below(world, 100);
        for (uint32_t i = 0; i < part->records; i++) {
            part->offsets[i] = offset;
            offset += sim_below(world, 5) ? 1 : 1 + (int64_t)sim_below(world, 10);
            part->keys[i] = (int8_t)sim_below(world, SIM_KEYS_MAX + 1) - 1;
        }
    }
}

void sim_world_fini(struct sim_world *world)
{
    while (world->messages) {
        struct sim_message *message = world->messages;
        world->messages = message->next;
        if (!message->released) {
            sim_fail(world, "O1: %d@%u was fetched and never released", message->partition,
                     message->index);
        }
        memory_free(message);
    }
}

/* --- records ------------------------------------------------------------------------------- */

/* A drain leaves what has not begun, so that with K > 1 and emit=input, or with retries, later
 * records may have run before it, which run again. */
static bool runs_once(const struct sim_world *world)
{
    return world->calm && world->workers == 1 && !world->script_failure;
}

static bool leaves_once(const struct sim_world *world)
{
    return world->calm;
}

uint32_t sim_begin_era(struct sim_world *world, int32_t partition)
{
    if (world->era_count == SIM_ERAS_MAX) {
        sim_fail(world, "the run has too many eras");
    }
    struct sim_era *era = &world->eras[world->era_count];
    memset(era, 0, sizeof *era);
    uint32_t last = world->partitions[partition].era;
    if (last != SIM_ERAS_MAX && runs_once(world)) {
        memcpy(era->last_run, world->eras[last].last_run, sizeof era->last_run);
    }
    if (last != SIM_ERAS_MAX && leaves_once(world)) {
        memcpy(era->last_out, world->eras[last].last_out, sizeof era->last_out);
    }
    era->committed = world->partitions[partition].committed;
    world->partitions[partition].era = world->era_count;
    return world->era_count++;
}

uint32_t sim_emissions(int32_t partition, uint32_t index)
{
    return (index * 7 + (uint32_t)partition) % (SIM_EMISSIONS_MAX + 1);
}

void sim_make_record(struct sim_world *world, int32_t partition, uint32_t index, struct record *rec)
{
    const struct sim_partition *part = &world->partitions[partition];
    struct sim_message *message = memory_alloc(sizeof *message);
    *message = (struct sim_message){.next = world->messages,
                                    .bytes = memory_alloc(VALUE_AT + VALUE_BYTES),
                                    .partition = partition,
                                    .index = index,
                                    .era = part->era,
                                    .assignment = part->assignment};
    world->messages = message;
    int key = part->keys[index];
    memcpy(message->bytes, &message, sizeof message);
    memcpy(message->bytes + KEY_AT, "key-0", 6);
    message->bytes[KEY_AT + 4] = (char)('0' + (key < 0 ? 0 : key));
    snprintf(message->bytes + VALUE_AT, VALUE_BYTES, "%d@%u", partition, index);
    *rec = (struct record){
        .key = key < 0 ? NULL : message->bytes + KEY_AT,
        .key_size = key < 0 ? 0 : (uint32_t)strlen(message->bytes + KEY_AT),
        .value = message->bytes + VALUE_AT,
        .value_size = VALUE_BYTES,
        .offset = part->offsets[index],
        .timestamp_ms = index,
        .topic = "sim",
        .partition = partition,
        .leader_epoch = -1,
        .message = message,
    };
}

struct sim_message *sim_message_of(const char *value)
{
    struct sim_message *message;
    memcpy(&message, value - VALUE_AT, sizeof message);
    return message;
}

bool sim_is_away(const struct sim_world *world)
{
    return world->faults && world->now_ns < world->away_until_ns;
}

void sim_release(struct sim_world *world, struct record *rec)
{
    struct sim_message *message = rec->message;
    if (message->released) {
        sim_fail(world, "O1: %d@%u is released twice", message->partition, message->index);
    }
    message->released = true;
    memory_free(message->bytes); /* a use after this is for AddressSanitizer to see */
    message->bytes = NULL;
}

/* --- oracles ------------------------------------------------------------------------------- */

/* The line of records that must stay in order with this one; -1: none. */
static int line_of(const struct sim_world *world, const struct sim_message *message)
{
    int key = world->partitions[message->partition].keys[message->index];
    bool serial = world->workers == 1 && !world->script_failure;
    if (serial || world->options.order == ORDER_PARTITION) {
        return SIM_LINE_ALL;
    }
    if (world->options.order == ORDER_NONE) {
        return -1;
    }
    if (key >= 0) {
        return key;
    }
    return world->options.null_key == NULL_KEY_SERIAL ? SIM_LINE_NULL : -1;
}

static int64_t now_ms(const struct sim_world *world)
{
    return world->now_ns / 1000000;
}

/* O1: the first run, or a retry that is due. */
static void judge_attempt(const struct sim_world *world, const struct sim_message *message)
{
    if (message->released) {
        sim_fail(world, "O1: %d@%u runs after its release", message->partition, message->index);
    }
    if (message->verdict != SIM_NOT_RUN && message->verdict != SIM_RETRY) {
        sim_fail(world, "O1: %d@%u runs again after verdict %d", message->partition, message->index,
                 (int)message->verdict);
    }
    if (message->verdict == SIM_RETRY && now_ms(world) < message->due_ms) {
        sim_fail(world, "O1: %d@%u runs again %lld ms too early", message->partition,
                 message->index, (long long)(message->due_ms - now_ms(world)));
    }
    int64_t max = world->options.failure.max_retries;
    if (max >= 0 && message->runs > max) {
        sim_fail(world, "O8: %d@%u runs more than %lld times", message->partition, message->index,
                 (long long)max + 1);
    }
}

void sim_judge_run(struct sim_world *world, const struct record *rec)
{
    struct sim_message *message = rec->message;
    world->counts[SIM_RUNS]++;
    judge_attempt(world, message);
    bool again = message->runs++ > 0;
    bool *ran = &world->partitions[message->partition].ran[message->index];
    if (runs_once(world) && *ran) {
        sim_fail(world, "O7: %d@%u runs again", message->partition, message->index);
    }
    *ran = true;
    int line = line_of(world, message);
    if (line < 0) {
        return;
    }
    struct sim_era *era = &world->eras[message->era];
    if (era->waiting[line] != 0 && era->waiting[line] != message->index + 1) {
        sim_fail(world, "O2: %d@%u runs while %d@%u waits to run again", message->partition,
                 message->index, message->partition, era->waiting[line] - 1);
    }
    int64_t *last = &era->last_run[line];
    if (*last > message->index + (again ? 1 : 0)) {
        sim_fail(world, "O2: %d@%u runs after %d@%lld", message->partition, message->index,
                 message->partition, (long long)*last - 1);
    }
    *last = message->index + 1;
}

/* The second opinion on what becomes of a failed record. */
static enum sim_verdict expect(const struct sim_world *world, const struct work *work,
                               uint32_t runs)
{
    static const enum sim_verdict BY_ACTION[] = {
        [FAILURE_STOP] = SIM_STOP,
        [FAILURE_RETRY] = SIM_RETRY,
        [FAILURE_SKIP] = SIM_SKIP,
        [FAILURE_DEAD_LETTER] = SIM_LETTERED,
    };
    static const enum sim_verdict BY_REQUEST[] = {
        [REQUEST_RETRY] = SIM_RETRY,
        [REQUEST_SKIP] = SIM_SKIP,
        [REQUEST_DEAD_LETTER] = SIM_LETTERED,
    };
    const struct failure_policy *policy = &world->options.failure;
    enum sim_verdict verdict = work->request == REQUEST_NONE
                                   ? BY_ACTION[policy->actions[work->failure]]
                                   : BY_REQUEST[work->request];
    if (verdict == SIM_RETRY && policy->max_retries >= 0 && runs > policy->max_retries) {
        verdict = SIM_LETTERED;
    }
    bool nowhere = verdict == SIM_LETTERED && policy->dead_letter_topic == NULL;
    return nowhere ? SIM_STOP : verdict;
}

/* The shortest wait before the next run. */
static int64_t least_delay_ms(const struct sim_world *world, const struct work *work, uint32_t runs)
{
    if (work->request == REQUEST_RETRY && work->retry_delay_ms >= 0) {
        return work->retry_delay_ms;
    }
    const struct failure_policy *policy = &world->options.failure;
    double delay_ms = (double)policy->backoff_ms;
    for (uint32_t i = 1; i < runs && delay_ms < (double)policy->backoff_max_ms; i++) {
        delay_ms *= 2;
    }
    if (delay_ms > (double)policy->backoff_max_ms) {
        delay_ms = (double)policy->backoff_max_ms;
    }
    return (int64_t)(delay_ms * 0.8);
}

/* O4: from now on a commit may pass it. */
static void settle(struct sim_world *world, const struct sim_message *message)
{
    struct sim_partition *part = &world->partitions[message->partition];
    uint32_t all = (1u << sim_emissions(message->partition, message->index)) - 1;
    uint32_t left_out =
        world->options.failure.production == FAILURE_SKIP && message->assignment == part->assignment
            ? message->lost
            : 0;
    bool done = message->verdict == SIM_DONE && ((message->delivered | left_out) & all) == all;
    bool letter = message->delivered & 1u << SIM_LETTER;
    if (done || letter || message->verdict == SIM_SKIP) {
        part->settled[message->index] = true;
    }
}

void sim_judge_end_of_run(struct sim_world *world, const struct work *work)
{
    struct sim_message *message = work->rec.message;
    int line = line_of(world, message);
    message->verdict =
        work->outcome == OUTCOME_DONE ? SIM_DONE : expect(world, work, message->runs);
    bool retry = message->verdict == SIM_RETRY;
    if (retry) {
        message->due_ms = now_ms(world) + least_delay_ms(world, work, message->runs);
    }
    if (line >= 0) {
        world->eras[message->era].waiting[line] = retry ? message->index + 1 : 0;
    }
    world->counts[SIM_RETRIES] += retry;
    world->counts[SIM_SKIPS] += message->verdict == SIM_SKIP;
    world->counts[SIM_LETTERS] += message->verdict == SIM_LETTERED;
    if (work->outcome == OUTCOME_FAILED) {
        sim_say(world, "%d@%u fails in run %u: verdict %d", message->partition, message->index,
                message->runs, (int)message->verdict);
    }
    settle(world, message);
}

void sim_judge_loss(struct sim_world *world, struct sim_message *message, uint32_t emission)
{
    sim_say(world, "emission %u of %d@%u is lost", emission, message->partition, message->index);
    message->lost |= (uint8_t)(1u << emission);
    settle(world, message);
}

/* O8: it is what the verdict lets out. */
static void judge_kind(const struct sim_world *world, const struct sim_message *message,
                       uint32_t emission)
{
    bool instead = message->verdict == SIM_DONE && message->lost != 0 &&
                   world->options.failure.production == FAILURE_DEAD_LETTER;
    bool right = emission == SIM_LETTER ? message->verdict == SIM_LETTERED || instead
                                        : message->verdict == SIM_DONE;
    if (!right) {
        sim_fail(world, "O8: emission %u of %d@%u leaves with verdict %d", emission,
                 message->partition, message->index, (int)message->verdict);
    }
}

void sim_judge_output(struct sim_world *world, struct sim_message *message, uint32_t emission)
{
    world->counts[SIM_OUTPUTS]++;
    if (message->delivered & 1u << emission) {
        sim_fail(world, "O3: emission %u of %d@%u leaves twice", emission, message->partition,
                 message->index);
    }
    judge_kind(world, message, emission);
    message->delivered |= (uint8_t)(1u << emission);
    settle(world, message);
    uint8_t *delivered = &world->partitions[message->partition].delivered[message->index];
    if (leaves_once(world) && *delivered & 1u << emission) {
        sim_fail(world, "O7: emission %u of %d@%u leaves again", emission, message->partition,
                 message->index);
    }
    *delivered |= (uint8_t)(1u << emission);
    int line = world->options.emit == EMIT_INPUT ? SIM_LINE_ALL : line_of(world, message);
    bool late = emission == SIM_LETTER && message->lost != 0; /* it had retired */
    if (line < 0 || late) {
        return;
    }
    int64_t *last = &world->eras[message->era].last_out[line];
    int64_t now = (int64_t)message->index * 4 + emission + 1;
    if (*last >= now) {
        sim_fail(world, "O3: emission %u of %d@%u leaves after %d@%lld", emission,
                 message->partition, message->index, message->partition,
                 (long long)(*last - 1) / 4);
    }
    *last = now;
}

void sim_judge_commit(struct sim_world *world, int pipeline, int32_t partition, int64_t position)
{
    const struct sim_partition *part = &world->partitions[partition];
    world->counts[SIM_COMMITS]++;
    if (part->owner != pipeline) {
        sim_fail(world, "O4: pipeline %d commits partition %d of pipeline %d", pipeline, partition,
                 part->owner);
    }
    struct sim_era *era = &world->eras[part->era];
    if (position < era->committed && !era->went_back) {
        sim_fail(world, "O4: the commit of %d falls from %lld to %lld", partition,
                 (long long)era->committed, (long long)position);
    }
    era->committed = position;
    for (uint32_t i = 0; i < part->records && part->offsets[i] < position; i++) {
        if (!part->settled[i]) {
            sim_fail(world, "O4: the commit of %d at %lld passes %d@%u, which is not settled",
                     partition, (long long)position, partition, i);
        }
    }
}

void sim_judge_end(const struct sim_world *world)
{
    for (int32_t p = 0; p < world->partition_count; p++) {
        const struct sim_partition *part = &world->partitions[p];
        for (uint32_t i = 0; i < part->records; i++) {
            if (!part->settled[i]) {
                sim_fail(world, "O5: %d@%u is lost", p, i);
            }
        }
        if (part->records > 0 && part->committed != part->offsets[part->records - 1] + 1) {
            sim_fail(world, "O5: partition %d ends committed at %lld", p,
                     (long long)part->committed);
        }
    }
}
