#include "engine/failure_policy.h"

#include <criterion/criterion.h>
#include <string.h>

/* A policy with a topic, three retries, and stop for whatever no test sets otherwise. */
static struct failure_policy policy_of(enum failure_action raised)
{
    return (struct failure_policy){.actions = {[FAILURE_RAISED] = raised},
                                   .max_retries = 3,
                                   .backoff_ms = 100,
                                   .backoff_max_ms = 1000,
                                   .dead_letter_topic = "letters"};
}

static void fail(struct work *work, enum failure_kind failure, enum failure_request request)
{
    memset(work, 0, sizeof *work);
    effects_init(&work->effects);
    work->rec = (struct record){.topic = "in", .offset = 5, .timestamp_ms = -1};
    work->outcome = OUTCOME_FAILED;
    work->failure = (uint8_t)failure;
    work->request = (uint8_t)request;
    work->retry_delay_ms = RETRY_DELAY_BACKOFF;
    work->reason = "no good";
}

/* The outcome of a failure, with or without a letter as its effects. */
static void expect(const struct failure_policy *policy, enum failure_kind failure,
                   enum failure_request request, uint32_t attempt, enum outcome outcome)
{
    struct work work;
    fail(&work, failure, request);
    failure_policy_apply(policy, &work, attempt);
    cr_assert_eq(work.outcome, outcome, "kind %d, request %d, attempt %u: %u instead of %d",
                 (int)failure, (int)request, (unsigned)attempt, (unsigned)work.outcome,
                 (int)outcome);
    cr_assert_eq(work.effects.count, outcome == OUTCOME_DEAD_LETTER ? 1 : 0);
    effects_fini(&work.effects);
}

Test(failure_policy, all_zero_stops_at_whatever_fails)
{
    struct failure_policy policy = {0};
    for (int kind = 0; kind < FAILURE_KIND_COUNT; kind++) {
        expect(&policy, (enum failure_kind)kind, REQUEST_NONE, 0, OUTCOME_FAILED);
    }
}

Test(failure_policy, each_kind_has_its_own_action)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    policy.actions[FAILURE_FAILED] = FAILURE_SKIP;
    policy.actions[FAILURE_MEMORY] = FAILURE_DEAD_LETTER;
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 0, OUTCOME_RETRY);
    expect(&policy, FAILURE_FAILED, REQUEST_NONE, 0, OUTCOME_SKIPPED);
    expect(&policy, FAILURE_MEMORY, REQUEST_NONE, 0, OUTCOME_DEAD_LETTER);
    expect(&policy, FAILURE_TIMEOUT, REQUEST_NONE, 0, OUTCOME_FAILED);
}

Test(failure_policy, what_the_script_asks_for_goes_before_the_policy)
{
    static const enum failure_action ACTIONS[] = {FAILURE_STOP, FAILURE_RETRY, FAILURE_SKIP,
                                                  FAILURE_DEAD_LETTER};
    for (size_t i = 0; i < sizeof ACTIONS / sizeof ACTIONS[0]; i++) {
        struct failure_policy policy = policy_of(ACTIONS[i]);
        policy.actions[FAILURE_FAILED] = ACTIONS[i];
        expect(&policy, FAILURE_FAILED, REQUEST_RETRY, 0, OUTCOME_RETRY);
        expect(&policy, FAILURE_FAILED, REQUEST_SKIP, 0, OUTCOME_SKIPPED);
        expect(&policy, FAILURE_FAILED, REQUEST_DEAD_LETTER, 0, OUTCOME_DEAD_LETTER);
    }
}

Test(failure_policy, three_retries_make_four_attempts)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    for (uint32_t attempt = 0; attempt < 3; attempt++) {
        expect(&policy, FAILURE_RAISED, REQUEST_NONE, attempt, OUTCOME_RETRY);
        expect(&policy, FAILURE_FAILED, REQUEST_RETRY, attempt, OUTCOME_RETRY);
    }
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 3, OUTCOME_DEAD_LETTER);
    expect(&policy, FAILURE_FAILED, REQUEST_RETRY, 3, OUTCOME_DEAD_LETTER);
    policy.dead_letter_topic = NULL;
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 2, OUTCOME_RETRY);
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 3, OUTCOME_FAILED);
    expect(&policy, FAILURE_FAILED, REQUEST_RETRY, 3, OUTCOME_FAILED);
}

