/*
 * exchange: the way of slots between the poll thread and the K workers of a pipeline, and back.
 *
 * Why: records are handed over whole and in batches, and what may run at the same time is decided
 * here. K = 1: two rings; the worker runs what comes, in order. K > 1: mailboxes. Each virtual key
 * of a task has a FIFO; one worker at a time has a mailbox; a mailbox with slots and without a
 * holder is ready. So keys, not threads, decide what runs beside what, and no worker idles while a
 * key is ready. Slots without a mailbox are ready by themselves. Workers take ready mailboxes, the
 * oldest first, worth up to a batch under one short mutex and give them back with the finished
 * slots under the same mutex: hence completions reach the poll thread in an order that agrees with
 * the order within each key, whoever ran them.
 *
 * A slot that will run again blocks its mailbox: what comes behind it waits there, with K = 1 in
 * the worker's hands, until the poll thread submits that slot again. Other keys do not notice.
 *
 * Thread: see each function. No lock is held across any call out of this class.
 * Owns: mailboxes' links. Borrows: slots, which belong to whoever holds them.
 */
#ifndef ENGINE_EXCHANGE_H
#define ENGINE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/thread_role.h"
#include "base/wakeup.h"
#include "commit/commit_window.h"

struct exchange;

/* A FIFO of slots of one virtual key. Public for its size only; the fields are private. With K = 1
 * it is the worker's, and empty unless something of its key waits for a retry. */
struct mailbox {
    struct slot *first;
    struct slot *last;
    struct slot *blocker; /* will run again, and before all others */
    struct mailbox *next; /* K = 1: in the list of open ones */
    bool listed;          /* in the ready list; K = 1: in the list of open ones */
    bool held;            /* in a worker's hands */
};

/* For `workers` >= 1. Signals `poll` when completions wait. Borrows it. Main thread. */
struct exchange *exchange_create(unsigned workers, struct wakeup *poll);
/* Accepts NULL. No slot is inside, no worker uses it. Main thread. */
void exchange_destroy(struct exchange *exchange);

/* Slots that submit takes now. */
size_t exchange_room(const struct exchange *exchange) ON_THREAD(poll_thread);
/* Hands slots to the workers, in this order within each mailbox (slot->mailbox, NULL: none), or
 * slots that are to run again before all others of their mailbox. At most exchange_room of them. */
void exchange_submit(struct exchange *exchange, struct slot *const *slots, size_t count)
    ON_THREAD(poll_thread);
/* Slots that came back, up to max. */
size_t exchange_collect(struct exchange *exchange, struct slot **slots, size_t max)
    ON_THREAD(poll_thread);

/* Up to max slots to run, in order; those of one key stay in this worker's hands until given. 0:
 * none now. */
size_t exchange_take(struct exchange *exchange, struct slot **batch, size_t max)
    ON_THREAD(worker_thread);
/* Gives back all that was taken: slots with an outcome to the poll thread; those without one
 * (withdrawn) to the head of their mailbox, which one before them with outcome RETRY blocks. */
void exchange_give(struct exchange *exchange, struct slot *const *batch, size_t count)
    ON_THREAD(worker_thread);
/* Sleeps until take may have something. False: closed, and nothing left to take. */
bool exchange_wait(struct exchange *exchange) ON_THREAD(worker_thread);

/* Ends the workers' waits for good. Any thread. */
void exchange_close(struct exchange *exchange);

#endif
