#include "cli/state_log.h"

#include <stddef.h>
#include <stdio.h>

#include "base/log.h"

enum { NS_PER_MS = 1000000 };

/* They were asked for: at the level that is always on. */
#define LOG_STATE(message, ...)                                                                    \
    log_write(LOG_LEVEL_INFO, message,                                                             \
              (const struct log_field[]){LOG_STR("event", "state"), __VA_ARGS__, LOG_END})

static void write_pipeline(const struct pipeline_metrics *pipeline, int64_t now_ms)
{
    int64_t phase = metric_get(&pipeline->phase);
    int64_t turn_ms = metric_get(&pipeline->turn_ms);
    LOG_STATE("state of a pipeline", LOG_INT("pipeline", pipeline->pipeline),
              LOG_STR("state", pipeline_phase_name((enum pipeline_phase)phase)),
              LOG_BOOL("assigned", metric_get(&pipeline->assignment) == ASSIGNMENT_WHOLE),
              LOG_INT("partitions", metric_get(&pipeline->partitions)),
              LOG_BOOL("broker_reachable", !metric_get(&pipeline->away)),
              LOG_INT("turn_age_ms", turn_ms ? now_ms - turn_ms : 0),
              LOG_INT("admitted", metric_get(&pipeline->admitted)),
              LOG_INT("retired", metric_get(&pipeline->retired)),
              LOG_INT("commits_refused", metric_get(&pipeline->commits_refused)));
}

static void write_worker(const struct worker_reading *worker, int64_t now_ns)
{
    const struct record_place *at_hand = &worker->at_hand;
    char thread[16];
    snprintf(thread, sizeof thread, "worker-%u", worker->worker);
    if (at_hand->topic == NULL) {
        LOG_STATE("state of a thread", LOG_STR("thread", thread),
                  LOG_INT("pipeline", worker->pipeline),
                  LOG_STR("state", worker_state_name(worker->state)), LOG_INT("done", worker->done),
                  LOG_INT("failed", worker->failed));
        return;
    }
    LOG_STATE("state of a thread", LOG_STR("thread", thread), LOG_INT("pipeline", worker->pipeline),
              LOG_STR("state", worker_state_name(worker->state)), LOG_INT("done", worker->done),
              LOG_INT("failed", worker->failed), LOG_STR("topic", at_hand->topic),
              LOG_INT("partition", at_hand->partition), LOG_INT("offset", at_hand->offset),
              LOG_INT("age_ms", (now_ns - at_hand->since_ns) / NS_PER_MS));
}

static void write_task(const struct task_view *task, int64_t now_ms)
{
    const struct window_reading *window = &task->window;
    LOG_STATE(
        "state of a task", LOG_STR("topic", task->topic), LOG_INT("partition", task->partition),
        LOG_INT("pipeline", task->pipeline), LOG_INT("epoch", window->epoch),
        LOG_INT("used", window->used), LOG_INT("capacity", window->capacity),
        LOG_INT("bytes", window->bytes),
        LOG_INT("head_age_ms", window->head_since_ms < 0 ? 0 : now_ms - window->head_since_ms),
        LOG_INT("commit_pos", window->commit_pos), LOG_INT("committed_pos", window->committed_pos),
        LOG_INT("end_offset", window->end_offset), LOG_INT("lag", window->lag),
        LOG_STR("hold", hold_reason_name(window->hold)));
}

void state_log_write(const struct metrics_snapshot *snapshot, int64_t now_ns)
{
    for (size_t i = 0; i < snapshot->pipeline_count; i++) {
        write_pipeline(snapshot->pipelines[i], now_ns / NS_PER_MS);
    }
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        write_worker(snapshot->workers + i, now_ns);
    }
    for (size_t i = 0; i < snapshot->task_count; i++) {
        write_task(snapshot->tasks + i, now_ns / NS_PER_MS);
    }
}
