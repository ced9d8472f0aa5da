/*
 * worker: one thread that runs user code on batches of slots.
 *
 * Why: a worker owns one processor (one Lua state) and shares nothing; slots come and go through
 * the exchange. Its loop body is worker_turn, one bounded step, so that the simulator can be the
 * thread.
 *
 * The size of a batch follows the time that records take: about a millisecond of work, so that a
 * slow script is spread over the workers and results do not wait for company.
 *
 *   take (begin) -> run (finish, or withdraw) -> give
 *
 * Thread: create, start, join, destroy: main thread. turn: the worker.
 * Owns: nothing but its batch. Borrows: exchange, processor, clock, metrics.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/thread_role.h"
#include "base/wakeup.h"
#include "engine/exchange.h"
#include "engine/failure_policy.h"
#include "metrics/worker_metrics.h"
#include "stream/processor.h"

struct worker;

enum { WORKER_BATCH_MAX = 256 };

struct worker_options {
    unsigned index; /* over the whole process */
    struct exchange *exchange;
    struct processor *processor;
    const struct clock_source *clock;
    const struct failure_policy *policy;
    struct worker_metrics *metrics; /* written by the worker; NULL: nobody reads */
    struct wakeup *observer;        /* signalled when the thread ends; NULL: nobody */
    size_t batch_max;               /* 1 to WORKER_BATCH_MAX; 0: the latter */
};

struct worker *worker_create(const struct worker_options *options);
/* Accepts NULL. The thread has been joined or was never started. Destroys the processor. */
void worker_destroy(struct worker *worker);

/* Runs the loop in a thread of its own until the exchange is closed; then closes the processor. */
void worker_start(struct worker *worker);
void worker_join(struct worker *worker);
/* Its thread has ended or was never started. Any thread. */
bool worker_has_ended(const struct worker *worker);

/* One step of the three: takes a batch, runs the one at hand, or gives it back. False: nothing to
 * do. */
bool worker_turn(struct worker *worker) ON_THREAD(worker_thread);

/* The record that it runs, as far as its processor knows. Any thread, and maybe stale: for
 * comparing with what the caller holds. NULL: none, or not known. */
const struct work *worker_current(const struct worker *worker);
/* What it tells of itself; borrowed until destroy. Any thread. */
struct worker_metrics *worker_get_metrics(struct worker *worker);

#endif
