/*
 * thread_groups: how N stream threads form groups of K (rules R4 and R5).
 *
 * Why: N need not be divisible by K: there are floor(N / K) groups of K threads and one last group
 * of N mod K. A task is served by one group; each group is one pipeline.
 *
 * Thread: any, pure functions.
 */
#ifndef ENGINE_THREAD_GROUPS_H
#define ENGINE_THREAD_GROUPS_H

#include <stdbool.h>

#include "base/error.h"

/* R5: false with E_CONFIG_THREADS when num_stream_threads < num_threads_per_task or one is 0. */
bool thread_groups_check(unsigned num_stream_threads, unsigned num_threads_per_task,
                         struct error *err);

/* Number of groups. The arguments passed the check. */
unsigned thread_groups_count(unsigned num_stream_threads, unsigned num_threads_per_task);

/* Threads of group `index`, which is below the count. */
unsigned thread_groups_size(unsigned num_stream_threads, unsigned num_threads_per_task,
                            unsigned index);

#endif
