/*
 * record_mark: the coordinates of one record and since when it is at hand, told by one thread to
 * all others.
 *
 * Why: topic, partition and offset are read as they belong together: a sequence number is odd while
 * the writer changes them, and a reader that saw it change looks again.
 *
 * Thread: set: the one writer. read: any.
 * Borrows: the topic's name, which is immutable and outlives all readers (the source keeps it).
 */
#ifndef METRICS_RECORD_MARK_H
#define METRICS_RECORD_MARK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/annotations.h"

/* Embedded; the fields are private. All zero marks nothing. */
struct record_mark {
    ATOMIC(writer, any) atomic_uint sequence; /* odd: the next five are being changed */
    ATOMIC(writer, any) const char *_Atomic topic;
    ATOMIC(writer, any) _Atomic int64_t partition;
    ATOMIC(writer, any) _Atomic int64_t offset;
    ATOMIC(writer, any) _Atomic int64_t since_ns;
    ATOMIC(writer, any) _Atomic int64_t batch_ns;
};

/* What is written and read. */
struct record_place {
    const char *topic; /* borrowed; NULL: nothing is at hand */
    int32_t partition;
    int64_t offset;
    int64_t since_ns; /* when it began to run, on the engine's clock */
    int64_t batch_ns; /* when its batch did */
};

void record_mark_set(struct record_mark *mark, const struct record_place *place);
/* Topic NULL also when the writer is faster than the reader: then nothing is held up. */
void record_mark_read(const struct record_mark *mark, struct record_place *place);

#endif
