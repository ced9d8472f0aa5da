#include "commit/commit_window.h"

#include <criterion/criterion.h>
#include <signal.h>

/* Each invariant of the header by its number. One thread is poll thread and worker in turn. */

static ASSERTS_ROLE(poll_thread) struct commit_window *make(uint32_t capacity, size_t bytes_max,
                                                            enum processing_emit emit)
{
    thread_role_set(ROLE_POLL);
    return commit_window_create(&(struct commit_window_options){
        .capacity = capacity, .bytes_max = bytes_max, .epoch = 7, .emit = emit});
}

static ON_THREAD(poll_thread) struct slot *admit(struct commit_window *win, int64_t offset,
                                                 uint16_t key)
{
    struct record rec = {.offset = offset, .value = "0123456789", .value_size = 10};
    return commit_window_admit(win, &rec, key);
}

static void run(struct slot *slot, enum outcome outcome, int emissions)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert(slot_begin(slot, 0));
    slot->work.outcome = (uint8_t)outcome;
    for (int i = 0; i < emissions; i++) {
        effects_emit(&slot->work.effects);
    }
    slot_finish(slot);
    thread_role_set(ROLE_POLL);
}

static ON_THREAD(poll_thread) struct slot *complete(struct commit_window *win, struct slot *slot)
{
    return commit_window_complete(win, 7, slot->sequence, slot->attempt);
}

/* Sends and retires all that may; returns how many slots retired. */
static ON_THREAD(poll_thread) int retire(struct commit_window *win)
{
    int count = 0;
    struct slot *slot;
    while ((slot = commit_window_next_retirable(win)) != NULL) {
        while (slot->unsent) {
            commit_window_sent(win, slot);
        }
        commit_window_retire(win, slot);
        count++;
        commit_window_check(win, true);
    }
    return count;
}

static ON_THREAD(poll_thread) int take(struct commit_window *win)
{
    struct record rec;
    int count = 0;
    while (commit_window_take_acked(win, &rec)) {
        count++;
        commit_window_check(win, true);
    }
    return count;
}

static ON_THREAD(poll_thread) void end(struct commit_window *win)
{
    struct record rec;
    commit_window_set_mode(win, WINDOW_DEAD);
    commit_window_forget(win);
    while (commit_window_take_abandoned(win, &rec)) {
    }
    commit_window_destroy(win);
}

Test(commit_window, I1_commit_pos_is_the_head_or_one_past_the_last)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    cr_assert_eq(commit_window_commit_pos(win), POSITION_NONE);
    struct slot *a = admit(win, 10, 0);
    struct slot *b = admit(win, 17, 1);
    cr_assert_eq(commit_window_commit_pos(win), 10);
    run(a, OUTCOME_DONE, 0);
    cr_assert_eq(complete(win, a), a);
    retire(win);
    take(win);
    cr_assert_eq(commit_window_commit_pos(win), 17, "the gap is passed with the head");
    run(b, OUTCOME_DONE, 0);
    complete(win, b);
    retire(win);
    take(win);
    cr_assert_eq(commit_window_commit_pos(win), 18);
    admit(win, 30, 0);
    cr_assert_eq(commit_window_commit_pos(win), 30);
    end(win);
}

Test(commit_window, I1_commit_pos_never_passes_an_unacked_slot)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    run(a, OUTCOME_DONE, 2);
    run(b, OUTCOME_DONE, 1);
    complete(win, b);
    complete(win, a);
    cr_assert_eq(retire(win), 2);
    commit_window_ack(win, 7, b->sequence, false);
    commit_window_ack(win, 7, a->sequence, false);
    cr_assert_eq(take(win), 0, "a has one of two reports");
    cr_assert_eq(commit_window_commit_pos(win), 0);
    commit_window_ack(win, 7, a->sequence, false);
    cr_assert_eq(take(win), 2);
    cr_assert_eq(commit_window_commit_pos(win), 2);
    end(win);
}

