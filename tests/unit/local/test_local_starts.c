#include "local/local_starts.h"

#include <criterion/criterion.h>

Test(local_starts, a_record_is_found_until_it_is_forgotten)
{
    struct local_starts starts;
    local_starts_init(&starts, 100);
    for (int64_t offset = 100; offset < 5000; offset++) {
        local_starts_push(&starts, (uint64_t)offset * 3);
        if (offset % 7 == 0) {
            local_starts_forget(&starts, offset - 50);
        }
    }
    for (int64_t offset = 4950; offset < 5000; offset++) {
        cr_assert_eq(local_starts_find(&starts, offset), (uint64_t)offset * 3);
    }
    local_starts_forget(&starts, 5000);
    cr_assert_leq(starts.capacity, 1024, "it grows by what is not forgotten only");
    local_starts_fini(&starts);
}

Test(local_starts, it_grows_with_what_is_kept)
{
    struct local_starts starts;
    local_starts_init(&starts, 3);
    for (int64_t offset = 3; offset < 10003; offset++) {
        local_starts_push(&starts, (uint64_t)offset + 1);
    }
    for (int64_t offset = 3; offset < 10003; offset++) {
        cr_assert_eq(local_starts_find(&starts, offset), (uint64_t)offset + 1);
    }
    local_starts_fini(&starts);
}
