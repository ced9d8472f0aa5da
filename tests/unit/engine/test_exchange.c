#include "engine/exchange.h"

#include <criterion/criterion.h>
#include <string.h>

/* One thread is poll thread and all workers in turn. Slots are named by their sequence. */

enum { KEYS = 3, SLOTS_MAX = 16 };

struct rig {
    struct wakeup wakeup;
    struct exchange *exchange;
    struct mailbox mailboxes[KEYS];
    struct slot slots[SLOTS_MAX];
    size_t count;
};

static void start(struct rig *rig, unsigned workers)
{
    memset(rig, 0, sizeof *rig);
    wakeup_init(&rig->wakeup);
    rig->exchange = exchange_create(workers, &rig->wakeup);
}

static void end(struct rig *rig)
{
    exchange_destroy(rig->exchange);
    wakeup_fini(&rig->wakeup);
}

/* Submits a slot for each letter: a, b, c its key, '-' none. */
static void submit(struct rig *rig, const char *keys)
{
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    for (; *keys; keys++) {
        struct slot *slot = &rig->slots[rig->count];
        slot->sequence = rig->count++;
        slot->mailbox = *keys != '-' ? &rig->mailboxes[*keys - 'a'] : NULL;
        cr_assert_geq(exchange_room(rig->exchange), 1);
        exchange_submit(rig->exchange, &slot, 1);
    }
}

/* What one worker takes, as digits. */
static size_t take(struct rig *rig, struct slot **batch, size_t max, const char *expected)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    size_t count = exchange_take(rig->exchange, batch, max);
    char text[SLOTS_MAX + 1] = "";
    for (size_t i = 0; i < count; i++) {
        text[i] = (char)('0' + batch[i]->sequence);
    }
    cr_assert_str_eq(text, expected);
    return count;
}

static void give(struct rig *rig, struct slot *const *batch, size_t count)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    for (size_t i = 0; i < count; i++) {
        batch[i]->work.outcome = OUTCOME_DONE;
    }
    exchange_give(rig->exchange, batch, count);
}

/* How each one ended: 'D' done, 'R' to run again, 'U' unrun, '.' withdrawn. */
static void give_as(struct rig *rig, struct slot *const *batch, const char *outcomes)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    size_t count = strlen(outcomes);
    for (size_t i = 0; i < count; i++) {
        switch (outcomes[i]) {
        case 'D':
            batch[i]->work.outcome = OUTCOME_DONE;
            break;
        case 'R':
            batch[i]->work.outcome = OUTCOME_RETRY;
            break;
        case 'U':
            batch[i]->work.outcome = OUTCOME_UNRUN;
            break;
        default:
            batch[i]->work.outcome = OUTCOME_NONE;
        }
    }
    exchange_give(rig->exchange, batch, count);
}

/* The next attempt of a slot that came back. */
static void submit_again(struct rig *rig, int sequence)
{
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    struct slot *slot = &rig->slots[sequence];
    slot->work.outcome = OUTCOME_NONE;
    exchange_submit(rig->exchange, &slot, 1);
}

static void collect(struct rig *rig, const char *expected)
{
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    struct slot *slots[SLOTS_MAX];
    size_t count = exchange_collect(rig->exchange, slots, SLOTS_MAX);
    char text[SLOTS_MAX + 1] = "";
    for (size_t i = 0; i < count; i++) {
        text[i] = (char)('0' + slots[i]->sequence);
    }
    cr_assert_str_eq(text, expected);
}

Test(exchange, one_worker_gets_all_in_order)
{
    struct rig rig;
    struct slot *batch[SLOTS_MAX];
    start(&rig, 1);
    submit(&rig, "abca");
    size_t count = take(&rig, batch, 3, "012");
    give(&rig, batch, count);
    collect(&rig, "012");
    count = take(&rig, batch, 3, "3");
    give(&rig, batch, count);
    collect(&rig, "3");
    end(&rig);
}

Test(exchange, a_key_stays_with_its_worker_until_it_is_given_back)
{
    struct rig rig;
    struct slot *first[SLOTS_MAX], *second[SLOTS_MAX];
    start(&rig, 2);
    submit(&rig, "aab");
    size_t count = take(&rig, first, 1, "0");
    size_t other = take(&rig, second, SLOTS_MAX, "2");
    take(&rig, second + other, SLOTS_MAX - other, "");
    submit(&rig, "a");
    take(&rig, second + other, SLOTS_MAX - other, "");
    give(&rig, first, count);
    count = take(&rig, first, SLOTS_MAX, "13");
    give(&rig, second, other);
    give(&rig, first, count);
    collect(&rig, "0213");
    end(&rig);
}

