#include "commit/commit_window.h"

#include <assert.h>

#include "base/check.h"
#include "base/memory.h"

enum { CAPACITY_MIN = 2, CAPACITY_MAX = 1 << 20 };

#define NOTHING_FAILED UINT64_MAX

struct commit_window {
    struct slot_ring ring;
    IMMUTABLE size_t bytes_max;
    IMMUTABLE uint32_t epoch;
    IMMUTABLE enum processing_emit emit;
    IMMUTABLE void *owner;
    uint32_t generation;
    bool held;
    uint64_t retire_next;    /* emit=input: sequence of the next slot to retire */
    struct slot *done_first; /* emit=completion: slots to retire, in order of completion */
    struct slot *done_last;
    size_t bytes;
    uint32_t outstanding;
    uint32_t waiting;
    uint64_t undelivered;
    int64_t last_offset; /* of the last admitted slot; -1 before */
    int64_t commit_pos;
    int64_t committed_pos;
    struct commit_window_counts counts;
    /* workers read them before each record */
    _Alignas(CACHE_LINE) ATOMIC(poll_thread, worker_thread) _Atomic uint8_t mode;
    ATOMIC(poll_thread, worker_thread) _Atomic uint64_t failed;   /* lowest; NOTHING_FAILED */
    ATOMIC(poll_thread, worker_thread) _Atomic uint64_t drain_to; /* what a drain begins is below */
};

static struct slot *find_current(struct commit_window *win, uint32_t epoch, uint64_t sequence);
static void settle(struct slot *slot);
static void free_head(struct commit_window *win, struct record *rec);

/* --- life ---------------------------------------------------------------------------------- */

struct commit_window *commit_window_create(const struct commit_window_options *options)
{
    CHECK(options->capacity >= CAPACITY_MIN);
    CHECK(options->capacity <= CAPACITY_MAX);
    CHECK((options->capacity & (options->capacity - 1)) == 0);
    CHECK(options->bytes_max > 0);
    struct commit_window *win = memory_alloc_aligned(sizeof *win);
    slot_ring_init(&win->ring, options->capacity, win);
    win->bytes_max = options->bytes_max;
    win->epoch = options->epoch;
    win->emit = options->emit;
    win->owner = options->owner;
    win->generation = options->generation;
    win->last_offset = -1;
    win->commit_pos = POSITION_NONE;
    win->committed_pos = POSITION_NONE;
    atomic_init(&win->mode, WINDOW_RUN);
    atomic_init(&win->failed, NOTHING_FAILED);
    atomic_init(&win->drain_to, 0);
    return win;
}

void commit_window_destroy(struct commit_window *win)
{
    if (win == NULL) {
        return;
    }
    CHECK(win->outstanding == 0);
    slot_ring_fini(&win->ring);
    memory_free(win);
}

/* --- the way of a record ------------------------------------------------------------------- */

bool commit_window_regressed(const struct commit_window *win, int64_t offset)
{
    return offset <= win->last_offset;
}

struct slot *commit_window_admit(struct commit_window *win, const struct record *rec,
                                 uint16_t virtual_key)
{
    if (win->held || commit_window_mode(win) != WINDOW_RUN) {
        return NULL;
    }
    CHECK(rec->offset > win->last_offset);
    CHECK(virtual_key < VIRTUAL_KEYS || virtual_key == NO_KEY);
    struct slot *slot = slot_ring_push(&win->ring);
    slot->work.rec = *rec;
    slot->work.outcome = OUTCOME_NONE;
    slot->work.reason = NULL;
    slot->virtual_key = virtual_key;
    slot->generation = win->generation;
    slot->attempt = 0;
    slot->unacked = 0;
    slot->undeliverable = false;
    slot->told_slow = false;
    slot->outstanding = true;
    slot->mailbox = NULL;
    slot_set_state(slot, SLOT_ADMITTED);
    if (slot_ring_count(&win->ring) == 1) {
        win->commit_pos = rec->offset;
    }
    win->outstanding++;
    win->counts.admitted++;
    win->last_offset = rec->offset;
    win->bytes += record_bytes(rec);
    win->held = slot_ring_count(&win->ring) > win->ring.mask || win->bytes >= win->bytes_max;
    return slot;
}

