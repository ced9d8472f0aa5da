/*
 * pipeline_metrics: what one pipeline has done so far.
 *
 * Thread: written by its poll thread, read by any. The registry owns it.
 */
#ifndef METRICS_PIPELINE_METRICS_H
#define METRICS_PIPELINE_METRICS_H

#include "base/annotations.h"
#include "metrics/metric.h"

struct pipeline_metrics {
    _Alignas(CACHE_LINE) unsigned pipeline IMMUTABLE;
    struct metric admitted;         /* records that got a slot */
    struct metric retired;          /* records whose effects left */
    struct metric emitted;          /* emissions that the sink took */
    struct metric delivered;        /* delivery reports that said yes */
    struct metric undeliverable;    /* delivery reports that said no */
    struct metric failed;           /* records that failed for good and stopped the pipeline */
    struct metric retried;          /* attempts that failed and were followed by another */
    struct metric skipped;          /* records that failed and were passed over */
    struct metric dead_letters;     /* records that failed and went to the dead letter topic */
    struct metric commits;          /* commits that were confirmed */
    struct metric commits_refused;  /* commits that were refused, and tried again */
    struct metric late_completions; /* completions and reports that were not current any more */
};

#endif
