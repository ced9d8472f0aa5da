/*
 * commit_window: the reorder buffer of one assigned partition. Records are admitted in offset
 * order, run in any order, retire in order, and the offset that is safe to commit follows.
 *
 * Why: this is the one place that knows which offset is safe and what may leave. It has no threads,
 * no clock and no I/O, so that every order of events can be tried by tests.
 *
 *   admit        begin        complete        retire          ack
 *   FREE -> ADMITTED -> BEGUN ----> COMPLETED ----> RETIRED ----> ACKED -> FREE
 *               ^                    |   ^
 *               |       unrun        |
 *               +--------------------+
 *               |       retry        | wait
 *               +---- WAITING <------+      (a failed attempt that will be tried again)
 *
 * Invariants, executed by commit_window_check():
 *   I1  commit_pos is the offset of the head slot, or last admitted offset + 1 when the window is
 *       empty; every admitted offset below it is acked. Offsets have gaps.
 *   I2  commit_pos and committed_pos never fall; committed_pos <= commit_pos.
 *   I3  slots <= capacity; bytes <= limit + one record; held exactly from full until below 75 %.
 *   I4  each admitted slot ends once: freed, or abandoned with the window.
 *   I5  the begun slots of one virtual key are in one worker's hands, which runs them in sequence;
 *       none begins before all earlier slots of its key are terminal (completed or later, not
 *       waiting) or in the same hands. Virtual key NO_KEY is unconstrained.
 *   I6  with emit=input slots retire in sequence.
 *   I7  a completion or report whose (epoch, sequence, attempt) is not current only changes a
 *       counter.
 *   I10 commit_pos passes no slot that has not completed well and been acked.
 *
 * (I8 liveness and I9 poll interval are the engine's; the simulator checks them.)
 *
 * Thread: poll thread; the state and work of a slot belong to the worker that holds it.
 * Owns: the slots and their effects. The records' bytes are the source's: take_acked and
 * take_abandoned give each record back to the caller exactly once, who releases it.
 */
#ifndef COMMIT_COMMIT_WINDOW_H
#define COMMIT_COMMIT_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"
#include "base/thread_role.h"
#include "commit/slot_ring.h"
#include "stream/processing.h"
#include "stream/work.h"

struct commit_window;

enum window_mode {
    WINDOW_RUN,
    WINDOW_DRAIN, /* nothing is admitted; nothing begins but what lies before a failed record or,
                     with emit=completion, before the last that began; what runs is finished */
    WINDOW_DEAD,  /* given away: what still comes back is only counted */
};

struct commit_window_options {
    uint32_t capacity;   /* slots; a power of two, 2 to 2^20 */
    size_t bytes_max;    /* of keys and values; one record may exceed it */
    uint32_t epoch;      /* of the assignment */
    uint32_t generation; /* of the script that new slots get */
    enum processing_emit emit;
    void *owner; /* the caller's own; see commit_window_owner */
};

struct commit_window_counts {
    uint64_t admitted, retired, freed; /* slots, ever */
    uint64_t late;                     /* completions and reports that were not current */
};

/* Heap object. Aborts on options out of bounds. */
struct commit_window *commit_window_create(const struct commit_window_options *options);
/* Accepts NULL. All records were taken before (take_acked, take_abandoned). */
void commit_window_destroy(struct commit_window *win);

/* --- the way of a record ------------------------------------------------------------------- */

/* True when `offset` is not above the last admitted one: the source went back, a new epoch is due.
 */
bool commit_window_regressed(const struct commit_window *win, int64_t offset)
    ON_THREAD(poll_thread);

/* Takes the record (not its bytes). NULL when held or not in mode RUN. The offset is above the last
 * admitted one. */
struct slot *commit_window_admit(struct commit_window *win, const struct record *rec,
                                 uint16_t virtual_key) ON_THREAD(poll_thread);

/* ADMITTED -> BEGUN, unless the window drains or is dead: then the outcome is set to UNRUN, and
 * false returned. The worker that holds the slot; a slot counts as outstanding from its admission
 * on. */
bool slot_begin(struct slot *slot, uint16_t worker) ON_THREAD(worker_thread);
/* BEGUN -> ADMITTED: it has not run and stays on its way, since an earlier slot of its key has to
 * run again. */
void slot_withdraw(struct slot *slot) ON_THREAD(worker_thread);
/* BEGUN -> COMPLETED as far as the worker can say; the poll thread still has to hear of it. */
void slot_finish(struct slot *slot) ON_THREAD(worker_thread);
/* It would begin if a worker took it: not so while the window drains or is dead. */
bool slot_may_begin(const struct slot *slot);

/* A worker gave the slot back. Returns it when it is current: in state COMPLETED (see
 * work.outcome), or ADMITTED again with outcome UNRUN. NULL and a counter when (epoch, sequence,
 * attempt) is not current (I7), or the window is dead; but for outcome RETRY, since something may
 * wait behind the slot. Either way the slot is no longer outstanding if it was. */
struct slot *commit_window_complete(struct commit_window *win, uint32_t epoch, uint64_t sequence,
                                    uint32_t attempt) ON_THREAD(poll_thread);
