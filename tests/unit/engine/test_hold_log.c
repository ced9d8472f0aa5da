#include "engine/hold_log.h"

#include <criterion/criterion.h>

#include "base/log.h"

static const struct source_partition where = {.topic = "t", .partition = 0};
static struct hold_log notes;

static void begin(void)
{
    log_set_level(LOG_LEVEL_ERROR);
}

TestSuite(hold_log, .init = begin);

Test(hold_log, a_hold_is_told_when_it_has_lasted_a_second_and_once)
{
    cr_assert_not(hold_log_note(&notes, HOLD_RECORDS, &where, 8, 100));
    cr_assert_not(hold_log_note(&notes, HOLD_RECORDS, &where, 8, 1099));
    cr_assert(hold_log_note(&notes, HOLD_RECORDS, &where, 8, 1100));
    cr_assert_not(hold_log_note(&notes, HOLD_RECORDS, &where, 8, 500000));
}

Test(hold_log, a_window_that_fills_and_empties_is_no_news)
{
    for (int64_t now_ms = 0; now_ms < 100000; now_ms += 200) {
        enum hold_reason reason = now_ms % 400 ? HOLD_BYTES : HOLD_NONE;
        cr_assert_not(hold_log_note(&notes, reason, &where, 8, now_ms));
    }
}

Test(hold_log, again_and_again_is_told_once_a_minute)
{
    int told = 0;
    for (int64_t now_ms = 0; now_ms < 180000; now_ms += 100) {
        enum hold_reason reason = now_ms % 3000 ? HOLD_BYTES : HOLD_NONE;
        told += hold_log_note(&notes, reason, &where, 8, now_ms);
    }
    cr_assert_eq(told, 3);
}

Test(hold_log, a_drain_is_no_hold_of_its_own)
{
    cr_assert_not(hold_log_note(&notes, HOLD_DRAIN, &where, 8, 0));
    cr_assert_not(hold_log_note(&notes, HOLD_DRAIN, &where, 8, 9000));
}
