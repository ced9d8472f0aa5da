#include "metrics/metrics_snapshot.h"

#include <criterion/criterion.h>

static struct metrics_registry *registry;
static struct metrics_snapshot snapshot;

static void begin(void)
{
    registry = metrics_registry_create();
}

static void end(void)
{
    metrics_snapshot_fini(&snapshot);
    metrics_registry_destroy(registry);
}

TestSuite(metrics_snapshot, .init = begin, .fini = end);

Test(metrics_snapshot, of_nothing_is_empty)
{
    metrics_snapshot_take(&snapshot, registry);
    cr_assert_eq(snapshot.pipeline_count, 0);
    cr_assert_eq(snapshot.worker_count, 0);
    cr_assert_eq(snapshot.task_count, 0);
    cr_assert_null(metrics_snapshot_find(&snapshot, "orders", 0));
}

/* N = 5, K = 2: groups of 2, 2, 1 */
Test(metrics_snapshot, r7_shows_the_state_of_every_thread_on_a_task_and_its_window)
{
    struct worker_metrics *workers[5];
    for (unsigned i = 5; i > 0; i--) {
        workers[i - 1] = metrics_registry_add_worker(registry, (i - 1) / 2, i - 1);
    }
    struct window_metrics *window = metrics_registry_add_window(registry, 1, "orders", 7);
    metrics_registry_add_window(registry, 0, "orders", 6);
    metrics_registry_add_window(registry, 2, "audit", 7);
    worker_metrics_begin(workers[3], "orders", 7, 41, 100);
    worker_metrics_begin(workers[4], "audit", 7, 1, 100);
    window_metrics_set(window, &(struct window_reading){.epoch = 2,
                                                        .used = 4,
                                                        .capacity = 4,
                                                        .bytes = 99,
                                                        .head_since_ms = 5,
                                                        .commit_pos = 41,
                                                        .committed_pos = 30,
                                                        .hold = HOLD_RECORDS});
    metrics_snapshot_take(&snapshot, registry);
    cr_assert_eq(snapshot.task_count, 3);
    const struct task_view *task = metrics_snapshot_find(&snapshot, "orders", 7);
    cr_assert_not_null(task);
    cr_assert_eq(task->pipeline, 1);
    cr_assert_eq(task->worker_count, 2);
    cr_assert_eq(task->workers[0].worker, 2);
    cr_assert_eq(task->workers[0].state, WORKER_IDLE);
    cr_assert_null(task->workers[0].at_hand.topic);
    cr_assert_eq(task->workers[1].worker, 3);
    cr_assert_eq(task->workers[1].state, WORKER_RUNNING);
    cr_assert_str_eq(task->workers[1].at_hand.topic, "orders");
    cr_assert_eq(task->workers[1].at_hand.offset, 41);
    cr_assert_eq(task->window.epoch, 2);
    cr_assert_eq(task->window.used, 4);
    cr_assert_eq(task->window.bytes, 99);
    cr_assert_eq(task->window.committed_pos, 30);
    cr_assert_eq(task->window.hold, HOLD_RECORDS);
    cr_assert_eq(metrics_snapshot_find(&snapshot, "audit", 7)->worker_count, 1);
    cr_assert_null(metrics_snapshot_find(&snapshot, "orders", 8));
}

Test(metrics_snapshot, tasks_are_ordered_by_topic_and_partition)
{
    metrics_registry_add_window(registry, 0, "b", 2);
    metrics_registry_add_window(registry, 0, "b", 10);
    metrics_registry_add_window(registry, 0, "a", 3);
    metrics_snapshot_take(&snapshot, registry);
    cr_assert_str_eq(snapshot.tasks[0].topic, "a");
    cr_assert_eq(snapshot.tasks[1].partition, 2);
    cr_assert_eq(snapshot.tasks[2].partition, 10);
}
