#include "admin/status_page.h"

#include <criterion/criterion.h>

Test(status_page, the_page_is_exactly_this)
{
    struct metrics_registry *registry = metrics_registry_create();
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 0);
    metric_set(&pipeline->turn_ms, 1990);
    metric_set(&pipeline->assignment, ASSIGNMENT_OPEN);
    metric_set(&pipeline->partitions, 1);
    metric_add(&pipeline->admitted, 10);
    metric_add(&pipeline->retired, 8);
    struct worker_metrics *worker = metrics_registry_add_worker(registry, 0, 0);
    metrics_registry_add_worker(registry, 0, 1);
    worker_metrics_begin(worker, "or\"ders", 3, 10, 500000000);
    struct window_metrics *window = metrics_registry_add_window(registry, 0, "or\"ders", 3);
    window_metrics_set(window, &(struct window_reading){.epoch = 1,
                                                        .used = 2,
                                                        .capacity = 4096,
                                                        .bytes = 300,
                                                        .head_since_ms = 1750,
                                                        .commit_pos = 8,
                                                        .committed_pos = -1,
                                                        .end_offset = 20,
                                                        .lag = 12,
                                                        .hold = HOLD_BYTES});
    struct metrics_snapshot snapshot;
    struct process_metrics process = {.resident_bytes = 4096, .cpu_ns = 70000000};
    struct status_times times = {
        .now_ns = 2000000000, .wall_ms = 1700000002000, .begin_ns = 1000000000};
    struct byte_buffer out = {0};
    metrics_snapshot_take(&snapshot, registry);
    status_page_write(&snapshot, &process, "1.2", &times, &out);
    cr_assert_str_eq(
        byte_buffer_text(&out),
        "{\"version\":\"1.2\",\"time_ms\":1700000002000,\"uptime_seconds\":1.000000000,"
        "\"resident_bytes\":4096,\"cpu_seconds\":0.070000000,\"ready\":false,"
        "\"reasons\":[\"pipeline 0: a rebalance is under way\"],"
        "\"pipelines\":[{\"pipeline\":0,\"state\":\"running\",\"assignment\":\"rebalancing\","
        "\"partitions\":1,\"broker_reachable\":true,\"turn_age_seconds\":0.010000000,"
        "\"admitted\":10,\"retired\":8,\"commits\":0,\"commits_refused\":0,\"slow_records\":0}],"
        "\"threads\":[{\"thread\":\"worker-0\",\"state\":\"running\",\"pipeline\":0,\"done\":0,"
        "\"failed\":0,\"busy_seconds\":0.000000000,\"script_bytes\":0,"
        "\"record\":{\"topic\":\"or\\\"ders\",\"partition\":3,\"offset\":10,"
        "\"since_ms\":1700000000500,\"age_seconds\":1.500000000}},"
        "{\"thread\":\"worker-1\",\"state\":\"idle\",\"pipeline\":0,\"done\":0,\"failed\":0,"
        "\"busy_seconds\":0.000000000,\"script_bytes\":0,\"record\":null}],"
        "\"tasks\":[{\"topic\":\"or\\\"ders\",\"partition\":3,\"pipeline\":0,\"epoch\":1,\"used\":"
        "2,"
        "\"capacity\":4096,\"bytes\":300,\"head_age_seconds\":0.250000000,\"commit_pos\":8,"
        "\"committed_pos\":null,\"end_offset\":20,\"lag\":12,\"hold\":\"bytes\","
        "\"threads\":[{\"thread\":\"worker-0\",\"state\":\"running\"},"
        "{\"thread\":\"worker-1\",\"state\":\"idle\"}]}]}\n");
    byte_buffer_fini(&out);
    metrics_snapshot_fini(&snapshot);
    metrics_registry_destroy(registry);
}
