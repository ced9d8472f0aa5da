/*
 * metric: one number with a single writer, readable by every thread without a lock.
 *
 * Why: counters must cost nothing on the path of a record. With one writer an addition is a load
 * and a store, not a locked instruction; readers see some recent value.
 *
 * Thread: add, set: the one writer. get: any.
 */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/annotations.h"

struct metric {
    ATOMIC(writer, any) _Atomic int64_t value; /* private */
};

static inline void metric_set(struct metric *metric, int64_t value)
{
    atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

static inline int64_t metric_get(const struct metric *metric)
{
    return atomic_load_explicit(&metric->value, memory_order_relaxed);
}

static inline void metric_add(struct metric *metric, int64_t more)
{
    metric_set(metric, metric_get(metric) + more);
}

#endif
