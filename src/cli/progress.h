/*
 * progress: how fast it goes and when it will be done, as one line.
 *
 *     12,345 records/s   lag 1,234,567   end in 1 min 40 s   threads 7/8 busy
 *
 * Why: a person at a terminal wants one line and no log. The rates are smoothed over a few seconds;
 * the end comes from how fast the lag shrinks, so that it is right also while records still arrive.
 *
 * Thread: one thread.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "metrics/metrics_snapshot.h"

struct progress_reading {
    int64_t now_ns;
    int64_t retired; /* records, ever */
    int64_t lag;     /* of all tasks; -1: not known */
    unsigned busy;   /* threads in user code */
    unsigned threads;
};

/* Embedded; the fields are private. All zero has seen nothing. */
struct progress {
    struct progress_reading last;
    double rate;   /* records a second */
    double shrink; /* of the lag, a second */
    unsigned rates;
    unsigned shrinks; /* how many of them are in the average */
};

/* What a snapshot says. */
struct progress_reading progress_read(const struct metrics_snapshot *snapshot, int64_t now_ns);
/* Takes a reading, a second or so after the last one, and appends the line. */
void progress_note(struct progress *progress, const struct progress_reading *reading,
                   struct byte_buffer *line);

#endif
