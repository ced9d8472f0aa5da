#include "engine/retry_queue.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1000 };

/* Slots of a window that wait; in a drain those from `failed` on may not begin. */
struct rig {
    struct commit_window *window;
    struct slot *slots[SLOTS];
    struct retry_queue queue;
};

/* The next slot of the window, after a failed attempt. */
static ON_THREAD(poll_thread) struct slot *make_waiting(struct commit_window *win, int64_t offset)
{
    struct record rec = {.offset = offset};
    struct slot *slot = commit_window_admit(win, &rec, NO_KEY);
    cr_assert_not_null(slot);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert(slot_begin(slot, 0));
    slot->work.outcome = OUTCOME_RETRY;
    slot_finish(slot);
    thread_role_set(ROLE_POLL);
    cr_assert_eq(commit_window_complete(win, 0, slot->sequence, 0), slot);
    commit_window_wait(win, slot);
    return slot;
}

static ASSERTS_ROLE(poll_thread) void start(struct rig *rig, size_t count)
{
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    memset(rig, 0, sizeof *rig);
    rig->window = commit_window_create(&(struct commit_window_options){
        .capacity = 1024, .bytes_max = 1 << 20, .emit = EMIT_INPUT});
    for (size_t i = 0; i < count; i++) {
        rig->slots[i] = make_waiting(rig->window, (int64_t)i);
    }
}

static ON_THREAD(poll_thread) void end(struct rig *rig)
{
    struct record rec;
    commit_window_set_mode(rig->window, WINDOW_DEAD);
    commit_window_forget(rig->window);
    while (commit_window_take_abandoned(rig->window, &rec)) {
    }
    commit_window_destroy(rig->window);
    retry_queue_fini(&rig->queue);
}

Test(retry_queue, an_empty_one_has_nothing_and_nothing_due)
{
    struct retry_queue queue = {0};
    cr_assert_eq(retry_queue_due_ms(&queue), INT64_MAX);
    cr_assert_null(retry_queue_take(&queue));
    cr_assert_null(retry_queue_take_stopped(&queue));
    retry_queue_fini(&queue);
}

Test(retry_queue, the_earliest_comes_first_and_equals_by_sequence)
{
    static const int64_t DUE_MS[] = {50, 20, 50, 10, 20, 50, 0};
    static const size_t ORDER[] = {6, 3, 1, 4, 0, 2, 5};
    enum { COUNT = sizeof DUE_MS / sizeof DUE_MS[0] };
    struct rig rig;
    start(&rig, COUNT);
    for (size_t i = COUNT; i-- > 0;) {
        retry_queue_put(&rig.queue, rig.slots[i], DUE_MS[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(retry_queue_due_ms(&rig.queue), DUE_MS[ORDER[i]]);
        cr_assert_eq(retry_queue_take(&rig.queue), rig.slots[ORDER[i]]);
    }
    cr_assert_null(retry_queue_take(&rig.queue));
    end(&rig);
}

Test(retry_queue, it_grows_and_keeps_its_order)
{
    static struct rig rig;
    start(&rig, SLOTS);
    srand(408);
    static int64_t due_ms[SLOTS];
    for (size_t i = 0; i < SLOTS; i++) {
        due_ms[i] = rand() % 100;
        retry_queue_put(&rig.queue, rig.slots[i], due_ms[i]);
        if (i % 3 == 2) { /* what is taken in between and comes again makes no second entry */
            int64_t due = retry_queue_due_ms(&rig.queue);
            struct slot *slot = retry_queue_take(&rig.queue);
            cr_assert_eq(due, due_ms[slot->sequence]);
            due_ms[slot->sequence] = due + rand() % 100;
            retry_queue_put(&rig.queue, slot, due_ms[slot->sequence]);
        }
    }
    cr_assert_eq(rig.queue.count, SLOTS);
    int64_t last_ms = -1;
    uint64_t last = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *slot = retry_queue_take(&rig.queue);
        int64_t due = due_ms[slot->sequence];
        cr_assert(due > last_ms || (due == last_ms && slot->sequence > last));
        last_ms = due;
        last = slot->sequence;
    }
    cr_assert_eq(rig.queue.count, 0);
    end(&rig);
}

Test(retry_queue, in_a_drain_what_may_not_begin_is_taken_before_it_is_due)
{
    struct rig rig;
    start(&rig, 6);
    for (size_t i = 0; i < 6; i++) {
        retry_queue_put(&rig.queue, rig.slots[i], (int64_t)(100 - 10 * i));
    }
    cr_assert_null(retry_queue_take_stopped(&rig.queue), "all may begin");
    commit_window_stop_at(rig.window, rig.slots[3]);
    commit_window_set_mode(rig.window, WINDOW_DRAIN);
    bool taken[6] = {false};
    for (int i = 0; i < 3; i++) {
        struct slot *slot = retry_queue_take_stopped(&rig.queue);
        cr_assert_not_null(slot);
        cr_assert_geq(slot->sequence, 3, "what lies before the failed record waits on");
        cr_assert_not(taken[slot->sequence]);
        taken[slot->sequence] = true;
    }
    cr_assert_null(retry_queue_take_stopped(&rig.queue));
    cr_assert_eq(retry_queue_due_ms(&rig.queue), 80);
    for (size_t i = 3; i-- > 0;) {
        cr_assert_eq(retry_queue_take(&rig.queue), rig.slots[i], "and keeps its order");
    }
    end(&rig);
}

Test(retry_queue, taking_from_the_middle_keeps_the_heap)
{
    static struct rig rig;
    start(&rig, 200);
    srand(7);
    for (size_t i = 0; i < 200; i++) {
        retry_queue_put(&rig.queue, rig.slots[i], rand() % 50);
    }
    commit_window_stop_at(rig.window, rig.slots[100]);
    commit_window_set_mode(rig.window, WINDOW_DRAIN);
    size_t stopped = 0;
    while (retry_queue_take_stopped(&rig.queue)) {
        stopped++;
    }
    cr_assert_eq(stopped, 100);
    int64_t last_ms = -1;
    for (size_t i = 0; i < 100; i++) {
        int64_t due = retry_queue_due_ms(&rig.queue);
        cr_assert_geq(due, last_ms);
        last_ms = due;
        cr_assert_lt(retry_queue_take(&rig.queue)->sequence, 100);
    }
    end(&rig);
}
