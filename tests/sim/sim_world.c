#include "sim/sim_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { KEY_BYTES = 8, VALUE_BYTES = 16, PATIENCE_MS = 1000000000 };

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
    world->script_failure = sim_below(world, 4) ? 0 : 3;
    world->delivery_failure = sim_below(world, 4) ? 0 : 3;
    world->calm = sim_below(world, 3) == 0;
    if (world->calm) {
        world->script_failure = 0;
        world->delivery_failure = 0;
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

/* A drain leaves what has not begun, so that with K > 1 later records may have run before it; with
 * emit=completion they have also left. Both come again. */
static bool runs_once(const struct sim_world *world)
{
    return world->calm && world->workers == 1;
}

static bool leaves_once(const struct sim_world *world)
{
    return world->calm && (world->workers == 1 || world->options.emit == EMIT_INPUT);
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
                                    .bytes = memory_alloc(KEY_BYTES + VALUE_BYTES),
                                    .partition = partition,
                                    .index = index,
                                    .era = part->era};
    world->messages = message;
    int key = part->keys[index];
    memcpy(message->bytes, "key-0", 6);
    message->bytes[4] = (char)('0' + (key < 0 ? 0 : key));
    snprintf(message->bytes + KEY_BYTES, VALUE_BYTES, "%d@%u", partition, index);
    *rec = (struct record){
        .key = key < 0 ? NULL : message->bytes,
        .key_size = key < 0 ? 0 : (uint32_t)strlen(message->bytes),
        .value = message->bytes + KEY_BYTES,
        .value_size = VALUE_BYTES,
        .offset = part->offsets[index],
        .timestamp_ms = index,
        .topic = "sim",
        .partition = partition,
        .leader_epoch = -1,
        .message = message,
    };
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
    if (world->workers == 1 || world->options.order == ORDER_PARTITION) {
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

void sim_judge_run(struct sim_world *world, const struct record *rec)
{
    struct sim_message *message = rec->message;
    world->counts[SIM_RUNS]++;
    if (message->released) {
        sim_fail(world, "O1: %d@%u runs after its release", message->partition, message->index);
    }
    if (message->runs++ > 0) {
        sim_fail(world, "O1: %d@%u runs twice", message->partition, message->index);
    }
    bool *ran = &world->partitions[message->partition].ran[message->index];
    if (runs_once(world) && *ran) {
        sim_fail(world, "O7: %d@%u runs again", message->partition, message->index);
    }
    *ran = true;
    int line = line_of(world, message);
    if (line < 0) {
        return;
    }
    int64_t *last = &world->eras[message->era].last_run[line];
    if (*last > message->index) {
        sim_fail(world, "O2: %d@%u runs after %d@%lld", message->partition, message->index,
                 message->partition, (long long)*last - 1);
    }
    *last = message->index + 1;
}

void sim_judge_output(struct sim_world *world, struct sim_message *message, uint32_t emission)
{
    world->counts[SIM_OUTPUTS]++;
    if (message->delivered & 1u << emission) {
        sim_fail(world, "O3: emission %u of %d@%u leaves twice", emission, message->partition,
                 message->index);
    }
    message->delivered |= (uint8_t)(1u << emission);
    uint8_t *delivered = &world->partitions[message->partition].delivered[message->index];
    if (leaves_once(world) && *delivered & 1u << emission) {
        sim_fail(world, "O7: emission %u of %d@%u leaves again", emission, message->partition,
                 message->index);
    }
    *delivered |= (uint8_t)(1u << emission);
    int line = world->options.emit == EMIT_INPUT ? SIM_LINE_ALL : line_of(world, message);
    if (line < 0) {
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
        uint32_t all = (1u << sim_emissions(partition, i)) - 1;
        if ((part->delivered[i] & all) != all) {
            sim_fail(world, "O4: the commit of %d at %lld passes %d@%u, which is not delivered",
                     partition, (long long)position, partition, i);
        }
    }
}

void sim_judge_end(const struct sim_world *world)
{
    for (int32_t p = 0; p < world->partition_count; p++) {
        const struct sim_partition *part = &world->partitions[p];
        for (uint32_t i = 0; i < part->records; i++) {
            uint32_t all = (1u << sim_emissions(p, i)) - 1;
            if ((part->delivered[i] & all) != all) {
                sim_fail(world, "O5: %d@%u is lost", p, i);
            }
        }
        if (part->records > 0 && part->committed != part->offsets[part->records - 1] + 1) {
            sim_fail(world, "O5: partition %d ends committed at %lld", p,
                     (long long)part->committed);
        }
    }
}
