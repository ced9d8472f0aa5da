/*
 * partition: one task: an assigned partition with its window, in one epoch, from assignment to the
 * return of the last thing that was on its way.
 *
 * Why: everything that the pipeline does for each partition is here; the pipeline only decides the
 * order. A partition that was given away while workers or the sink still hold parts of it lives on
 * as DEAD until they are back, so that nothing they hold is freed under them.
 *
 * Thread: poll thread.
 * Owns: window, mailboxes, records fetched and not admitted. Borrows: source, sink, exchange.
 */
#ifndef ENGINE_PARTITION_H
#define ENGINE_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread_role.h"
#include "commit/commit_window.h"
#include "engine/engine_options.h"
#include "engine/exchange.h"
#include "engine/failure_log.h"
#include "metrics/metrics_registry.h"
#include "stream/sink.h"
#include "stream/source.h"

struct partition;

struct partition_options {
    const struct engine_options *engine;
    struct source_partition where;
    struct source *source;
    struct sink *sink;
    struct exchange *exchange;
    const struct clock_source *clock;
    struct metrics_registry *metrics;
    struct pipeline_metrics *counters; /* of the pipeline */
    struct failure_log *failures;      /* of the pipeline */
    unsigned pipeline;
    uint32_t epoch;
    uint32_t id; /* names it in delivery tags, below PARTITION_ID_MAX */
};

enum { PARTITION_ID_MAX = 1 << 16, PARTITION_FETCH_MAX = 256 };

enum partition_result { PARTITION_IDLE, PARTITION_WORKED, PARTITION_FAILED };

struct partition *partition_create(const struct partition_options *options);
/* Accepts NULL. Releases every record that is left. It is dead and is_gone, or no worker and no
 * sink exists any more (`force`). */
void partition_destroy(struct partition *part, bool force) ON_THREAD(poll_thread);

/* --- one turn ------------------------------------------------------------------------------ */

/* Fetches and hands to the workers what fits. Sets *regressed when the window is empty and the
 * source went back to an offset that this epoch had already: the caller rebuilds the partition. */
enum partition_result partition_admit(struct partition *part, bool *regressed)
    ON_THREAD(poll_thread);
/* Takes a slot back from a worker; one that will run again waits here. FAILED: the record failed
 * for good and none before it had, err says where and why. */
enum partition_result partition_complete(struct partition *part, struct slot *slot, int64_t now_ms,
                                         struct error *err) ON_THREAD(poll_thread);
/* Hands to the workers what is due for its next attempt. Dead partitions too: what waits has to go
 * the way of all. */
enum partition_result partition_retry(struct partition *part, int64_t now_ms)
    ON_THREAD(poll_thread);
/* Hands the effects of what may retire to the sink, and late dead letters. FAILED: the sink refused
 * one for good, and the policy is to stop. */
enum partition_result partition_retire(struct partition *part, struct error *err)
    ON_THREAD(poll_thread);
/* A delivery report for this partition's tag. FAILED: it says no, and the policy is to stop. */
enum partition_result partition_ack(struct partition *part, const struct delivery *report,
                                    struct error *err) ON_THREAD(poll_thread);
/* Frees what is acked at the head of the window and releases the records. */
enum partition_result partition_release(struct partition *part) ON_THREAD(poll_thread);

/* Writes the state of its window and what was counted since to the metrics. */
void partition_publish(struct partition *part, int64_t now_ms) ON_THREAD(poll_thread);
/* Asks the source for the end of the partition, and tells of a hold that lasts. Now and then. */
void partition_look(struct partition *part, int64_t now_ms) ON_THREAD(poll_thread);

/* --- life ---------------------------------------------------------------------------------- */

/* Nothing is admitted from now on; nothing begins but what lies before a failed record or,
 * with emit=completion, before the last that began; what runs is finished. */
void partition_drain(struct partition *part) ON_THREAD(poll_thread);
/* Nothing more of it retires: what is to be committed is final. */
void partition_freeze(struct partition *part) ON_THREAD(poll_thread);
/* It is no longer ours: what comes back is only counted. Records fetched and not admitted are
 * released. */
void partition_kill(struct partition *part) ON_THREAD(poll_thread);
/* Takes its window out of the metrics: another one of the same partition is to come, or none. */
void partition_hide(struct partition *part) ON_THREAD(poll_thread);
/* Moves the records that were fetched and not admitted to `heir`, the same partition in a new
 * epoch. */
void partition_give_stash(struct partition *part, struct partition *heir) ON_THREAD(poll_thread);
/* Its offsets can never be committed: nobody waits for that any more. */
void partition_give_up(struct partition *part) ON_THREAD(poll_thread);
/* SOURCE_END came; void after the next record. */
void partition_set_at_end(struct partition *part) ON_THREAD(poll_thread);

/* --- queries ------------------------------------------------------------------------------- */

const struct source_partition *partition_where(const struct partition *part);
struct commit_window *partition_window(const struct partition *part);
uint32_t partition_id(const struct partition *part);
/* Nothing is with the workers or the sink, or waits, or could retire: as drained as it gets. */
bool partition_is_quiet(const struct partition *part) ON_THREAD(poll_thread);
/* When the next retry is due, on the engine's clock; INT64_MAX: none waits. */
int64_t partition_retry_due_ms(const struct partition *part) ON_THREAD(poll_thread);
/* Its position is worth a commit, and can have one. */
bool partition_is_dirty(const struct partition *part);
/* Dead, and nothing of it is with a worker or the sink, or waits. */
bool partition_is_gone(const struct partition *part);
/* Read to its end and all of it retired and acked. */
bool partition_is_at_end(const struct partition *part);

/* Delivery tags: id, epoch and sequence in one number. The epoch and the sequence are cut; a tag is
 * only compared with what is current. */
uint32_t partition_tag_id(uint64_t tag);

#endif
