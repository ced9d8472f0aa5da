/*
 * process_metrics: what the system knows of this process.
 *
 * Thread: any.
 */
#ifndef METRICS_PROCESS_METRICS_H
#define METRICS_PROCESS_METRICS_H

#include <stdint.h>

struct process_metrics {
    int64_t resident_bytes; /* memory in RAM */
    int64_t cpu_ns;         /* user and system time of all threads */
    int64_t open_files;     /* descriptors; -1: not known */
};

/* Asks the system. What it does not say is 0. */
void process_metrics_read(struct process_metrics *process);

#endif
