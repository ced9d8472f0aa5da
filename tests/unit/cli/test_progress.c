#include "cli/progress.h"

#include <criterion/criterion.h>

static struct progress progress;
static struct byte_buffer line;
static int64_t now_ns = 1000000000;

static void end(void)
{
    byte_buffer_fini(&line);
}

TestSuite(progress, .fini = end);

/* A second later; retired and lag are what they are then. */
static const char *note(int64_t retired, int64_t lag)
{
    now_ns += 1000000000;
    byte_buffer_clear(&line);
    progress_note(&progress,
                  &(struct progress_reading){
                      .now_ns = now_ns, .retired = retired, .lag = lag, .busy = 3, .threads = 8},
                  &line);
    return byte_buffer_text(&line);
}

Test(progress, the_first_line_knows_no_rate_yet)
{
    cr_assert_str_eq(note(500, 2000), "0 records/s   lag 2,000   threads 3/8 busy");
}

Test(progress, rate_lag_and_time_to_the_end)
{
    note(0, 1234567);
    cr_assert_str_eq(note(12345, 1222222),
                     "12,345 records/s   lag 1,222,222   end in 1 min 40 s   threads 3/8 busy");
    note(24690, 24690);
    cr_assert_str_eq(note(37035, 0), "12,345 records/s   lag 0   at the end   threads 3/8 busy");
}

Test(progress, a_lag_that_grows_has_no_end_in_sight)
{
    note(0, 1000);
    cr_assert_str_eq(note(10, 1500),
                     "10 records/s   lag 1,500   no end in sight   threads 3/8 busy");
}

Test(progress, a_file_has_no_lag)
{
    note(0, -1);
    cr_assert_str_eq(note(1000000, -1), "1,000,000 records/s   threads 3/8 busy");
}

Test(progress, rates_are_smoothed)
{
    note(0, -1);
    note(100, -1);
    note(200, -1);
    note(300, -1);
    note(400, -1);
    note(500, -1);
    cr_assert_str_eq(note(500, -1), "80 records/s   threads 3/8 busy");
}

Test(progress, long_times)
{
    note(0, 100000);
    cr_assert_str_eq(note(1, 99999),
                     "1 records/s   lag 99,999   end in 1 d 3 h   threads 3/8 busy");
}

Test(progress, hours_and_minutes)
{
    note(0, 10002);
    cr_assert_str_eq(note(2, 10000),
                     "2 records/s   lag 10,000   end in 1 h 23 min   threads 3/8 busy");
}

Test(progress, a_snapshot_is_summed_up)
{
    struct metrics_registry *registry = metrics_registry_create();
    struct metrics_snapshot snapshot;
    for (unsigned i = 0; i < 2; i++) {
        metric_add(&metrics_registry_add_pipeline(registry, i)->retired, 10);
        struct worker_metrics *worker = metrics_registry_add_worker(registry, i, i);
        if (i == 0) {
            worker_metrics_begin(worker, "t", 0, 0, 0);
        }
        struct window_metrics *window = metrics_registry_add_window(registry, i, "t", (int32_t)i);
        window_metrics_set(window, &(struct window_reading){.lag = 7});
    }
    metrics_snapshot_take(&snapshot, registry);
    struct progress_reading reading = progress_read(&snapshot, 5);
    cr_assert_eq(reading.retired, 20);
    cr_assert_eq(reading.lag, 14);
    cr_assert_eq(reading.busy, 1);
    cr_assert_eq(reading.threads, 2);
    metrics_snapshot_fini(&snapshot);
    metrics_registry_add_window(registry, 0, "t", 5);
    metrics_snapshot_take(&snapshot, registry);
    cr_assert_eq(progress_read(&snapshot, 5).lag, -1, "one is not known, so the sum is not");
    metrics_snapshot_fini(&snapshot);
    metrics_registry_destroy(registry);
}
