#include "base/spsc_ring.h"

#include <criterion/criterion.h>

static void *number(size_t value)
{
    return (void *)(value + 1);
}

static struct spsc_ring ring;

static void make_ring_of_4(void)
{
    spsc_ring_init(&ring, 4);
}

static void end_ring(void)
{
    spsc_ring_check(&ring);
    spsc_ring_fini(&ring);
}

TestSuite(spsc_ring, .init = make_ring_of_4, .fini = end_ring);

Test(spsc_ring, a_new_ring_is_empty)
{
    void *out[1];
    cr_assert(spsc_ring_is_empty(&ring));
    cr_assert_eq(spsc_ring_count(&ring), 0);
    cr_assert_eq(spsc_ring_pop(&ring, out, 1), 0);
}

Test(spsc_ring, gives_back_in_order)
{
    void *in[3] = {number(1), number(2), number(3)};
    void *out[4];
    cr_assert_eq(spsc_ring_push(&ring, in, 3), 3);
    cr_assert_eq(spsc_ring_count(&ring), 3);
    cr_assert_eq(spsc_ring_pop(&ring, out, 4), 3);
    cr_assert_eq(out[0], number(1));
    cr_assert_eq(out[1], number(2));
    cr_assert_eq(out[2], number(3));
    cr_assert(spsc_ring_is_empty(&ring));
}

Test(spsc_ring, takes_what_fits_and_says_how_many)
{
    void *in[6] = {number(1), number(2), number(3), number(4), number(5), number(6)};
    void *out[6];
    cr_assert_eq(spsc_ring_push(&ring, in, 6), 4);
    cr_assert_eq(spsc_ring_push(&ring, in + 4, 2), 0);
    cr_assert_eq(spsc_ring_pop(&ring, out, 1), 1);
    cr_assert_eq(spsc_ring_push(&ring, in + 4, 2), 1);
    cr_assert_eq(spsc_ring_pop(&ring, out, 6), 4);
    cr_assert_eq(out[3], number(5));
}

Test(spsc_ring, a_batch_may_wrap_around_the_end)
{
    void *in[3] = {number(1), number(2), number(3)};
    void *out[3];
    for (int round = 0; round < 9; round++) {
        cr_assert_eq(spsc_ring_push(&ring, in, 3), 3);
        cr_assert_eq(spsc_ring_pop(&ring, out, 3), 3);
        cr_assert_arr_eq(out, in, sizeof in);
        spsc_ring_check(&ring);
    }
}

Test(spsc_ring, empty_batches_move_nothing)
{
    void *in[1] = {number(1)};
    void *out[1];
    cr_assert_eq(spsc_ring_push(&ring, in, 0), 0);
    cr_assert_eq(spsc_ring_push(&ring, in, 1), 1);
    cr_assert_eq(spsc_ring_pop(&ring, out, 0), 0);
    cr_assert_eq(spsc_ring_count(&ring), 1);
}

Test(spsc_ring, capacity_one_works)
{
    struct spsc_ring one;
    spsc_ring_init(&one, 1);
    void *in[2] = {number(1), number(2)};
    void *out[2];
    cr_assert_eq(spsc_ring_push(&one, in, 2), 1);
    cr_assert_eq(spsc_ring_pop(&one, out, 2), 1);
    cr_assert_eq(out[0], number(1));
    spsc_ring_fini(&one);
}
