/*
 * pipeline: one group of K workers with one consumer, one producer and the partitions of that
 * member.
 *
 * Why: pipelines share nothing, so more of them, in this process or another, scale by Kafka's group
 * protocol. pipeline_turn is the engine's table of contents: collect -> deliver -> retire -> commit
 * -> admit, one bounded step that never blocks and never runs user code.
 *
 *   RUNNING -> DRAINING -> CLOSING -> CLOSED
 *   DRAINING: nothing is admitted, nothing begins; what runs retires, is delivered and committed.
 *   CLOSING: the source leaves its group; what it revokes is answered at once.
 * A revoke is the same drain for some partitions only, while the others run on.
 *
 * Thread: create, start, join, destroy: main thread. turn and queries: poll thread; stop: any.
 * Owns: partitions, exchange. Takes: source and sink. Borrows: clock, options.
 */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread_role.h"
#include "base/wakeup.h"
#include "engine/engine_options.h"
#include "engine/exchange.h"
#include "engine/worker.h"
#include "metrics/metrics_registry.h"
#include "stream/sink.h"
#include "stream/source.h"

struct pipeline;

enum pipeline_state { PIPELINE_RUNNING, PIPELINE_DRAINING, PIPELINE_CLOSING, PIPELINE_CLOSED };

struct pipeline_options {
    unsigned index;
    unsigned workers; /* K of this group */
    const struct engine_options *engine;
    const struct clock_source *clock;
    struct source *source;            /* taken */
    struct sink *sink;                /* taken */
    struct metrics_registry *metrics; /* NULL: nobody reads */
    struct wakeup *observer;          /* signalled when a query's answer changes; NULL: nobody */
};

struct pipeline *pipeline_create(const struct pipeline_options *options);
/* Accepts NULL. The workers have ended. Destroys sink and source. */
void pipeline_destroy(struct pipeline *pipeline);

/* Its workers, to be watched for slow records; borrowed until destroy. Before start; optional. */
void pipeline_watch(struct pipeline *pipeline, struct worker *const *workers, size_t count);

/* Where its workers get their slots. */
struct exchange *pipeline_exchange(struct pipeline *pipeline);

/* Runs the loop in a thread of its own until CLOSED. */
void pipeline_start(struct pipeline *pipeline);
void pipeline_join(struct pipeline *pipeline);

/* One step at a time of the clock. True: something was done, call again soon. */
bool pipeline_turn(struct pipeline *pipeline) ON_THREAD(poll_thread);

/* Milliseconds that the thread may sleep when a turn did nothing and nobody signals. */
int pipeline_idle_ms(const struct pipeline *pipeline) ON_THREAD(poll_thread);

/* Asks for a drain and the end. `hurry`: the drain is skipped. Any thread, also a signal handler.
 */
void pipeline_stop(struct pipeline *pipeline, bool hurry);

/* Any thread. */
enum pipeline_state pipeline_state(const struct pipeline *pipeline);
/* Every assigned partition was read to its end, retired and committed; after the first assignment.
 */
bool pipeline_is_at_end(const struct pipeline *pipeline);
/* Something failed for good; the pipeline drains by itself. */
bool pipeline_has_failed(const struct pipeline *pipeline);

/* Why it ended: false and err when it failed or could not drain. After CLOSED. */
bool pipeline_result(const struct pipeline *pipeline, struct error *err);

/* Checks the invariants of all windows (see commit_window_check). */
void pipeline_check(const struct pipeline *pipeline, bool exact) ON_THREAD(poll_thread);

#endif
