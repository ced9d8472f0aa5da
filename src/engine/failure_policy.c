#include "engine/failure_policy.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/check.h"
#include "engine/dead_letter.h"

static bool is_exhausted(const struct failure_policy *policy, uint32_t attempt)
{
    return policy->max_retries != RETRIES_UNBOUNDED && attempt >= policy->max_retries;
}

/* What the script asked for, or what is set for its kind. */
static enum failure_action wanted(const struct failure_policy *policy, const struct work *work)
{
    switch ((enum failure_request)work->request) {
    case REQUEST_NONE:
        break;
    case REQUEST_RETRY:
        return FAILURE_RETRY;
    case REQUEST_SKIP:
        return FAILURE_SKIP;
    case REQUEST_DEAD_LETTER:
        return FAILURE_DEAD_LETTER;
    }
    CHECK(work->failure < FAILURE_KIND_COUNT);
    return policy->actions[work->failure];
}

static enum failure_action decide(const struct failure_policy *policy, const struct work *work,
                                  uint32_t attempt)
{
    enum failure_action action = wanted(policy, work);
    if (action == FAILURE_RETRY && is_exhausted(policy, attempt)) {
        action = FAILURE_DEAD_LETTER;
    }
    if (action == FAILURE_DEAD_LETTER && policy->dead_letter_topic == NULL) {
        action = FAILURE_STOP;
    }
    return action;
}

void failure_policy_apply(const struct failure_policy *policy, struct work *work, uint32_t attempt)
{
    CHECK(work->outcome == OUTCOME_FAILED);
    CHECK(work->effects.count == 0);
    switch (decide(policy, work, attempt)) {
    case FAILURE_STOP:
        break;
    case FAILURE_RETRY:
        work->outcome = OUTCOME_RETRY;
        break;
    case FAILURE_SKIP:
        work->outcome = OUTCOME_SKIPPED;
        break;
    case FAILURE_DEAD_LETTER:
        work->outcome = OUTCOME_DEAD_LETTER;
        dead_letter_emit(policy, work, attempt, failure_kind_name((enum failure_kind)work->failure),
                         work->reason);
        break;
    }
}

int64_t failure_policy_delay_ms(const struct failure_policy *policy, const struct work *work,
                                uint32_t attempt, uint64_t seed)
{
    if (work->request == REQUEST_RETRY && work->retry_delay_ms != RETRY_DELAY_BACKOFF) {
        return work->retry_delay_ms;
    }
    int64_t delay_ms = policy->backoff_ms;
    for (uint32_t i = 0; i < attempt && delay_ms < policy->backoff_max_ms; i++) {
        delay_ms *= 2;
    }
    delay_ms = delay_ms < policy->backoff_max_ms ? delay_ms : policy->backoff_max_ms;
    seed = (seed + attempt + 1) * UINT64_C(0x9e3779b97f4a7c15);
    int64_t percent = 80 + (int64_t)((seed >> 32) % 41);
    delay_ms = delay_ms * percent / 100;
    return delay_ms < policy->backoff_max_ms ? delay_ms : policy->backoff_max_ms;
}

void failure_policy_explain(const struct failure_policy *policy, const struct work *work,
                            uint32_t attempt, char *text, size_t size)
{
    const char *how = "";
    if (work->request == REQUEST_DEAD_LETTER && policy->dead_letter_topic == NULL) {
        how = "; no topic for dead letters is set: errors.dead.letter.queue.topic.name";
    }
    if (attempt > 0) {
        snprintf(text, size, " (attempt %lu)%s", (unsigned long)attempt + 1, how);
    } else {
        snprintf(text, size, "%s", how);
    }
}
