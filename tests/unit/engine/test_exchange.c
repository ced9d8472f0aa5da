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