Test(exchange, slots_without_a_key_go_to_whoever_is_free)
{
    struct rig rig;
    struct slot *batch[3][SLOTS_MAX];
    start(&rig, 3);
    submit(&rig, "---");
    take(&rig, batch[0], 1, "0");
    take(&rig, batch[1], 1, "1");
    take(&rig, batch[2], 1, "2");
    give(&rig, batch[2], 1);
    give(&rig, batch[0], 1);
    give(&rig, batch[1], 1);
    collect(&rig, "201");
    end(&rig);
}

Test(exchange, a_closed_one_ends_the_waits_of_workers)
{
    struct rig rig;
    start(&rig, 2);
    exchange_close(rig.exchange);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert_not(exchange_wait(rig.exchange));
    end(&rig);
}

Test(exchange, a_retry_blocks_its_key_and_others_pass)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "a");
        take(&rig, batch, SLOTS_MAX, "0");
        submit(&rig, "aab-");
        give_as(&rig, batch, "R");
        collect(&rig, "0");
        for (size_t taken = 0; taken < 2;) { /* two workers take it in shares */
            thread_role_set(ROLE_WORKER);
            thread_assert_worker();
            size_t count = exchange_take(rig.exchange, batch + taken, SLOTS_MAX - taken);
            cr_assert_gt(count, 0);
            taken += count;
        }
        cr_assert_eq(batch[0], &rig.slots[3], "the other key");
        cr_assert_eq(batch[1], &rig.slots[4], "no key");
        take(&rig, batch + 2, SLOTS_MAX - 2, "");
        give_as(&rig, batch, "DD");
        collect(&rig, "34");
        submit_again(&rig, 0);
        if (workers == 1) {
            take(&rig, batch, SLOTS_MAX, "0");
            give_as(&rig, batch, "D");
            take(&rig, batch, SLOTS_MAX, "12");
            give_as(&rig, batch, "DD");
        } else {
            take(&rig, batch, SLOTS_MAX, "012");
            give_as(&rig, batch, "DDD");
        }
        collect(&rig, "012");
        submit(&rig, "a");
        take(&rig, batch, SLOTS_MAX, "5");
        give_as(&rig, batch, "D");
        collect(&rig, "5");
        end(&rig);
    }
}

Test(exchange, what_is_withdrawn_comes_again_in_its_order)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "aaaa");
        take(&rig, batch, SLOTS_MAX, "0123");
        submit(&rig, "aa");
        give_as(&rig, batch, "DR..");
        collect(&rig, "01");
        take(&rig, batch, SLOTS_MAX, "");
        submit_again(&rig, 1);
        take(&rig, batch, 1, "1");
        give_as(&rig, batch, "D");
        take(&rig, batch, 3, "234");
        give_as(&rig, batch, "DDD");
        take(&rig, batch, 3, "5");
        give_as(&rig, batch, "D");
        collect(&rig, "12345");
        end(&rig);
    }
}

Test(exchange, a_blocker_that_fails_again_blocks_again)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "aa");
        take(&rig, batch, 2, "01");
        give_as(&rig, batch, "R.");
        for (int attempt = 0; attempt < 3; attempt++) {
            collect(&rig, "0");
            submit_again(&rig, 0);
            take(&rig, batch, 1, "0");
            give_as(&rig, batch, "R");
        }
        submit(&rig, "ba");
        take(&rig, batch, SLOTS_MAX, "2");
        give_as(&rig, batch, "D");
        collect(&rig, "02");
        take(&rig, batch, SLOTS_MAX, "");
        submit_again(&rig, 0);
        take(&rig, batch, 1, "0");
        give_as(&rig, batch, "D");
        take(&rig, batch, SLOTS_MAX, "13");
        give_as(&rig, batch, "DD");
        collect(&rig, "013");
        end(&rig);
    }
}

/* Of what waited behind a retry, one fails in turn before all are taken. */
Test(exchange, one_that_waited_may_become_the_next_blocker)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "aaaa");
        take(&rig, batch, SLOTS_MAX, "0123");
        give_as(&rig, batch, "R...");
        collect(&rig, "0");
        submit_again(&rig, 0);
        take(&rig, batch, 1, "0");
        give_as(&rig, batch, "D");
        take(&rig, batch, 2, "12");
        give_as(&rig, batch, "R.");
        take(&rig, batch, SLOTS_MAX, "");
        submit(&rig, "b");
        take(&rig, batch, SLOTS_MAX, "4");
        give_as(&rig, batch, "D");
        collect(&rig, "014");
        submit_again(&rig, 1);
        take(&rig, batch, 1, "1");
        give_as(&rig, batch, "D");
        take(&rig, batch, SLOTS_MAX, "23");
        give_as(&rig, batch, "DD");
        collect(&rig, "123");
        end(&rig);
    }
}

