#include "engine/failure_log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

enum { TEXT_MAX = 1 << 16 };

struct rig {
    struct failure_log log;
    int ends[2];
    char text[TEXT_MAX];
};

static void start(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    cr_assert_eq(pipe2(rig->ends, O_NONBLOCK), 0);
    log_open(rig->ends[1], LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
}

static void add(struct rig *rig, const char *action, const char *reason, int64_t offset,
                int64_t now_ms)
{
    struct record rec = {.topic = "orders", .partition = 3, .offset = offset};
    failure_log_add(&rig->log,
                    &(struct failure_event){.action = action,
                                            .kind = "raised",
                                            .reason = reason,
                                            .rec = &rec,
                                            .attempt = 1,
                                            .retry_in_ms = 250},
                    now_ms);
}

/* Lines that were logged since the last call; the text stays in the rig. */
static int lines(struct rig *rig)
{
    ssize_t got = read(rig->ends[0], rig->text, sizeof rig->text - 1);
    rig->text[got > 0 ? got : 0] = 0;
    int count = 0;
    for (const char *at = rig->text; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    return count;
}

static void has(const struct rig *rig, const char *text)
{
    cr_assert(strstr(rig->text, text), "\"%s\" is not in: %s", text, rig->text);
}

Test(failure_log, the_first_is_told_at_once_with_its_coordinates)
{
    static struct rig rig;
    start(&rig);
    add(&rig, "retry", "f.lua:3: boom 17\nstack traceback:\n\tf.lua:3", 42, 1000);
    cr_assert_eq(lines(&rig), 1);
    has(&rig, "level=warn");
    has(&rig, "action=retry kind=raised topic=orders partition=3 offset=42 attempt=2 "
              "retry_in_ms=250 like_it_before=0");
    has(&rig, "f.lua:3: boom 17");
}

Test(failure_log, ten_thousand_of_a_kind_are_counted)
{
    static struct rig rig;
    start(&rig);
    for (int i = 0; i < 10000; i++) {
        char reason[64];
        snprintf(reason, sizeof reason, "f.lua:3: bad field in %d", i);
        add(&rig, "skip", reason, i, i / 10);
    }
    cr_assert_eq(lines(&rig), 1, "%s", rig.text);
    add(&rig, "skip", "f.lua:3: the last", 10000, 5000);
    cr_assert_eq(lines(&rig), 1);
    has(&rig, "offset=10000");
    has(&rig, "like_it_before=9999");
    failure_log_flush(&rig.log);
    cr_assert_eq(lines(&rig), 0, "nothing is left to be told");
}

Test(failure_log, what_was_only_counted_is_told_at_the_end_once)
{
    static struct rig rig;
    start(&rig);
    failure_log_flush(&rig.log);
    cr_assert_eq(lines(&rig), 0);
    for (int i = 0; i < 5; i++) {
        add(&rig, "skip", "f.lua:3: a", i, 0);
        add(&rig, "skip", "f.lua:4: b", i, 0);
    }
    cr_assert_eq(lines(&rig), 2);
    failure_log_flush(&rig.log);
    cr_assert_eq(lines(&rig), 1);
    has(&rig, "records=8");
    failure_log_flush(&rig.log);
    cr_assert_eq(lines(&rig), 0);
}

Test(failure_log, alike_are_those_at_one_line_with_one_action)
{
    static struct rig rig;
    start(&rig);
    add(&rig, "retry", "f.lua:3: a", 1, 0);
    add(&rig, "retry", "f.lua:3: b", 2, 0);
    cr_assert_eq(lines(&rig), 1);
    add(&rig, "dlq", "f.lua:3: a", 3, 0);
    add(&rig, "retry", "f.lua:33: a", 4, 0);
    add(&rig, "retry", "g.lua:3: a", 5, 0);
    add(&rig, "retry", "no place in this one", 6, 0);
    add(&rig, "retry", "no place in that one", 7, 0);
    add(&rig, "retry", NULL, 8, 0);
    cr_assert_eq(lines(&rig), 6);
    add(&rig, "retry", "no place in this one\nbut another traceback", 9, 0);
    add(&rig, "retry", NULL, 10, 0);
    cr_assert_eq(lines(&rig), 0);
}

/* Texts that quote the data, without a line of a script, are all different. */
Test(failure_log, endless_kinds_do_not_drown_the_log)
{
    static struct rig rig;
    start(&rig);
    for (int i = 0; i < 10000; i++) {
        char reason[64];
        snprintf(reason, sizeof reason, "(raised a table) number %d", i);
        add(&rig, "skip", reason, i, i / 10);
    }
    cr_assert_eq(lines(&rig), FAILURE_LOG_KINDS);
    add(&rig, "skip", "one more", 10000, 5000 + FAILURE_LOG_KINDS);
    cr_assert_eq(lines(&rig), 1, "the oldest makes room after a while");
    failure_log_flush(&rig.log);
    lines(&rig);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "records=%d\n", 10000 - FAILURE_LOG_KINDS);
    has(&rig, wanted);
}

Test(failure_log, the_count_of_a_kind_that_makes_room_is_kept)
{
    static struct rig rig;
    start(&rig);
    add(&rig, "skip", "f.lua:1: first", 0, 0);
    for (int i = 0; i < 9; i++) {
        add(&rig, "skip", "f.lua:1: first", 0, 0);
    }
    for (int i = 0; i < FAILURE_LOG_KINDS; i++) {
        char reason[64];
        snprintf(reason, sizeof reason, "g.lua:%d: later", i);
        add(&rig, "skip", reason, i, 6000);
    }
    cr_assert_eq(lines(&rig), 1 + FAILURE_LOG_KINDS);
    failure_log_flush(&rig.log);
    cr_assert_eq(lines(&rig), 1);
    has(&rig, "records=9");
}
