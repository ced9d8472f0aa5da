#include "metrics/prometheus.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/check.h"

enum { NS_PER_SECOND = 1000000000, MS_PER_SECOND = 1000, NS_PER_MS = 1000000 };

/* How a number becomes text. */
enum unit { UNIT_NONE, UNIT_NS, UNIT_MS };

/* A family whose numbers are metrics at a fixed place in their struct. */
struct family {
    const char *name;
    const char *help;
    size_t at; /* offset of the struct metric */
};

static const struct family PIPELINE_COUNTERS[] = {
    {"pipeline_records_admitted_total", "Records that entered a window.",
     offsetof(struct pipeline_metrics, admitted)},
    {"pipeline_records_retired_total", "Records whose effects left.",
     offsetof(struct pipeline_metrics, retired)},
    {"pipeline_records_emitted_total", "Records given to the sink.",
     offsetof(struct pipeline_metrics, emitted)},
    {"pipeline_records_delivered_total", "Records that the sink reported as delivered.",
     offsetof(struct pipeline_metrics, delivered)},
    {"pipeline_records_undeliverable_total", "Records that the sink could not deliver.",
     offsetof(struct pipeline_metrics, undeliverable)},
    {"pipeline_records_failed_total", "Records that failed and stopped their pipeline.",
     offsetof(struct pipeline_metrics, failed)},
    {"pipeline_records_retried_total", "Attempts that failed and are followed by another.",
     offsetof(struct pipeline_metrics, retried)},
    {"pipeline_records_skipped_total", "Records that failed and were passed over.",
     offsetof(struct pipeline_metrics, skipped)},
    {"pipeline_records_dead_lettered_total", "Records that failed and became dead letters.",
     offsetof(struct pipeline_metrics, dead_letters)},
    {"pipeline_commits_total", "Commits that were confirmed.",
     offsetof(struct pipeline_metrics, commits)},
    {"pipeline_commits_refused_total", "Commits that were refused and are tried again.",
     offsetof(struct pipeline_metrics, commits_refused)},
    {"pipeline_late_completions_total", "Completions and reports of an epoch that has ended.",
     offsetof(struct pipeline_metrics, late_completions)},
};

static void write_pipelines(const struct metrics_snapshot *snapshot, struct byte_buffer *out);
static void write_workers(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out);
static void write_windows(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out);
static void write_task_threads(const struct metrics_snapshot *snapshot, struct byte_buffer *out);

void prometheus_write(const struct metrics_snapshot *snapshot, int64_t now_ns,
                      struct byte_buffer *out)
{
    CHECK(out != NULL);
    write_pipelines(snapshot, out);
    write_workers(snapshot, now_ns, out);
    write_windows(snapshot, now_ns, out);
    write_task_threads(snapshot, out);
}

static void begin_family(struct byte_buffer *out, const char *name, const char *type,
                         const char *help)
{
    byte_buffer_printf(out, "# HELP moontide_%s %s\n# TYPE moontide_%s %s\n", name, help, name,
                       type);
}

/* Backslash, quote and line break are escaped within labels. */
static void write_text(struct byte_buffer *out, const char *text)
{
    CHECK(text != NULL);
    for (; *text; text++) {
        if (*text == '\n') {
            byte_buffer_append_text(out, "\\n");
            continue;
        }
        if (*text == '\\' || *text == '"') {
            byte_buffer_append_char(out, '\\');
        }
        byte_buffer_append_char(out, *text);
    }
}

static void write_value(struct byte_buffer *out, int64_t value, enum unit unit)
{
    if (unit == UNIT_NONE) {
        byte_buffer_printf(out, "} %" PRId64 "\n", value);
        return;
    }
    value = value < 0 ? 0 : value; /* the writer's clock was read after the reader's */
    if (unit == UNIT_NS) {
        byte_buffer_printf(out, "} %" PRId64 ".%09" PRId64 "\n", value / NS_PER_SECOND,
                           value % NS_PER_SECOND);
    } else {
        byte_buffer_printf(out, "} %" PRId64 ".%03" PRId64 "\n", value / MS_PER_SECOND,
                           value % MS_PER_SECOND);
    }
}

static void write_pipelines(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    for (size_t i = 0; i < sizeof PIPELINE_COUNTERS / sizeof PIPELINE_COUNTERS[0]; i++) {
        const struct family *family = PIPELINE_COUNTERS + i;
        begin_family(out, family->name, "counter", family->help);
        for (size_t j = 0; j < snapshot->pipeline_count; j++) {
            const struct pipeline_metrics *pipeline = snapshot->pipelines[j];
            const char *base = (const char *)pipeline;
            const struct metric *metric = (const struct metric *)(const void *)(base + family->at);
            byte_buffer_printf(out, "moontide_%s{pipeline=\"%u\"", family->name,
                               pipeline->pipeline);
            write_value(out, metric_get(metric), UNIT_NONE);
        }
    }
}

static void begin_worker(struct byte_buffer *out, const char *name,
                         const struct worker_reading *worker)
{
    byte_buffer_printf(out, "moontide_%s{pipeline=\"%u\",worker=\"%u\",thread=\"worker-%u\"", name,
                       worker->pipeline, worker->worker, worker->worker);
}

static void write_states(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    begin_family(out, "worker_state", "gauge", "1 for the state that the thread is in.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const struct worker_reading *worker = snapshot->workers + i;
        for (int state = 0; state < WORKER_STATE_COUNT; state++) {
            begin_worker(out, "worker_state", worker);
            byte_buffer_printf(out, ",state=\"%s\"", worker_state_name((enum worker_state)state));
            write_value(out, worker->state == (enum worker_state)state, UNIT_NONE);
        }
    }
}

