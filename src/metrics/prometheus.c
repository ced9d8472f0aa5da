#include "metrics/prometheus.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/check.h"
#include "metrics/prometheus_text.h"

enum { NS_PER_MS = 1000000 };

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
    {"pipeline_commits_total", "Commits that were confirmed.",
     offsetof(struct pipeline_metrics, commits)},
    {"pipeline_commits_refused_total", "Commits that were refused and are tried again.",
     offsetof(struct pipeline_metrics, commits_refused)},
    {"pipeline_late_completions_total", "Completions and reports of an epoch that has ended.",
     offsetof(struct pipeline_metrics, late_completions)},
    {"pipeline_slow_records_total", "Records that ran longer than slow.record.warn.ms.",
     offsetof(struct pipeline_metrics, slow_records)},
};

/* What becomes of a run of a record, but for done, which the workers count. */
static const struct family OUTCOMES[] = {
    {"failed", NULL, offsetof(struct pipeline_metrics, failed)},
    {"retried", NULL, offsetof(struct pipeline_metrics, retried)},
    {"skipped", NULL, offsetof(struct pipeline_metrics, skipped)},
    {"dead_letter", NULL, offsetof(struct pipeline_metrics, dead_letters)},
};

/* A gauge of each worker or window, at a fixed place in its reading. */
struct gauge {
    const char *name;
    const char *type;
    const char *help;
    enum unit unit;
    size_t at; /* offset of the int64_t */
};

static const struct gauge WORKER_NUMBERS[] = {
    {"worker_batches_total", "counter", "Batches that were run.", UNIT_NONE,
     offsetof(struct worker_reading, batches)},
    {"worker_busy_seconds_total", "counter", "Time in user code.", UNIT_NS,
     offsetof(struct worker_reading, busy_ns)},
    {"worker_script_memory_bytes", "gauge", "Memory that the script of the thread holds in Lua.",
     UNIT_NONE, offsetof(struct worker_reading, memory_bytes)},
};

static const struct gauge WINDOW_NUMBERS[] = {
    {"window_epoch", "gauge", "Number of the assignment.", UNIT_NONE,
     offsetof(struct window_reading, epoch)},
    {"window_slots_used", "gauge", "Records in the window.", UNIT_NONE,
     offsetof(struct window_reading, used)},
    {"window_slots_capacity", "gauge", "Records that fit into the window.", UNIT_NONE,
     offsetof(struct window_reading, capacity)},
    {"window_bytes", "gauge", "Bytes of keys and values in the window.", UNIT_NONE,
     offsetof(struct window_reading, bytes)},
    {"window_commit_position", "gauge", "Next offset to commit.", UNIT_NONE,
     offsetof(struct window_reading, commit_pos)},
    {"window_committed_position", "gauge", "Offset that a restart resumes from.", UNIT_NONE,
     offsetof(struct window_reading, committed_pos)},
    {"window_end_offset", "gauge", "Offset behind the last record of the partition.", UNIT_NONE,
     offsetof(struct window_reading, end_offset)},
    {"window_lag_records", "gauge", "Offsets from the commit position to the end.", UNIT_NONE,
     offsetof(struct window_reading, lag)},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void write_pipelines(const struct metrics_snapshot *snapshot, struct byte_buffer *out);
static void write_pipeline_states(const struct metrics_snapshot *snapshot, int64_t now_ns,
                                  struct byte_buffer *out);
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
    write_pipeline_states(snapshot, now_ns, out);
    write_workers(snapshot, now_ns, out);
    write_windows(snapshot, now_ns, out);
    write_task_threads(snapshot, out);
}

/* A family of one sample without labels but `label`, which may be empty. */
static void write_single(struct byte_buffer *out, const struct gauge *gauge, const char *label,
                         int64_t value)
{
    prometheus_text_family(out, gauge->name, gauge->type, gauge->help);
    byte_buffer_printf(out, "moontide_%s{%s", gauge->name, label);
    prometheus_text_value(out, value, gauge->unit);
}

void prometheus_write_process(const struct process_metrics *process, const char *version,
                              struct byte_buffer *out)
{
    static const struct gauge INFO = {"build_info", "gauge", "The version that runs.", UNIT_NONE,
                                      0};
    static const struct gauge RESIDENT = {"process_resident_memory_bytes", "gauge",
                                          "Memory of the process in RAM.", UNIT_NONE, 0};
    static const struct gauge CPU = {"process_cpu_seconds_total", "counter",
                                     "Processor time of all threads.", UNIT_NS, 0};
    static const struct gauge FILES = {"process_open_fds", "gauge", "Open descriptors.", UNIT_NONE,
                                       0};
    char label[64];
    snprintf(label, sizeof label, "version=\"%s\"", version);
    write_single(out, &INFO, label, 1);
    write_single(out, &RESIDENT, "", process->resident_bytes);
    write_single(out, &CPU, "", process->cpu_ns);
    if (process->open_files >= 0) {
        write_single(out, &FILES, "", process->open_files);
    }
}

