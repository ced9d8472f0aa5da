#include "metrics/histogram.h"

#include <stdbool.h>

#include "base/check.h"

#define US INT64_C(1000)
#define MS (INT64_C(1000) * US)
#define S  (INT64_C(1000) * MS)

const struct histogram_scale histogram_fine = {S,
                                               {US, 5 * US, 10 * US, 50 * US, 100 * US, 500 * US,
                                                MS, 5 * MS, 10 * MS, 50 * MS, 100 * MS, 500 * MS, S,
                                                5 * S, 10 * S, 60 * S}};

const struct histogram_scale histogram_coarse = {
    1000, {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 60000, 600000, 3600000}};

static bool is_within(const struct histogram_scale *scale, unsigned bucket, int64_t value)
{
    bool above = bucket == 0 || value > scale->bounds[bucket - 1];
    return above && (bucket == HISTOGRAM_BOUNDS || value <= scale->bounds[bucket]);
}

void histogram_add(struct histogram *histogram, const struct histogram_scale *scale, int64_t value,
                   int64_t count)
{
    DCHECK(count >= 0);
    DCHECK(histogram->last <= HISTOGRAM_BOUNDS);
    value = value < 0 ? 0 : value;
    if (!is_within(scale, histogram->last, value)) {
        unsigned bucket = 0;
        while (bucket < HISTOGRAM_BOUNDS && value > scale->bounds[bucket]) {
            bucket++;
        }
        histogram->last = bucket;
    }
    metric_add(&histogram->counts[histogram->last], count);
    metric_add(&histogram->sum, value * count);
}

void histogram_read(const struct histogram *histogram, struct histogram_reading *reading)
{
    *reading = (struct histogram_reading){.sum = metric_get(&histogram->sum)};
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        reading->counts[i] = metric_get(&histogram->counts[i]);
        reading->count += reading->counts[i];
    }
}
