/*
 * pipeline_metrics: what one pipeline has done so far, and what it is at.
 *
 * Thread: written by its poll thread, read by any. The registry owns it.
 */
#ifndef METRICS_PIPELINE_METRICS_H
#define METRICS_PIPELINE_METRICS_H

#include "base/annotations.h"
#include "metrics/histogram.h"
#include "metrics/metric.h"

/* What its poll thread is at; the numbers are those of enum pipeline_state. */
enum pipeline_phase {
    PHASE_RUNNING,
    PHASE_DRAINING, /* nothing is taken in any more */
    PHASE_CLOSING,  /* leaves its group */
    PHASE_CLOSED,
    PHASE_COUNT
};

/* How far the assignment is. */
enum assignment_phase {
    ASSIGNMENT_NONE, /* was never whole */
    ASSIGNMENT_OPEN, /* a rebalance is under way */
    ASSIGNMENT_WHOLE,
};

/* Why a run of a record failed; the numbers are those of enum failure_kind. */
enum failure_cause {
    CAUSE_RAISED,  /* the script raised an error */
    CAUSE_FAILED,  /* the script said so */
    CAUSE_MEMORY,  /* the script ran out of memory */
    CAUSE_TIMEOUT, /* the script ran out of time */
    CAUSE_COUNT
};

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
    struct metric slow_records;     /* records that ran longer than slow.record.warn.ms */
    struct metric failures[CAUSE_COUNT]; /* runs of records that failed */
    struct histogram commit_time;        /* from sending to the answer; histogram_coarse */
    struct metric phase;                 /* enum pipeline_phase */
    struct metric assignment;            /* enum assignment_phase */
    struct metric partitions;            /* assigned */
    struct metric away;                  /* 1: the source reaches no broker */
    struct metric turn_ms;               /* when the last turn began, on the engine's clock */
};

/* "running", "raised"; constant. */
const char *pipeline_phase_name(enum pipeline_phase phase);
const char *failure_cause_name(enum failure_cause cause);

#endif