bool slot_may_begin(const struct slot *slot)
{
    const struct commit_window *win = slot->window;
    uint8_t mode = atomic_load_explicit(&win->mode, memory_order_acquire);
    if (mode != WINDOW_DRAIN) {
        return mode == WINDOW_RUN;
    }
    uint64_t failed = atomic_load_explicit(&win->failed, memory_order_relaxed);
    uint64_t drain_to = atomic_load_explicit(&win->drain_to, memory_order_relaxed);
    return slot->sequence < (failed != NOTHING_FAILED ? failed : drain_to);
}

bool slot_begin(struct slot *slot, uint16_t worker)
{
    DCHECK(slot_get_state(slot) == SLOT_ADMITTED);
    if (!slot_may_begin(slot)) {
        slot->work.outcome = OUTCOME_UNRUN;
        return false;
    }
    slot->holder = worker;
    slot->work.outcome = OUTCOME_NONE;
    slot->work.request = REQUEST_NONE;
    slot_set_state(slot, SLOT_BEGUN);
    return true;
}

void slot_withdraw(struct slot *slot)
{
    CHECK(slot_get_state(slot) == SLOT_BEGUN);
    CHECK(slot->work.outcome == OUTCOME_NONE);
    CHECK(slot->mailbox != NULL);
    slot_set_state(slot, SLOT_ADMITTED);
}

void slot_finish(struct slot *slot)
{
    CHECK(slot_get_state(slot) == SLOT_BEGUN);
    CHECK(slot->work.outcome != OUTCOME_NONE);
    CHECK(slot->work.outcome != OUTCOME_UNRUN);
    slot_set_state(slot, SLOT_COMPLETED);
}

struct slot *commit_window_complete(struct commit_window *win, uint32_t epoch, uint64_t sequence,
                                    uint32_t attempt)
{
    struct slot *slot = find_current(win, epoch, sequence);
    if (slot == NULL || !slot->outstanding || slot->attempt != attempt) {
        win->counts.late++;
        return NULL;
    }
    slot->outstanding = false;
    CHECK(win->outstanding > 0);
    win->outstanding--;
    if (commit_window_mode(win) == WINDOW_DEAD) {
        win->counts.late++;
        return slot->work.outcome == OUTCOME_RETRY ? slot : NULL;
    }
    if (slot->work.outcome == OUTCOME_UNRUN) {
        DCHECK(slot_get_state(slot) == SLOT_ADMITTED);
        return slot;
    }
    CHECK(slot_get_state(slot) == SLOT_COMPLETED);
    if (outcome_retires(slot->work.outcome) && win->emit == EMIT_COMPLETION) {
        slot->next = NULL;
        if (win->done_last) {
            win->done_last->next = slot;
        } else {
            win->done_first = slot;
        }
        win->done_last = slot;
    }
    slot->unsent = slot->work.effects.first;
    slot->last_resort = slot->work.outcome == OUTCOME_DEAD_LETTER;
    return slot;
}

void commit_window_wait(struct commit_window *win, struct slot *slot)
{
    CHECK(!slot->outstanding);
    CHECK(slot_get_state(slot) == SLOT_COMPLETED);
    CHECK(slot->work.outcome == OUTCOME_RETRY);
    effects_clear(&slot->work.effects);
    slot->work.reason = NULL;
    slot->unsent = NULL;
    slot_set_state(slot, SLOT_WAITING);
    win->waiting++;
}

void commit_window_retry(struct commit_window *win, struct slot *slot)
{
    CHECK(slot_get_state(slot) == SLOT_WAITING);
    CHECK(win->waiting > 0);
    slot->attempt++;
    slot->work.outcome = OUTCOME_NONE;
    slot->outstanding = true;
    slot_set_state(slot, SLOT_ADMITTED);
    win->waiting--;
    win->outstanding++;
}