/* --- pipelines ----------------------------------------------------------------------------- */

static void begin_pipeline(struct byte_buffer *out, const char *name,
                           const struct pipeline_metrics *pipeline)
{
    byte_buffer_printf(out, "moontide_%s{pipeline=\"%u\"", name, pipeline->pipeline);
}

static int64_t metric_at(const struct pipeline_metrics *pipeline, const struct family *family)
{
    const char *base = (const char *)pipeline;
    return metric_get((const struct metric *)(const void *)(base + family->at));
}

static void write_outcomes(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "pipeline_outcomes_total", "counter",
                           "What became of runs of records.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        const struct pipeline_metrics *pipeline = snapshot->pipelines[j];
        int64_t done = 0;
        for (size_t i = 0; i < snapshot->worker_count; i++) {
            bool own = snapshot->workers[i].pipeline == pipeline->pipeline;
            done += own ? snapshot->workers[i].done : 0;
        }
        begin_pipeline(out, "pipeline_outcomes_total", pipeline);
        byte_buffer_append_text(out, ",outcome=\"done\"");
        prometheus_text_value(out, done, UNIT_NONE);
        for (size_t i = 0; i < COUNT(OUTCOMES); i++) {
            begin_pipeline(out, "pipeline_outcomes_total", pipeline);
            byte_buffer_printf(out, ",outcome=\"%s\"", OUTCOMES[i].name);
            prometheus_text_value(out, metric_at(pipeline, OUTCOMES + i), UNIT_NONE);
        }
    }
}

static void write_pipelines(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    for (size_t i = 0; i < COUNT(PIPELINE_COUNTERS); i++) {
        const struct family *family = PIPELINE_COUNTERS + i;
        prometheus_text_family(out, family->name, "counter", family->help);
        for (size_t j = 0; j < snapshot->pipeline_count; j++) {
            begin_pipeline(out, family->name, snapshot->pipelines[j]);
            prometheus_text_value(out, metric_at(snapshot->pipelines[j], family), UNIT_NONE);
        }
    }
    write_outcomes(snapshot, out);
    prometheus_text_family(out, "pipeline_failures_total", "counter",
                           "Runs of records that failed, by kind.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            begin_pipeline(out, "pipeline_failures_total", snapshot->pipelines[j]);
            byte_buffer_printf(out, ",kind=\"%s\"", failure_cause_name((enum failure_cause)cause));
            prometheus_text_value(out, metric_get(&snapshot->pipelines[j]->failures[cause]),
                                  UNIT_NONE);
        }
    }
    prometheus_text_family(out, "pipeline_commit_seconds", "histogram",
                           "Time from sending a commit to its answer.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        char labels[32];
        struct histogram_reading reading;
        snprintf(labels, sizeof labels, "pipeline=\"%u\"", snapshot->pipelines[j]->pipeline);
        histogram_read(&snapshot->pipelines[j]->commit_time, &reading);
        prometheus_text_histogram(out, "pipeline_commit_seconds", labels, &histogram_coarse,
                                  &reading);
    }
}

static void write_pipeline_states(const struct metrics_snapshot *snapshot, int64_t now_ns,
                                  struct byte_buffer *out)
{
    prometheus_text_family(out, "pipeline_state", "gauge",
                           "1 for the state that the pipeline is in.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            begin_pipeline(out, "pipeline_state", snapshot->pipelines[j]);
            byte_buffer_printf(out, ",state=\"%s\"",
                               pipeline_phase_name((enum pipeline_phase)phase));
            prometheus_text_value(out, metric_get(&snapshot->pipelines[j]->phase) == phase,
                                  UNIT_NONE);
        }
    }
    prometheus_text_family(out, "pipeline_partitions", "gauge", "Partitions that are assigned.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        begin_pipeline(out, "pipeline_partitions", snapshot->pipelines[j]);
        prometheus_text_value(out, metric_get(&snapshot->pipelines[j]->partitions), UNIT_NONE);
    }
    prometheus_text_family(out, "pipeline_broker_reachable", "gauge",
                           "0 while no broker can be reached.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        begin_pipeline(out, "pipeline_broker_reachable", snapshot->pipelines[j]);
        prometheus_text_value(out, !metric_get(&snapshot->pipelines[j]->away), UNIT_NONE);
    }
    prometheus_text_family(out, "pipeline_turn_age_seconds", "gauge",
                           "Time since the poll thread began its last turn.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        int64_t turn_ms = metric_get(&snapshot->pipelines[j]->turn_ms);
        begin_pipeline(out, "pipeline_turn_age_seconds", snapshot->pipelines[j]);
        prometheus_text_value(out, turn_ms ? now_ns / NS_PER_MS - turn_ms : 0, UNIT_MS);
    }
    prometheus_text_family(out, "pipeline_threads_busy", "gauge",
                           "Threads of the pipeline that are in user code.");
    for (size_t j = 0; j < snapshot->pipeline_count; j++) {
        int64_t busy = 0;
        for (size_t i = 0; i < snapshot->worker_count; i++) {
            busy += snapshot->workers[i].pipeline == snapshot->pipelines[j]->pipeline &&
                    snapshot->workers[i].state == WORKER_RUNNING;
        }
        begin_pipeline(out, "pipeline_threads_busy", snapshot->pipelines[j]);
        prometheus_text_value(out, busy, UNIT_NONE);
    }
}

