#include "engine/exchange.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/check.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/spsc_ring.h"
#include "engine/ready_queue.h"

enum { RING_SIZE = 4096, STARVED_MS = 1 };

struct exchange {
    unsigned workers;                                 /* constant */
    struct wakeup *poll;                              /* constant */
    struct slot_list collected OWNED_BY(poll_thread); /* K > 1: done, on their way out */

    /* K = 1 */
    struct spsc_ring to_worker;
    struct spsc_ring to_poll; /* the worker takes no more than it could give back */
    struct wakeup worker;
    atomic_bool closed;
    bool starved OWNED_BY(worker_thread);               /* there was no room in to_poll */
    size_t gated OWNED_BY(worker_thread);               /* mailboxes with a blocker or slots */
    struct mailbox *open_first OWNED_BY(worker_thread); /* with slots and without a blocker */
    struct mailbox *open_last OWNED_BY(worker_thread);

    /* K > 1; all under the lock */
    struct lock lock;
    struct condition work;
    unsigned waiting;
    bool ending;
    uint32_t stamp; /* of the next slot to be submitted */
    struct slot_list done;
    struct ready_queue ready; /* first slots of ready mailboxes, and slots without one */
};

static void rings_submit(struct exchange *x, struct slot *const *slots, size_t count)
    ON_THREAD(poll_thread);
static size_t rings_take(struct exchange *x, struct slot **batch, size_t max)
    ON_THREAD(worker_thread);
static void rings_give(struct exchange *x, struct slot *const *batch, size_t count)
    ON_THREAD(worker_thread);
static void boxes_submit(struct exchange *x, struct slot *const *slots, size_t count);
static size_t boxes_collect(struct exchange *x, struct slot **slots, size_t max)
    ON_THREAD(poll_thread);
static size_t boxes_take(struct exchange *x, struct slot **batch, size_t max);
static void boxes_give(struct exchange *x, struct slot *const *batch, size_t count);

/* --- life ---------------------------------------------------------------------------------- */

struct exchange *exchange_create(unsigned workers, struct wakeup *poll)
{
    CHECK(workers >= 1);
    CHECK(poll != NULL);
    struct exchange *x = memory_alloc_aligned(sizeof *x);
    x->workers = workers;
    x->poll = poll;
    atomic_init(&x->closed, false);
    lock_init(&x->lock);
    condition_init(&x->work);
    wakeup_init(&x->worker);
    if (workers == 1) {
        spsc_ring_init(&x->to_worker, RING_SIZE);
        spsc_ring_init(&x->to_poll, RING_SIZE);
    }
    return x;
}

void exchange_destroy(struct exchange *x)
{
    if (x == NULL) {
        return;
    }
    if (x->workers == 1) {
        spsc_ring_fini(&x->to_worker);
        spsc_ring_fini(&x->to_poll);
    }
    wakeup_fini(&x->worker);
    condition_fini(&x->work);
    lock_fini(&x->lock);
    memory_free(x);
}

/* --- poll thread --------------------------------------------------------------------------- */

size_t exchange_room(const struct exchange *x)
{
    return x->workers > 1 ? SIZE_MAX : RING_SIZE - spsc_ring_count(&x->to_worker);
}

void exchange_submit(struct exchange *x, struct slot *const *slots, size_t count)
{
    CHECK(count <= exchange_room(x));
    if (count == 0) {
        return;
    }
    if (x->workers > 1) {
        boxes_submit(x, slots, count);
    } else {
        rings_submit(x, slots, count);
    }
}

static void rings_submit(struct exchange *x, struct slot *const *slots, size_t count)
{
    size_t pushed = spsc_ring_push(&x->to_worker, (void *const *)slots, count);
    CHECK(pushed == count);
    wakeup_signal(&x->worker);
}

size_t exchange_collect(struct exchange *x, struct slot **slots, size_t max)
{
    if (x->workers > 1) {
        return boxes_collect(x, slots, max);
    }
    return spsc_ring_pop(&x->to_poll, (void **)slots, max);
}

/* --- workers ------------------------------------------------------------------------------- */

size_t exchange_take(struct exchange *x, struct slot **batch, size_t max)
{
    CHECK(max > 0);
    return x->workers > 1 ? boxes_take(x, batch, max) : rings_take(x, batch, max);
}

void exchange_give(struct exchange *x, struct slot *const *batch, size_t count)
{
    if (x->workers > 1) {
        boxes_give(x, batch, count);
    } else {
        rings_give(x, batch, count);
    }
    wakeup_signal(x->poll);
}

static size_t room_to_give(const struct exchange *x) ON_THREAD(worker_thread)
{
    return RING_SIZE - spsc_ring_count(&x->to_poll);
}