struct slot *commit_window_next_retirable(struct commit_window *win)
{
    if (commit_window_mode(win) == WINDOW_DEAD) {
        return NULL;
    }
    if (win->emit == EMIT_COMPLETION) {
        return win->done_first;
    }
    if (win->retire_next == win->ring.tail) {
        return NULL;
    }
    struct slot *slot = slot_ring_at(&win->ring, win->retire_next);
    bool ready = !slot->outstanding && outcome_retires(slot->work.outcome);
    return ready ? slot : NULL;
}

void commit_window_sent(struct commit_window *win, struct slot *slot)
{
    CHECK(slot->unsent != NULL);
    slot->unsent = slot->unsent->next;
    slot->unacked++;
    win->undelivered++;
}

static void take_done(struct commit_window *win, struct slot *slot)
{
    CHECK(slot == win->done_first);
    win->done_first = slot->next;
    if (win->done_first == NULL) {
        win->done_last = NULL;
    }
    slot->next = NULL;
}

void commit_window_refuse(struct commit_window *win, struct slot *slot)
{
    CHECK(slot == commit_window_next_retirable(win));
    if (win->emit == EMIT_COMPLETION) {
        take_done(win, slot);
    }
    slot->work.outcome = OUTCOME_FAILED;
}

void commit_window_drop(struct commit_window *win, struct slot *slot)
{
    CHECK(slot == commit_window_next_retirable(win));
    CHECK(slot->unsent != NULL);
    slot->unsent = slot->unsent->next;
}

void commit_window_lose(struct commit_window *win, struct slot *slot)
{
    CHECK(slot == commit_window_next_retirable(win));
    CHECK(slot->unsent != NULL);
    slot->unsent = NULL;
    slot->undeliverable = true;
}

void commit_window_send_letter(struct commit_window *win, struct slot *slot)
{
    CHECK(commit_window_mode(win) != WINDOW_DEAD);
    CHECK(slot_get_state(slot) == SLOT_RETIRED);
    CHECK(slot->undeliverable && slot->unacked == 0);
    CHECK(!slot->last_resort);
    CHECK(slot->work.effects.last != NULL);
    slot->unsent = slot->work.effects.last;
    slot->last_resort = true;
}

void commit_window_forgive(struct commit_window *win, struct slot *slot)
{
    CHECK(commit_window_mode(win) != WINDOW_DEAD);
    CHECK(slot->undeliverable);
    slot->undeliverable = false;
    settle(slot);
}

void commit_window_retire(struct commit_window *win, struct slot *slot)
{
    CHECK(slot == commit_window_next_retirable(win));
    CHECK(slot->unsent == NULL);
    CHECK(slot_get_state(slot) == SLOT_COMPLETED);
    if (win->emit == EMIT_COMPLETION) {
        take_done(win, slot);
    } else {
        win->retire_next++;
    }
    win->counts.retired++;
    slot_set_state(slot, SLOT_RETIRED);
    settle(slot);
}

struct slot *commit_window_ack(struct commit_window *win, uint32_t epoch, uint64_t sequence,
                               bool failed)
{
    struct slot *slot = find_current(win, epoch, sequence);
    if (slot == NULL || slot->unacked == 0) {
        win->counts.late++;
        return NULL;
    }
    slot->unacked--;
    CHECK(win->undelivered > 0);
    win->undelivered--;
    if (commit_window_mode(win) == WINDOW_DEAD) {
        win->counts.late++;
        return NULL;
    }
    slot->undeliverable = slot->undeliverable || failed;
    settle(slot);
    return slot;
}

/* RETIRED -> ACKED as soon as every emission has its good report. */
static void settle(struct slot *slot)
{
    if (slot->unacked == 0 && !slot->undeliverable && slot_get_state(slot) == SLOT_RETIRED) {
        slot_set_state(slot, SLOT_ACKED);
    }
}

static bool is_head_acked(const struct commit_window *win)
{
    if (win->ring.head == win->ring.tail) {
        return false;
    }
    const struct slot *slot = slot_ring_at(&win->ring, win->ring.head);
    return !slot->outstanding && slot_get_state(slot) == SLOT_ACKED;
}

