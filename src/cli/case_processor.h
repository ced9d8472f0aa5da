/*
 * case_processor: the script of a test, with a note of each attempt that failed.
 *
 * Why: a test says what must fail and how; what becomes of a failed record is decided by the
 * engine's own policy, and read from the record after the worker's turn.
 *
 * Thread: the worker's; the queries between two turns.
 * Owns: the processor within. Borrows nothing.
 */
#ifndef CLI_CASE_PROCESSOR_H
#define CLI_CASE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "stream/processor.h"

/* One attempt that failed; texts live until destroy. */
struct case_failure {
    const char *topic;
    const char *reason;
    int64_t offset;
    int32_t partition;
    uint32_t attempt; /* from 1 */
    enum outcome outcome;
    const struct work *work; /* until it is settled */
};

/* Takes the processor. */
struct processor *case_processor_create(struct processor *within);
/* The next `times` attempts at records of this offset fail before the script sees them. */
void case_processor_fail_at(struct processor *processor, int64_t offset, uint32_t times);
/* After each turn of the worker: reads what has become of what failed in it. */
void case_processor_settle(struct processor *processor);
/* NULL: there are fewer. */
const struct case_failure *case_processor_failure(const struct processor *processor, size_t index);

#endif
