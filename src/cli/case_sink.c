#include "cli/case_sink.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"

struct case_sink {
    struct sink base;
    const char *topic; /* or NULL */
    const struct clock_source *clock;
    struct arena arena; /* bytes of the outputs */
    struct emission *outputs;
    size_t count;
    size_t capacity;
    uint64_t *tags; /* reports to give */
    size_t waiting;
    size_t tag_capacity;
    struct wakeup *wakeup;
};

static void attach(struct sink *sink, struct wakeup *wakeup)
{
    ((struct case_sink *)sink)->wakeup = wakeup;
}

static enum sink_result check(struct sink *sink, const struct emission *emission, struct error *err)
{
    if (emission->topic == NULL && ((struct case_sink *)sink)->topic == NULL) {
        error_set(err, E_RECORD, "there is no default output");
        return SINK_REFUSED;
    }
    return SINK_TAKEN;
}

static const char *copy_or_null(struct arena *arena, const char *bytes, size_t size)
{
    return bytes ? arena_copy(arena, bytes, size) : NULL;
}

static const struct header *copy_headers(struct arena *arena, const struct emission *emission)
{
    struct header *headers = arena_alloc(arena, emission->header_count * sizeof *headers);
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *one = &emission->headers[i];
        headers[i] = *one;
        headers[i].name = arena_copy(arena, one->name, one->name_size);
        headers[i].value = copy_or_null(arena, one->value, one->value_size);
    }
    return headers;
}

static void keep(struct case_sink *s, const struct emission *emission)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 64;
        s->outputs = memory_resize(s->outputs, s->capacity * sizeof *s->outputs);
    }
    struct emission *output = &s->outputs[s->count++];
    const char *topic = emission->topic ? emission->topic : s->topic;
    *output = *emission;
    output->next = NULL;
    output->topic = arena_copy(&s->arena, topic, strlen(topic));
    output->key = copy_or_null(&s->arena, emission->key, emission->key_size);
    output->value = copy_or_null(&s->arena, emission->value, emission->value_size);
    output->headers = copy_headers(&s->arena, emission);
    if (output->timestamp_ms < 0) {
        output->timestamp_ms = clock_wall_ms(s->clock);
    }
}

static enum sink_result send(struct sink *sink, const struct emission *emission, uint64_t tag,
                             struct error *err)
{
    struct case_sink *s = (struct case_sink *)sink;
    enum sink_result result = check(sink, emission, err);
    if (result != SINK_TAKEN) {
        return result;
    }
    if (s->waiting == s->tag_capacity) {
        s->tag_capacity = s->tag_capacity ? s->tag_capacity * 2 : 64;
        s->tags = memory_resize(s->tags, s->tag_capacity * sizeof *s->tags);
    }
    s->tags[s->waiting++] = tag;
    keep(s, emission);
    return SINK_TAKEN;
}

static void push(struct sink *sink)
{
    (void)sink;
}

static size_t poll(struct sink *sink, struct delivery *reports, size_t max)
{
    struct case_sink *s = (struct case_sink *)sink;
    size_t count = s->waiting < max ? s->waiting : max;
    for (size_t i = 0; i < count; i++) {
        reports[i] = (struct delivery){.tag = s->tags[i]};
    }
    s->waiting -= count;
    if (s->waiting > 0) {
        memmove(s->tags, s->tags + count, s->waiting * sizeof *s->tags);
    }
    return count;
}

static bool broken(struct sink *sink, struct error *err)
{
    (void)sink;
    (void)err;
    return false;
}

static void destroy(struct sink *sink)
{
    struct case_sink *s = (struct case_sink *)sink;
    arena_fini(&s->arena);
    memory_free(s->outputs);
    memory_free(s->tags);
    memory_free(s);
}

static const struct sink_ops OPS = {
    .attach = attach,
    .check = check,
    .send = send,
    .push = push,
    .poll = poll,
    .broken = broken,
    .hurry = push,
    .destroy = destroy,
};

struct sink *case_sink_create(const char *topic, const struct clock_source *clock)
{
    CHECK(clock != NULL);
    struct case_sink *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    s->topic = topic;
    s->clock = clock;
    arena_init(&s->arena);
    return &s->base;
}

const struct emission *case_sink_output(const struct sink *sink, size_t index)
{
    const struct case_sink *s = (const struct case_sink *)sink;
    return index < s->count ? &s->outputs[index] : NULL;
}
