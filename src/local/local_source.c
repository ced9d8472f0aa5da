#include "local/local_source.h"

#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "local/local_address.h"
#include "local/local_chunk.h"
#include "local/local_input.h"
#include "local/local_position.h"
#include "local/local_saver.h"

/*
 *   NEW -> ASSIGNING -> RUNNING -> CLOSING -> CLOSED
 *   NEW -> ASSIGNING: poll gives ASSIGN (not without inputs); -> RUNNING: answer, poll gives READY;
 *   -> CLOSING: close, from any state; -> CLOSED: poll gives CLOSED, after a commit in flight.
 */
enum source_state { NEW, ASSIGNING, ANSWERED, RUNNING, CLOSING, CLOSED };

struct local_source {
    struct source source; /* first: the port */
    char **names IMMUTABLE;
    struct local_input **inputs IMMUTABLE;
    struct source_partition *partitions IMMUTABLE;
    size_t count IMMUTABLE;

    enum source_state state OWNED_BY(poll_thread);
    bool *end_told OWNED_BY(poll_thread);     /* per input */
    int64_t *committed OWNED_BY(poll_thread); /* per input: next offset to read */
    bool failure_told OWNED_BY(poll_thread);
    bool committing OWNED_BY(poll_thread);
    struct source_commit *commits OWNED_BY(poll_thread); /* of the commit in flight */
    size_t commit_count OWNED_BY(poll_thread);
    struct local_position **positions IMMUTABLE; /* per input, NULL: not kept; or NULL as a whole */
    struct local_saver *saver IMMUTABLE;         /* NULL: nothing is kept */
    struct local_save *saves OWNED_BY(poll_thread); /* scratch */
    bool saving OWNED_BY(poll_thread);
    struct error commit_err OWNED_BY(poll_thread);
    enum local_framing framing IMMUTABLE;
};

static void save_positions(struct local_source *local) ON_THREAD(poll_thread);
static bool follow_saver(struct local_source *local) ON_THREAD(poll_thread);
static const struct source_ops OPS;

static struct local_source *self(struct source *source)
{
    DCHECK(source->ops == &OPS);
    return (struct local_source *)source;
}

static void destroy(struct source *source) NO_THREAD_ANALYSIS
{
    struct local_source *local = self(source);
    local_saver_destroy(local->saver); /* it reads the descriptors of inputs */
    for (size_t i = local->count; i > 0 && local->positions; i--) {
        local_position_close(local->positions[i - 1]);
    }
    for (size_t i = local->count; i > 0; i--) {
        local_input_close(local->inputs[i - 1]);
        memory_free(local->names[i - 1]);
    }
    memory_free(local->positions);
    memory_free(local->saves);
    memory_free(local->commits);
    memory_free(local->committed);
    memory_free(local->end_told);
    memory_free(local->partitions);
    memory_free(local->inputs);
    memory_free(local->names);
    memory_free(local);
}

static struct local_source *make(size_t count) NO_THREAD_ANALYSIS
{
    struct local_source *local = memory_alloc(sizeof *local);
    local->source.ops = &OPS;
    local->names = memory_alloc_array(count, sizeof *local->names);
    local->inputs = memory_alloc_array(count, sizeof(struct local_input *));
    local->partitions = memory_alloc_array(count, sizeof *local->partitions);
    local->end_told = memory_alloc_array(count, sizeof *local->end_told);
    local->committed = memory_alloc_array(count, sizeof *local->committed);
    local->commits = memory_alloc_array(count, sizeof *local->commits);
    return local;
}

struct source *local_source_create(const char *const *inputs, size_t count,
                                   enum local_framing framing, struct error *err)
{
    if (!local_address_check_inputs(inputs, count, err)) {
        return NULL;
    }
    struct local_source *local = make(count);
    local->framing = framing;
    for (size_t i = 0; i < count; i++) {
        local->names[i] = memory_copy_text(inputs[i]);
        local->count = i + 1;
        local->inputs[i] = local_input_open(local->names[i], framing, err);
        if (local->inputs[i] == NULL) {
            destroy(&local->source);
            return NULL;
        }
        local->partitions[i] = (struct source_partition){
            .topic = local->names[i], .partition = 0, .handle = local->inputs[i]};
    }
    return &local->source;
}

static bool keep_one(struct local_source *local, size_t index, const char *folder, bool from_start,
                     struct error *err)
{
    struct local_input *input = local->inputs[index];
    const char *path;
    if (!local_input_can_resume(input)) {
        log_info("a restart cannot go on with this input, it begins anew",
                 LOG_STR("input", local->names[index]));
        return true;
    }
    if (!local_address_parse(local->names[index], &path, err)) {
        return false;
    }
    local->positions[index] = local_position_open(folder, path, local->framing, err);
    struct local_mark mark = {0};
    int fd = local_input_descriptor(input);
    if (local->positions[index] == NULL ||
        (!from_start && !local_position_load(local->positions[index], fd, &mark, err)) ||
        !local_input_resume(input, &mark, err)) {
        return false;
    }
    if (mark.offset > 0) {
        log_info("going on with an input", LOG_STR("input", local->names[index]),
                 LOG_INT("offset", mark.offset), LOG_INT("byte", mark.byte));
    }
    return true;
}

bool local_source_keep(struct source *source, const char *folder, bool from_start,
                       struct error *err) NO_THREAD_ANALYSIS
{
    struct local_source *local = self(source);
    CHECK(local->positions == NULL);
    local->positions = memory_alloc_array(local->count, sizeof(struct local_position *));
    local->saves = memory_alloc_array(local->count, sizeof *local->saves);
    for (size_t i = 0; i < local->count; i++) {
        if (!keep_one(local, i, folder, from_start, err)) {
            return false;
        }
    }
    return true;
}

