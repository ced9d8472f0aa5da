/*
 * sink: the port through which emissions leave, and delivery reports come back.
 *
 * Why: an emission has left only when its delivery report says so; the slot it belongs to is named
 * by a tag that the sink hands back unread.
 *
 * Thread: poll thread, but create and destroy, which are the implementation's own (main thread).
 */
#ifndef STREAM_SINK_H
#define STREAM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/wakeup.h"
#include "stream/effects.h"

struct sink;

enum sink_result {
    SINK_TAKEN,   /* exactly one delivery report with this tag follows */
    SINK_FULL,    /* not taken; offer the same emission again after the next poll */
    SINK_REFUSED, /* not taken and never will be: err says why (unknown topic, too large) */
};

/* A delivery report. */
struct delivery {
    uint64_t tag;
    bool failed;        /* for good: what could be tried again was tried by the sink */
    const char *reason; /* failed: why; borrowed until the next poll */
};

struct sink_ops {
    /* The sink signals this when poll may have reports. Called once, before all others. */
    void (*attach)(struct sink *sink, struct wakeup *wakeup);
    /* What send would say to this emission, as far as that can be known before: TAKEN, REFUSED with
     * err, or FULL when it is not known yet (a topic is being looked up). Of a record with several
     * emissions all are checked before the first is sent, so that one that is refused leaves
     * nothing behind. Never blocks. */
    enum sink_result (*check)(struct sink *sink, const struct emission *emission,
                              struct error *err);
    /* Takes one emission. Its bytes stay the caller's and valid until the report: the sink copies
     * or borrows as it likes. Emissions to one partition leave in the order of the calls. May hold
     * it back until push. Never blocks. */
    enum sink_result (*send)(struct sink *sink, const struct emission *emission, uint64_t tag,
                             struct error *err);
    /* Hands over what send held back. Called at least once after the last send of a turn. */
    void (*push)(struct sink *sink);
    /* Up to `max` reports. Never blocks. */
    size_t (*poll)(struct sink *sink, struct delivery *reports, size_t max);
    /* A fatal state of the sink, if there is one: true and err set; stays so. E_CLOSED: nobody
     * reads any more; all pipelines end at once, without a commit of what was not delivered, and it
     * is no failure. What is still out when this is true need not get a report. */
    bool (*broken)(struct sink *sink, struct error *err);
    /* Sends what may wait for company (linger) without delay, as before a drain. Never blocks. */
    void (*hurry)(struct sink *sink);
    /* Frees all; what has no report yet is dropped; bounded time. Main thread. */
    void (*destroy)(struct sink *sink);
};

/* Embedded first in each implementation. */
struct sink {
    const struct sink_ops *ops;
};

#endif