/* COMPLETED with outcome RETRY -> WAITING: its effects and its reason are dropped. */
void commit_window_wait(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* WAITING -> ADMITTED, and outstanding again: the next attempt. In every mode: what waits must go
 * back the same way in a drain, so that what waits behind it is given back too. */
void commit_window_retry(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);

/* The slot whose effects leave next: through (outcome_retires), and its turn; NULL: none now. It
 * stays the next one until it is retired. */
struct slot *commit_window_next_retirable(struct commit_window *win) ON_THREAD(poll_thread);
/* One of the slot's emissions was given to the sink: one report is to come. */
void commit_window_sent(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* The sink will never take an emission of the slot that next_retirable gave: the record has failed,
 * and nothing retires behind it with emit=input. */
void commit_window_refuse(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* The next emission of the slot will never be sent, and the others leave without it. */
void commit_window_drop(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* Nothing that is unsent of the slot that next_retirable gave will be sent: it retires, and is
 * undeliverable. */
void commit_window_lose(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* The last emission of the slot's effects, its dead letter, is to be sent (see commit_window_sent);
 * it is the last resort. The slot is RETIRED and undeliverable, and all its reports are here. */
void commit_window_send_letter(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* An undeliverable slot counts as delivered, as far as the reports up to now go. */
void commit_window_forgive(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* All effects of the slot that next_retirable gave are out. */
void commit_window_retire(struct commit_window *win, struct slot *slot) ON_THREAD(poll_thread);
/* One delivery report. `failed`: the slot does not become ACKED unless forgiven. Returns the slot,
 * valid until the next take; NULL and a counter when not current. */
struct slot *commit_window_ack(struct commit_window *win, uint32_t epoch, uint64_t sequence,
                               bool failed) ON_THREAD(poll_thread);

/* Copies the record of the head slot and frees the slot, if it is acked; moves commit_pos. False:
 * none. */
bool commit_window_take_acked(struct commit_window *win, struct record *rec) ON_THREAD(poll_thread);
/* In mode DEAD with nothing outstanding, waiting and undelivered: copies the record of one
 * abandoned slot and frees it. False: none left, the window is empty. */
bool commit_window_take_abandoned(struct commit_window *win, struct record *rec)
    ON_THREAD(poll_thread);
/* In mode DEAD: all workers and the sink are gone; what was outstanding or undelivered never comes.
 */
void commit_window_forget(struct commit_window *win) ON_THREAD(poll_thread);

/* --- modes and commits --------------------------------------------------------------------- */

/* RUN -> DRAIN -> DEAD; steps may be left out, never taken back. */
void commit_window_set_mode(struct commit_window *win, enum window_mode mode)
    ON_THREAD(poll_thread);
/* The slot failed for good: when the window drains from RUN, what was admitted before the slot
 * still begins, so that commit_pos ends at the failed record. False: an earlier one had failed. */
bool commit_window_stop_at(struct commit_window *win, const struct slot *slot)
    ON_THREAD(poll_thread);
/* A commit of this position was confirmed by the other side. */
void commit_window_committed(struct commit_window *win, int64_t position) ON_THREAD(poll_thread);

/* --- queries (poll thread) ----------------------------------------------------------------- */

enum { POSITION_NONE = -1 };

/* What the options named as owner. */
void *commit_window_owner(const struct commit_window *win);
uint32_t commit_window_epoch(const struct commit_window *win);
enum window_mode commit_window_mode(const struct commit_window *win);
/* The next offset to commit; POSITION_NONE before the first admission. */
int64_t commit_window_commit_pos(const struct commit_window *win);
/* The last confirmed position; POSITION_NONE before the first. */
int64_t commit_window_committed_pos(const struct commit_window *win);
/* Something was acked beyond what is confirmed. */
bool commit_window_is_dirty(const struct commit_window *win);
/* Nothing is admitted until it is below 75 % (I3). */
bool commit_window_is_held(const struct commit_window *win);
/* Slots that may be admitted now; 0 when held. The byte limit may end it earlier. */
uint32_t commit_window_room(const struct commit_window *win);
/* Slots in use, capacity, bytes held. */
uint32_t commit_window_used(const struct commit_window *win);
uint32_t commit_window_capacity(const struct commit_window *win);
size_t commit_window_bytes(const struct commit_window *win);
/* Slots that workers (or the way to them) hold. */
uint32_t commit_window_outstanding(const struct commit_window *win);
/* Slots that wait for their next attempt. */
uint32_t commit_window_waiting(const struct commit_window *win);
/* Emissions without a report. */
uint64_t commit_window_undelivered(const struct commit_window *win);
/* Nothing at work (outstanding, and when it drains begun or still to begin), nothing waiting,
 * retirable, undelivered, or acked at the head: as drained as it gets, and commit_pos says so. */
bool commit_window_is_quiet(struct commit_window *win) ON_THREAD(poll_thread);
/* The oldest slot, or NULL; borrowed until the next take. */
const struct slot *commit_window_head(const struct commit_window *win);
/* The outstanding slot of this work, which may be stale and is only compared; NULL: it is not here.
 * Looks at all slots. */
struct slot *commit_window_find(struct commit_window *win, const struct work *work)
    ON_THREAD(poll_thread);
struct commit_window_counts commit_window_counts(const struct commit_window *win);

/* Aborts when an invariant does not hold. `exact`: no other thread runs, so that the states of
 * slots in workers' hands can be judged as well (I5). */
void commit_window_check(const struct commit_window *win, bool exact);

#endif
