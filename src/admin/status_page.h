/*
 * status_page: everything about the work of the process, as one JSON object.
 *
 * Why: rule R7: the state of every thread that works in tandem on a task, the record that it has at
 * hand, and the window of each task, in one answer that a person reads and a script filters.
 *
 * Thread: any.
 */
#ifndef ADMIN_STATUS_PAGE_H
#define ADMIN_STATUS_PAGE_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "metrics/metrics_snapshot.h"
#include "metrics/process_metrics.h"

struct status_times {
    int64_t now_ns;   /* on the engine's clock */
    int64_t wall_ms;  /* the same moment since 1970 */
    int64_t begin_ns; /* of the process, on the engine's clock */
};

/* Appends the object and a line break. What is not known is null. */
void status_page_write(const struct metrics_snapshot *snapshot,
                       const struct process_metrics *process, const char *version,
                       const struct status_times *times, struct byte_buffer *out);

#endif
