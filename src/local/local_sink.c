#include "local/local_sink.h"

#include "base/check.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "local/local_outbox.h"

struct local_sink {
    struct sink sink; /* first: the port */
    const struct local_routes *routes IMMUTABLE;
    struct local_outbox *boxes OWNED_BY(poll_thread); /* one for each output */
    size_t count IMMUTABLE;
    size_t next OWNED_BY(poll_thread); /* the box that poll looks at first */
};

static const struct sink_ops OPS;

static struct local_sink *self(struct sink *sink)
{
    DCHECK(sink->ops == &OPS);
    return (struct local_sink *)sink;
}

struct sink *local_sink_create(const struct local_routes *routes) NO_THREAD_ANALYSIS
{
    CHECK(routes != NULL);
    struct local_sink *local = memory_alloc(sizeof *local);
    local->sink.ops = &OPS;
    local->routes = routes;
    local->count = local_routes_output_count(routes);
    local->boxes = memory_alloc_array(local->count, sizeof *local->boxes);
    for (size_t i = 0; i < local->count; i++) {
        local_outbox_init(local->boxes + i, local_routes_output(routes, i));
    }
    return &local->sink;
}

static void destroy(struct sink *sink) NO_THREAD_ANALYSIS
{
    struct local_sink *local = self(sink);
    for (size_t i = local->count; i > 0; i--) {
        local_outbox_fini(local->boxes + i - 1);
    }
    memory_free(local->boxes);
    memory_free(local);
}

/* On the main thread, before the poll thread starts. */
static void attach(struct sink *sink, struct wakeup *wakeup) NO_THREAD_ANALYSIS
{
    struct local_sink *local = self(sink);
    for (size_t i = 0; i < local->count; i++) {
        local_outbox_attach(local->boxes + i, wakeup);
    }
}

static enum sink_result check_emission(struct sink *sink, const struct emission *emission,
                                       struct error *err)
{
    thread_assert_poll();
    struct local_sink *local = self(sink);
    size_t index;
    if (!local_routes_find(local->routes, emission->topic, &index, err)) {
        return SINK_REFUSED;
    }
    return local_outbox_check(local->boxes + index, emission, err) ? SINK_TAKEN : SINK_REFUSED;
}

static enum sink_result send_emission(struct sink *sink, const struct emission *emission,
                                      uint64_t tag, struct error *err)
{
    thread_assert_poll();
    struct local_sink *local = self(sink);
    size_t index;
    if (!local_routes_find(local->routes, emission->topic, &index, err)) {
        return SINK_REFUSED;
    }
    CHECK(index < local->count);
    return local_outbox_send(local->boxes + index, emission, tag, err);
}

static void push(struct sink *sink)
{
    thread_assert_poll();
    struct local_sink *local = self(sink);
    for (size_t i = 0; i < local->count; i++) {
        local_outbox_push(local->boxes + i);
    }
}

static size_t poll_reports(struct sink *sink, struct delivery *reports, size_t max)
{
    thread_assert_poll();
    struct local_sink *local = self(sink);
    size_t count = 0;
    for (size_t i = 0; i < local->count && count < max; i++) {
        struct local_outbox *box = local->boxes + (local->next + i) % local->count;
        count += local_outbox_poll(box, reports + count, max - count);
    }
    local->next = local->count ? (local->next + 1) % local->count : 0;
    DCHECK(count <= max);
    return count;
}

static bool broken(struct sink *sink, struct error *err)
{
    thread_assert_poll();
    struct local_sink *local = self(sink);
    for (size_t i = 0; i < local->count; i++) {
        if (local_output_is_broken(local_routes_output(local->routes, i), err)) {
            return true;
        }
    }
    return false;
}

static const struct sink_ops OPS = {
    .attach = attach,
    .check = check_emission,
    .send = send_emission,
    .push = push,
    .poll = poll_reports,
    .broken = broken,
    .hurry = push, /* nothing lingers here but the open batch */
    .destroy = destroy,
};