bool commit_window_take_acked(struct commit_window *win, struct record *rec)
{
    if (!is_head_acked(win) || commit_window_mode(win) == WINDOW_DEAD) {
        return false;
    }
    free_head(win, rec);
    bool empty = win->ring.head == win->ring.tail;
    int64_t next =
        empty ? win->last_offset + 1 : slot_ring_at(&win->ring, win->ring.head)->work.rec.offset;
    CHECK(next > win->commit_pos);
    win->commit_pos = next;
    if ((win->ring.tail - win->ring.head) * 4 < (win->ring.mask + 1) * 3 &&
        win->bytes * 4 < win->bytes_max * 3) {
        win->held = false;
    }
    return true;
}

bool commit_window_take_abandoned(struct commit_window *win, struct record *rec)
{
    CHECK(commit_window_mode(win) == WINDOW_DEAD);
    CHECK(win->outstanding == 0);
    CHECK(win->waiting == 0);
    CHECK(win->undelivered == 0);
    if (win->ring.head == win->ring.tail) {
        return false;
    }
    free_head(win, rec);
    return true;
}

void commit_window_forget(struct commit_window *win)
{
    CHECK(commit_window_mode(win) == WINDOW_DEAD);
    for (uint64_t sequence = win->ring.head; sequence < win->ring.tail; sequence++) {
        slot_ring_at(&win->ring, sequence)->outstanding = false;
        slot_ring_at(&win->ring, sequence)->unacked = 0;
    }
    win->outstanding = 0;
    win->waiting = 0;
    win->undelivered = 0;
}

static void free_head(struct commit_window *win, struct record *rec)
{
    struct slot *slot = slot_ring_at(&win->ring, win->ring.head);
    *rec = slot->work.rec;
    CHECK(win->bytes >= record_bytes(rec));
    win->bytes -= record_bytes(rec);
    slot_ring_pop(&win->ring);
    win->counts.freed++;
}

/* --- modes and commits --------------------------------------------------------------------- */

/* Sequence of the last slot that began; 0 when none did. With emit=completion its outputs have left
 * or will, so what lies before it is finished rather than having them leave again. */
static uint64_t last_begun(struct commit_window *win)
{
    for (uint64_t sequence = win->ring.tail; sequence > win->ring.head; sequence--) {
        if (slot_get_state(slot_ring_at(&win->ring, sequence - 1)) >= SLOT_BEGUN) {
            return sequence - 1;
        }
    }
    return 0;
}

void commit_window_set_mode(struct commit_window *win, enum window_mode mode)
{
    CHECK(mode >= commit_window_mode(win));
    bool begins = mode == WINDOW_DRAIN && commit_window_mode(win) == WINDOW_RUN;
    if (begins && win->emit == EMIT_COMPLETION) {
        atomic_store_explicit(&win->drain_to, last_begun(win), memory_order_relaxed);
    }
    /* a worker that reads the old mode begins one more record, no harm; one that reads the new mode
     * reads what had failed before it */
    atomic_store_explicit(&win->mode, (uint8_t)mode, memory_order_release);
}

bool commit_window_stop_at(struct commit_window *win, const struct slot *slot)
{
    CHECK(slot->sequence >= win->ring.head && slot->sequence < win->ring.tail);
    uint64_t failed = atomic_load_explicit(&win->failed, memory_order_relaxed);
    if (slot->sequence >= failed) {
        return false;
    }
    /* once the window drains it only falls: what a worker gave back unrun stays unrun (I5) */
    if (failed != NOTHING_FAILED || commit_window_mode(win) == WINDOW_RUN) {
        atomic_store_explicit(&win->failed, slot->sequence, memory_order_relaxed);
    } else if (slot->sequence < atomic_load_explicit(&win->drain_to, memory_order_relaxed)) {
        atomic_store_explicit(&win->drain_to, slot->sequence, memory_order_relaxed);
    }
    return true;
}