Test(failure_policy, no_retries_and_retries_without_bound)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    policy.max_retries = 0;
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 0, OUTCOME_DEAD_LETTER);
    policy.max_retries = RETRIES_UNBOUNDED;
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, 0, OUTCOME_RETRY);
    expect(&policy, FAILURE_RAISED, REQUEST_NONE, UINT32_MAX, OUTCOME_RETRY);
}

Test(failure_policy, a_dead_letter_without_a_topic_stops_and_says_what_to_set)
{
    struct failure_policy policy = policy_of(FAILURE_STOP);
    policy.dead_letter_topic = NULL;
    expect(&policy, FAILURE_FAILED, REQUEST_DEAD_LETTER, 0, OUTCOME_FAILED);
    struct work work;
    fail(&work, FAILURE_FAILED, REQUEST_DEAD_LETTER);
    char text[160];
    failure_policy_explain(&policy, &work, 0, text, sizeof text);
    cr_assert(strstr(text, "errors.dead.letter.queue.topic.name"), "%s", text);
}

Test(failure_policy, the_explanation_counts_attempts_from_one)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    struct work work;
    fail(&work, FAILURE_RAISED, REQUEST_NONE);
    char text[160];
    failure_policy_explain(&policy, &work, 0, text, sizeof text);
    cr_assert_str_eq(text, "");
    failure_policy_explain(&policy, &work, 3, text, sizeof text);
    cr_assert_str_eq(text, " (attempt 4)");
    failure_policy_explain(&policy, &work, 3, text, 6);
    cr_assert_str_eq(text, " (att", "cut to what fits");
}

Test(failure_policy, the_backoff_doubles_within_a_fifth_up_to_its_maximum)
{
    static const int64_t MIDDLE[] = {100, 200, 400, 800};
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    struct work work;
    fail(&work, FAILURE_RAISED, REQUEST_NONE);
    for (uint32_t attempt = 0; attempt < 4; attempt++) {
        int64_t least = INT64_MAX;
        int64_t most = 0;
        for (uint64_t seed = 0; seed < 1000; seed++) {
            int64_t delay_ms = failure_policy_delay_ms(&policy, &work, attempt, seed);
            cr_assert_eq(delay_ms, failure_policy_delay_ms(&policy, &work, attempt, seed));
            least = delay_ms < least ? delay_ms : least;
            most = delay_ms > most ? delay_ms : most;
        }
        cr_assert_eq(least, MIDDLE[attempt] * 80 / 100);
        cr_assert_eq(most, MIDDLE[attempt] * 120 / 100);
    }
    static const uint32_t LATE[] = {4, 62, 63, 64, 1000000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof LATE / sizeof LATE[0]; i++) {
        for (uint64_t seed = 0; seed < 100; seed++) {
            int64_t delay_ms = failure_policy_delay_ms(&policy, &work, LATE[i], seed);
            cr_assert_geq(delay_ms, 800);
            cr_assert_leq(delay_ms, 1000, "retry.backoff.max.ms is the longest wait");
        }
    }
}

Test(failure_policy, a_first_backoff_above_the_maximum_is_cut)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    policy.backoff_ms = 5000;
    struct work work;
    fail(&work, FAILURE_RAISED, REQUEST_NONE);
    cr_assert_leq(failure_policy_delay_ms(&policy, &work, 0, 1), 1000);
    policy.backoff_ms = 0;
    cr_assert_eq(failure_policy_delay_ms(&policy, &work, 0, 1), 0);
    cr_assert_eq(failure_policy_delay_ms(&policy, &work, UINT32_MAX, 1), 0);
}

Test(failure_policy, the_delay_that_the_script_asks_for_is_exact)
{
    struct failure_policy policy = policy_of(FAILURE_RETRY);
    struct work work;
    fail(&work, FAILURE_FAILED, REQUEST_RETRY);
    work.retry_delay_ms = 12345;
    cr_assert_eq(failure_policy_delay_ms(&policy, &work, 2, 9), 12345);
    work.retry_delay_ms = 0;
    cr_assert_eq(failure_policy_delay_ms(&policy, &work, 2, 9), 0);
    work.retry_delay_ms = RETRY_DELAY_BACKOFF;
    int64_t delay_ms = failure_policy_delay_ms(&policy, &work, 2, 9);
    cr_assert(delay_ms >= 320 && delay_ms <= 480);
    work.request = REQUEST_NONE;
    work.retry_delay_ms = 12345; /* of an earlier attempt */
    delay_ms = failure_policy_delay_ms(&policy, &work, 2, 9);
    cr_assert(delay_ms >= 320 && delay_ms <= 480);
}
