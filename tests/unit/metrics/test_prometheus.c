#include "metrics/prometheus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct metrics_registry *registry;
static struct metrics_snapshot snapshot;
static struct byte_buffer text;

static void begin(void)
{
    registry = metrics_registry_create();
}

static void end(void)
{
    byte_buffer_fini(&text);
    metrics_snapshot_fini(&snapshot);
    metrics_registry_destroy(registry);
}

TestSuite(prometheus, .init = begin, .fini = end);

static const char *write_at(int64_t now_ns)
{
    metrics_snapshot_take(&snapshot, registry);
    prometheus_write(&snapshot, now_ns, &text);
    return byte_buffer_text(&text);
}

/* The family of this name is exactly this text, with HELP and TYPE. */
static void expect_family(const char *written, const char *expected)
{
    char begin[128];
    size_t name_end = strcspn(expected + strlen("# HELP "), " ") + strlen("# HELP ");
    snprintf(begin, sizeof begin, "%.*s ", (int)name_end, expected);
    const char *at = strstr(written, begin);
    cr_assert_not_null(at, "no family %s", begin);
    const char *next = strstr(at + 1, "# HELP ");
    size_t size = next ? (size_t)(next - at) : strlen(at);
    char *found = strndup(at, size);
    cr_expect_str_eq(found, expected);
    free(found);
}

#define HEAD(name, type, help)                                                                     \
    "# HELP moontide_" name " " help "\n# TYPE moontide_" name " " type "\n"

Test(prometheus, the_text_is_exactly_this)
{
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 0);
    metric_add(&pipeline->admitted, 10);
    metric_add(&pipeline->retired, 9);
    metric_add(&pipeline->emitted, 8);
    metric_add(&pipeline->delivered, 7);
    metric_add(&pipeline->undeliverable, 1);
    metric_add(&pipeline->commits, 3);
    metric_add(&pipeline->commits_refused, 2);
    metric_add(&pipeline->late_completions, 4);
    struct worker_metrics *worker = metrics_registry_add_worker(registry, 0, 2);
    worker_metrics_begin(worker, "orders", 1, 4, 0);
    worker_metrics_end(worker, 5, 1, 1500000000);
    worker_metrics_begin(worker, "orders", 1, 10, 2000000000);
    struct window_metrics *window = metrics_registry_add_window(registry, 0, "orders", 1);
    window_metrics_set(window, &(struct window_reading){.epoch = 1,
                                                        .used = 2,
                                                        .capacity = 4096,
                                                        .bytes = 300,
                                                        .head_since_ms = 1750,
                                                        .commit_pos = 8,
                                                        .committed_pos = 6,
                                                        .hold = HOLD_BYTES});
    /* clang-format off */
    static const char *const families[] = {
        HEAD("pipeline_records_admitted_total", "counter", "Records that entered a window.")
        "moontide_pipeline_records_admitted_total{pipeline=\"0\"} 10\n",
        HEAD("pipeline_records_retired_total", "counter", "Records whose effects left.")
        "moontide_pipeline_records_retired_total{pipeline=\"0\"} 9\n",
        HEAD("pipeline_records_emitted_total", "counter", "Records given to the sink.")
        "moontide_pipeline_records_emitted_total{pipeline=\"0\"} 8\n",
        HEAD("pipeline_records_delivered_total", "counter", "Records that the sink reported as delivered.")
        "moontide_pipeline_records_delivered_total{pipeline=\"0\"} 7\n",
        HEAD("pipeline_records_undeliverable_total", "counter", "Records that the sink could not deliver.")
        "moontide_pipeline_records_undeliverable_total{pipeline=\"0\"} 1\n",
        HEAD("pipeline_commits_total", "counter", "Commits that were confirmed.")
        "moontide_pipeline_commits_total{pipeline=\"0\"} 3\n",
        HEAD("pipeline_commits_refused_total", "counter", "Commits that were refused and are tried again.")
        "moontide_pipeline_commits_refused_total{pipeline=\"0\"} 2\n",
        HEAD("pipeline_late_completions_total", "counter", "Completions and reports of an epoch that has ended.")
        "moontide_pipeline_late_completions_total{pipeline=\"0\"} 4\n",
        HEAD("worker_state", "gauge", "1 for the state that the thread is in.")
        "moontide_worker_state{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",state=\"idle\"} 0\n"
        "moontide_worker_state{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",state=\"taking\"} 0\n"
        "moontide_worker_state{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",state=\"running\"} 1\n"
        "moontide_worker_state{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",state=\"closed\"} 0\n",
        HEAD("worker_records_total", "counter", "Records that were run, by outcome.")
        "moontide_worker_records_total{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",outcome=\"done\"} 5\n"
        "moontide_worker_records_total{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",outcome=\"failed\"} 1\n",
        HEAD("worker_batches_total", "counter", "Batches that were run.")
        "moontide_worker_batches_total{pipeline=\"0\",worker=\"2\",thread=\"worker-2\"} 1\n",
        HEAD("worker_busy_seconds_total", "counter", "Time in user code.")
        "moontide_worker_busy_seconds_total{pipeline=\"0\",worker=\"2\",thread=\"worker-2\"} 1.500000000\n",
        HEAD("worker_record_offset", "gauge", "Offset of the record at hand.")
        "moontide_worker_record_offset{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",topic=\"orders\",partition=\"1\"} 10\n",
        HEAD("worker_record_age_seconds", "gauge", "How long the record at hand is running.")
        "moontide_worker_record_age_seconds{pipeline=\"0\",worker=\"2\",thread=\"worker-2\",topic=\"orders\",partition=\"1\"} 0.000000042\n",
        HEAD("window_epoch", "gauge", "Number of the assignment.")
        "moontide_window_epoch{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 1\n",
        HEAD("window_slots_used", "gauge", "Records in the window.")
        "moontide_window_slots_used{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 2\n",
        HEAD("window_slots_capacity", "gauge", "Records that fit into the window.")
        "moontide_window_slots_capacity{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 4096\n",
        HEAD("window_bytes", "gauge", "Bytes of keys and values in the window.")
        "moontide_window_bytes{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 300\n",
        HEAD("window_commit_position", "gauge", "Next offset to commit.")
        "moontide_window_commit_position{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 8\n",
        HEAD("window_committed_position", "gauge", "Offset that a restart resumes from.")
        "moontide_window_committed_position{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 6\n",
        HEAD("window_head_age_seconds", "gauge", "Age of the oldest record in the window.")
        "moontide_window_head_age_seconds{topic=\"orders\",partition=\"1\",pipeline=\"0\"} 0.250\n",
        HEAD("window_held", "gauge", "1 for each reason why no record is taken in.")
        "moontide_window_held{topic=\"orders\",partition=\"1\",pipeline=\"0\",reason=\"records\"} 0\n"
        "moontide_window_held{topic=\"orders\",partition=\"1\",pipeline=\"0\",reason=\"bytes\"} 1\n"
        "moontide_window_held{topic=\"orders\",partition=\"1\",pipeline=\"0\",reason=\"retry_full\"} 0\n"
        "moontide_window_held{topic=\"orders\",partition=\"1\",pipeline=\"0\",reason=\"drain\"} 0\n",
        HEAD("task_thread_state", "gauge", "The state of each thread that works in tandem on the task.")
        "moontide_task_thread_state{topic=\"orders\",partition=\"1\",pipeline=\"0\",thread=\"worker-2\",state=\"running\"} 1\n",
    };
    /* clang-format on */
    const char *written = write_at(2000000042);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        expect_family(written, families[i]);
    }
}