Test(commit_window, I2_committed_pos_never_falls)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 5, 0);
    run(a, OUTCOME_DONE, 0);
    complete(win, a);
    retire(win);
    cr_assert_not(commit_window_is_dirty(win));
    take(win);
    cr_assert(commit_window_is_dirty(win));
    commit_window_committed(win, 6);
    cr_assert_not(commit_window_is_dirty(win));
    commit_window_committed(win, 5);
    cr_assert_eq(commit_window_committed_pos(win), 6);
    end(win);
}

Test(commit_window, I3_held_from_full_until_below_three_quarters)
{
    struct commit_window *win = make(4, 1 << 20, EMIT_INPUT);
    struct slot *slots[4];
    for (int i = 0; i < 4; i++) {
        slots[i] = admit(win, i, (uint16_t)i);
        cr_assert_not_null(slots[i]);
    }
    cr_assert(commit_window_is_held(win));
    cr_assert_null(admit(win, 4, 0));
    for (int i = 0; i < 2; i++) {
        run(slots[i], OUTCOME_DONE, 0);
        complete(win, slots[i]);
        retire(win);
        take(win);
        cr_assert_eq(commit_window_is_held(win), i == 0, "%d slots are left", 3 - i);
    }
    cr_assert_eq(commit_window_room(win), 2);
    end(win);
}

Test(commit_window, I3_bytes_exceed_the_limit_by_one_record_at_most)
{
    struct commit_window *win = make(64, 25, EMIT_INPUT);
    cr_assert_not_null(admit(win, 0, 0));
    cr_assert_not_null(admit(win, 1, 0));
    cr_assert_not_null(admit(win, 2, 0), "20 bytes are below 25");
    cr_assert_null(admit(win, 3, 0));
    cr_assert_eq(commit_window_bytes(win), 30);
    end(win);
}

Test(commit_window, I4_abandoned_slots_give_each_record_back_once)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 3, 0);
    admit(win, 4, 1);
    run(a, OUTCOME_DONE, 1);
    commit_window_set_mode(win, WINDOW_DEAD);
    cr_assert_null(complete(win, a));
    cr_assert_eq(commit_window_counts(win).late, 1);
    commit_window_complete(win, 7, 1, 0);
    struct record rec;
    cr_assert(commit_window_take_abandoned(win, &rec));
    cr_assert_eq(rec.offset, 3);
    cr_assert(commit_window_take_abandoned(win, &rec));
    cr_assert_eq(rec.offset, 4);
    cr_assert_not(commit_window_take_abandoned(win, &rec));
    commit_window_destroy(win);
}

static void begin_on(struct slot *slot, uint16_t worker)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert(slot_begin(slot, worker));
    thread_role_set(ROLE_POLL);
}

Test(commit_window, I5_one_worker_may_have_several_slots_of_a_key)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    for (int64_t offset = 0; offset < 2; offset++) {
        begin_on(admit(win, offset, 5), 1);
    }
    begin_on(admit(win, 2, 6), 2);
    begin_on(admit(win, 3, NO_KEY), 3);
    begin_on(admit(win, 4, NO_KEY), 4);
    commit_window_check(win, true);
    end(win);
}

Test(commit_window, I5_a_key_at_two_workers_at_once_aborts_the_check, .signal = SIGABRT)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    begin_on(admit(win, 0, 5), 1);
    begin_on(admit(win, 1, 5), 2);
    commit_window_check(win, true);
}

Test(commit_window, I5_a_key_out_of_turn_aborts_the_check, .signal = SIGABRT)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    admit(win, 0, 5);
    begin_on(admit(win, 1, 5), 1);
    commit_window_check(win, true);
}

