#include "metrics/histogram.h"

#include <criterion/criterion.h>

static struct histogram histogram;
static struct histogram_reading reading;

Test(histogram, a_value_at_a_bound_is_within_it)
{
    histogram_add(&histogram, &histogram_coarse, 1, 1);
    histogram_add(&histogram, &histogram_coarse, 2, 1);
    histogram_add(&histogram, &histogram_coarse, 3, 1);
    histogram_read(&histogram, &reading);
    cr_assert_eq(reading.counts[0], 1);
    cr_assert_eq(reading.counts[1], 1);
    cr_assert_eq(reading.counts[2], 1);
    cr_assert_eq(reading.count, 3);
    cr_assert_eq(reading.sum, 6);
}

Test(histogram, what_is_above_all_bounds_has_a_bucket_too)
{
    histogram_add(&histogram, &histogram_fine, INT64_C(3600) * 1000000000, 2);
    histogram_read(&histogram, &reading);
    cr_assert_eq(reading.counts[HISTOGRAM_BOUNDS], 2);
    cr_assert_eq(reading.count, 2);
    cr_assert_eq(reading.sum, INT64_C(7200) * 1000000000);
}

Test(histogram, a_clock_that_went_back_counts_as_no_time)
{
    histogram_add(&histogram, &histogram_coarse, -5, 1);
    histogram_read(&histogram, &reading);
    cr_assert_eq(reading.counts[0], 1);
    cr_assert_eq(reading.sum, 0);
}

Test(histogram, the_last_bucket_is_a_shortcut_and_no_mistake)
{
    /* each value after each other value: up, down, and again */
    for (int from = 0; from <= HISTOGRAM_BOUNDS; from++) {
        for (int to = 0; to <= HISTOGRAM_BOUNDS; to++) {
            struct histogram one = {0};
            const int64_t *bounds = histogram_fine.bounds;
            int64_t first = from < HISTOGRAM_BOUNDS ? bounds[from] : 2 * bounds[from - 1];
            int64_t second = to < HISTOGRAM_BOUNDS ? bounds[to] : 2 * bounds[to - 1];
            histogram_add(&one, &histogram_fine, first, 1);
            histogram_add(&one, &histogram_fine, second, 1);
            histogram_read(&one, &reading);
            cr_assert_eq(reading.counts[to], from == to ? 2 : 1, "from %d to %d", from, to);
            cr_assert_eq(reading.counts[from], from == to ? 2 : 1, "from %d to %d", from, to);
        }
    }
}

Test(histogram, bounds_rise)
{
    for (int i = 1; i < HISTOGRAM_BOUNDS; i++) {
        cr_assert_gt(histogram_fine.bounds[i], histogram_fine.bounds[i - 1]);
        cr_assert_gt(histogram_coarse.bounds[i], histogram_coarse.bounds[i - 1]);
    }
}
