/*
 * failure_policy: what becomes of a record that failed: stop, retry, skip or dead letter.
 *
 * Why: a worker has to know at once whether the record will run again, because the later records of
 * its key must not run before it; so the decision is a pure function of constant settings, the
 * record's failure and its attempt, and is made where the record ran.
 *
 *   the script asked (ctx.retry, ctx.skip, ctx.dead_letter) -> that; else the action of its kind
 *   retry beyond max_retries -> dead letter if there is a topic for them, else stop
 *   dead letter without a topic -> stop
 *
 * Thread: any; constant after the start.
 * Borrows: the texts.
 */
#ifndef ENGINE_FAILURE_POLICY_H
#define ENGINE_FAILURE_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "stream/processing.h"
#include "stream/work.h"

enum { RETRIES_UNBOUNDED = -1 };

/* All zero: stop at whatever fails. */
struct failure_policy {
    enum failure_action actions[FAILURE_KIND_COUNT];
    enum failure_action production; /* of an output that cannot be delivered; not RETRY */
    int64_t max_retries;            /* after the first attempt; or RETRIES_UNBOUNDED */
    int64_t backoff_ms;             /* before the first retry; doubles with each */
    int64_t backoff_max_ms;
    const char *dead_letter_topic; /* NULL: none */
    const char *script;            /* named in dead letters; NULL: none */
    const char *generation;        /* of the script, the same */
};

/* Turns FAILED into RETRY, SKIPPED, DEAD_LETTER (with the letter as its effects) or leaves it:
 * stop. `attempt` counts from 0. The holder of the work. */
void failure_policy_apply(const struct failure_policy *policy, struct work *work, uint32_t attempt);

/* How long a RETRY waits: what the script asked for, or the backoff with a jitter of a fifth either
 * way, drawn from `seed`, and never more than backoff_max_ms. */
int64_t failure_policy_delay_ms(const struct failure_policy *policy, const struct work *work,
                                uint32_t attempt, uint64_t seed);

/* Why a record that FAILED for good did so, beyond its reason: " (attempt 4)", what to set, or "".
 * Written to text, up to `size` bytes with the NUL. */
void failure_policy_explain(const struct failure_policy *policy, const struct work *work,
                            uint32_t attempt, char *text, size_t size);

#endif