/* --- workers ------------------------------------------------------------------------------- */

/* The labels of a worker, without braces. */
static void put_worker(struct byte_buffer *out, const struct worker_reading *worker)
{
    byte_buffer_printf(out, "pipeline=\"%u\",worker=\"%u\",thread=\"worker-%u\"", worker->pipeline,
                       worker->worker, worker->worker);
}

static void begin_worker(struct byte_buffer *out, const char *name,
                         const struct worker_reading *worker)
{
    byte_buffer_printf(out, "moontide_%s{", name);
    put_worker(out, worker);
}

static void write_states(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "worker_state", "gauge", "1 for the state that the thread is in.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const struct worker_reading *worker = snapshot->workers + i;
        for (int state = 0; state < WORKER_STATE_COUNT; state++) {
            begin_worker(out, "worker_state", worker);
            byte_buffer_printf(out, ",state=\"%s\"", worker_state_name((enum worker_state)state));
            prometheus_text_value(out, worker->state == (enum worker_state)state, UNIT_NONE);
        }
    }
}

static void write_records(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "worker_records_total", "counter",
                           "Records that were run, by outcome.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        begin_worker(out, "worker_records_total", snapshot->workers + i);
        byte_buffer_append_text(out, ",outcome=\"done\"");
        prometheus_text_value(out, snapshot->workers[i].done, UNIT_NONE);
        begin_worker(out, "worker_records_total", snapshot->workers + i);
        byte_buffer_append_text(out, ",outcome=\"failed\"");
        prometheus_text_value(out, snapshot->workers[i].failed, UNIT_NONE);
    }
}

static void write_run_time(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "worker_run_seconds", "histogram",
                           "Time of a record in the script; the records of a batch count as "
                           "equal parts of it.");
    struct byte_buffer labels;
    byte_buffer_init(&labels);
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        byte_buffer_clear(&labels);
        put_worker(&labels, snapshot->workers + i);
        prometheus_text_histogram(out, "worker_run_seconds", byte_buffer_text(&labels),
                                  &histogram_fine, &snapshot->workers[i].run_time);
    }
    byte_buffer_fini(&labels);
}

static void begin_at_hand(struct byte_buffer *out, const char *name,
                          const struct worker_reading *worker)
{
    begin_worker(out, name, worker);
    byte_buffer_append_text(out, ",topic=\"");
    prometheus_text_label(out, worker->at_hand.topic);
    byte_buffer_printf(out, "\",partition=\"%" PRId32 "\"", worker->at_hand.partition);
}

static void write_at_hand(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out)
{
    prometheus_text_family(out, "worker_record_offset", "gauge", "Offset of the record at hand.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        if (snapshot->workers[i].at_hand.topic) {
            begin_at_hand(out, "worker_record_offset", snapshot->workers + i);
            prometheus_text_value(out, snapshot->workers[i].at_hand.offset, UNIT_NONE);
        }
    }
    prometheus_text_family(out, "worker_record_age_seconds", "gauge",
                           "How long the record at hand is running.");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        if (snapshot->workers[i].at_hand.topic) {
            begin_at_hand(out, "worker_record_age_seconds", snapshot->workers + i);
            prometheus_text_value(out, now_ns - snapshot->workers[i].at_hand.since_ns, UNIT_NS);
        }
    }
}

static void write_workers(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out)
{
    write_states(snapshot, out);
    write_records(snapshot, out);
    for (size_t i = 0; i < COUNT(WORKER_NUMBERS); i++) {
        const struct gauge *gauge = WORKER_NUMBERS + i;
        prometheus_text_family(out, gauge->name, gauge->type, gauge->help);
        for (size_t j = 0; j < snapshot->worker_count; j++) {
            const char *base = (const char *)(snapshot->workers + j);
            begin_worker(out, gauge->name, snapshot->workers + j);
            prometheus_text_value(out, *(const int64_t *)(const void *)(base + gauge->at),
                                  gauge->unit);
        }
    }
    write_run_time(snapshot, out);
    write_at_hand(snapshot, now_ns, out);
}