void commit_window_committed(struct commit_window *win, int64_t position)
{
    CHECK(position <= win->commit_pos);
    if (position > win->committed_pos) {
        win->committed_pos = position;
    }
}

/* --- queries ------------------------------------------------------------------------------- */

void *commit_window_owner(const struct commit_window *win)
{
    return win->owner;
}

uint32_t commit_window_epoch(const struct commit_window *win)
{
    return win->epoch;
}

enum window_mode commit_window_mode(const struct commit_window *win)
{
    return (enum window_mode)atomic_load_explicit(&win->mode, memory_order_relaxed);
}

int64_t commit_window_commit_pos(const struct commit_window *win)
{
    return win->commit_pos;
}

int64_t commit_window_committed_pos(const struct commit_window *win)
{
    return win->committed_pos;
}

bool commit_window_is_dirty(const struct commit_window *win)
{
    return win->counts.freed > 0 && win->commit_pos > win->committed_pos;
}

bool commit_window_is_held(const struct commit_window *win)
{
    return win->held;
}

uint32_t commit_window_room(const struct commit_window *win)
{
    return win->held ? 0 : (uint32_t)(win->ring.mask + 1 - (win->ring.tail - win->ring.head));
}

uint32_t commit_window_used(const struct commit_window *win)
{
    return (uint32_t)(win->ring.tail - win->ring.head);
}

uint32_t commit_window_capacity(const struct commit_window *win)
{
    return (uint32_t)(win->ring.mask + 1);
}

size_t commit_window_bytes(const struct commit_window *win)
{
    return win->bytes;
}

uint32_t commit_window_outstanding(const struct commit_window *win)
{
    return win->outstanding;
}

uint32_t commit_window_waiting(const struct commit_window *win)
{
    return win->waiting;
}

uint64_t commit_window_undelivered(const struct commit_window *win)
{
    return win->undelivered;
}

/* A slot that workers have runs, has run, or may still begin. What is unstarted in a window that
 * drains is no reason to wait: it may lie behind records of partitions that run on. A worker that
 * is just about to begin one is not seen; its completion comes late and changes nothing. */
static bool is_at_work(const struct commit_window *win)
{
    if (win->outstanding == 0 || commit_window_mode(win) == WINDOW_RUN) {
        return win->outstanding > 0;
    }
    for (uint64_t sequence = win->ring.head; sequence < win->ring.tail; sequence++) {
        const struct slot *slot = slot_ring_at(&win->ring, sequence);
        if (slot->outstanding && (slot_get_state(slot) >= SLOT_BEGUN || slot_may_begin(slot))) {
            return true;
        }
    }
    return false;
}

bool commit_window_is_quiet(struct commit_window *win)
{
    return !is_at_work(win) && win->waiting == 0 && win->undelivered == 0 &&
           commit_window_next_retirable(win) == NULL && !is_head_acked(win);
}

const struct slot *commit_window_head(const struct commit_window *win)
{
    return win->ring.head == win->ring.tail ? NULL : slot_ring_at(&win->ring, win->ring.head);
}

struct slot *commit_window_find(struct commit_window *win, const struct work *work)
{
    for (uint64_t sequence = win->ring.head; sequence < win->ring.tail; sequence++) {
        struct slot *slot = slot_ring_at(&win->ring, sequence);
        if (&slot->work == work) {
            return slot->outstanding ? slot : NULL;
        }
    }
    return NULL;
}

struct commit_window_counts commit_window_counts(const struct commit_window *win)
{
    return win->counts;
}

static struct slot *find_current(struct commit_window *win, uint32_t epoch, uint64_t sequence)
{
    bool current = epoch == win->epoch && sequence >= win->ring.head && sequence < win->ring.tail;
    return current ? slot_ring_at(&win->ring, sequence) : NULL;
}

/* --- the invariants, executed -------------------------------------------------------------- */

struct tally {
    size_t bytes;
    uint32_t outstanding;
    uint32_t waiting;
    uint64_t undelivered;
};

