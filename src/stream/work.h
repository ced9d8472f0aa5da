/*
 * work: one record on its way through the engine: what came in, what it wants, how its run ended.
 *
 * Why: this is what is handed over whole between poll thread and worker, and all that a processor
 * knows of the engine. A slot of the commit window embeds it as its first member.
 *
 * Thread: belongs to the holder: poll thread, one worker, poll thread again.
 */
#ifndef STREAM_WORK_H
#define STREAM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/effects.h"
#include "stream/record.h"

/* How a run ended. A processor says DONE or FAILED; the failure policy makes something of FAILED.
 */
enum outcome {
    OUTCOME_NONE,        /* has not run */
    OUTCOME_DONE,        /* effects are complete */
    OUTCOME_FAILED,      /* `failure`, `request`, `reason`; effects are void. After the policy: for
                            good, the pipeline stops */
    OUTCOME_UNRUN,       /* handed back without a run: its partition is being given away */
    OUTCOME_RETRY,       /* failed, and will run again */
    OUTCOME_SKIPPED,     /* failed, and is passed over without effects */
    OUTCOME_DEAD_LETTER, /* failed; its effects are one dead letter */
};

/* Why a record failed. */
enum failure_kind {
    FAILURE_RAISED,  /* the script raised an error, or returned what it must not */
    FAILURE_FAILED,  /* the script said so: ctx.fail */
    FAILURE_MEMORY,  /* the script's state ran out of memory */
    FAILURE_TIMEOUT, /* the script ran beyond its limit of time */
    FAILURE_KIND_COUNT
};

/* What the script itself asks for, whatever the policy for its kind is. */
enum failure_request {
    REQUEST_NONE,
    REQUEST_RETRY,       /* ctx.retry */
    REQUEST_SKIP,        /* ctx.skip */
    REQUEST_DEAD_LETTER, /* ctx.dead_letter */
};

enum { RETRY_DELAY_BACKOFF = -1 };

struct work {
    struct record rec;      /* as it came in; a processor never changes it */
    struct effects effects; /* what it wants */
    const char *reason;     /* not DONE: message with traceback, in effects.arena; else NULL */
    int32_t retry_delay_ms; /* REQUEST_RETRY: until the next run, or RETRY_DELAY_BACKOFF */
    uint8_t outcome;        /* enum outcome */
    uint8_t failure;        /* enum failure_kind */
    uint8_t request;        /* enum failure_request */
};

/* "raised"; constant. The name is that of the option error.policy.<name>. */
const char *failure_kind_name(enum failure_kind kind);

/* The record is through as far as its run goes: its effects may leave. */
static inline bool outcome_retires(uint8_t outcome)
{
    return outcome == OUTCOME_DONE || outcome == OUTCOME_SKIPPED || outcome == OUTCOME_DEAD_LETTER;
}

#endif
