#include "admin/admin_pages.h"

#include "admin/health.h"
#include "admin/status_page.h"
#include "metrics/prometheus.h"

enum { HTTP_OK = 200, HTTP_UNAVAILABLE = 503, NS_PER_MS = 1000000 };

static unsigned answer_metrics(void *context, struct byte_buffer *out);
static unsigned answer_status(void *context, struct byte_buffer *out);
static unsigned answer_live(void *context, struct byte_buffer *out);
static unsigned answer_ready(void *context, struct byte_buffer *out);

static const struct admin_hook HOOKS[] = {
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", answer_metrics},
    {"/status", "application/json", answer_status},
    {"/livez", "text/plain; charset=utf-8", answer_live},
    {"/readyz", "text/plain; charset=utf-8", answer_ready},
};

struct admin_hooks admin_pages_hooks(struct admin_pages *pages)
{
    return (struct admin_hooks){
        .items = HOOKS, .count = sizeof HOOKS / sizeof HOOKS[0], .context = pages};
}

static unsigned answer_metrics(void *context, struct byte_buffer *out)
{
    const struct admin_pages *pages = context;
    struct metrics_snapshot snapshot;
    struct process_metrics process;
    process_metrics_read(&process);
    metrics_snapshot_take(&snapshot, pages->registry);
    prometheus_write_process(&process, pages->version, out);
    prometheus_write(&snapshot, clock_ns(pages->clock), out);
    metrics_snapshot_fini(&snapshot);
    return HTTP_OK;
}

static unsigned answer_status(void *context, struct byte_buffer *out)
{
    const struct admin_pages *pages = context;
    struct metrics_snapshot snapshot;
    struct process_metrics process;
    process_metrics_read(&process);
    metrics_snapshot_take(&snapshot, pages->registry);
    struct status_times times = {.now_ns = clock_ns(pages->clock),
                                 .wall_ms = clock_wall_ms(pages->clock),
                                 .begin_ns = pages->begin_ns};
    status_page_write(&snapshot, &process, pages->version, &times, out);
    metrics_snapshot_fini(&snapshot);
    return HTTP_OK;
}

typedef bool health_question(const struct metrics_snapshot *snapshot, int64_t now_ms,
                             struct byte_buffer *reasons);

static unsigned answer_health(const struct admin_pages *pages, health_question *question,
                              const char *name, struct byte_buffer *out)
{
    struct metrics_snapshot snapshot;
    struct byte_buffer reasons;
    byte_buffer_init(&reasons);
    metrics_snapshot_take(&snapshot, pages->registry);
    bool good = question(&snapshot, clock_ns(pages->clock) / NS_PER_MS, &reasons);
    byte_buffer_printf(out, "%s%s\n%s", good ? "" : "not ", name, byte_buffer_text(&reasons));
    metrics_snapshot_fini(&snapshot);
    byte_buffer_fini(&reasons);
    return good ? HTTP_OK : HTTP_UNAVAILABLE;
}

static unsigned answer_live(void *context, struct byte_buffer *out)
{
    return answer_health(context, health_is_live, "alive", out);
}

static unsigned answer_ready(void *context, struct byte_buffer *out)
{
    return answer_health(context, health_is_ready, "ready", out);
}