/* --- windows ------------------------------------------------------------------------------- */

/* The labels of a task, without braces. */
static void put_task(struct byte_buffer *out, const struct task_view *task)
{
    byte_buffer_append_text(out, "topic=\"");
    prometheus_text_label(out, task->topic);
    byte_buffer_printf(out, "\",partition=\"%" PRId32 "\",pipeline=\"%u\"", task->partition,
                       task->pipeline);
}

static void begin_task(struct byte_buffer *out, const char *name, const struct task_view *task)
{
    byte_buffer_printf(out, "moontide_%s{", name);
    put_task(out, task);
}

static void write_head_age(const struct metrics_snapshot *snapshot, int64_t now_ns,
                           struct byte_buffer *out)
{
    prometheus_text_family(out, "window_head_age_seconds", "gauge",
                           "Age of the oldest record in the window.");
    for (size_t j = 0; j < snapshot->task_count; j++) {
        int64_t since_ms = snapshot->tasks[j].window.head_since_ms;
        begin_task(out, "window_head_age_seconds", snapshot->tasks + j);
        prometheus_text_value(out, since_ms < 0 ? 0 : now_ns / NS_PER_MS - since_ms, UNIT_MS);
    }
}

static void write_holds(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "window_held", "gauge",
                           "1 for each reason why no record is taken in.");
    for (size_t j = 0; j < snapshot->task_count; j++) {
        for (int reason = HOLD_NONE + 1; reason < HOLD_REASON_COUNT; reason++) {
            begin_task(out, "window_held", snapshot->tasks + j);
            byte_buffer_printf(out, ",reason=\"%s\"", hold_reason_name((enum hold_reason)reason));
            prometheus_text_value(out, snapshot->tasks[j].window.hold == (enum hold_reason)reason,
                                  UNIT_NONE);
        }
    }
    prometheus_text_family(out, "window_holds_total", "counter",
                           "How often the partition began to be held, by reason.");
    for (size_t j = 0; j < snapshot->task_count; j++) {
        for (int reason = HOLD_NONE + 1; reason < HOLD_REASON_COUNT; reason++) {
            begin_task(out, "window_holds_total", snapshot->tasks + j);
            byte_buffer_printf(out, ",reason=\"%s\"", hold_reason_name((enum hold_reason)reason));
            prometheus_text_value(out, snapshot->tasks[j].totals.holds[reason], UNIT_NONE);
        }
    }
}

static void write_latency(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "window_latency_seconds", "histogram",
                           "Time from the timestamp of a record to its retirement.");
    struct byte_buffer labels;
    byte_buffer_init(&labels);
    for (size_t j = 0; j < snapshot->task_count; j++) {
        byte_buffer_clear(&labels);
        put_task(&labels, snapshot->tasks + j);
        prometheus_text_histogram(out, "window_latency_seconds", byte_buffer_text(&labels),
                                  &histogram_coarse, &snapshot->tasks[j].totals.latency);
    }
    byte_buffer_fini(&labels);
}

/* A number below 0 is none: the sample is left out. */
static void write_windows(const struct metrics_snapshot *snapshot, int64_t now_ns,
                          struct byte_buffer *out)
{
    for (size_t i = 0; i < COUNT(WINDOW_NUMBERS); i++) {
        const struct gauge *gauge = WINDOW_NUMBERS + i;
        prometheus_text_family(out, gauge->name, gauge->type, gauge->help);
        for (size_t j = 0; j < snapshot->task_count; j++) {
            const char *base = (const char *)&snapshot->tasks[j].window;
            int64_t value = *(const int64_t *)(const void *)(base + gauge->at);
            if (value >= 0) {
                begin_task(out, gauge->name, snapshot->tasks + j);
                prometheus_text_value(out, value, gauge->unit);
            }
        }
    }
    write_head_age(snapshot, now_ns, out);
    write_holds(snapshot, out);
    write_latency(snapshot, out);
}

static void write_task_threads(const struct metrics_snapshot *snapshot, struct byte_buffer *out)
{
    prometheus_text_family(out, "task_thread_state", "gauge",
                           "The state of each thread that works in tandem on the task.");
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task_view *task = snapshot->tasks + i;
        DCHECK(task->workers != NULL || task->worker_count == 0);
        for (size_t j = 0; j < task->worker_count; j++) {
            const struct worker_reading *worker = task->workers + j;
            begin_task(out, "task_thread_state", task);
            byte_buffer_printf(out, ",thread=\"worker-%u\",state=\"%s\"", worker->worker,
                               worker_state_name(worker->state));
            prometheus_text_value(out, 1, UNIT_NONE);
        }
    }
}