Test(commit_window, I6_with_emit_input_slots_retire_in_sequence)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    run(b, OUTCOME_DONE, 0);
    complete(win, b);
    cr_assert_null(commit_window_next_retirable(win), "a has not completed");
    run(a, OUTCOME_DONE, 0);
    cr_assert_null(commit_window_next_retirable(win), "nobody told the poll thread yet");
    complete(win, a);
    cr_assert_eq(commit_window_next_retirable(win), a);
    cr_assert_eq(retire(win), 2);
    end(win);
}

Test(commit_window, with_emit_completion_slots_retire_as_they_complete)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_COMPLETION);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    run(b, OUTCOME_DONE, 0);
    complete(win, b);
    cr_assert_eq(commit_window_next_retirable(win), b);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 0, "the offset still waits for a");
    run(a, OUTCOME_DONE, 0);
    complete(win, a);
    retire(win);
    cr_assert_eq(take(win), 2);
    end(win);
}

Test(commit_window, I7_what_is_not_current_changes_a_counter_only)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 1);
    cr_assert_null(commit_window_complete(win, 6, 0, 0), "another epoch");
    cr_assert_null(commit_window_complete(win, 7, 1, 0), "no such slot");
    cr_assert_null(commit_window_complete(win, 7, 0, 1), "another attempt");
    cr_assert_eq(commit_window_outstanding(win), 1);
    cr_assert_eq(complete(win, a), a);
    cr_assert_null(complete(win, a), "twice");
    cr_assert_null(commit_window_ack(win, 7, 0, false), "nothing was sent");
    retire(win);
    cr_assert_null(commit_window_ack(win, 8, 0, false));
    cr_assert_eq(commit_window_undelivered(win), 1);
    cr_assert_eq(commit_window_counts(win).late, 6);
    commit_window_check(win, true);
    end(win);
}

Test(commit_window, I10_a_failed_record_is_never_passed)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    run(a, OUTCOME_FAILED, 0);
    run(b, OUTCOME_DONE, 0);
    complete(win, a);
    complete(win, b);
    cr_assert_null(commit_window_next_retirable(win));
    cr_assert(commit_window_is_quiet(win), "as drained as it gets");
    cr_assert_eq(take(win), 0);
    cr_assert_eq(commit_window_commit_pos(win), 0);
    end(win);
}

Test(commit_window, I10_a_failed_delivery_is_never_passed)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 2);
    complete(win, a);
    retire(win);
    cr_assert_eq(commit_window_ack(win, 7, 0, true), a);
    cr_assert_eq(commit_window_ack(win, 7, 0, false), a);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(take(win), 0);
    end(win);
}

Test(commit_window, a_refused_emission_stops_its_record)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 2);
    complete(win, a);
    commit_window_sent(win, a);
    commit_window_refuse(win, a);
    cr_assert_null(commit_window_next_retirable(win));
    cr_assert_not(commit_window_is_quiet(win), "one report is to come");
    commit_window_ack(win, 7, 0, false);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(take(win), 0);
    end(win);
}

Test(commit_window, a_draining_window_starts_nothing_and_finishes_what_runs)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert(slot_begin(a, 0));
    thread_role_set(ROLE_POLL);
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_null(admit(win, 2, 0));
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    cr_assert_not(slot_begin(b, 1));
    a->work.outcome = OUTCOME_DONE;
    slot_finish(a);
    thread_role_set(ROLE_POLL);
    cr_assert_eq(complete(win, b), b);
    cr_assert_eq(b->work.outcome, OUTCOME_UNRUN);
    complete(win, a);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 1);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(commit_window_commit_pos(win), 1, "b will be read again");
    end(win);
}

static bool begins(struct slot *slot)
{
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    bool begun = slot_begin(slot, 0);
    thread_role_set(ROLE_POLL);
    return begun;
}

