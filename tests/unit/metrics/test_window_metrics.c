#include "metrics/window_metrics.h"

#include <criterion/criterion.h>

Test(window_metrics, a_hold_counts_when_it_begins)
{
    struct window_metrics metrics = {0};
    struct window_totals totals;
    static const enum hold_reason seen[] = {HOLD_NONE,  HOLD_BYTES,   HOLD_BYTES, HOLD_NONE,
                                            HOLD_BYTES, HOLD_RECORDS, HOLD_NONE};
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        window_metrics_set(&metrics, &(struct window_reading){.hold = seen[i]});
    }
    window_metrics_read_totals(&metrics, &totals);
    cr_assert_eq(totals.holds[HOLD_BYTES], 2);
    cr_assert_eq(totals.holds[HOLD_RECORDS], 1);
    cr_assert_eq(totals.holds[HOLD_DRAIN], 0);
}

Test(window_metrics, what_is_set_is_read)
{
    struct window_metrics metrics = {0};
    struct window_reading set = {.epoch = 1,
                                 .used = 2,
                                 .capacity = 3,
                                 .bytes = 4,
                                 .head_since_ms = 5,
                                 .commit_pos = 7,
                                 .committed_pos = 6,
                                 .end_offset = 9,
                                 .lag = 2,
                                 .hold = HOLD_DRAIN};
    struct window_reading got;
    window_metrics_set(&metrics, &set);
    window_metrics_read(&metrics, &got);
    cr_assert_eq(got.end_offset, 9);
    cr_assert_eq(got.lag, 2);
    cr_assert_eq(got.committed_pos, 6);
    cr_assert_eq(got.hold, HOLD_DRAIN);
}

Test(window_metrics, latency_is_kept_over_assignments)
{
    struct window_metrics metrics = {0};
    struct window_totals totals;
    window_metrics_add_latency(&metrics, 30);
    window_metrics_set(&metrics, &(struct window_reading){.epoch = 2});
    window_metrics_add_latency(&metrics, 40);
    window_metrics_read_totals(&metrics, &totals);
    cr_assert_eq(totals.latency.count, 2);
    cr_assert_eq(totals.latency.sum, 70);
}
