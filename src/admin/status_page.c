#include "admin/status_page.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "admin/health.h"
#include "base/json_printer.h"

enum { NS_PER_MS = 1000000 };

static const char *const ASSIGNMENTS[] = {
    [ASSIGNMENT_NONE] = "none",
    [ASSIGNMENT_OPEN] = "rebalancing",
    [ASSIGNMENT_WHOLE] = "whole",
};

static void write_health(const struct metrics_snapshot *snapshot, int64_t now_ms,
                         struct json_printer *json);
static void write_pipelines(const struct metrics_snapshot *snapshot, int64_t now_ms,
                            struct json_printer *json);
static void write_threads(const struct metrics_snapshot *snapshot, const struct status_times *times,
                          struct json_printer *json);
static void write_tasks(const struct metrics_snapshot *snapshot, int64_t now_ms,
                        struct json_printer *json);

void status_page_write(const struct metrics_snapshot *snapshot,
                       const struct process_metrics *process, const char *version,
                       const struct status_times *times, struct byte_buffer *out)
{
    struct json_printer json;
    json_printer_init(&json, out);
    json_printer_begin_object(&json, NULL);
    json_printer_text(&json, "version", version);
    json_printer_int(&json, "time_ms", times->wall_ms);
    json_printer_seconds(&json, "uptime_seconds", times->now_ns - times->begin_ns);
    json_printer_int(&json, "resident_bytes", process->resident_bytes);
    json_printer_seconds(&json, "cpu_seconds", process->cpu_ns);
    write_health(snapshot, times->now_ns / NS_PER_MS, &json);
    write_pipelines(snapshot, times->now_ns / NS_PER_MS, &json);
    write_threads(snapshot, times, &json);
    write_tasks(snapshot, times->now_ns / NS_PER_MS, &json);
    json_printer_end_object(&json);
    byte_buffer_append_char(out, '\n');
}

/* The lines of health as an array. */
static void write_health(const struct metrics_snapshot *snapshot, int64_t now_ms,
                         struct json_printer *json)
{
    struct byte_buffer reasons;
    byte_buffer_init(&reasons);
    json_printer_bool(json, "ready", health_is_ready(snapshot, now_ms, &reasons));
    json_printer_begin_array(json, "reasons");
    for (char *line = reasons.data; line && *line;) {
        char *end = line + strcspn(line, "\n");
        bool last = *end == 0;
        *end = 0;
        json_printer_text(json, NULL, line);
        line = last ? end : end + 1;
    }
    json_printer_end_array(json);
    byte_buffer_fini(&reasons);
}

/* -1 is none. */
static void print_position(struct json_printer *json, const char *name, int64_t position)
{
    if (position < 0) {
        json_printer_null(json, name);
    } else {
        json_printer_int(json, name, position);
    }
}

static void write_pipelines(const struct metrics_snapshot *snapshot, int64_t now_ms,
                            struct json_printer *json)
{
    json_printer_begin_array(json, "pipelines");
    for (size_t i = 0; i < snapshot->pipeline_count; i++) {
        const struct pipeline_metrics *pipeline = snapshot->pipelines[i];
        int64_t turn_ms = metric_get(&pipeline->turn_ms);
        int64_t phase = metric_get(&pipeline->phase);
        json_printer_begin_object(json, NULL);
        json_printer_int(json, "pipeline", pipeline->pipeline);
        json_printer_text(json, "state", pipeline_phase_name((enum pipeline_phase)phase));
        json_printer_text(json, "assignment", ASSIGNMENTS[metric_get(&pipeline->assignment)]);
        json_printer_int(json, "partitions", metric_get(&pipeline->partitions));
        json_printer_bool(json, "broker_reachable", !metric_get(&pipeline->away));
        json_printer_seconds(json, "turn_age_seconds",
                             turn_ms ? (now_ms - turn_ms) * NS_PER_MS : 0);
        json_printer_int(json, "admitted", metric_get(&pipeline->admitted));
        json_printer_int(json, "retired", metric_get(&pipeline->retired));
        json_printer_int(json, "commits", metric_get(&pipeline->commits));
        json_printer_int(json, "commits_refused", metric_get(&pipeline->commits_refused));
        json_printer_int(json, "slow_records", metric_get(&pipeline->slow_records));
        json_printer_end_object(json);
    }
    json_printer_end_array(json);
}

