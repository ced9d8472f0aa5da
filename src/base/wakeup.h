/*
 * wakeup: how a sleeping thread learns that there is work, as one eventfd.
 *
 * Why: the poll thread waits for three kinds of news at once: librdkafka's queues (which can write
 * to a descriptor), completions from workers, and time. One descriptor serves all. A signal costs a
 * system call only while the owner sleeps; a busy owner is never signalled.
 *
 * Protocol: the owner calls wakeup_prepare, looks once more for work, then wakeup_wait or
 * wakeup_cancel. Others publish their work, then call wakeup_signal.
 *
 * Thread: prepare, wait, cancel: the owner. signal, fd: any. wakeup_post: also from a signal
 * handler.
 */
#ifndef BASE_WAKEUP_H
#define BASE_WAKEUP_H

#include <stdatomic.h>

#include "base/annotations.h"

struct wakeup {
    int fd IMMUTABLE;
    _Alignas(CACHE_LINE) atomic_bool asleep ATOMIC(owner, any);
};

/* Opens the descriptor; aborts when the process has none left. */
void wakeup_init(struct wakeup *wakeup);
void wakeup_fini(struct wakeup *wakeup);

/* Announces that the owner is about to sleep. */
void wakeup_prepare(struct wakeup *wakeup);
/* Takes the announcement back. */
void wakeup_cancel(struct wakeup *wakeup);
/* Sleeps until a signal or for timeout_ms (-1: without end), then clears what was signalled. */
void wakeup_wait(struct wakeup *wakeup, int timeout_ms);

/* Wakes the owner if it sleeps or is about to. Call after the work is visible. */
void wakeup_signal(struct wakeup *wakeup);
/* Wakes the owner in any case; async-signal-safe. */
void wakeup_post(struct wakeup *wakeup);

#endif
