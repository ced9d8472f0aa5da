/*
 * histogram: how long something took, how often, with a single writer and no lock.
 *
 * Why: an average hides the slow ones. Adding costs a few loads and stores: values come in
 * clusters, so the bucket of the last one is looked at first. Two scales serve all: nanoseconds for
 * what runs in this process, milliseconds for what waits for others.
 *
 * Thread: add: the one writer. read: any; the sum may be a moment older than the counts.
 */
#ifndef METRICS_HISTOGRAM_H
#define METRICS_HISTOGRAM_H

#include <stdint.h>

#include "metrics/metric.h"

enum { HISTOGRAM_BOUNDS = 16 };

struct histogram_scale {
    int64_t units_per_second;
    int64_t bounds[HISTOGRAM_BOUNDS]; /* in units, rising; the last bucket has none */
};

/* 1 us to 60 s, in nanoseconds. */
extern const struct histogram_scale histogram_fine;
/* 1 ms to 1 h, in milliseconds. */
extern const struct histogram_scale histogram_coarse;

/* Embedded; the fields are private. All zero is an empty one. */
struct histogram {
    struct metric counts[HISTOGRAM_BOUNDS + 1];
    struct metric sum;
    unsigned last; /* the writer's own: bucket of the last value */
};

/* A copy for the reader. */
struct histogram_reading {
    int64_t counts[HISTOGRAM_BOUNDS + 1]; /* of each bucket alone */
    int64_t count;                        /* of all */
    int64_t sum;                          /* in units */
};

/* Adds `count` times the value; a negative one counts as 0. Always the same scale. */
void histogram_add(struct histogram *histogram, const struct histogram_scale *scale, int64_t value,
                   int64_t count);
void histogram_read(const struct histogram *histogram, struct histogram_reading *reading);

#endif