static void write_record(const struct record_place *place, const struct status_times *times,
                         struct json_printer *json)
{
    if (place->topic == NULL) {
        json_printer_null(json, "record");
        return;
    }
    int64_t age_ns = times->now_ns - place->since_ns;
    json_printer_begin_object(json, "record");
    json_printer_text(json, "topic", place->topic);
    json_printer_int(json, "partition", place->partition);
    json_printer_int(json, "offset", place->offset);
    json_printer_int(json, "since_ms", times->wall_ms - (age_ns > 0 ? age_ns : 0) / NS_PER_MS);
    json_printer_seconds(json, "age_seconds", age_ns);
    json_printer_end_object(json);
}

static void print_thread(struct json_printer *json, const char *name,
                         const struct worker_reading *worker)
{
    char thread[16];
    snprintf(thread, sizeof thread, "worker-%u", worker->worker);
    json_printer_text(json, name, thread);
    json_printer_text(json, "state", worker_state_name(worker->state));
}

static void write_threads(const struct metrics_snapshot *snapshot, const struct status_times *times,
                          struct json_printer *json)
{
    json_printer_begin_array(json, "threads");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const struct worker_reading *worker = snapshot->workers + i;
        json_printer_begin_object(json, NULL);
        print_thread(json, "thread", worker);
        json_printer_int(json, "pipeline", worker->pipeline);
        json_printer_int(json, "done", worker->done);
        json_printer_int(json, "failed", worker->failed);
        json_printer_seconds(json, "busy_seconds", worker->busy_ns);
        json_printer_int(json, "script_bytes", worker->memory_bytes);
        write_record(&worker->at_hand, times, json);
        json_printer_end_object(json);
    }
    json_printer_end_array(json);
}

static void write_window(const struct window_reading *window, int64_t now_ms,
                         struct json_printer *json)
{
    int64_t age_ms = window->head_since_ms < 0 ? 0 : now_ms - window->head_since_ms;
    json_printer_int(json, "epoch", window->epoch);
    json_printer_int(json, "used", window->used);
    json_printer_int(json, "capacity", window->capacity);
    json_printer_int(json, "bytes", window->bytes);
    json_printer_seconds(json, "head_age_seconds", age_ms * NS_PER_MS);
    print_position(json, "commit_pos", window->commit_pos);
    print_position(json, "committed_pos", window->committed_pos);
    print_position(json, "end_offset", window->end_offset);
    print_position(json, "lag", window->lag);
    json_printer_text(json, "hold",
                      window->hold == HOLD_NONE ? NULL : hold_reason_name(window->hold));
}

static void write_tasks(const struct metrics_snapshot *snapshot, int64_t now_ms,
                        struct json_printer *json)
{
    json_printer_begin_array(json, "tasks");
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task_view *task = snapshot->tasks + i;
        json_printer_begin_object(json, NULL);
        json_printer_text(json, "topic", task->topic);
        json_printer_int(json, "partition", task->partition);
        json_printer_int(json, "pipeline", task->pipeline);
        write_window(&task->window, now_ms, json);
        json_printer_begin_array(json, "threads");
        for (size_t j = 0; j < task->worker_count; j++) {
            json_printer_begin_object(json, NULL);
            print_thread(json, "thread", task->workers + j);
            json_printer_end_object(json);
        }
        json_printer_end_array(json);
        json_printer_end_object(json);
    }
    json_printer_end_array(json);
}
