#include "engine/thread_groups.h"

#include <criterion/criterion.h>
#include <string.h>

Test(thread_groups, R4_seven_by_three_is_3_3_1)
{
    cr_assert_eq(thread_groups_count(7, 3), 3);
    cr_assert_eq(thread_groups_size(7, 3, 0), 3);
    cr_assert_eq(thread_groups_size(7, 3, 1), 3);
    cr_assert_eq(thread_groups_size(7, 3, 2), 1);
}

/* floor(N / K) groups of K, and one of N mod K when that is not 0: spelt out for a grid. */
Test(thread_groups, R4_holds_for_every_n_and_k)
{
    for (unsigned k = 1; k <= 40; k++) {
        for (unsigned n = k; n <= 80; n++) {
            unsigned left = n;
            unsigned index = 0;
            while (left > 0) {
                unsigned expected = left >= k ? k : left;
                cr_assert_lt(index, thread_groups_count(n, k));
                cr_assert_eq(thread_groups_size(n, k, index), expected, "N=%u K=%u", n, k);
                left -= expected;
                index++;
            }
            cr_assert_eq(thread_groups_count(n, k), index, "N=%u K=%u", n, k);
        }
    }
}

Test(thread_groups, R5_fewer_threads_than_a_task_needs_are_refused_by_name)
{
    struct error err = {.code = E_NONE};
    cr_assert(thread_groups_check(3, 3, &err));
    cr_assert_eq(err.code, E_NONE);
    cr_assert_not(thread_groups_check(2, 3, &err));
    cr_assert_eq(err.code, E_CONFIG_THREADS);
    cr_assert_not_null(strstr(err.text, "num.stream.threads = 2"));
    cr_assert_not_null(strstr(err.text, "num.threads.per.task = 3"));
    cr_assert_not(thread_groups_check(2, 0, &err));
}