Test(prometheus, outcomes_are_those_of_all_threads_of_the_pipeline)
{
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct worker_metrics *worker = metrics_registry_add_worker(registry, i / 2, i);
        worker_metrics_begin(worker, "t", 0, 0, 0);
        worker_metrics_end(worker, 10 + i, 1, 5);
    }
    metric_add(&pipeline->retried, 2);
    metric_add(&pipeline->dead_letters, 1);
    expect_family(
        write_at(0),
        HEAD("pipeline_outcomes_total", "counter",
             "What became of runs of records.") "moontide_pipeline_outcomes_total{pipeline=\"1\","
                                                "outcome=\"done\"} 25\n"
                                                "moontide_pipeline_outcomes_total{pipeline=\"1\","
                                                "outcome=\"failed\"} 0\n"
                                                "moontide_pipeline_outcomes_total{pipeline=\"1\","
                                                "outcome=\"retried\"} 2\n"
                                                "moontide_pipeline_outcomes_total{pipeline=\"1\","
                                                "outcome=\"skipped\"} 0\n"
                                                "moontide_pipeline_outcomes_total{pipeline=\"1\","
                                                "outcome=\"dead_letter\"} 1\n");
}

Test(prometheus, failures_and_holds_are_counted_by_reason)
{
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 1);
    metric_add(&pipeline->failures[CAUSE_MEMORY], 3);
    struct window_metrics *window = metrics_registry_add_window(registry, 1, "t", 0);
    struct window_reading reading = {.hold = HOLD_RECORDS};
    window_metrics_set(window, &reading);
    window_metrics_set(window, &reading);
    reading.hold = HOLD_NONE;
    window_metrics_set(window, &reading);
    reading.hold = HOLD_RECORDS;
    window_metrics_set(window, &reading);
    const char *written = write_at(0);
    cr_assert(
        strstr(written, "moontide_pipeline_failures_total{pipeline=\"1\",kind=\"raised\"} 0\n"));
    cr_assert(
        strstr(written, "moontide_pipeline_failures_total{pipeline=\"1\",kind=\"memory\"} 3\n"));
    cr_assert(strstr(written, "moontide_window_holds_total{topic=\"t\",partition=\"0\",pipeline="
                              "\"1\",reason=\"records\"} 2\n"));
}

Test(prometheus, what_is_not_known_is_left_out)
{
    metrics_registry_add_window(registry, 0, "t", 0);
    const char *written = write_at(0);
    cr_assert(strstr(written, "# TYPE moontide_window_lag_records gauge\n#"));
    cr_assert(strstr(written, "# TYPE moontide_window_end_offset gauge\n#"));
    cr_assert(strstr(written, "# TYPE moontide_window_committed_position gauge\n#"));
}

