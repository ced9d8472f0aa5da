#include "cli/case_source.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"

struct case_item {
    struct case_item *next;
    struct case_input input;
};

struct case_partition {
    struct case_partition *next;
    const char *topic;
    int32_t partition;
    struct case_item *first; /* not fetched yet */
    struct case_item *last;
    int64_t next_offset;
    bool assigned;
    bool end_told;
};

struct case_source {
    struct source base;
    struct arena arena; /* partitions and items */
    struct case_partition *parts;
    struct source_partition event;
    struct wakeup *wakeup;
    struct source_commit *commits;
    size_t commit_count;
    bool ready_told;
    bool closing;
};

static void attach(struct source *source, struct wakeup *wakeup)
{
    ((struct case_source *)source)->wakeup = wakeup;
}

static struct source_event poll_parts(struct case_source *s)
{
    for (struct case_partition *part = s->parts; part; part = part->next) {
        if (!part->assigned) {
            part->assigned = true;
            s->event = (struct source_partition){
                .topic = part->topic, .partition = part->partition, .handle = part};
            return (struct source_event){
                .kind = SOURCE_ASSIGN, .partitions = &s->event, .partition_count = 1};
        }
        if (part->first == NULL && !part->end_told) {
            part->end_told = true;
            return (struct source_event){.kind = SOURCE_END, .handle = part};
        }
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static struct source_event poll(struct source *source)
{
    struct case_source *s = (struct case_source *)source;
    if (s->commit_count) {
        struct source_event event = {
            .kind = SOURCE_COMMITTED, .commits = s->commits, .commit_count = s->commit_count};
        s->commit_count = 0;
        return event;
    }
    if (s->closing) {
        return (struct source_event){.kind = SOURCE_CLOSED};
    }
    if (!s->ready_told) {
        s->ready_told = true;
        return (struct source_event){.kind = SOURCE_READY};
    }
    return poll_parts(s);
}

static void answer(struct source *source)
{
    (void)source;
}

static size_t fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    (void)source;
    struct case_partition *part = handle;
    size_t count = 0;
    for (; count < max && part->first; count++) {
        recs[count] = part->first->input.rec;
        recs[count].message = part->first;
        part->first = part->first->next;
    }
    return count;
}

static void release(struct source *source, struct record *rec)
{
    (void)source;
    (void)rec;
}

static void commit(struct source *source, const struct source_commit *commits, size_t count)
{
    struct case_source *s = (struct case_source *)source;
    CHECK(s->commit_count == 0);
    s->commits = memory_resize(s->commits, (count + 1) * sizeof *commits);
    memcpy(s->commits, commits, count * sizeof *commits);
    s->commit_count = count;
    wakeup_signal(s->wakeup);
}

static void close(struct source *source)
{
    ((struct case_source *)source)->closing = true;
}

static void destroy(struct source *source)
{
    struct case_source *s = (struct case_source *)source;
    arena_fini(&s->arena);
    memory_free(s->commits);
    memory_free(s);
}

static const struct source_ops OPS = {
    .attach = attach,
    .poll = poll,
    .answer = answer,
    .fetch = fetch,
    .release = release,
    .commit = commit,
    .close = close,
    .destroy = destroy,
};

struct source *case_source_create(void)
{
    struct case_source *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    arena_init(&s->arena);
    return &s->base;
}

static uint32_t read_headers(struct record *rec, struct arena *arena, struct header **headers)
{
    const struct case_item *item = rec->message;
    uint32_t count = item->input.header_count;
    *headers = arena_alloc(arena, count * sizeof **headers);
    if (count > 0) {
        memcpy(*headers, item->input.headers, count * sizeof **headers);
    }
    return count;
}

static const struct record_origin ORIGIN = {read_headers};

static struct case_partition *find(struct case_source *s, const char *topic, int32_t partition)
{
    struct case_partition **at = &s->parts;
    for (; *at; at = &(*at)->next) {
        if ((*at)->partition == partition && strcmp((*at)->topic, topic) == 0) {
            return *at;
        }
    }
    struct case_partition *part = arena_alloc(&s->arena, sizeof *part);
    *part = (struct case_partition){.topic = arena_copy(&s->arena, topic, strlen(topic)),
                                    .partition = partition};
    *at = part;
    return part;
}

bool case_source_push(struct source *source, const struct case_input *input)
{
    struct case_source *s = (struct case_source *)source;
    struct case_partition *part = find(s, input->rec.topic, input->rec.partition);
    int64_t offset = input->rec.offset < 0 ? part->next_offset : input->rec.offset;
    if (offset < part->next_offset) {
        return false;
    }
    struct case_item *item = arena_alloc(&s->arena, sizeof *item);
    *item = (struct case_item){.input = *input};
    item->input.rec.topic = part->topic;
    item->input.rec.offset = offset;
    item->input.rec.origin = &ORIGIN;
    if (part->first) {
        part->last->next = item;
    } else {
        part->first = item;
    }
    part->last = item;
    part->next_offset = offset + 1;
    part->end_told = false;
    wakeup_signal(s->wakeup);
    return true;
}
