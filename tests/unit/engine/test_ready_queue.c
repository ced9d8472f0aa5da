#include "engine/ready_queue.h"

#include <criterion/criterion.h>

#include "base/memory.h"

static struct ready_queue *make(void)
{
    return memory_alloc(sizeof(struct ready_queue));
}

Test(ready_queue, an_empty_one_gives_nothing)
{
    struct ready_queue *queue = make();
    cr_assert_null(ready_queue_take(queue));
    memory_free(queue);
}

Test(ready_queue, what_is_a_bucket_older_is_taken_first)
{
    struct ready_queue *queue = make();
    struct slot slots[4] = {{.stamp = 3 * BUCKET_STAMPS},
                            {.stamp = 90 * BUCKET_STAMPS},
                            {.stamp = 0},
                            {.stamp = BUCKET_STAMPS}};
    for (int i = 0; i < 4; i++) {
        ready_queue_put(queue, &slots[i]);
    }
    cr_assert_eq(queue->count, 4);
    cr_assert_eq(ready_queue_take(queue), &slots[2]);
    cr_assert_eq(ready_queue_take(queue), &slots[3]);
    cr_assert_eq(ready_queue_take(queue), &slots[0]);
    cr_assert_eq(ready_queue_take(queue), &slots[1]);
    cr_assert_null(ready_queue_take(queue));
    memory_free(queue);
}

Test(ready_queue, neighbours_are_taken_as_they_came)
{
    struct ready_queue *queue = make();
    struct slot slots[2] = {{.stamp = 5}, {.stamp = 4}};
    ready_queue_put(queue, &slots[0]);
    ready_queue_put(queue, &slots[1]);
    cr_assert_eq(ready_queue_take(queue), &slots[0]);
    cr_assert_eq(ready_queue_take(queue), &slots[1]);
    memory_free(queue);
}

/* The buckets and the 32 bits of stamps both wrap: in each place the older one is first. */
Test(ready_queue, order_holds_where_buckets_and_stamps_wrap)
{
    struct ready_queue *queue = make();
    struct slot slots[2];
    uint32_t step = READY_BUCKETS / 2 * BUCKET_STAMPS;
    for (uint64_t stamp = 0; stamp < UINT64_C(3) << 31; stamp += step - BUCKET_STAMPS) {
        slots[0] = (struct slot){.stamp = (uint32_t)stamp + step};
        slots[1] = (struct slot){.stamp = (uint32_t)stamp};
        ready_queue_put(queue, &slots[0]);
        ready_queue_put(queue, &slots[1]);
        cr_assert_eq(ready_queue_take(queue), &slots[1], "stamp %u", slots[1].stamp);
        cr_assert_eq(ready_queue_take(queue), &slots[0], "stamp %u", slots[1].stamp);
    }
    memory_free(queue);
}
