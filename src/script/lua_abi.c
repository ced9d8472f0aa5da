#include "script/lua_abi.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "script/script_files.h"
#include "stream/work.h"

#define SAME_PLACE(ours, theirs, field)                                                            \
    static_assert(offsetof(struct ours, field) == offsetof(struct theirs, field) &&                \
                      sizeof(((struct ours *)0)->field) == sizeof(((struct theirs *)0)->field),    \
                  "lua_abi.h must say what stream/ says of " #field)

SAME_PLACE(tide_record, record, key);
SAME_PLACE(tide_record, record, value);
SAME_PLACE(tide_record, record, key_size);
SAME_PLACE(tide_record, record, value_size);
SAME_PLACE(tide_record, record, offset);
SAME_PLACE(tide_record, record, timestamp_ms);
SAME_PLACE(tide_record, record, topic);
SAME_PLACE(tide_record, record, partition);
SAME_PLACE(tide_header, header, name);
SAME_PLACE(tide_header, header, value);
SAME_PLACE(tide_header, header, name_size);
SAME_PLACE(tide_header, header, value_size);
static_assert(sizeof(struct tide_header) == sizeof(struct header), "arrays of headers are shared");
static_assert(offsetof(struct work, rec) == 0, "an item of a batch is a record and a work");
static_assert((TIDE_VIEWS & (TIDE_VIEWS - 1)) == 0, "views rotate by a mask");
static_assert(TIDE_VIEWS >= TIDE_BATCH_MAX, "a view is not used twice in a batch");

/* Records reach Lua as the first member of their work. */
static struct work *work_of(const struct tide_record *rec)
{
    CHECK(rec != NULL);
    return (struct work *)(uintptr_t)rec;
}

static struct work *running(const struct tide_call *call)
{
    CHECK(call->at >= 0);
    CHECK(call->at < TIDE_BATCH_MAX);
    return work_of(call->items[call->at]);
}

EXPORTED void tide_forward(const struct tide_view *view)
{
    struct work *work = work_of(view->_rec);
    struct record *rec = &work->rec;
    uint32_t flags = view->_flags;
    struct emission *emission = effects_emit(&work->effects);
    bool own_key = flags & TIDE_HAS_KEY;
    bool own_value = flags & TIDE_HAS_VALUE;
    emission->key = own_key ? view->_key : rec->key;
    emission->key_size = own_key ? view->_key_size : rec->key_size;
    emission->value = own_value ? view->_value : rec->value;
    emission->value_size = own_value ? view->_value_size : rec->value_size;
    emission->timestamp_ms = flags & TIDE_HAS_TIMESTAMP ? view->_timestamp_ms : rec->timestamp_ms;
    if (flags & TIDE_HAS_HEADERS) {
        emission->headers = (const struct header *)view->_headers;
        emission->header_count = view->_header_count;
    } else if (rec->origin && rec->origin->read_headers) {
        struct header *headers = NULL;
        emission->header_count = rec->origin->read_headers(rec, &work->effects.arena, &headers);
        emission->headers = headers;
    }
}

static const char *copy_or_null(struct arena *arena, const char *bytes, uint32_t size)
{
    return bytes ? arena_copy(arena, bytes, size) : NULL;
}

EXPORTED void tide_emit(const struct tide_call *call, const struct tide_output *output)
{
    struct effects *effects = &running(call)->effects;
    struct emission *emission = effects_emit(effects);
    emission->topic = copy_or_null(&effects->arena, output->topic, output->topic_size);
    emission->key = copy_or_null(&effects->arena, output->key, output->key_size);
    emission->value = copy_or_null(&effects->arena, output->value, output->value_size);
    emission->key_size = output->key_size;
    emission->value_size = output->value_size;
    emission->timestamp_ms = output->timestamp_ms;
    emission->partition = output->partition;
    emission->headers = (const struct header *)output->headers;
    emission->header_count = output->header_count;
}

EXPORTED const char *tide_copy(const struct tide_call *call, const char *bytes, size_t size)
{
    return arena_copy(&running(call)->effects.arena, bytes, size);
}

EXPORTED void tide_read_headers(struct tide_view *view)
{
    struct work *work = work_of(view->_rec);
    const struct record_origin *origin = work->rec.origin;
    struct header *headers = NULL;
    uint32_t count = 0;
    if (origin && origin->read_headers) {
        count = origin->read_headers(&work->rec, &work->effects.arena, &headers);
    }
    CHECK(count == 0 || headers != NULL);
    view->_headers = (const struct tide_header *)headers;
    view->_header_count = count;
    view->_flags |= TIDE_HAS_HEADERS;
}

EXPORTED struct tide_header *tide_new_headers(const struct tide_call *call, uint32_t count)
{
    return arena_alloc(&running(call)->effects.arena, count * sizeof(struct tide_header));
}

static const struct {
    uint8_t failure;
    uint8_t request;
} VERDICTS[] = {
    [0] = {FAILURE_RAISED, REQUEST_NONE},
    [TIDE_FAIL] = {FAILURE_FAILED, REQUEST_NONE},
    [TIDE_RETRY] = {FAILURE_FAILED, REQUEST_RETRY},
    [TIDE_SKIP] = {FAILURE_FAILED, REQUEST_SKIP},
    [TIDE_DEAD_LETTER] = {FAILURE_FAILED, REQUEST_DEAD_LETTER},
    [TIDE_NO_MEMORY] = {FAILURE_MEMORY, REQUEST_NONE},
};

EXPORTED void tide_fail(struct tide_call *call, const char *text, size_t size)
{
    struct work *work = running(call);
    DCHECK(work->outcome == OUTCOME_NONE);
    CHECK(call->verdict < sizeof VERDICTS / sizeof VERDICTS[0]);
    effects_clear(&work->effects);
    work->reason = arena_copy(&work->effects.arena, text, size);
    work->outcome = OUTCOME_FAILED;
    work->failure = VERDICTS[call->verdict].failure;
    work->request = VERDICTS[call->verdict].request;
    work->retry_delay_ms = call->retry_delay_ms;
    call->verdict = 0;
}

static_assert(LOG_LEVEL_ERROR == 0 && LOG_LEVEL_DEBUG == 3, "context.lua counts the levels so");

EXPORTED bool tide_log_enabled(const struct tide_call *call, int level)
{
    return !call->mute && log_enabled((enum log_level)level);
}

EXPORTED void tide_log(const struct tide_call *call, int level, const char *text, const char *place)
{
    CHECK(level >= LOG_LEVEL_ERROR);
    CHECK(level <= LOG_LEVEL_DEBUG);
    LOG_AT((enum log_level)level, text, LOG_STR("at", place), LOG_INT("worker", call->worker),
           LOG_END);
}

EXPORTED void tide_sleep_ns(int64_t duration_ns)
{
    enum { SECOND_NS = 1000000000 };
    struct timespec left = {.tv_sec = (time_t)(duration_ns / SECOND_NS),
                            .tv_nsec = (long)(duration_ns % SECOND_NS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

EXPORTED int64_t tide_duration_ns(const char *text)
{
    int64_t duration_ns = 0;
    struct error err;
    return text_parse_duration_ns(text, 0, &duration_ns, &err) ? duration_ns : -1;
}

EXPORTED const char *tide_nearest(const char *name, const char *const *names, size_t count)
{
    return text_nearest(name, names, count);
}

EXPORTED const char *tide_module(struct script_files *files, const char *name, size_t *size,
                                 const char **place)
{
    const struct byte_buffer *source = script_files_find(files, name, place);
    if (source == NULL) {
        return NULL;
    }
    *size = source->size;
    return byte_buffer_text(source);
}
