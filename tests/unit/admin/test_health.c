#include "admin/health.h"

#include <criterion/criterion.h>

static struct metrics_registry *registry;
static struct metrics_snapshot snapshot;
static struct byte_buffer reasons;
static struct pipeline_metrics *pipeline;

static void begin(void)
{
    registry = metrics_registry_create();
    pipeline = metrics_registry_add_pipeline(registry, 0);
    metric_set(&pipeline->turn_ms, 1000);
    metric_set(&pipeline->assignment, ASSIGNMENT_WHOLE);
    metrics_snapshot_take(&snapshot, registry);
}

static void end(void)
{
    byte_buffer_fini(&reasons);
    metrics_snapshot_fini(&snapshot);
    metrics_registry_destroy(registry);
}

TestSuite(health, .init = begin, .fini = end);

static void expect_not_ready(const char *why)
{
    byte_buffer_clear(&reasons);
    cr_expect_not(health_is_ready(&snapshot, 1001, &reasons));
    cr_expect_str_eq(byte_buffer_text(&reasons), why);
}

Test(health, what_turns_and_has_its_partitions_is_ready)
{
    cr_assert(health_is_ready(&snapshot, 1001, &reasons));
    cr_assert(health_is_live(&snapshot, 1001, &reasons));
    cr_assert_str_empty(byte_buffer_text(&reasons));
}

Test(health, before_the_assignment_and_during_a_rebalance_it_is_not)
{
    metric_set(&pipeline->assignment, ASSIGNMENT_NONE);
    expect_not_ready("pipeline 0: no partitions are assigned yet\n");
    metric_set(&pipeline->assignment, ASSIGNMENT_OPEN);
    expect_not_ready("pipeline 0: a rebalance is under way\n");
    cr_assert(health_is_live(&snapshot, 1001, &reasons));
}

Test(health, nor_without_a_broker)
{
    metric_set(&pipeline->away, 1);
    expect_not_ready("pipeline 0: no broker can be reached\n");
}

Test(health, nor_at_the_end)
{
    metric_set(&pipeline->phase, PHASE_DRAINING);
    expect_not_ready("pipeline 0: is stopping\n");
    metric_set(&pipeline->phase, PHASE_CLOSED);
    expect_not_ready("pipeline 0: has ended\n");
}

Test(health, nor_before_the_first_turn)
{
    metric_set(&pipeline->turn_ms, 0);
    expect_not_ready("pipeline 0: has not begun\n");
}

Test(health, a_stuck_poll_thread_is_not_ready_and_later_not_alive)
{
    cr_assert(health_is_ready(&snapshot, 1000 + HEALTH_READY_MS - 1, &reasons));
    cr_assert_not(health_is_ready(&snapshot, 1000 + HEALTH_READY_MS, &reasons));
    cr_assert_str_eq(byte_buffer_text(&reasons), "pipeline 0: its poll thread is stuck for 5 s\n");
    cr_assert(health_is_live(&snapshot, 1000 + HEALTH_LIVE_MS - 1, &reasons));
    cr_assert_not(health_is_live(&snapshot, 1000 + HEALTH_LIVE_MS, &reasons));
}

Test(health, a_pipeline_that_has_ended_is_not_stuck)
{
    metric_set(&pipeline->phase, PHASE_CLOSED);
    cr_assert(health_is_live(&snapshot, 10000000, &reasons));
}

Test(health, each_pipeline_has_its_own_reasons)
{
    struct pipeline_metrics *second = metrics_registry_add_pipeline(registry, 1);
    metric_set(&second->turn_ms, 1000);
    metrics_snapshot_fini(&snapshot);
    metrics_snapshot_take(&snapshot, registry);
    metric_set(&pipeline->away, 1);
    expect_not_ready("pipeline 0: no broker can be reached\n"
                     "pipeline 1: no partitions are assigned yet\n");
}
