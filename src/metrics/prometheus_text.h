/*
 * prometheus_text: the pieces that the exposition format of Prometheus is made of.
 *
 * Why: how a family begins, how a label is escaped and how a time becomes seconds is said once.
 * Names get the prefix moontide_ here.
 *
 * A sample is written as: name and labels up to the last one by the caller, then its value, which
 * closes the braces.
 *
 * Thread: any.
 */
#ifndef METRICS_PROMETHEUS_TEXT_H
#define METRICS_PROMETHEUS_TEXT_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "metrics/histogram.h"

/* How a number becomes text. */
enum unit { UNIT_NONE, UNIT_NS, UNIT_MS };

/* HELP and TYPE. The name comes without prefix; the help is a sentence without line breaks. */
void prometheus_text_family(struct byte_buffer *out, const char *name, const char *type,
                            const char *help);
/* The text of a label, escaped, without its quotes. */
void prometheus_text_label(struct byte_buffer *out, const char *text);
/* "} " and the number; a time is never negative. */
void prometheus_text_value(struct byte_buffer *out, int64_t value, enum unit unit);
/* Buckets, sum and count of one histogram. `labels` are all but le: "pipeline=\"0\"". */
void prometheus_text_histogram(struct byte_buffer *out, const char *name, const char *labels,
                               const struct histogram_scale *scale,
                               const struct histogram_reading *reading);

#endif
