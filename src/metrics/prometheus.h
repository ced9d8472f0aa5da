/*
 * prometheus: the metrics as text in the exposition format of Prometheus, version 0.0.4.
 *
 * Why: the format that everything reads. Names begin with moontide_, counters end in _total, units
 * are seconds and bytes. Rule R7: moontide_task_thread_state shows every thread that works in
 * tandem on a task, moontide_window_* the task's window.
 *
 * Thread: any.
 */
#ifndef METRICS_PROMETHEUS_H
#define METRICS_PROMETHEUS_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "metrics/metrics_snapshot.h"
#include "metrics/process_metrics.h"

/* Appends the text. `now_ns` is on the clock of the workers and poll threads. */
void prometheus_write(const struct metrics_snapshot *snapshot, int64_t now_ns,
                      struct byte_buffer *out);
/* Appends what belongs to the process as a whole. */
void prometheus_write_process(const struct process_metrics *process, const char *version,
                              struct byte_buffer *out);

#endif