Test(commit_window, a_drain_after_a_failure_begins_what_lies_before_it)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *slots[5];
    for (int i = 0; i < 5; i++) {
        slots[i] = admit(win, i, (uint16_t)i);
    }
    run(slots[3], OUTCOME_FAILED, 0);
    complete(win, slots[3]);
    cr_assert(commit_window_stop_at(win, slots[3]));
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_not(begins(slots[4]));
    run(slots[1], OUTCOME_FAILED, 0);
    complete(win, slots[1]);
    cr_assert(commit_window_stop_at(win, slots[1]), "an earlier one");
    cr_assert_not(begins(slots[2]), "between the two");
    cr_assert_not(commit_window_stop_at(win, slots[3]), "a later one");
    run(slots[0], OUTCOME_DONE, 0);
    complete(win, slots[0]);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 1);
    cr_assert_eq(commit_window_commit_pos(win), 1, "a restart begins at the failed record");
    end(win);
}

Test(commit_window, a_failure_during_a_drain_begins_nothing)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    cr_assert(begins(b));
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_not(begins(a));
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    b->work.outcome = OUTCOME_FAILED;
    slot_finish(b);
    thread_role_set(ROLE_POLL);
    complete(win, b);
    cr_assert(commit_window_stop_at(win, b));
    cr_assert_not(begins(a), "its key may have been given back unrun");
    end(win);
}

Test(commit_window, with_emit_completion_a_drain_begins_what_lies_before_what_began)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_COMPLETION);
    struct slot *slots[5];
    for (int i = 0; i < 5; i++) {
        slots[i] = admit(win, i, (uint16_t)i);
    }
    run(slots[1], OUTCOME_DONE, 1);
    run(slots[3], OUTCOME_DONE, 1);
    complete(win, slots[3]);
    cr_assert_eq(retire(win), 1, "its output has left");
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_not(begins(slots[4]));
    cr_assert_not(commit_window_is_quiet(win), "0 and 2 are still to begin");
    run(slots[2], OUTCOME_FAILED, 0);
    complete(win, slots[2]);
    cr_assert(commit_window_stop_at(win, slots[2]));
    complete(win, slots[1]);
    run(slots[0], OUTCOME_DONE, 0);
    complete(win, slots[0]);
    cr_assert_eq(retire(win), 2);
    end(win);
}

Test(commit_window, a_failure_in_such_a_drain_begins_nothing_behind_it)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_COMPLETION);
    struct slot *slots[4];
    for (int i = 0; i < 4; i++) {
        slots[i] = admit(win, i, (uint16_t)i);
    }
    run(slots[3], OUTCOME_DONE, 0);
    complete(win, slots[3]);
    commit_window_set_mode(win, WINDOW_DRAIN);
    run(slots[1], OUTCOME_FAILED, 0);
    complete(win, slots[1]);
    cr_assert(commit_window_stop_at(win, slots[1]));
    cr_assert_not(begins(slots[2]), "no commit can pass it");
    cr_assert(begins(slots[0]));
    end(win);
}

Test(commit_window, a_drain_does_not_wait_for_what_never_begins)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 0);
    cr_assert_not(commit_window_is_quiet(win));
    cr_assert(begins(a));
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_not(commit_window_is_quiet(win), "one runs");
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    a->work.outcome = OUTCOME_DONE;
    slot_finish(a);
    thread_role_set(ROLE_POLL);
    cr_assert_not(commit_window_is_quiet(win), "it has run and is on its way back");
    complete(win, a);
    retire(win);
    take(win);
    cr_assert(commit_window_is_quiet(win), "the other may lie behind another partition's");
    cr_assert_not(begins(b));
    end(win);
}

Test(commit_window, an_offset_at_or_below_the_last_one_is_a_regression)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    cr_assert_not(commit_window_regressed(win, 0));
    admit(win, 5, 0);
    cr_assert(commit_window_regressed(win, 4));
    cr_assert(commit_window_regressed(win, 5), "the same offset again is one as well");
    cr_assert_not(commit_window_regressed(win, 6));
    end(win);
}