/* What must hold of one slot in use, whoever holds it. */
static void check_slot(const struct commit_window *win, uint64_t sequence, struct tally *tally)
{
    const struct slot *slot = slot_ring_at(&win->ring, sequence);
    enum slot_state state = slot_get_state(slot);
    CHECK(slot->sequence == sequence);
    CHECK(state != SLOT_FREE); /* I4 */
    if (sequence > win->ring.head) {
        CHECK(slot->work.rec.offset > slot_ring_at(&win->ring, sequence - 1)->work.rec.offset);
    }
    if (!slot->outstanding) {
        CHECK(state != SLOT_BEGUN);
        CHECK(state != SLOT_ACKED || outcome_retires(slot->work.outcome)); /* I10 */
        CHECK(state != SLOT_ACKED || slot->unacked == 0);
        CHECK(state != SLOT_ACKED || !slot->undeliverable);
        bool gone = state == SLOT_RETIRED || state == SLOT_ACKED;
        CHECK(win->emit != EMIT_INPUT || gone == (sequence < win->retire_next)); /* I6 */
    }
    tally->bytes += record_bytes(&slot->work.rec);
    tally->outstanding += slot->outstanding;
    tally->waiting += !slot->outstanding && state == SLOT_WAITING;
    tally->undelivered += slot->unacked;
}

/* I5, quadratic; only while no other thread runs. */
static void check_keys(const struct commit_window *win)
{
    for (uint64_t later = win->ring.head; later < win->ring.tail; later++) {
        const struct slot *slot = slot_ring_at(&win->ring, later);
        if (slot_get_state(slot) != SLOT_BEGUN || slot->virtual_key == NO_KEY) {
            continue;
        }
        for (uint64_t earlier = win->ring.head; earlier < later; earlier++) {
            const struct slot *other = slot_ring_at(&win->ring, earlier);
            if (other->virtual_key != slot->virtual_key) {
                continue;
            }
            enum slot_state state = slot_get_state(other);
            bool again = state == SLOT_WAITING || other->work.outcome == OUTCOME_RETRY;
            bool terminal = state >= SLOT_COMPLETED && !again;
            CHECK(terminal || (state == SLOT_BEGUN && other->holder == slot->holder));
        }
    }
}

void commit_window_check(const struct commit_window *win, bool exact)
{
    uint64_t used = win->ring.tail - win->ring.head;
    CHECK(used <= win->ring.mask + 1); /* I3 */
    CHECK(win->counts.admitted == win->ring.tail);
    CHECK(win->counts.freed == win->ring.head);
    struct tally tally = {0};
    for (uint64_t sequence = win->ring.head; sequence < win->ring.tail; sequence++) {
        check_slot(win, sequence, &tally);
    }
    CHECK(tally.bytes == win->bytes);
    CHECK(tally.outstanding == win->outstanding);
    CHECK(tally.waiting == win->waiting);
    CHECK(tally.undelivered == win->undelivered);
    if (used > 0) {
        const struct slot *last = slot_ring_at(&win->ring, win->ring.tail - 1);
        CHECK(last->work.rec.offset == win->last_offset);
        CHECK(win->bytes - record_bytes(&last->work.rec) < win->bytes_max); /* I3 */
    }
    bool full = used == win->ring.mask + 1 || win->bytes >= win->bytes_max;
    bool low = used * 4 < (win->ring.mask + 1) * 3 && win->bytes * 4 < win->bytes_max * 3;
    if (commit_window_mode(win) != WINDOW_DEAD) {
        int64_t expected =
            used ? slot_ring_at(&win->ring, win->ring.head)->work.rec.offset : win->last_offset + 1;
        CHECK(win->commit_pos == POSITION_NONE || win->commit_pos == expected); /* I1 */
        CHECK(!full || win->held);
        CHECK(!low || !win->held);
    }
    CHECK(win->committed_pos <= win->commit_pos); /* I2 */
    if (win->emit == EMIT_INPUT) {
        CHECK(win->retire_next >= win->ring.head && win->retire_next <= win->ring.tail);
    }
    if (exact) {
        check_keys(win);
    }
}