static bool rings_wait(struct exchange *x) ON_THREAD(worker_thread)
{
    wakeup_prepare(&x->worker);
    bool more = !spsc_ring_is_empty(&x->to_worker) || x->open_first != NULL;
    if (more && !x->starved) {
        wakeup_cancel(&x->worker);
        return true;
    }
    if (atomic_load_explicit(&x->closed, memory_order_acquire)) {
        wakeup_cancel(&x->worker);
        return false;
    }
    wakeup_wait(&x->worker, x->starved ? STARVED_MS : -1);
    return true;
}

bool exchange_wait(struct exchange *x)
{
    if (x->workers == 1) {
        return rings_wait(x);
    }
    lock_acquire(&x->lock);
    while (x->ready.count == 0 && !x->ending) {
        x->waiting++;
        condition_wait(&x->work, &x->lock);
        x->waiting--;
    }
    bool more = x->ready.count > 0;
    lock_release(&x->lock);
    return more;
}

void exchange_close(struct exchange *x)
{
    atomic_store_explicit(&x->closed, true, memory_order_release);
    wakeup_post(&x->worker);
    lock_acquire(&x->lock);
    x->ending = true;
    condition_broadcast(&x->work);
    lock_release(&x->lock);
}

/* --- K = 1: rings, and the mailboxes that a retry blocks -------------------------------------- */

static bool is_gated(const struct mailbox *box)
{
    return box->blocker != NULL || box->first != NULL;
}

static void append(struct mailbox *box, struct slot *slot)
{
    slot->next = NULL;
    if (box->last) {
        box->last->next = slot;
    } else {
        box->first = slot;
    }
    box->last = slot;
}

static void prepend(struct mailbox *box, struct slot *slot)
{
    slot->next = box->first;
    box->first = slot;
    if (box->last == NULL) {
        box->last = slot;
    }
}

static struct slot *take_first(struct mailbox *box)
{
    struct slot *slot = box->first;
    box->first = slot->next;
    if (box->first == NULL) {
        box->last = NULL;
    }
    slot->next = NULL;
    return slot;
}

static void list_open(struct exchange *x, struct mailbox *box) ON_THREAD(worker_thread)
{
    DCHECK(!box->listed);
    box->listed = true;
    box->next = NULL;
    if (x->open_last) {
        x->open_last->next = box;
    } else {
        x->open_first = box;
    }
    x->open_last = box;
}

static void unlist_open(struct exchange *x, struct mailbox *box) ON_THREAD(worker_thread)
{
    struct mailbox *before = NULL;
    struct mailbox **at = &x->open_first;
    while (*at != box) {
        before = *at;
        CHECK(before != NULL);
        at = &before->next;
    }
    *at = box->next;
    if (x->open_last == box) {
        x->open_last = before;
    }
    box->listed = false;
}

/* What came from the ring: true when it may run now. */
static bool passes_gate(struct exchange *x, struct slot *slot) ON_THREAD(worker_thread)
{
    struct mailbox *box = slot->mailbox;
    if (box == NULL || !is_gated(box)) {
        return true;
    }
    if (box->blocker != slot) {
        append(box, slot);
        return false;
    }
    box->blocker = NULL;
    if (box->first) {
        list_open(x, box);
    } else {
        x->gated--;
    }
    return true;
}

static size_t take_open(struct exchange *x, struct slot **batch, size_t max)
    ON_THREAD(worker_thread)
{
    size_t count = 0;
    while (count < max && x->open_first) {
        struct mailbox *box = x->open_first;
        batch[count++] = take_first(box);
        if (box->first == NULL) {
            unlist_open(x, box);
            CHECK(x->gated > 0);
            x->gated--;
        }
    }
    return count;
}

static size_t rings_take(struct exchange *x, struct slot **batch, size_t max)
{
    size_t room = room_to_give(x);
    x->starved = room == 0;
    if (x->starved) {
        return 0;
    }
    max = max < room ? max : room;
    if (x->gated == 0) {
        return spsc_ring_pop(&x->to_worker, (void **)batch, max);
    }
    size_t count = take_open(x, batch, max);
    void *slot;
    while (count < max && spsc_ring_pop(&x->to_worker, &slot, 1) == 1) {
        if (passes_gate(x, slot)) {
            batch[count++] = slot;
        }
    }
    return count;
}

/* The mailbox is about to get a blocker or a slot. */
static void gate(struct exchange *x, struct mailbox *box) ON_THREAD(worker_thread)
{
    if (!is_gated(box)) {
        x->gated++;
    } else if (box->listed) {
        unlist_open(x, box);
    }
}