Test(commit_window, it_is_quiet_when_its_commit_position_is_final)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 1);
    complete(win, a);
    retire(win);
    commit_window_ack(win, 7, 0, false);
    cr_assert_not(commit_window_is_quiet(win), "the acked head still moves commit_pos");
    cr_assert_eq(take(win), 1);
    cr_assert(commit_window_is_quiet(win));
    end(win);
}

/* --- failed records that do not stop the partition ------------------------------------------- */

/* One attempt that fails and will be tried again; the slot waits afterwards. */
static ON_THREAD(poll_thread) void fail_once(struct commit_window *win, struct slot *slot)
{
    run(slot, OUTCOME_RETRY, 0);
    slot->work.reason = arena_copy(&slot->work.effects.arena, "no", 2);
    cr_assert_eq(complete(win, slot), slot);
    uint32_t waiting = commit_window_waiting(win);
    commit_window_wait(win, slot);
    cr_assert_eq(commit_window_waiting(win), waiting + 1);
    commit_window_check(win, true);
}

Test(commit_window, I10_a_slot_that_waits_is_not_passed_and_passes_when_it_is_through)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    fail_once(win, a);
    cr_assert_eq(slot_get_state(a), SLOT_WAITING);
    cr_assert_eq(commit_window_waiting(win), 1);
    cr_assert_eq(commit_window_outstanding(win), 1);
    cr_assert_null(a->work.reason, "what it leaves is dropped");
    run(b, OUTCOME_DONE, 0);
    complete(win, b);
    cr_assert_null(commit_window_next_retirable(win));
    cr_assert_eq(take(win), 0);
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        commit_window_retry(win, a);
        cr_assert_eq(a->attempt, attempt);
        cr_assert_eq(commit_window_waiting(win), 0);
        cr_assert_eq(commit_window_outstanding(win), 1);
        commit_window_check(win, true);
        if (attempt == 1) {
            fail_once(win, a);
        }
    }
    run(a, OUTCOME_DONE, 1);
    cr_assert_eq(complete(win, a), a);
    cr_assert_eq(retire(win), 2);
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 2);
    cr_assert_eq(commit_window_commit_pos(win), 2);
    end(win);
}

Test(commit_window, with_emit_completion_others_leave_past_one_that_waits)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_COMPLETION);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    fail_once(win, a);
    run(b, OUTCOME_DONE, 0);
    complete(win, b);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 0, "the offset waits for a");
    commit_window_retry(win, a);
    run(a, OUTCOME_DONE, 0);
    complete(win, a);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 2);
    end(win);
}

Test(commit_window, I7_the_completion_of_an_older_attempt_is_dropped)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    fail_once(win, a);
    cr_assert_null(commit_window_complete(win, 7, 0, 0), "it waits, nobody has it");
    commit_window_retry(win, a);
    cr_assert_null(commit_window_complete(win, 7, 0, 0), "of the first attempt");
    cr_assert_eq(commit_window_outstanding(win), 1, "the second attempt is still on its way");
    cr_assert_eq(commit_window_counts(win).late, 2);
    run(a, OUTCOME_DONE, 0);
    cr_assert_null(commit_window_complete(win, 7, 0, 0));
    cr_assert_eq(commit_window_complete(win, 7, 0, 1), a);
    cr_assert_eq(commit_window_counts(win).late, 3);
    end(win);
}

Test(commit_window, I5_begun_behind_one_that_waits_aborts_the_check, .signal = SIGABRT)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    fail_once(win, admit(win, 0, 5));
    begin_on(admit(win, 1, 5), 1);
    commit_window_check(win, true);
}

Test(commit_window, I5_another_key_begins_beside_one_that_waits)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    fail_once(win, admit(win, 0, 5));
    begin_on(admit(win, 1, 6), 1);
    begin_on(admit(win, 2, NO_KEY), 2);
    commit_window_check(win, true);
    end(win);
}

