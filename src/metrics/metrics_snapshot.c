#include "metrics/metrics_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"

static void take_workers(struct metrics_snapshot *snapshot, struct metrics_registry *registry);
static void take_tasks(struct metrics_snapshot *snapshot, struct metrics_registry *registry);

void metrics_snapshot_take(struct metrics_snapshot *snapshot, struct metrics_registry *registry)
{
    *snapshot = (struct metrics_snapshot){.pipeline_count = 0};
    /* between the two calls there may be more of them, never fewer */
    size_t count = metrics_registry_pipelines(registry, NULL, 0);
    snapshot->pipelines = memory_alloc(count * sizeof(struct pipeline_metrics *));
    size_t there = metrics_registry_pipelines(registry, snapshot->pipelines, count);
    CHECK(there >= count);
    snapshot->pipeline_count = count;
    take_workers(snapshot, registry);
    take_tasks(snapshot, registry);
}

void metrics_snapshot_fini(struct metrics_snapshot *snapshot)
{
    memory_free(snapshot->tasks);
    memory_free(snapshot->workers);
    memory_free(snapshot->pipelines);
    *snapshot = (struct metrics_snapshot){.pipeline_count = 0};
}

static int compare_workers(const void *left, const void *right)
{
    const struct worker_reading *a = left;
    const struct worker_reading *b = right;
    if (a->pipeline != b->pipeline) {
        return a->pipeline < b->pipeline ? -1 : 1;
    }
    return (a->worker > b->worker) - (a->worker < b->worker);
}

static void take_workers(struct metrics_snapshot *snapshot, struct metrics_registry *registry)
{
    size_t count = metrics_registry_workers(registry, NULL, 0);
    const struct worker_metrics **found = memory_alloc(count * sizeof(struct worker_metrics *));
    size_t there = metrics_registry_workers(registry, found, count);
    CHECK(there >= count);
    snapshot->workers = memory_alloc_array(count, sizeof *snapshot->workers);
    for (size_t i = 0; i < count; i++) {
        worker_metrics_read(found[i], snapshot->workers + i);
    }
    snapshot->worker_count = count;
    memory_free(found);
    qsort(snapshot->workers, count, sizeof *snapshot->workers, compare_workers);
}

static int compare_tasks(const void *left, const void *right)
{
    const struct task_view *a = left;
    const struct task_view *b = right;
    int order = strcmp(a->topic, b->topic);
    if (order != 0) {
        return order;
    }
    return (a->partition > b->partition) - (a->partition < b->partition);
}

/* The workers of a pipeline lie together. */
static void find_workers(const struct metrics_snapshot *snapshot, struct task_view *task)
{
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        if (snapshot->workers[i].pipeline == task->pipeline) {
            task->workers = task->worker_count == 0 ? snapshot->workers + i : task->workers;
            task->worker_count++;
        }
    }
}

static void take_tasks(struct metrics_snapshot *snapshot, struct metrics_registry *registry)
{
    size_t room = metrics_registry_windows(registry, NULL, 0);
    const struct window_metrics **found = memory_alloc(room * sizeof(struct window_metrics *));
    size_t there = metrics_registry_windows(registry, found, room);
    size_t count = there < room ? there : room; /* windows come and go between the two calls */
    snapshot->tasks = memory_alloc_array(count, sizeof *snapshot->tasks);
    for (size_t i = 0; i < count; i++) {
        struct task_view *task = snapshot->tasks + i;
        task->topic = found[i]->topic;
        task->partition = found[i]->partition;
        task->pipeline = found[i]->pipeline;
        window_metrics_read(found[i], &task->window);
        window_metrics_read_totals(found[i], &task->totals);
        find_workers(snapshot, task);
    }
    snapshot->task_count = count;
    memory_free(found);
    qsort(snapshot->tasks, count, sizeof *snapshot->tasks, compare_tasks);
}

const struct task_view *metrics_snapshot_find(const struct metrics_snapshot *snapshot,
                                              const char *topic, int32_t partition)
{
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task_view *task = snapshot->tasks + i;
        if (task->partition == partition && strcmp(task->topic, topic) == 0) {
            return task;
        }
    }
    return NULL;
}
