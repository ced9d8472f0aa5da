#include "sim/sim_processor.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"

struct sim_processor {
    struct processor base;
    struct sim_world *world;
};

/* The name of its one header carries who it is, apart from the bytes that are checked. */
static void emit(struct work *work, uint32_t number)
{
    const struct sim_message *message = work->rec.message;
    struct sim_output output = {work->rec.message, number, message->runs};
    struct arena *arena = &work->effects.arena;
    struct emission *emission = effects_emit(&work->effects);
    struct header *header = arena_alloc(arena, sizeof *header);
    *header = (struct header){.name = arena_copy(arena, &output, sizeof output),
                              .name_size = sizeof output};
    emission->headers = header;
    emission->header_count = 1;
    emission->partition = work->rec.partition;
    emission->key = work->rec.key;
    emission->key_size = work->rec.key_size;
    emission->value =
        number == 0 ? work->rec.value : arena_copy(arena, work->rec.value, work->rec.value_size);
    emission->value_size = work->rec.value_size;
}

/* The value of a header of a dead letter is this text. */
static void check_header(const struct emission *emission, const char *name, const char *expected)
{
    bool found = false;
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *header = &emission->headers[i];
        if (header->name_size == strlen(name) &&
            memcmp(header->name, name, header->name_size) == 0) {
            CHECK(header->value_size == strlen(expected));
            found = memcmp(header->value, expected, header->value_size) == 0;
        }
    }
    CHECK(found);
}

static void read_letter(const struct emission *emission, struct sim_output *output)
{
    struct sim_message *message = sim_message_of(emission->value);
    *output = (struct sim_output){message, SIM_LETTER, message->runs};
    char text[24];
    check_header(emission, "__streams.errors.topic", "sim");
    snprintf(text, sizeof text, "%d", message->partition);
    check_header(emission, "__streams.errors.partition", text);
    snprintf(text, sizeof text, "%u", message->runs);
    check_header(emission, "__moontide.errors.attempts", text);
}

void sim_output_read(const struct emission *emission, struct sim_output *output)
{
    if (emission->topic) {
        read_letter(emission, output);
        return;
    }
    CHECK(emission->header_count == 1);
    CHECK(emission->headers->name_size == sizeof *output);
    memcpy(output, emission->headers->name, sizeof *output);
    CHECK(output->attempt == output->message->runs); /* O3: of the last one only */
    char expected[32];
    snprintf(expected, sizeof expected, "%d@%u", output->message->partition,
             output->message->index);
    CHECK(strcmp(emission->value, expected) == 0);
    CHECK(emission->key == NULL || strncmp(emission->key, "key-", 4) == 0);
}

/* The script says how it failed, and perhaps what it wants. */
static void fail(struct sim_world *world, struct work *work)
{
    effects_clear(&work->effects);
    work->reason = "failed by the seed";
    work->outcome = OUTCOME_FAILED;
    work->failure = (uint8_t)sim_below(world, FAILURE_KIND_COUNT);
    work->request = REQUEST_NONE;
    if (sim_below(world, 3) == 0) {
        work->request =
            world->calm ? REQUEST_RETRY : (uint8_t)(1 + sim_below(world, REQUEST_DEAD_LETTER));
        work->retry_delay_ms =
            sim_below(world, 3) ? (int32_t)sim_below(world, 300) : RETRY_DELAY_BACKOFF;
    }
}

static size_t processor_run(struct processor *processor, struct work *const *batch, size_t count)
{
    struct sim_world *world = ((struct sim_processor *)processor)->world;
    for (size_t i = 0; i < count; i++) {
        struct work *work = batch[i];
        const struct sim_message *message = work->rec.message;
        CHECK(work->outcome == OUTCOME_NONE);
        CHECK(work->effects.count == 0);
        sim_judge_run(world, &work->rec);
        for (uint32_t n = 0; n < sim_emissions(message->partition, message->index); n++) {
            emit(work, n);
        }
        work->outcome = OUTCOME_DONE;
        if (world->script_failure && sim_fault(world, world->script_failure)) {
            fail(world, work);
        }
        sim_judge_end_of_run(world, work);
        if (work->outcome == OUTCOME_FAILED) {
            return i + 1;
        }
    }
    return count;
}

static void processor_close(struct processor *processor)
{
    (void)processor;
}

static void processor_destroy(struct processor *processor)
{
    memory_free(processor);
}

static const struct processor_ops OPS = {
    .run = processor_run,
    .close = processor_close,
    .destroy = processor_destroy,
};

struct processor *sim_processor_create(struct sim_world *world)
{
    struct sim_processor *p = memory_alloc(sizeof *p);
    p->base.ops = &OPS;
    p->world = world;
    return &p->base;
}
