/*
 * processor: the port behind which user code runs.
 *
 * Why: the engine knows records in and effects out, and nothing of Lua; the simulator and the tests
 * put their own processors here.
 *
 * Thread: a processor is created on the main thread, then belongs to one worker thread until that
 * thread has ended, and is destroyed on the main thread.
 */
#ifndef STREAM_PROCESSOR_H
#define STREAM_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "stream/work.h"

struct processor;

struct processor_ops {
    /* Runs the batch in order, up to its end or to the first record that fails, and returns how
     * many that were, at least one. Sets `outcome` of each to DONE or FAILED (then also failure,
     * request and reason) and fills `effects`; the effects are empty and the outcome is NONE on
     * entry. One record's failure leaves the others alone. Worker thread. */
    size_t (*run)(struct processor *processor, struct work *const *batch, size_t count);
    /* Called once on the worker thread after the last run; user code may end here. */
    void (*close)(struct processor *processor);
    /* Frees all. Main thread, after the worker thread has ended (or never started). */
    void (*destroy)(struct processor *processor);
    /* Optional: the record that run is at; NULL: none, or not known. Any thread: the answer may be
     * stale, so it is compared with what the caller has and never read before. */
    const struct work *(*current)(const struct processor *processor);
    /* Optional: bytes that the user's code holds. Worker thread. */
    size_t (*memory)(struct processor *processor);
};

/* Embedded first in each implementation. */
struct processor {
    const struct processor_ops *ops;
};

/* Makes one processor a worker, all alike. `worker` counts from 0 over the whole process. */
struct processor_factory {
    /* NULL and err set when the user's code does not load. Main thread. */
    struct processor *(*create)(void *context, unsigned worker, struct error *err);
    void *context;
};

#endif
