#include "metrics/worker_metrics.h"

#include <criterion/criterion.h>

static struct worker_metrics metrics;
static struct worker_reading reading;

Test(worker_metrics, a_new_worker_is_idle_with_nothing_at_hand)
{
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.state, WORKER_IDLE);
    cr_assert_null(reading.at_hand.topic);
    cr_assert_eq(reading.done, 0);
}

Test(worker_metrics, shows_the_first_record_of_the_batch_while_it_runs)
{
    worker_metrics_set_state(&metrics, WORKER_TAKING);
    worker_metrics_begin(&metrics, "orders", 3, 1200, 5000);
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.state, WORKER_RUNNING);
    cr_assert_str_eq(reading.at_hand.topic, "orders");
    cr_assert_eq(reading.at_hand.partition, 3);
    cr_assert_eq(reading.at_hand.offset, 1200);
    cr_assert_eq(reading.at_hand.since_ns, 5000);
    cr_assert_eq(reading.busy_ns, 0);
}

Test(worker_metrics, counts_what_a_batch_did_and_how_long_it_took)
{
    worker_metrics_begin(&metrics, "orders", 3, 1200, 5000);
    worker_metrics_end(&metrics, 14, 2, 5700);
    worker_metrics_begin(&metrics, "orders", 3, 1216, 6000);
    worker_metrics_end(&metrics, 1, 0, 6001);
    worker_metrics_set_state(&metrics, WORKER_CLOSED);
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.state, WORKER_CLOSED);
    cr_assert_eq(reading.done, 15);
    cr_assert_eq(reading.failed, 2);
    cr_assert_eq(reading.batches, 2);
    cr_assert_eq(reading.busy_ns, 701);
    cr_assert_null(reading.at_hand.topic);
}

Test(worker_metrics, states_have_names)
{
    cr_assert_str_eq(worker_state_name(WORKER_IDLE), "idle");
    cr_assert_str_eq(worker_state_name(WORKER_TAKING), "taking");
    cr_assert_str_eq(worker_state_name(WORKER_RUNNING), "running");
    cr_assert_str_eq(worker_state_name(WORKER_CLOSED), "closed");
}

Test(worker_metrics, a_batch_counts_its_records_as_equal_parts)
{
    worker_metrics_begin(&metrics, "t", 0, 0, 1000);
    worker_metrics_end(&metrics, 3, 1, 1000 + 4 * 30000);
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.run_time.count, 4);
    cr_assert_eq(reading.run_time.sum, 4 * 30000);
    cr_assert_eq(reading.run_time.counts[3], 4, "30 us lie between 10 and 50");
}

Test(worker_metrics, what_the_poll_thread_located_is_at_hand)
{
    worker_metrics_begin(&metrics, "t", 0, 100, 1000);
    worker_metrics_locate(
        &metrics,
        &(struct record_place){
            .topic = "t", .partition = 0, .offset = 107, .since_ns = 1500, .batch_ns = 1000});
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.at_hand.offset, 107);
    cr_assert_eq(reading.at_hand.since_ns, 1500);
}

Test(worker_metrics, what_was_located_ends_with_its_batch)
{
    struct record_place place = {
        .topic = "t", .partition = 0, .offset = 107, .since_ns = 1500, .batch_ns = 1000};
    worker_metrics_begin(&metrics, "t", 0, 100, 1000);
    worker_metrics_locate(&metrics, &place);
    worker_metrics_end(&metrics, 9, 0, 2000);
    worker_metrics_read(&metrics, &reading);
    cr_assert_null(reading.at_hand.topic);
    worker_metrics_begin(&metrics, "t", 0, 109, 2000);
    worker_metrics_read(&metrics, &reading);
    cr_assert_eq(reading.at_hand.offset, 109);
    cr_assert_eq(reading.at_hand.since_ns, 2000);
}
