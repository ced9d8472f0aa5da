/*
 * hold_log: partitions that are held, told in the log when it lasts.
 *
 * Why: a window that fills and empties many times a second is back-pressure at work, and no news;
 * one that stays full for a second says that something is slower than its input. A partition that
 * is held again and again is told once a minute, with the number of holds.
 *
 * Thread: poll thread.
 */
#ifndef ENGINE_HOLD_LOG_H
#define ENGINE_HOLD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "metrics/window_metrics.h"
#include "stream/source.h"

/* Embedded in a partition; the fields are private. All zero has told nothing. */
struct hold_log {
    enum hold_reason reason;
    bool told;        /* this hold */
    int64_t since_ms; /* of this hold */
    int64_t quiet_ms; /* nothing is told before this time */
    int64_t holds;    /* since the last line */
};

/* How it is now; called several times a second. True: a line was written. */
bool hold_log_note(struct hold_log *log, enum hold_reason reason,
                   const struct source_partition *where, int64_t used, int64_t now_ms);

#endif
