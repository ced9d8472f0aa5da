#include "sim/sim_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "sim/sim_processor.h"

enum { QUEUE_MAX = 64 };

/* An emission on its way: its bytes are borrowed until the report, as the port allows. */
struct sim_flight {
    struct emission emission;
    uint64_t tag;
};

struct sim_sink {
    struct sink base;
    struct sim_world *world;
    int pipeline;
    struct sim_flight queues[SIM_PARTITIONS_MAX][QUEUE_MAX];
    size_t counts[SIM_PARTITIONS_MAX];
};

static struct sim_sink *self(struct sink *sink)
{
    return (struct sim_sink *)sink;
}

static void sink_attach(struct sink *sink, struct wakeup *wakeup)
{
    (void)sink;
    (void)wakeup;
}

static void note_loss(struct sim_sink *s, const struct emission *emission)
{
    struct sim_output output;
    sim_output_read(emission, &output);
    sim_judge_loss(s->world, output.message, output.number);
}

static enum sink_result sink_check(struct sink *sink, const struct emission *emission,
                                   struct error *err)
{
    struct sim_sink *s = self(sink);
    if (sim_fault(s->world, 50)) {
        return SINK_FULL;
    }
    if (sim_fault(s->world, s->world->delivery_failure)) {
        error_set(err, E_BROKER, "refused by the seed");
        note_loss(s, emission);
        return SINK_REFUSED;
    }
    return SINK_TAKEN;
}

static enum sink_result sink_send(struct sink *sink, const struct emission *emission, uint64_t tag,
                                  struct error *err)
{
    struct sim_sink *s = self(sink);
    struct sim_output output;
    sim_output_read(emission, &output);
    int32_t partition = output.message->partition;
    CHECK(emission->topic || emission->partition == partition);
    size_t *count = &s->counts[partition];
    if (*count == QUEUE_MAX || sim_fault(s->world, 50)) {
        return SINK_FULL;
    }
    if (sim_fault(s->world, s->world->delivery_failure)) {
        error_set(err, E_BROKER, "refused by the seed");
        note_loss(s, emission);
        return SINK_REFUSED;
    }
    s->queues[partition][(*count)++] = (struct sim_flight){*emission, tag};
    return SINK_TAKEN;
}

/* Reads what the emission says, which must still be there. */
static void write_output(struct sim_sink *s, const struct emission *emission)
{
    struct sim_output output;
    sim_output_read(emission, &output);
    sim_judge_output(s->world, output.message, output.number);
}

static size_t sink_poll(struct sink *sink, struct delivery *reports, size_t max)
{
    struct sim_sink *s = self(sink);
    size_t given = 0;
    size_t wanted = sim_is_away(s->world) ? 0 : sim_below(s->world, 12);
    for (size_t i = 0; i < wanted && given < max; i++) {
        size_t p = sim_below(s->world, SIM_PARTITIONS_MAX);
        if (s->counts[p] == 0) {
            continue;
        }
        struct sim_flight flight = s->queues[p][0];
        s->counts[p]--;
        memmove(&s->queues[p][0], &s->queues[p][1], s->counts[p] * sizeof flight);
        bool failed = sim_fault(s->world, s->world->delivery_failure);
        if (failed) {
            note_loss(s, &flight.emission);
        } else {
            write_output(s, &flight.emission);
        }
        reports[given++] = (struct delivery){
            .tag = flight.tag, .failed = failed, .reason = failed ? "failed by the seed" : NULL};
    }
    return given;
}

static void sink_nothing(struct sink *sink)
{
    (void)sink;
}

static bool sink_broken(struct sink *sink, struct error *err)
{
    (void)sink;
    (void)err;
    return false;
}

static void sink_destroy(struct sink *sink)
{
    memory_free(sink);
}

static const struct sink_ops OPS = {
    .attach = sink_attach,
    .check = sink_check,
    .send = sink_send,
    .push = sink_nothing,
    .poll = sink_poll,
    .broken = sink_broken,
    .hurry = sink_nothing,
    .destroy = sink_destroy,
};

struct sink *sim_sink_create(struct sim_world *world, int pipeline)
{
    struct sim_sink *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    s->world = world;
    s->pipeline = pipeline;
    return &s->base;
}