Test(prometheus, states_of_a_pipeline)
{
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 0);
    struct worker_metrics *worker = metrics_registry_add_worker(registry, 0, 0);
    metrics_registry_add_worker(registry, 0, 1);
    worker_metrics_begin(worker, "t", 0, 0, 0);
    metric_set(&pipeline->phase, PHASE_DRAINING);
    metric_set(&pipeline->partitions, 3);
    metric_set(&pipeline->away, 1);
    metric_set(&pipeline->turn_ms, 1000);
    const char *written = write_at(INT64_C(1250) * 1000000);
    cr_assert(strstr(written, "moontide_pipeline_state{pipeline=\"0\",state=\"running\"} 0\n"));
    cr_assert(strstr(written, "moontide_pipeline_state{pipeline=\"0\",state=\"draining\"} 1\n"));
    cr_assert(strstr(written, "moontide_pipeline_partitions{pipeline=\"0\"} 3\n"));
    cr_assert(strstr(written, "moontide_pipeline_broker_reachable{pipeline=\"0\"} 0\n"));
    cr_assert(strstr(written, "moontide_pipeline_turn_age_seconds{pipeline=\"0\"} 0.250\n"));
    cr_assert(strstr(written, "moontide_pipeline_threads_busy{pipeline=\"0\"} 1\n"));
}

Test(prometheus, histograms_have_their_labels)
{
    struct pipeline_metrics *pipeline = metrics_registry_add_pipeline(registry, 0);
    struct worker_metrics *worker = metrics_registry_add_worker(registry, 0, 0);
    struct window_metrics *window = metrics_registry_add_window(registry, 0, "t", 7);
    histogram_add(&pipeline->commit_time, &histogram_coarse, 3, 1);
    worker_metrics_begin(worker, "t", 7, 0, 0);
    worker_metrics_end(worker, 4, 0, 8000000);
    window_metrics_add_latency(window, 20000);
    const char *written = write_at(0);
    cr_assert(strstr(written,
                     "moontide_pipeline_commit_seconds_bucket{pipeline=\"0\",le=\"0.005\"} 1\n"));
    cr_assert(strstr(written, "moontide_pipeline_commit_seconds_sum{pipeline=\"0\"} 0.003\n"));
    cr_assert(strstr(written, "moontide_worker_run_seconds_bucket{pipeline=\"0\",worker=\"0\","
                              "thread=\"worker-0\",le=\"0.001\"} 0\n"));
    cr_assert(strstr(written, "moontide_worker_run_seconds_count{pipeline=\"0\",worker=\"0\","
                              "thread=\"worker-0\"} 4\n"));
    cr_assert(strstr(written, "moontide_window_latency_seconds_sum{topic=\"t\",partition=\"7\","
                              "pipeline=\"0\"} 20.000\n"));
}

Test(prometheus, the_process_is_shown_once)
{
    struct process_metrics process = {
        .resident_bytes = 4096, .cpu_ns = 2500000000, .open_files = 12};
    prometheus_write_process(&process, "1.2.3", &text);
    const char *written = byte_buffer_text(&text);
    expect_family(written,
                  HEAD("build_info", "gauge",
                       "The version that runs.") "moontide_build_info{version=\"1.2.3\"} 1\n");
    expect_family(
        written,
        HEAD(
            "process_cpu_seconds_total", "counter",
            "Processor time of all threads.") "moontide_process_cpu_seconds_total{} 2.500000000\n");
}

Test(prometheus, r7_shows_each_thread_of_the_group_of_a_task)
{
    for (unsigned i = 0; i < 4; i++) {
        metrics_registry_add_worker(registry, i / 2, i);
    }
    metrics_registry_add_window(registry, 1, "t", 0);
    const char *written = write_at(0);
    cr_assert(strstr(written, "moontide_task_thread_state{topic=\"t\",partition=\"0\","
                              "pipeline=\"1\",thread=\"worker-2\",state=\"idle\"} 1\n"
                              "moontide_task_thread_state{topic=\"t\",partition=\"0\","
                              "pipeline=\"1\",thread=\"worker-3\",state=\"idle\"} 1\n"));
    cr_assert_null(strstr(written, "thread=\"worker-1\",state=\"idle\"} 1\nmoontide_task"));
}

Test(prometheus, labels_are_escaped)
{
    metrics_registry_add_window(registry, 0, "file:a\"b\\c\nd", 0);
    cr_assert(
        strstr(write_at(0), "moontide_window_epoch{topic=\"file:a\\\"b\\\\c\\nd\",partition"));
}

Test(prometheus, an_age_is_never_negative)
{
    struct worker_metrics *worker = metrics_registry_add_worker(registry, 0, 0);
    worker_metrics_begin(worker, "t", 0, 0, 1000);
    cr_assert(strstr(write_at(999), "topic=\"t\",partition=\"0\"} 0.000000000\n"));
}