Test(exchange, several_keys_wait_and_go_on_each_by_itself)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "abc");
        for (size_t i = 0; i < 3; i++) {
            take(&rig, batch + i, 1, (const char *[]){"0", "1", "2"}[i]);
        }
        give_as(&rig, batch, "RRR");
        submit(&rig, "abc");
        collect(&rig, "012");
        take(&rig, batch, SLOTS_MAX, "");
        submit_again(&rig, 1);
        take(&rig, batch, 1, "1");
        give_as(&rig, batch, "D");
        take(&rig, batch, SLOTS_MAX, "4");
        give_as(&rig, batch, "D");
        submit_again(&rig, 2);
        submit_again(&rig, 0);
        /* one worker takes first what waited; two take by age, roughly */
        bool rings = workers == 1;
        take(&rig, batch, 1, "2");
        give_as(&rig, batch, "D");
        take(&rig, batch, 1, rings ? "5" : "0");
        give_as(&rig, batch, "D");
        take(&rig, batch, 1, rings ? "0" : "5");
        give_as(&rig, batch, "D");
        take(&rig, batch, 1, "3");
        give_as(&rig, batch, "D");
        collect(&rig, rings ? "142503" : "142053");
        end(&rig);
    }
}

Test(exchange, a_retry_without_a_key_blocks_nothing)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "--");
        take(&rig, batch, 1, "0");
        give_as(&rig, batch, "R");
        take(&rig, batch, 1, "1");
        give_as(&rig, batch, "D");
        collect(&rig, "01");
        submit_again(&rig, 0);
        take(&rig, batch, SLOTS_MAX, "0");
        give_as(&rig, batch, "D");
        collect(&rig, "0");
        end(&rig);
    }
}

/* In a drain nothing begins any more: the blocker and what waited come back unrun. */
Test(exchange, what_waits_comes_back_unrun_with_its_blocker)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct rig rig;
        struct slot *batch[SLOTS_MAX];
        start(&rig, workers);
        submit(&rig, "aaa");
        take(&rig, batch, SLOTS_MAX, "012");
        give_as(&rig, batch, "R.U");
        collect(&rig, "02");
        submit_again(&rig, 0);
        if (workers == 1) {
            take(&rig, batch, SLOTS_MAX, "0");
            give_as(&rig, batch, "U");
            take(&rig, batch, SLOTS_MAX, "1");
            give_as(&rig, batch, "U");
        } else {
            take(&rig, batch, SLOTS_MAX, "01");
            give_as(&rig, batch, "UU");
        }
        collect(&rig, "01");
        end(&rig);
    }
}

/* One worker takes no more than it could give back at once. */
Test(exchange, a_worker_whose_way_back_is_full_waits_for_room)
{
    enum { RING = 4096, BATCH = 256 };
    struct rig rig;
    struct slot *batch[BATCH];
    start(&rig, 1);
    struct slot *slot = &rig.slots[0]; /* without a mailbox it may be in the rings often */
    slot->work.outcome = OUTCOME_DONE;
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    for (int i = 0; i < RING; i++) {
        exchange_submit(rig.exchange, &slot, 1);
    }
    cr_assert_eq(exchange_room(rig.exchange), 0);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    for (int i = 0; i < RING / BATCH; i++) {
        cr_assert_eq(exchange_take(rig.exchange, batch, BATCH), BATCH);
        exchange_give(rig.exchange, batch, BATCH);
    }
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    exchange_submit(rig.exchange, &slot, 1);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert_eq(exchange_take(rig.exchange, batch, BATCH), 0);
    cr_assert(exchange_wait(rig.exchange), "nobody wakes it, it looks again by itself");
    cr_assert_eq(exchange_take(rig.exchange, batch, BATCH), 0);
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    struct slot *back[3];
    cr_assert_eq(exchange_collect(rig.exchange, back, 3), 3);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert_eq(exchange_take(rig.exchange, batch, BATCH), 1);
    exchange_give(rig.exchange, batch, 1);
    end(&rig);
}