Test(commit_window, what_is_withdrawn_is_on_its_way_and_runs_later)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 5);
    int box;
    a->mailbox = (struct mailbox *)(void *)&box; /* the window never looks into it */
    begin_on(a, 0);
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    slot_withdraw(a);
    thread_role_set(ROLE_POLL);
    cr_assert_eq(slot_get_state(a), SLOT_ADMITTED);
    cr_assert_eq(commit_window_outstanding(win), 1);
    commit_window_check(win, true);
    run(a, OUTCOME_DONE, 0);
    cr_assert_eq(complete(win, a), a);
    cr_assert_eq(retire(win), 1);
    end(win);
}

Test(commit_window, skipped_records_and_dead_letters_retire_in_their_turn)
{
    for (int emit = EMIT_INPUT; emit <= EMIT_COMPLETION; emit++) {
        struct commit_window *win = make(8, 1 << 20, (enum processing_emit)emit);
        struct slot *a = admit(win, 0, 0);
        struct slot *b = admit(win, 1, 1);
        run(a, OUTCOME_SKIPPED, 0);
        run(b, OUTCOME_DEAD_LETTER, 1);
        complete(win, a);
        complete(win, b);
        cr_assert_not(a->last_resort);
        cr_assert(b->last_resort, "nothing stands behind a dead letter");
        cr_assert_eq(retire(win), 2);
        cr_assert_eq(take(win), 1, "the letter has no report yet");
        commit_window_ack(win, 7, 1, false);
        cr_assert_eq(take(win), 1);
        cr_assert_eq(commit_window_commit_pos(win), 2);
        end(win);
    }
}

Test(commit_window, a_retried_slot_that_is_done_is_no_last_resort)
{
    struct commit_window *win = make(2, 1 << 20, EMIT_INPUT);
    for (int64_t offset = 0; offset < 6; offset++) { /* slots are used again */
        struct slot *slot = admit(win, offset, 0);
        run(slot, offset % 2 ? OUTCOME_DONE : OUTCOME_DEAD_LETTER, 1);
        complete(win, slot);
        cr_assert_eq(slot->last_resort, offset % 2 == 0);
        retire(win);
        commit_window_ack(win, 7, (uint64_t)offset, false);
        cr_assert_eq(take(win), 1);
    }
    end(win);
}

Test(commit_window, a_dropped_emission_is_left_out_and_the_others_leave)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 3);
    complete(win, a);
    commit_window_sent(win, a);
    commit_window_drop(win, a);
    cr_assert_not_null(a->unsent);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(commit_window_undelivered(win), 2);
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 0);
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 1);
    end(win);
}

Test(commit_window, a_lost_record_passes_only_behind_its_letter)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    run(a, OUTCOME_DONE, 3);
    run(b, OUTCOME_DONE, 0);
    complete(win, a);
    complete(win, b);
    commit_window_sent(win, a);
    commit_window_lose(win, a);
    cr_assert_null(a->unsent, "the third is not tried");
    cr_assert_eq(retire(win), 2, "what lies behind it leaves");
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 0);
    effects_emit(&a->work.effects);
    commit_window_send_letter(win, a);
    cr_assert_eq(a->unsent, a->work.effects.last);
    cr_assert(a->last_resort);
    commit_window_sent(win, a);
    commit_window_forgive(win, a);
    cr_assert_eq(take(win), 0, "the letter has no report yet");
    cr_assert_not(commit_window_is_quiet(win));
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 2);
    end(win);
}

Test(commit_window, a_letter_that_fails_is_never_passed)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DEAD_LETTER, 1);
    complete(win, a);
    retire(win);
    commit_window_ack(win, 7, 0, true);
    cr_assert_eq(take(win), 0);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(commit_window_commit_pos(win), 0);
    end(win);
}

