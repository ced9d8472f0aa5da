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

#include <stdint.h>

#include "stream/effects.h"
#include "stream/record.h"

/* How a run ended. The failure policies add retry, skip and dead letter here. */
enum outcome {
    OUTCOME_NONE,   /* has not run */
    OUTCOME_DONE,   /* effects are complete */
    OUTCOME_FAILED, /* the script failed; `reason` says why; effects are void */
    OUTCOME_UNRUN,  /* handed back without a run: its partition is being given away */
};

struct work {
    struct record rec;      /* as it came in; a processor never changes it */
    struct effects effects; /* what it wants */
    const char *reason; /* OUTCOME_FAILED: message with traceback, in effects.arena; else NULL */
    uint8_t outcome;    /* enum outcome */
};

#endif
