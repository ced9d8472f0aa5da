#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/script_rig.h"

/* How a script ends its record: ctx.fail, ctx.skip, ctx.retry, ctx.dead_letter, and whatever it
 * raises. The body of a row is line 3 of script.lua. */

#define PROCESS(body) "return function(rec, ctx)\n" body "\nend"

struct row {
    const char *body;
    enum failure_kind failure;
    enum failure_request request;
    const char *reason; /* a part of it, or all of it when it ends with '$' */
    int32_t delay_ms;   /* REQUEST_RETRY */
};

static void load(struct script_rig *rig, const char *text)
{
    struct error err = {0};
    script_rig_init(rig);
    cr_assert(script_rig_load(rig, text, &err), "%s", err.text);
}

static void expect_failed(const struct work *work, const struct row *row)
{
    const char *reason = work->reason ? work->reason : "(no reason)";
    cr_assert_eq(work->outcome, OUTCOME_FAILED, "it did not fail: %s", row->body);
    cr_assert_eq(work->failure, row->failure, "%s: kind %u: %s", row->body, work->failure, reason);
    cr_assert_eq(work->request, row->request, "%s: request %u", row->body, work->request);
    cr_assert_eq(work->effects.count, 0, "something of it would leave");
    size_t size = strlen(row->reason);
    bool whole = size > 0 && row->reason[size - 1] == '$';
    const char *at = strstr(reason, whole ? "" : row->reason);
    if (whole) {
        /* the folder of the script is the rig's own */
        const char *place = strstr(reason, "script.lua:");
        at = place ? place : reason;
        at = strlen(at) == size - 1 && strncmp(at, row->reason, size - 1) == 0 ? at : NULL;
    }
    cr_assert(at, "%s\n  wanted: %s\n  got: %s", row->body, row->reason, reason);
    if (row->request == REQUEST_RETRY) {
        cr_assert_eq(work->retry_delay_ms, row->delay_ms, "%s: %d ms", row->body,
                     (int)work->retry_delay_ms);
    }
}

/* Each row among records that pass: the first and the last record of the batch are not touched. */
static void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct script_rig rig;
        char text[2048];
        snprintf(
            text, sizeof text,
            "return function(rec, ctx)\nif rec.key == 'bad' then\nctx:emit('t', { value = 'x' }) "
            "%s\nend\nrec.value = rec.value .. '!'\nreturn rec end",
            rows[i].body);
        load(&rig, text);
        script_rig_add(&rig, "good", "first");
        script_rig_add(&rig, "bad", "v");
        script_rig_add(&rig, "good", "last");
        script_rig_add(&rig, "bad", "v");
        script_rig_run(&rig);
        expect_failed(&rig.works[1], &rows[i]);
        expect_failed(&rig.works[3], &rows[i]);
        for (size_t good = 0; good < 4; good += 2) {
            const struct work *work = &rig.works[good];
            cr_assert_eq(work->outcome, OUTCOME_DONE, "%s: %s", rows[i].body, work->reason);
            cr_assert_eq(work->effects.count, 1);
            cr_assert_null(work->reason);
            cr_assert_str_eq(work->effects.first->value, good == 0 ? "first!" : "last!");
        }
        script_rig_fini(&rig);
    }
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))

enum { BACKOFF = RETRY_DELAY_BACKOFF };