static void write_records(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    begin_family(out, "worker_records_total", "counter", "Records that were run, by outcome.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        begin_worker(out, "worker_records_total", snapshot->workers + i);
        byte_buffer_append_text(out, ",outcome=\"done\"");
        write_value(out, snapshot->workers[i].done, UNIT_NONE);
        begin_worker(out, "worker_records_total", snapshot->workers + i);
        byte_buffer_append_text(out, ",outcome=\"failed\"");
        write_value(out, snapshot->workers[i].failed, UNIT_NONE);
    }
}

static void begin_at_hand(struct byte_buffer *out, const char *name,
                          const struct worker_reading *worker)
{
    begin_worker(out, name, worker);
    byte_buffer_append_text(out, ",topic=\"");
    write_text(out, worker->topic);
    byte_buffer_printf(out, "\",partition=\"%" PRId32 "\"", worker->partition);
}

static void write_workers(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out)
{
    write_states(snapshot, out);
    write_records(snapshot, out);
    begin_family(out, "worker_batches_total", "counter", "Batches that were run.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        begin_worker(out, "worker_batches_total", snapshot->workers + i);
        write_value(out, snapshot->workers[i].batches, UNIT_NONE);
    }
    begin_family(out, "worker_busy_seconds_total", "counter", "Time in user code.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        begin_worker(out, "worker_busy_seconds_total", snapshot->workers + i);
        write_value(out, snapshot->workers[i].busy_ns, UNIT_NS);
    }
    begin_family(out, "worker_batch_offset", "gauge",
                 "Offset of the first record of the batch at hand.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        if (snapshot->workers[i].topic) {
            begin_at_hand(out, "worker_batch_offset", snapshot->workers + i);
            write_value(out, snapshot->workers[i].offset, UNIT_NONE);
        }
    }
    begin_family(out, "worker_batch_age_seconds", "gauge",
                 "How long the batch at hand is running.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        if (snapshot->workers[i].topic) {
            begin_at_hand(out, "worker_batch_age_seconds", snapshot->workers + i);
            write_value(out, now_ns - snapshot->workers[i].since_ns, UNIT_NS);
        }
    }
}

static void begin_task(struct byte_buffer *out, const char *name, const struct task_view *task)
{
    byte_buffer_printf(out, "moontide_%s{topic=\"", name);
    write_text(out, task->topic);
    byte_buffer_printf(out, "\",partition=\"%" PRId32 "\",pipeline=\"%u\"", task->partition,
                       task->pipeline);
}

/* A gauge of each window, at a fixed place in struct window_reading. */
static const struct family WINDOW_GAUGES[] = {
    {"window_epoch", "Number of the assignment.", offsetof(struct window_reading, epoch)},
    {"window_slots_used", "Records in the window.", offsetof(struct window_reading, used)},
    {"window_slots_capacity", "Records that fit into the window.",
     offsetof(struct window_reading, capacity)},
    {"window_bytes", "Bytes of keys and values in the window.",
     offsetof(struct window_reading, bytes)},
    {"window_commit_position", "Next offset to commit.",
     offsetof(struct window_reading, commit_pos)},
    {"window_committed_position", "Offset that a restart resumes from.",
     offsetof(struct window_reading, committed_pos)},
};

static void write_windows(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out)
{
    for (size_t i = 0; i < sizeof WINDOW_GAUGES / sizeof WINDOW_GAUGES[0]; i++) {
        begin_family(out, WINDOW_GAUGES[i].name, "gauge", WINDOW_GAUGES[i].help);
        for (size_t j = 0; j < snapshot->task_count; j++) {
            const char *base = (const char *)&snapshot->tasks[j].window;
            begin_task(out, WINDOW_GAUGES[i].name, snapshot->tasks + j);
            write_value(out, *(const int64_t *)(const void *)(base + WINDOW_GAUGES[i].at),
                        UNIT_NONE);
        }
    }
    begin_family(out, "window_head_age_seconds", "gauge",
                 "Age of the oldest record in the window.");
    for (size_t j = 0; j < snapshot->task_count; j++) {
        int64_t since_ms = snapshot->tasks[j].window.head_since_ms;
        begin_task(out, "window_head_age_seconds", snapshot->tasks + j);
        write_value(out, since_ms < 0 ? 0 : now_ns / NS_PER_MS - since_ms, UNIT_MS);
    }
    begin_family(out, "window_held", "gauge", "1 for each reason why no record is taken in.");
    for (size_t j = 0; j < snapshot->task_count; j++) {
        for (int reason = HOLD_NONE + 1; reason < HOLD_REASON_COUNT; reason++) {
            begin_task(out, "window_held", snapshot->tasks + j);
            byte_buffer_printf(out, ",reason=\"%s\"", hold_reason_name((enum hold_reason)reason));
            write_value(out, snapshot->tasks[j].window.hold == (enum hold_reason)reason, UNIT_NONE);
        }
    }
}

static void write_task_threads(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    begin_family(out, "task_thread_state", "gauge",
                 "The state of each thread that works in tandem on the task.");
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task_view *task = snapshot->tasks + i;
        DCHECK(task->workers != NULL || task->worker_count == 0);
        for (size_t j = 0; j < task->worker_count; j++) {
            const struct worker_reading *worker = task->workers + j;
            begin_task(out, "task_thread_state", task);
            byte_buffer_printf(out, ",thread=\"worker-%u\",state=\"%s\"", worker->worker,
                               worker_state_name(worker->state));
            write_value(out, 1, UNIT_NONE);
        }
    }
}
