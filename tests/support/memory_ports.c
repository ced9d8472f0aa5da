#include "support/memory_ports.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/memory.h"

/* --- the input ----------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

int64_t memory_offset(uint64_t index)
{
    return (int64_t)(index + index / 7); /* a gap after each seventh */
}

uint32_t memory_key(const struct memory_topic *topic, int32_t partition, uint64_t index)
{
    return (uint32_t)(mix(index * 64 + (uint64_t)partition) % topic->keys);
}

struct memory_partition {
    int32_t partition;
    uint64_t next;
    int64_t committed;
    bool end_told;
};

struct memory_source {
    struct source base;
    struct memory_topic topic;
    struct memory_partition *parts;
    struct source_partition *assigned;
    size_t count;
    int step; /* 0: assign, 1: ready, 2: running, 3: closing */
    struct source_commit *commits;
    size_t commit_count;
    struct wakeup *wakeup;
    char (*key_texts)[16];
};

static void source_attach(struct source *source, struct wakeup *wakeup)
{
    ((struct memory_source *)source)->wakeup = wakeup;
}

static struct source_event source_poll(struct source *source)
{
    struct memory_source *s = (struct memory_source *)source;
    if (s->step == 0) {
        s->step = 1;
        return (struct source_event){
            .kind = SOURCE_ASSIGN, .partitions = s->assigned, .partition_count = s->count};
    }
    if (s->step == 1) {
        s->step = 2;
        return (struct source_event){.kind = SOURCE_READY};
    }
    if (s->commit_count) {
        struct source_event event = {
            .kind = SOURCE_COMMITTED, .commits = s->commits, .commit_count = s->commit_count};
        s->commit_count = 0;
        return event;
    }
    if (s->step == 3) {
        return (struct source_event){.kind = SOURCE_CLOSED};
    }
    for (size_t i = 0; i < s->count; i++) {
        if (s->parts[i].next == s->topic.records && !s->parts[i].end_told) {
            s->parts[i].end_told = true;
            return (struct source_event){.kind = SOURCE_END, .handle = &s->parts[i]};
        }
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static void source_answer(struct source *source)
{
    (void)source;
}

static size_t source_fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    struct memory_source *s = (struct memory_source *)source;
    struct memory_partition *part = handle;
    size_t count = 0;
    for (; count < max && part->next < s->topic.records; count++, part->next++) {
        struct record *rec = &recs[count];
        *rec = (struct record){
            .offset = memory_offset(part->next),
            .timestamp_ms = (int64_t)part->next,
            .topic = "memory",
            .partition = part->partition,
            .leader_epoch = -1,
        };
        if (s->topic.keys) {
            rec->key = s->key_texts[memory_key(&s->topic, part->partition, part->next)];
            rec->key_size = 8;
        }
        rec->value = "value";
        rec->value_size = 5;
    }
    return count;
}

static void source_release(struct source *source, struct record *rec)
{
    (void)source;
    (void)rec;
}

static void source_commit(struct source *source, const struct source_commit *commits, size_t count)
{
    struct memory_source *s = (struct memory_source *)source;
    CHECK(s->commit_count == 0);
    CHECK(count <= s->count);
    memcpy(s->commits, commits, count * sizeof *commits);
    s->commit_count = count;
    for (size_t i = 0; i < count; i++) {
        struct memory_partition *part = commits[i].handle;
        CHECK(commits[i].position > part->committed);
        part->committed = commits[i].position;
    }
    wakeup_signal(s->wakeup);
}

static void source_close(struct source *source)
{
    ((struct memory_source *)source)->step = 3;
}

static void source_destroy(struct source *source)
{
    struct memory_source *s = (struct memory_source *)source;
    memory_free(s->parts);
    memory_free(s->assigned);
    memory_free(s->commits);
    memory_free(s->key_texts);
    memory_free(s);
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

struct source *memory_source_create(const struct memory_topic *topic, unsigned pipeline,
                                    unsigned pipelines)
{
    struct memory_source *s = memory_alloc(sizeof *s);
    s->base.ops = &SOURCE_OPS;
    s->topic = *topic;
    size_t most = (size_t)topic->partitions + 1;
    s->parts = memory_alloc_array(most, sizeof *s->parts);
    s->assigned = memory_alloc_array(most, sizeof *s->assigned);
    s->commits = memory_alloc_array(most, sizeof *s->commits);
    s->key_texts = memory_alloc_array(topic->keys + 1, sizeof *s->key_texts);
    for (uint32_t i = 0; i < topic->keys; i++) {
        snprintf(s->key_texts[i], sizeof s->key_texts[i], "k%07u", i);
    }
    for (int32_t p = 0; p < topic->partitions; p++) {
        if ((unsigned)p % pipelines != pipeline) {
            continue;
        }
        s->parts[s->count] = (struct memory_partition){.partition = p, .committed = -1};
        s->assigned[s->count] = (struct source_partition){
            .topic = "memory", .partition = p, .handle = &s->parts[s->count]};
        s->count++;
    }
    return &s->base;
}

int64_t memory_source_committed(const struct source *source, int32_t partition)
{
    const struct memory_source *s = (const struct memory_source *)source;
    for (size_t i = 0; i < s->count; i++) {
        if (s->parts[i].partition == partition) {
            return s->parts[i].committed;
        }
    }
    return -1;
}

/* --- the output ---------------------------------------------------------------------------- */

enum { REPORTS = 1 << 16 };

struct memory_sink {
    struct sink base;
    bool keep;
    int32_t partitions;
    struct memory_output *outputs;
    size_t *capacities;
    uint64_t count;
    uint64_t *tags; /* ring of reports to give */
    size_t first;
    size_t waiting;
    struct wakeup *wakeup;
};

static void sink_attach(struct sink *sink, struct wakeup *wakeup)
{
    ((struct memory_sink *)sink)->wakeup = wakeup;
}

static void keep(struct memory_sink *s, const struct emission *emission)
{
    CHECK(emission->partition >= 0);
    CHECK(emission->partition < s->partitions);
    CHECK(emission->value_size == sizeof(int64_t));
    struct memory_output *output = &s->outputs[emission->partition];
    size_t *capacity = &s->capacities[emission->partition];
    if (output->count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 1024;
        output->offsets = memory_resize(output->offsets, *capacity * sizeof(int64_t));
    }
    memcpy(&output->offsets[output->count++], emission->value, sizeof(int64_t));
}

static enum sink_result sink_check(struct sink *sink, const struct emission *emission,
                                   struct error *err)
{
    (void)sink;
    (void)emission;
    (void)err;
    return SINK_TAKEN;
}

static enum sink_result sink_send(struct sink *sink, const struct emission *emission, uint64_t tag,
                                  struct error *err)
{
    (void)err;
    struct memory_sink *s = (struct memory_sink *)sink;
    if (s->waiting == REPORTS) {
        return SINK_FULL;
    }
    s->tags[(s->first + s->waiting++) % REPORTS] = tag;
    s->count++;
    if (s->keep) {
        keep(s, emission);
    }
    return SINK_TAKEN;
}

static void sink_push(struct sink *sink)
{
    (void)sink;
}

static size_t sink_poll(struct sink *sink, struct delivery *reports, size_t max)
{
    struct memory_sink *s = (struct memory_sink *)sink;
    size_t count = 0;
    for (; count < max && s->waiting; count++, s->waiting--) {
        reports[count] = (struct delivery){.tag = s->tags[s->first]};
        s->first = (s->first + 1) % REPORTS;
    }
    return count;
}

static bool sink_broken(struct sink *sink, struct error *err)
{
    (void)sink;
    (void)err;
    return false;
}

static void sink_destroy(struct sink *sink)
{
    struct memory_sink *s = (struct memory_sink *)sink;
    for (int32_t p = 0; p < s->partitions; p++) {
        memory_free(s->outputs[p].offsets);
    }
    memory_free(s->outputs);
    memory_free(s->capacities);
    memory_free(s->tags);
    memory_free(s);
}

static const struct sink_ops SINK_OPS = {
    .attach = sink_attach,
    .check = sink_check,
    .send = sink_send,
    .push = sink_push,
    .poll = sink_poll,
    .broken = sink_broken,
    .hurry = sink_push,
    .destroy = sink_destroy,
};

struct sink *memory_sink_create(int32_t partitions, bool keep_outputs)
{
    struct memory_sink *s = memory_alloc(sizeof *s);
    s->base.ops = &SINK_OPS;
    s->keep = keep_outputs;
    s->partitions = partitions;
    s->outputs = memory_alloc_array((size_t)partitions, sizeof *s->outputs);
    s->capacities = memory_alloc_array((size_t)partitions, sizeof *s->capacities);
    s->tags = memory_alloc_array(REPORTS, sizeof *s->tags);
    return &s->base;
}

struct memory_output memory_sink_output(const struct sink *sink, int32_t partition)
{
    return ((const struct memory_sink *)sink)->outputs[partition];
}

uint64_t memory_sink_count(const struct sink *sink)
{
    return ((const struct memory_sink *)sink)->count;
}

/* --- the script ---------------------------------------------------------------------------- */

struct memory_processor {
    struct processor base;
    unsigned sleep_us;
    uint64_t random;
};

static size_t processor_run(struct processor *processor, struct work *const *batch, size_t count)
{
    struct memory_processor *p = (struct memory_processor *)processor;
    for (size_t i = 0; i < count; i++) {
        struct work *work = batch[i];
        CHECK(work->outcome == OUTCOME_NONE);
        CHECK(work->effects.count == 0);
        if (p->sleep_us) {
            p->random = mix(p->random + 1);
            usleep((useconds_t)(p->random % p->sleep_us));
        }
        struct emission *emission = effects_emit(&work->effects);
        emission->key = work->rec.key;
        emission->key_size = work->rec.key_size;
        emission->partition = work->rec.partition;
        emission->value =
            arena_copy(&work->effects.arena, &work->rec.offset, sizeof work->rec.offset);
        emission->value_size = sizeof work->rec.offset;
        work->outcome = OUTCOME_DONE;
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

static const struct processor_ops PROCESSOR_OPS = {
    .run = processor_run,
    .close = processor_close,
    .destroy = processor_destroy,
};

struct processor *memory_processor_create(unsigned worker, unsigned sleep_us)
{
    struct memory_processor *p = memory_alloc(sizeof *p);
    p->base.ops = &PROCESSOR_OPS;
    p->sleep_us = sleep_us;
    p->random = worker;
    return &p->base;
}