/* Backwards, so that what is withdrawn gets back to the head of its mailbox in order. */
static void rings_give(struct exchange *x, struct slot *const *batch, size_t count)
{
    struct slot *back[RING_SIZE];
    size_t kept = RING_SIZE;
    CHECK(count <= RING_SIZE);
    for (size_t i = count; i-- > 0;) {
        struct slot *slot = batch[i];
        struct mailbox *box = slot->mailbox;
        if (slot->work.outcome == OUTCOME_NONE) {
            gate(x, box);
            prepend(box, slot);
            continue;
        }
        if (slot->work.outcome == OUTCOME_RETRY && box) {
            gate(x, box);
            box->blocker = slot;
        }
        back[--kept] = slot;
    }
    size_t pushed = spsc_ring_push(&x->to_poll, (void *const *)&back[kept], RING_SIZE - kept);
    CHECK(pushed == RING_SIZE - kept);
}

/* --- K > 1: mailboxes ---------------------------------------------------------------------- */

/* The mailbox has slots and no holder: its first slot stands for it in the ready list. The slot's
 * link then belongs to that list, so the second slot is remembered by the mailbox. */
static void make_ready(struct exchange *x, struct mailbox *box) REQUIRES(x->lock)
{
    DCHECK(!box->listed);
    DCHECK(!box->held);
    DCHECK(box->blocker == NULL);
    box->listed = true;
    ready_queue_put(&x->ready, take_first(box));
}

static void post(struct exchange *x, struct slot *slot) REQUIRES(x->lock)
{
    struct mailbox *box = slot->mailbox;
    if (box && box->blocker == slot) {
        DCHECK(!box->listed);
        DCHECK(!box->held);
        box->blocker = NULL;
        box->listed = true;
        ready_queue_put(&x->ready, slot); /* with its old stamp: it is the oldest of its key */
        return;
    }
    slot->stamp = x->stamp++;
    if (box == NULL) {
        ready_queue_put(&x->ready, slot);
        return;
    }
    append(box, slot);
    if (!box->listed && !box->held && !box->blocker) {
        make_ready(x, box);
    }
}

static void wake(struct exchange *x, size_t news) REQUIRES(x->lock)
{
    size_t sleepers = news < x->waiting ? news : x->waiting;
    for (size_t i = 0; i < sleepers; i++) {
        condition_signal(&x->work);
    }
}

static void boxes_submit(struct exchange *x, struct slot *const *slots, size_t count)
{
    lock_acquire(&x->lock);
    size_t before = x->ready.count;
    for (size_t i = 0; i < count; i++) {
        post(x, slots[i]);
    }
    wake(x, x->ready.count - before);
    lock_release(&x->lock);
}

static size_t boxes_collect(struct exchange *x, struct slot **slots, size_t max)
{
    if (x->collected.count == 0) {
        lock_acquire(&x->lock);
        x->collected = x->done;
        x->done = (struct slot_list){0};
        lock_release(&x->lock);
    }
    size_t count = 0;
    while (count < max && x->collected.count > 0) {
        slots[count++] = slot_list_take(&x->collected);
    }
    return count;
}

/* A worker takes at most its share of what is ready, so that few keys spread over all workers, and
 * of one mailbox as much as fits: its records run in sequence anyway. */
static size_t boxes_take(struct exchange *x, struct slot **batch, size_t max)
{
    lock_acquire(&x->lock);
    size_t share = x->ready.count / x->workers + 1;
    size_t count = 0;
    for (size_t entry = 0; entry < share && count < max && x->ready.count > 0; entry++) {
        struct slot *slot = ready_queue_take(&x->ready);
        struct mailbox *box = slot->mailbox;
        batch[count++] = slot;
        if (box == NULL) {
            continue;
        }
        box->listed = false;
        box->held = true;
        while (count < max && box->first) {
            batch[count++] = take_first(box);
        }
    }
    lock_release(&x->lock);
    return count;
}

/* What is withdrawn goes back to the head of its mailbox: backwards, so that it keeps its order. */
static void put_back(struct slot *const *batch, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        struct slot *slot = batch[i];
        if (slot->work.outcome == OUTCOME_NONE) {
            prepend(slot->mailbox, slot);
        } else if (slot->work.outcome == OUTCOME_RETRY && slot->mailbox) {
            slot->mailbox->blocker = slot;
        }
    }
}

static void boxes_give(struct exchange *x, struct slot *const *batch, size_t count)
{
    lock_acquire(&x->lock);
    size_t before = x->ready.count;
    put_back(batch, count);
    for (size_t i = 0; i < count; i++) {
        struct mailbox *box = batch[i]->mailbox;
        if (batch[i]->work.outcome != OUTCOME_NONE) {
            slot_list_append(&x->done, batch[i]);
        }
        if (box != NULL && box->held) {
            box->held = false;
            if (box->first && !box->blocker) {
                make_ready(x, box);
            }
        }
    }
    wake(x, x->ready.count - before);
    lock_release(&x->lock);
}