/* On the main thread, before the poll thread starts. */
static void attach(struct source *source, struct wakeup *wakeup)
{
    struct local_source *local = self(source);
    local->saver = local->positions ? local_saver_create(wakeup) : NULL;
    for (size_t i = 0; i < local->count; i++) {
        local_input_start(local->inputs[i], wakeup);
    }
}

static size_t index_of(const struct local_source *local, const void *handle)
{
    size_t i = 0;
    while (i < local->count && local->inputs[i] != handle) {
        i++;
    }
    CHECK(i < local->count);
    return i;
}

static struct source_event end_of_commit(struct local_source *local) ON_THREAD(poll_thread)
{
    local->committing = false;
    for (size_t i = 0; i < local->commit_count; i++) {
        size_t at = index_of(local, local->commits[i].handle);
        if (local->commits[i].refused) {
            continue;
        }
        CHECK(local->commits[i].position >= local->committed[at]);
        local->committed[at] = local->commits[i].position;
    }
    bool all = local->commit_err.code == E_NONE;
    return (struct source_event){.kind = SOURCE_COMMITTED,
                                 .commits = local->commits,
                                 .commit_count = local->commit_count,
                                 .err = all ? NULL : &local->commit_err};
}

/* END or FAILED of an input that has not told it yet. FAILED ends the pipeline, so it waits until
 * what was read before has left. */
static struct source_event news_of_inputs(struct local_source *local) ON_THREAD(poll_thread)
{
    for (size_t i = 0; i < local->count; i++) {
        if (local->end_told[i]) {
            continue;
        }
        enum local_input_state state = local_input_state(local->inputs[i]);
        if (state == LOCAL_ENDED) {
            local->end_told[i] = true;
            return (struct source_event){.kind = SOURCE_END, .handle = local->inputs[i]};
        }
        if (state == LOCAL_FAILED && !local->failure_told &&
            !local_input_has_records_out(local->inputs[i])) {
            local->failure_told = true;
            return (struct source_event){.kind = SOURCE_FAILED,
                                         .handle = local->inputs[i],
                                         .err = local_input_failure(local->inputs[i])};
        }
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static struct source_event poll_event(struct source *source)
{
    thread_assert_poll();
    struct local_source *local = self(source);
    bool saving = local->saving && !follow_saver(local);
    if (local->committing && !saving) {
        return end_of_commit(local);
    }
    switch (local->state) {
    case NEW:
        if (local->count > 0) {
            local->state = ASSIGNING;
            return (struct source_event){.kind = SOURCE_ASSIGN,
                                         .partitions = local->partitions,
                                         .partition_count = local->count};
        }
        /* fall through */
    case ANSWERED:
        local->state = RUNNING;
        return (struct source_event){.kind = SOURCE_READY};
    case RUNNING:
        return news_of_inputs(local);
    case CLOSING:
        if (saving) {
            break;
        }
        local->state = CLOSED;
        return (struct source_event){.kind = SOURCE_CLOSED};
    case ASSIGNING:
    case CLOSED:
        break;
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

static void answer(struct source *source)
{
    thread_assert_poll();
    struct local_source *local = self(source);
    CHECK(local->state != NEW);
    if (local->state == ASSIGNING) {
        local->state = ANSWERED;
    }
}

static size_t fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    thread_assert_poll();
    struct local_source *local = self(source);
    DCHECK(index_of(local, handle) < local->count);
    (void)local;
    return local_input_fetch(handle, recs, max);
}

static void release(struct source *source, struct record *rec)
{
    thread_assert_poll();
    (void)source;
    local_chunk_release(rec);
}

static void commit(struct source *source, const struct source_commit *commits, size_t count)
{
    thread_assert_poll();
    struct local_source *local = self(source);
    CHECK(!local->committing);
    CHECK(count <= local->count);
    for (size_t i = 0; i < count; i++) {
        local->commits[i] = commits[i];
        local->commits[i].refused = false;
        local->commits[i].gone = false;
    }
    local->commit_count = count;
    local->committing = true;
    local->commit_err.code = E_NONE;
    save_positions(local);
}

/* Gives what is kept to the saver. */
static void save_positions(struct local_source *local)
{
    size_t count = 0;
    for (size_t i = 0; i < local->commit_count && local->saver; i++) {
        size_t at = index_of(local, local->commits[i].handle);
        if (local->positions[at]) {
            local->saves[count++] = (struct local_save){
                .position = local->positions[at],
                .fd = local_input_descriptor(local->inputs[at]),
                .mark = local_input_mark(local->inputs[at], local->commits[i].position)};
        }
    }
    local->saving = count > 0;
    if (local->saving) {
        local_saver_give(local->saver, local->saves, count);
    }
}

/* True when the saver is done; what it could not save is refused. */
static bool follow_saver(struct local_source *local)
{
    const struct local_save *saves;
    if (!local_saver_take(local->saver, &saves, &local->commit_err)) {
        return false;
    }
    size_t next = 0;
    for (size_t i = 0; i < local->commit_count; i++) {
        if (local->positions[index_of(local, local->commits[i].handle)]) {
            local->commits[i].refused = !saves[next++].saved;
        }
    }
    local->saving = false;
    return true;
}

static void close_source(struct source *source)
{
    thread_assert_poll();
    struct local_source *local = self(source);
    if (local->state != CLOSED) {
        local->state = CLOSING;
    }
}

static const struct source_ops OPS = {
    .attach = attach,
    .poll = poll_event,
    .answer = answer,
    .fetch = fetch,
    .release = release,
    .commit = commit,
    .close = close_source,
    .destroy = destroy,
};