Test(lua_verdict, each_verb_with_a_dot_and_with_a_colon)
{
    static const struct row ROWS[] = {
        {"ctx.fail('why')", FAILURE_FAILED, REQUEST_NONE, "script.lua:3: why$", 0},
        {"ctx:fail('why')", FAILURE_FAILED, REQUEST_NONE, "script.lua:3: why$", 0},
        {"ctx.fail()", FAILURE_FAILED, REQUEST_NONE, "script.lua:3: the script failed the record$",
         0},
        {"ctx:fail()", FAILURE_FAILED, REQUEST_NONE, "script.lua:3: the script failed the record$",
         0},
        {"ctx.fail('')", FAILURE_FAILED, REQUEST_NONE, "script.lua:3: $", 0},
        {"ctx.skip('why')", FAILURE_FAILED, REQUEST_SKIP, "script.lua:3: why$", 0},
        {"ctx:skip('why')", FAILURE_FAILED, REQUEST_SKIP, "script.lua:3: why$", 0},
        {"ctx.skip()", FAILURE_FAILED, REQUEST_SKIP, "script.lua:3: the script skips the record$",
         0},
        {"ctx.dead_letter('why')", FAILURE_FAILED, REQUEST_DEAD_LETTER, "script.lua:3: why$", 0},
        {"ctx:dead_letter('why')", FAILURE_FAILED, REQUEST_DEAD_LETTER, "script.lua:3: why$", 0},
        {"ctx.dead_letter(nil)", FAILURE_FAILED, REQUEST_DEAD_LETTER,
         "script.lua:3: the script gives the record up$", 0},
        {"ctx.retry('5s', 'why')", FAILURE_FAILED, REQUEST_RETRY, "script.lua:3: why$", 5000},
        {"ctx:retry('5s', 'why')", FAILURE_FAILED, REQUEST_RETRY, "script.lua:3: why$", 5000},
        {"ctx.retry()", FAILURE_FAILED, REQUEST_RETRY, "script.lua:3: the script asks for a retry$",
         BACKOFF},
        {"ctx:retry()", FAILURE_FAILED, REQUEST_RETRY, "script.lua:3: the script asks for a retry$",
         BACKOFF},
        {"ctx.retry(nil, 'why')", FAILURE_FAILED, REQUEST_RETRY, "script.lua:3: why$", BACKOFF},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, a_delay_is_a_duration_or_milliseconds)
{
    static const struct row ROWS[] = {
        {"ctx.retry('300ms')", FAILURE_FAILED, REQUEST_RETRY, "", 300},
        {"ctx.retry('1.5s')", FAILURE_FAILED, REQUEST_RETRY, "", 1500},
        {"ctx.retry('2m')", FAILURE_FAILED, REQUEST_RETRY, "", 120000},
        {"ctx.retry(0)", FAILURE_FAILED, REQUEST_RETRY, "", 0},
        {"ctx.retry('0s')", FAILURE_FAILED, REQUEST_RETRY, "", 0},
        {"ctx.retry(17)", FAILURE_FAILED, REQUEST_RETRY, "", 17},
        {"ctx.retry(17.9)", FAILURE_FAILED, REQUEST_RETRY, "", 17},
        {"ctx.retry(0.2)", FAILURE_FAILED, REQUEST_RETRY, "", 0},
        {"ctx.retry(2 ^ 31 - 1)", FAILURE_FAILED, REQUEST_RETRY, "", INT32_MAX},
        {"ctx.retry('24h')", FAILURE_FAILED, REQUEST_RETRY, "", 86400000},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, another_delay_is_an_error_at_its_line)
{
    static const struct row ROWS[] = {
        {"ctx.retry(-1)", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.retry: the delay must be a duration such as \"5s\", a number of "
         "milliseconds, or nil, and below 24 days, not -1\n",
         0},
        {"ctx.retry('5')", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry: the delay", 0},
        {"ctx.retry('soon')", FAILURE_RAISED, REQUEST_NONE, "not soon\n", 0},
        {"ctx.retry('')", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry: the delay", 0},
        {"ctx.retry('-5s')", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry", 0},
        {"ctx.retry(0 / 0)", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry", 0},
        {"ctx.retry(1 / 0)", FAILURE_RAISED, REQUEST_NONE, "not inf\n", 0},
        {"ctx.retry(2 ^ 31)", FAILURE_RAISED, REQUEST_NONE, "below 24 days", 0},
        {"ctx.retry('25d')", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry", 0},
        {"ctx.retry(true)", FAILURE_RAISED, REQUEST_NONE, "not true\n", 0},
        {"ctx.retry({})", FAILURE_RAISED, REQUEST_NONE, "not table: ", 0},
        {"ctx:retry('x', 'why')", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry", 0},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, a_reason_is_a_string_or_nil)
{
    static const struct row ROWS[] = {
        {"ctx.fail(7)", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.fail: the reason must be a string or nil, not a number; use tostring()",
         0},
        {"ctx.skip({})", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.skip: the reason must be a string or nil, not a table", 0},
        {"ctx.dead_letter(false)", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.dead_letter: the reason must be a string or nil, not false", 0},
        {"ctx.retry('5s', 7)", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.retry: the reason must be a string or nil, not a number", 0},
        {"ctx.fail(rec)", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: ctx.fail: the reason must be a string or nil, not a", 0},
        {"ctx.retry(rec)", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: ctx.retry: the delay", 0},
        /* a refused verb is an error like any other: caught, the record goes on */
        {"assert(not pcall(ctx.fail, 7)) do return 'odd' end", FAILURE_RAISED, REQUEST_NONE,
         "process() returned a string", 0},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, a_reason_holds_any_bytes)
{
    struct script_rig rig;
    load(&rig, PROCESS("ctx.fail('a\\0b\\nc\\255')"));
    struct work *work = script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    cr_assert_eq(work->outcome, OUTCOME_FAILED);
    const char *at = strstr(work->reason, ": a");
    cr_assert_not_null(at);
    cr_assert_eq(memcmp(at, ": a\0b\nc\377", 9), 0);
    script_rig_fini(&rig);
}

/* Between the verb and the driver a script may do what it likes. */
Test(lua_verdict, nothing_undoes_a_verdict)
{
    static const struct row ROWS[] = {
        {"pcall(ctx.fail, 'why')", FAILURE_FAILED, REQUEST_NONE, "why$", 0},
        {"pcall(function() ctx.skip('why') end)", FAILURE_FAILED, REQUEST_SKIP,
         "script.lua:3: why$", 0},
        {"pcall(function() ctx.skip('why') end) do return rec end", FAILURE_FAILED, REQUEST_SKIP,
         "script.lua:3: why$", 0},
        {"pcall(function() ctx.skip('why') end) ctx:emit('t', {}) ctx:forward({})", FAILURE_FAILED,
         REQUEST_SKIP, "script.lua:3: why$", 0},
        {"pcall(function() ctx.skip('why') end) do return 'odd' end", FAILURE_FAILED, REQUEST_SKIP,
         "script.lua:3: why$", 0},
        {"pcall(function() ctx.retry('7ms', 'why') end) error('later')", FAILURE_FAILED,
         REQUEST_RETRY, "script.lua:3: why$", 7},
        {"pcall(function() ctx.retry('7ms', 'why') end) pcall(ctx.retry, 'x')", FAILURE_FAILED,
         REQUEST_RETRY, "script.lua:3: why$", 7},
        {"xpcall(function() ctx.dead_letter('why') end, function(e) return e .. '!' end)",
         FAILURE_FAILED, REQUEST_DEAD_LETTER, "script.lua:3: why$", 0},
        {"xpcall(function() error('x') end, function() ctx.fail('why') end)", FAILURE_FAILED,
         REQUEST_NONE, "script.lua:3: why$", 0},
        {"coroutine.wrap(function() ctx.fail('why') end)()", FAILURE_FAILED, REQUEST_NONE,
         "script.lua:3: why$", 0},
        {"coroutine.resume(coroutine.create(function() ctx.fail('why') end))", FAILURE_FAILED,
         REQUEST_NONE, "script.lua:3: why$", 0},
        {"local function deep(n) if n == 0 then ctx.fail('why') end return 1 + deep(n - 1) end "
         "deep(100)",
         FAILURE_FAILED, REQUEST_NONE, "script.lua:3: why$", 0},
        {"do return ctx.fail('why') end", FAILURE_FAILED, REQUEST_NONE, "why$", 0},
        {"do return pcall(ctx.skip, 'why') end", FAILURE_FAILED, REQUEST_SKIP, "why$", 0},
        {"local t = setmetatable({}, { __index = function() ctx.fail('why') end }) local x = t.x",
         FAILURE_FAILED, REQUEST_NONE, "script.lua:3: why$", 0},
        {"error(setmetatable({}, { __tostring = function() ctx.skip('why') end }))", FAILURE_FAILED,
         REQUEST_SKIP, "script.lua:3: why$", 0},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, the_last_of_several_counts)
{
    static const struct row ROWS[] = {
        {"pcall(function() ctx.skip('one') end) ctx.fail('two')", FAILURE_FAILED, REQUEST_NONE,
         "script.lua:3: two$", 0},
        {"pcall(function() ctx.fail('one') end) ctx.retry(5, 'two')", FAILURE_FAILED, REQUEST_RETRY,
         "script.lua:3: two$", 5},
        {"pcall(function() ctx.retry(9) end) ctx.retry(nil, 'two')", FAILURE_FAILED, REQUEST_RETRY,
         "script.lua:3: two$", BACKOFF},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, whatever_is_raised_fails_one_record)
{
    static const struct row ROWS[] = {
        {"error('plain')", FAILURE_RAISED, REQUEST_NONE,
         "script.lua:3: plain\n    ctx:emit('t', { value = 'x' }) error('plain')\nstack traceback:",
         0},
        {"error({})", FAILURE_RAISED, REQUEST_NONE, "(raised a table without __tostring)", 0},
        {"error(setmetatable({}, { __tostring = function() return 'shown' end }))", FAILURE_RAISED,
         REQUEST_NONE, "(raised a table) shown", 0},
        {"error(setmetatable({}, { __tostring = function() error('no') end }))", FAILURE_RAISED,
         REQUEST_NONE, "(raised a table whose __tostring fails)", 0},
        {"error(setmetatable({}, { __tostring = function(t) return tostring(t) .. 'x' end }))",
         FAILURE_RAISED, REQUEST_NONE, "whose __tostring fails", 0},
        {"error(nil)", FAILURE_RAISED, REQUEST_NONE, "(raised nil) nil", 0},
        {"error(42)", FAILURE_RAISED, REQUEST_NONE, "42", 0},
        {"xpcall(function() error('x') end, function() error('again') end) error('after')",
         FAILURE_RAISED, REQUEST_NONE, "script.lua:3: after", 0},
        {"local function f(n) return f(n + 1) + 1 end f(1)", FAILURE_RAISED, REQUEST_NONE,
         "stack overflow", 0},
        {"coroutine.yield()", FAILURE_RAISED, REQUEST_NONE, "yield", 0},
        {"coroutine.wrap(function() error('inside') end)()", FAILURE_RAISED, REQUEST_NONE, "inside",
         0},
        {"local t = 'x' .. nil", FAILURE_RAISED, REQUEST_NONE, "script.lua:3: attempt to", 0},
        {"do return 7 end", FAILURE_RAISED, REQUEST_NONE, "process() returned a number", 0},
    };
    EXPECT_ROWS(ROWS);
}

/* LuaJIT ends a string beyond 2 GiB with its own out-of-memory error, without touching memory. */
Test(lua_verdict, the_end_of_memory_is_a_kind_of_its_own)
{
    static const struct row ROWS[] = {
        {"local s = string.rep('x', 2 ^ 31 - 64)", FAILURE_MEMORY, REQUEST_NONE,
         "not enough memory", 0},
        {"pcall(string.rep, 'x', 2 ^ 31 - 64) ctx.fail('why')", FAILURE_FAILED, REQUEST_NONE,
         "script.lua:3: why$", 0},
        {"pcall(function() ctx.skip('why') end) local s = string.rep('x', 2 ^ 31 - 64)",
         FAILURE_FAILED, REQUEST_SKIP, "script.lua:3: why$", 0},
        {"error('not enough memory', 0)", FAILURE_RAISED, REQUEST_NONE, "not enough memory\n", 0},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_verdict, nothing_is_left_for_the_next_record)
{
    struct script_rig rig;
    load(&rig, PROCESS("if rec.key == 'verdict' then pcall(ctx.retry, 9, 'old') end\n"
                       "if rec.key == 'raise' then error('boom', 0) end\n"
                       "if rec.key == 'odd' then return 1 end\n"
                       "return rec"));
    static const char *const KEYS[] = {"verdict", "raise", "odd", "good", "verdict", "good"};
    for (size_t i = 0; i < 6; i++) {
        script_rig_add(&rig, KEYS[i], "v");
    }
    script_rig_run(&rig);
    cr_assert_eq(rig.works[0].request, REQUEST_RETRY);
    cr_assert_eq(rig.works[1].request, REQUEST_NONE);
    cr_assert_eq(rig.works[1].failure, FAILURE_RAISED);
    cr_assert(strncmp(rig.works[1].reason, "boom", 4) == 0);
    cr_assert(strncmp(rig.works[2].reason, "process() returned", 18) == 0);
    cr_assert_eq(rig.works[3].outcome, OUTCOME_DONE);
    cr_assert_eq(rig.works[4].request, REQUEST_RETRY);
    cr_assert_eq(rig.works[5].outcome, OUTCOME_DONE);
    script_rig_fini(&rig);
}

Test(lua_verdict, many_batches_with_verdicts_among_good_records)
{
    struct script_rig rig;
    load(&rig, PROCESS("local n = rec.offset % 7\n"
                       "if n == 1 then ctx.skip() elseif n == 3 then ctx.retry(n) end\n"
                       "return rec"));
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < RIG_RECORDS_MAX; i++) {
            script_rig_add(&rig, "k", "v");
        }
        script_rig_run(&rig);
        for (size_t i = 0; i < RIG_RECORDS_MAX; i++) {
            const struct work *work = &rig.works[i];
            int64_t n = work->rec.offset % 7;
            cr_assert_eq(work->outcome, n == 1 || n == 3 ? OUTCOME_FAILED : OUTCOME_DONE);
            cr_assert(work->outcome == OUTCOME_DONE ||
                      work->request == (n == 1 ? REQUEST_SKIP : REQUEST_RETRY));
        }
        script_rig_clear(&rig);
    }
    script_rig_fini(&rig);
}

Test(lua_verdict, the_verbs_work_inside_process_only)
{
    static const char *const VERBS[] = {"fail", "skip", "retry", "dead_letter"};
    for (size_t i = 0; i < 4; i++) {
        struct script_rig rig;
        struct error err = {0};
        char text[256], wanted[128];
        snprintf(text, sizeof text,
                 "return { process = function(rec) return rec end,\n"
                 "init = function(ctx) ctx.%s() end }",
                 VERBS[i]);
        snprintf(wanted, sizeof wanted, "script.lua:2: ctx.%s: works only inside process()",
                 VERBS[i]);
        script_rig_init(&rig);
        cr_assert_not(script_rig_load(&rig, text, &err));
        cr_assert(strstr(err.text, wanted), "%s", err.text);
        script_rig_fini(&rig);
    }
}

Test(lua_verdict, a_coroutine_that_outlives_its_record_ends_no_other)
{
    struct script_rig rig;
    load(&rig, "local later\n"
               "return { process = function(rec, ctx)\n"
               "  if rec.key == 'make' then\n"
               "    later = coroutine.wrap(function() coroutine.yield() ctx.skip('late') end)\n"
               "    later()\n"
               "  elseif rec.key == 'call' then\n"
               "    pcall(later)\n"
               "  end\n"
               "  return rec\n"
               "end }");
    script_rig_add(&rig, "make", "v");
    script_rig_add(&rig, "good", "v");
    script_rig_add(&rig, "call", "v");
    script_rig_add(&rig, "good", "v");
    script_rig_run(&rig);
    cr_assert_eq(rig.works[0].outcome, OUTCOME_DONE);
    cr_assert_eq(rig.works[1].outcome, OUTCOME_DONE);
    cr_assert_eq(rig.works[2].request, REQUEST_SKIP, "it is the record that runs that ends");
    cr_assert_eq(rig.works[3].outcome, OUTCOME_DONE);
    script_rig_fini(&rig);
}