Test(commit_window, a_forgiven_slot_still_waits_for_its_other_reports)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    run(a, OUTCOME_DONE, 3);
    complete(win, a);
    retire(win);
    commit_window_ack(win, 7, 0, true);
    commit_window_forgive(win, a);
    commit_window_ack(win, 7, 0, false);
    cr_assert_eq(take(win), 0);
    commit_window_ack(win, 7, 0, true);
    cr_assert_eq(take(win), 0, "the last one failed too, and is not forgiven");
    commit_window_forgive(win, a);
    cr_assert_eq(take(win), 1);
    end(win);
}

/* What waits behind a waiting slot comes back only when that slot goes its way again. */
Test(commit_window, a_drain_is_not_quiet_while_a_slot_waits)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    fail_once(win, a);
    cr_assert_not(commit_window_is_quiet(win));
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert_not(commit_window_is_quiet(win));
    commit_window_retry(win, a);
    cr_assert(commit_window_is_quiet(win), "it cannot begin any more");
    cr_assert_not(begins(a));
    cr_assert_eq(complete(win, a), a);
    cr_assert_eq(a->work.outcome, OUTCOME_UNRUN);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(commit_window_commit_pos(win), 0, "it will be read again");
    commit_window_check(win, true);
    end(win);
}

Test(commit_window, a_drain_after_a_failure_retries_what_lies_before_it)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *a = admit(win, 0, 0);
    struct slot *b = admit(win, 1, 1);
    struct slot *c = admit(win, 2, 2);
    fail_once(win, a);
    fail_once(win, c);
    run(b, OUTCOME_FAILED, 0);
    complete(win, b);
    commit_window_stop_at(win, b);
    commit_window_set_mode(win, WINDOW_DRAIN);
    cr_assert(slot_may_begin(a));
    cr_assert_not(slot_may_begin(c));
    commit_window_retry(win, a);
    commit_window_retry(win, c);
    cr_assert_not(begins(c));
    complete(win, c);
    run(a, OUTCOME_DONE, 0);
    complete(win, a);
    cr_assert_eq(retire(win), 1);
    cr_assert_eq(take(win), 1);
    cr_assert(commit_window_is_quiet(win));
    cr_assert_eq(commit_window_commit_pos(win), 1);
    end(win);
}

Test(commit_window, in_a_dead_window_retries_come_back_and_end)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    struct slot *waiting = admit(win, 0, 0);
    struct slot *running = admit(win, 1, 1);
    struct slot *through = admit(win, 2, 2);
    fail_once(win, waiting);
    run(running, OUTCOME_RETRY, 0);
    run(through, OUTCOME_SKIPPED, 0);
    commit_window_set_mode(win, WINDOW_DEAD);
    cr_assert_null(complete(win, through));
    cr_assert_eq(complete(win, running), running, "something may wait behind it");
    commit_window_wait(win, running);
    cr_assert_eq(commit_window_counts(win).late, 2);
    cr_assert_eq(commit_window_waiting(win), 2);
    struct slot *slots[] = {waiting, running};
    for (int i = 0; i < 2; i++) {
        commit_window_retry(win, slots[i]);
        cr_assert_not(begins(slots[i]));
        cr_assert_null(complete(win, slots[i]));
    }
    cr_assert_eq(commit_window_waiting(win), 0);
    cr_assert_eq(commit_window_outstanding(win), 0);
    struct record rec;
    for (int64_t offset = 0; offset < 3; offset++) {
        cr_assert(commit_window_take_abandoned(win, &rec));
        cr_assert_eq(rec.offset, offset);
    }
    commit_window_destroy(win);
}

Test(commit_window, a_dead_window_with_a_waiting_slot_is_not_gone, .signal = SIGABRT)
{
    struct commit_window *win = make(8, 1 << 20, EMIT_INPUT);
    fail_once(win, admit(win, 0, 0));
    commit_window_set_mode(win, WINDOW_DEAD);
    struct record rec;
    commit_window_take_abandoned(win, &rec);
}
