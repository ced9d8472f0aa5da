#include "script/lua_processor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "support/script_rig.h"

static void load(struct script_rig *rig, const char *text)
{
    struct error err = {0};
    script_rig_init(rig);
    cr_assert(script_rig_load(rig, text, &err), "%s", err.text);
}

static void expect_bytes(const char *data, size_t size, const char *expected, size_t expected_size)
{
    cr_assert_eq(size, expected_size, "%zu bytes instead of %zu", size, expected_size);
    cr_assert(size == 0 || memcmp(data, expected, size) == 0);
}

static void expect_done(const struct work *work)
{
    cr_assert_eq(work->outcome, OUTCOME_DONE, "%s", work->reason ? work->reason : "no reason");
}

static void expect_failed(const struct work *work, const char *text)
{
    cr_assert_eq(work->outcome, OUTCOME_FAILED);
    cr_assert_eq(work->effects.count, 0);
    cr_assert_not_null(work->reason);
    cr_assert(strstr(work->reason, text), "\"%s\" is not in: %s", text, work->reason);
}

Test(lua_processor, returned_record_is_emitted_as_it_came)
{
    struct script_rig rig;
    load(&rig, "return function(rec) return rec end");
    struct work *work = script_rig_add(&rig, "k", "hello");
    script_rig_run(&rig);
    expect_done(work);
    cr_assert_eq(work->effects.count, 1);
    const struct emission *out = work->effects.first;
    cr_assert_null(out->topic);
    cr_assert_eq(out->key, work->rec.key, "the bytes are borrowed");
    cr_assert_eq(out->value, work->rec.value);
    expect_bytes(out->value, out->value_size, "hello", 5);
    cr_assert_eq(out->timestamp_ms, work->rec.timestamp_ms);
    cr_assert_eq(out->partition, PARTITION_BY_KEY);
    cr_assert_eq(out->header_count, 0);
    script_rig_fini(&rig);
}

Test(lua_processor, nothing_returned_drops)
{
    struct script_rig rig;
    load(&rig, "return function(rec) if rec.value == 'a' then return nil end end");
    script_rig_add(&rig, "k", "a");
    script_rig_add(&rig, "k", "b");
    script_rig_run(&rig);
    expect_done(&rig.works[0]);
    expect_done(&rig.works[1]);
    cr_assert_eq(rig.works[0].effects.count, 0);
    script_rig_fini(&rig);
}

struct run_row {
    const char *text;    /* the script */
    const char *failure; /* a part of the reason; NULL: done */
};

/* Runs one record (key "k", value "v", header by=me) through each script. */
static void expect_rows(const struct run_row *rows, size_t count)
{
    static const struct header BY_ME = {"by", "me", 2, 2};
    for (size_t i = 0; i < count; i++) {
        struct script_rig rig;
        struct rig_headers headers = {.items = &BY_ME, .count = 1};
        load(&rig, rows[i].text);
        struct work *work = script_rig_add(&rig, "k", "v");
        script_rig_set_headers(work, &headers);
        script_rig_run(&rig);
        if (rows[i].failure) {
            cr_assert_eq(work->outcome, OUTCOME_FAILED, "this was accepted: %s", rows[i].text);
            expect_failed(work, rows[i].failure);
        } else {
            cr_assert_eq(work->outcome, OUTCOME_DONE, "%s: %s", rows[i].text, work->reason);
        }
        script_rig_fini(&rig);
    }
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))
#define PROCESS(body)     "return function(rec, ctx)\n" body "\nend"

Test(lua_processor, any_other_result_is_an_error_that_names_it)
{
    static const struct run_row ROWS[] = {
        {PROCESS("return true"),
         "process() returned true; return rec, or nothing to drop the record"},
        {PROCESS("return false"), "process() returned false"},
        {PROCESS("return rec.value"), "process() returned a string"},
        {PROCESS("return { value = 'x' }"), "process() returned a table"},
        {PROCESS("return 1"), "process() returned a number"},
        {PROCESS("rec._rec = nil; return rec"), "process() returned the record without its _rec"},
        {PROCESS("return function() end"), "process() returned a function"},
        {PROCESS("return rec, 'late'"), "process() returned more than one value"},
        {PROCESS("return nil, 'late'"), "process() returned more than one value"},
        {PROCESS("return rec:copy()"), "process() returned a table"},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_processor, fields_of_a_record)
{
    static const struct run_row ROWS[] = {
        {PROCESS("assert(rec.topic == 'input' and rec.partition == 7 and rec.offset == 100)"),
         NULL},
        {PROCESS("assert(type(rec.offset) == 'number' and type(rec.timestamp) == 'number')"), NULL},
        {PROCESS("assert(rec.key == 'k' and rec.value == 'v' and rec.timestamp == 1700000000000)"),
         NULL},
        {PROCESS("assert(rec.key == 'k') rec.key = 'l' assert(rec.key == 'l')"), NULL},
        {PROCESS("rec.value = nil assert(rec.value == nil) rec.value = '' assert(rec.value == '')"),
         NULL},
        {PROCESS("rec.timestamp = 5 assert(rec.timestamp == 5)"), NULL},
        {PROCESS("rec.timestamp = 2^53 assert(rec.timestamp == 2^53)"), NULL},
        {PROCESS("rec.timestamp = nil assert(rec.timestamp == nil)"), NULL},
        {PROCESS("assert(tostring(rec) == 'record input[7]@100')"), NULL},
        {PROCESS("rec.value = 'xyz' assert(rec:byte(1) == 120 and rec:byte(-1) == 122)"), NULL},
        {PROCESS("assert(rec:byte(1) == 118 and rec:byte(2) == nil and rec:byte(0) == nil)"), NULL},
        {PROCESS("assert(rec:byte(0/0) == nil and rec:byte(1/0) == nil)"), NULL},
        {PROCESS("return rec.vlaue"),
         "script.lua:2: a record has no \"vlaue\"; did you mean \"value\"?"},
        {PROCESS("rec.vlaue = 'x'"),
         "script.lua:2: a record has no \"vlaue\"; did you mean \"value\"?"},
        {PROCESS("rec.value = 7"),
         "script.lua:2: rec.value must be a string or nil, not a number; use tostr"},
        {PROCESS("rec.key = {}"), "script.lua:2: rec.key must be a string or nil, not a table"},
        {PROCESS("rec.topic = 't'"), "script.lua:2: rec.topic cannot be assigned"},
        {PROCESS("rec.partition = 1"), "rec.partition cannot be assigned"},
        {PROCESS("rec.offset = 1"), "rec.offset cannot be assigned"},
        {PROCESS("rec.timestamp = 1.5"),
         "script.lua:2: rec.timestamp must be whole milliseconds since 1970"},
        {PROCESS("rec.timestamp = -1"), "rec.timestamp must be whole milliseconds"},
        {PROCESS("rec.timestamp = 'now'"), "rec.timestamp must be whole milliseconds"},
        {PROCESS("rec.copy(1)"), "call it with a colon"},
        {PROCESS("rec:byte('x')"), "rec:byte(at) needs a number, not a string"},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_processor, methods_of_headers)
{
    static const struct run_row ROWS[] = {
        {PROCESS("assert(rec.headers:get('by') == 'me' and rec.headers:get('x') == nil)"), NULL},
        {PROCESS(
             "local h = rec.headers h:add('by', 'you') assert(h:get('by') == 'you')\n"
             "local all = h:all('by') assert(all.n == 2 and all[1] == 'me' and all[2] == 'you')"),
         NULL},
        {PROCESS("local h = rec.headers h:add('a') h:add('by', 'x') h:set('by', 'z')\n"
                 "local t = {} for name, value in h:iter() do t[#t + 1] = name .. '=' .. "
                 "tostring(value) end\n"
                 "assert(table.concat(t, ',') == 'by=z,a=nil')"),
         NULL},
        {PROCESS("local h = rec.headers h:add('by', 'x') h:add('c', 'd') assert(h:del('by') == 2)\n"
                 "assert(h:get('by') == nil and h:get('c') == 'd' and h:del('by') == 0)"),
         NULL},
        {PROCESS("rec.headers = { { 'a', '1' }, { 'a' } } assert(rec.headers:all('a').n == 2)"),
         NULL},
        {PROCESS("rec.headers = { b = '2', a = '1' } assert(rec.headers:iter()() == 'a')"), NULL},
        {PROCESS("rec.headers = nil assert(rec.headers:get('by') == nil)"), NULL},
        {PROCESS("rec.headers = rec.headers assert(rec.headers:get('by') == 'me')"), NULL},
        {PROCESS("local old = rec.headers rec.headers = {} old:get('by')"),
         "record used after process()"},
        {PROCESS("rec.headers:add('a', 1)"),
         "script.lua:2: the value of a header must be a string or nil, not a"},
        {PROCESS("rec.headers:add(1, 'a')"),
         "script.lua:2: the name of a header must be a string, not a number"},
        {PROCESS("rec.headers.get('by')"), "script.lua:2: call it with a colon"},
        {PROCESS("return rec.headers.by"), "script.lua:2: headers have no \"by\""},
        {PROCESS("rec.headers.by = 'x'"),
         "script.lua:2: headers are not a table; use rec.headers:set"},
        {PROCESS("rec.headers = 'x'"),
         "script.lua:2: rec.headers must be rec.headers, an array of"},
        {PROCESS("rec.headers = { { 1, 'x' } }"), "rec.headers[1] must be { name, value }"},
        {PROCESS("rec.headers = { a = 1 }"), "rec.headers[\"a\"] must be a string"},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_processor, emissions_are_checked_where_they_are_made)
{
    static const struct run_row ROWS[] = {
        {PROCESS("ctx:emit('t', { value = 'x' })"), NULL},
        {PROCESS("ctx:emit('t', {})"), NULL},
        {PROCESS("ctx:emit('t', { key = 'k', value = 'v', headers = rec.headers, timestamp = 1, "
                 "partition = 0 })"),
         NULL},
        {PROCESS("ctx:emit('t', { vlaue = 'x' })"),
         "script.lua:2: ctx:emit: unknown field \"vlaue\"; did you mean \"value\"?"},
        {PROCESS("ctx:emit('t', { key = 'k', value = 'v', headers = {}, timestamp = 1, partition = "
                 "0, topic = 't' })"),
         "unknown field \"topic\""},
        {PROCESS("ctx:emit('t', { 'x' })"), "unknown field \"1\""},
        {PROCESS("ctx:emit('t', { value = 1 })"),
         "script.lua:2: ctx:emit: value must be a string or nil, not a number; use tostring()"},
        {PROCESS("ctx:emit('t', { key = true })"),
         "script.lua:2: ctx:emit: key must be a string or nil, not true"},
        {PROCESS("ctx:emit('t', { timestamp = '1' })"),
         "script.lua:2: ctx:emit: timestamp must be whole"},
        {PROCESS("ctx:emit('t', { partition = -1 })"),
         "script.lua:2: ctx:emit: partition must be a whole"},
        {PROCESS("ctx:emit('t', { partition = 1.5 })"),
         "partition must be a whole number from 0, not 1.5"},
        {PROCESS("ctx:emit('t', { headers = 1 })"),
         "script.lua:2: ctx:emit: headers must be rec.headers"},
        {PROCESS("ctx:emit({ value = 'x' })"),
         "script.lua:2: ctx:emit(topic, { value = ... }) needs a topic"},
        {PROCESS("ctx:emit(nil, { value = 'x' })"),
         "ctx:forward{ ... } sends to the default output"},
        {PROCESS("ctx:emit('t')"), "script.lua:2: ctx:emit: needs a table such as"},
        {PROCESS("ctx:emit('', {})"), "a topic must not be empty"},
        {PROCESS("ctx:emit('a\\0b', {})"), "a topic must not be empty or hold a NUL byte"},
        {PROCESS("ctx.emit('t', {})"), "script.lua:2: call it with a colon: ctx:emit"},
        {PROCESS("ctx.forward({})"), "script.lua:2: call it with a colon: ctx:forward"},
        {PROCESS("ctx:forward({ value = 1 })"),
         "script.lua:2: ctx:forward: value must be a string"},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_processor, whatever_is_raised_becomes_a_text)
{
    static const struct run_row ROWS[] = {
        {PROCESS("error('plain')"),
         "script.lua:2: plain\n    error('plain')\nstack traceback:\n\t"},
        {PROCESS("error('bare', 0)"), "bare"},
        {PROCESS("error({ code = 1 })"), "(raised a table without __tostring)"},
        {PROCESS("error(setmetatable({}, { __tostring = function() return 'shown' end }))"),
         "(raised a table) shown"},
        {PROCESS("error(setmetatable({}, { __tostring = function() error('no') end }))"),
         "(raised a table whose __tostring fails)"},
        {PROCESS("error(setmetatable({}, { __tostring = function() return 1 end }))"),
         "(raised a table whose __tostring fails)"},
        {PROCESS("error()"), "(raised nil) nil"},
        {PROCESS("error(42)"), "42"},
        {PROCESS("error(true)"), "(raised true) true"},
        {PROCESS("error(rec)"), "(raised a cdata value) record input[7]@100"},
        {PROCESS("error(print)"), "(raised a function)"},
        {PROCESS("local x = rec.value.field.more"), "script.lua:2: attempt to index"},
        {PROCESS("local function f(n) return f(n + 1) + 1 end return f(1)"), "stack overflow"},
        {PROCESS("local t = setmetatable({}, {}) getmetatable(t).__index = function(s, k) return "
                 "s[k] end\n"
                 "return t.x"),
         "overflow"},
        {PROCESS("coroutine.yield()"), "yield"},
        {PROCESS("coroutine.wrap(function() error('inside') end)()"), "inside"},
        {PROCESS("if pcall(ctx.emit, ctx, 't', { value = 1 }) then error('no') end"), NULL},
        {PROCESS("undeclared = 1"), "script.lua:2: assignment to undeclared global \"undeclared\""},
        {PROCESS("return undeclared"), "script.lua:2: undeclared global \"undeclared\""},
        {PROCESS("require 'other'"), "require 'other' comes too late; require modules at the top"},
    };
    EXPECT_ROWS(ROWS);
}

Test(lua_processor, sleep_takes_a_duration_or_milliseconds)
{
    static const struct run_row ROWS[] = {
        {"local tide = require 'moontide'\n" PROCESS(
             "tide.sleep('1ms') tide.sleep(0) tide.sleep(0.5)"),
         NULL},
        {"local tide = require 'moontide'\n" PROCESS("tide.sleep('5')"),
         "script.lua:3: tide.sleep: \"5\" is no dur"},
        {"local tide = require 'moontide'\n" PROCESS("tide.sleep(-1)"),
         "script.lua:3: tide.sleep needs a duration"},
        {"local tide = require 'moontide'\n" PROCESS("tide.sleep(0 / 0)"),
         "tide.sleep needs a duration"},
        {"local tide = require 'moontide'\n" PROCESS("tide.sleep()"), "milliseconds, not nil"},
    };
    EXPECT_ROWS(ROWS);
}

/* Bytes with a NUL and all others, "" and none must come out as they went in. */
Test(lua_processor, bytes_pass_through_lua_unchanged)
{
    struct script_rig rig;
    load(&rig, "return function(rec, ctx)\n"
               "  ctx:emit('copy', { key = rec.key, value = rec.value, headers = rec.headers })\n"
               "  rec.key, rec.value = rec.key, rec.value\n"
               "  return rec\n"
               "end");
    char all[256];
    for (int i = 0; i < 256; i++) {
        all[i] = (char)i;
    }
    static const char *const KEYS[] = {NULL, "", "k"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            script_rig_add(&rig, KEYS[i], KEYS[j]);
        }
    }
    struct work *bytes = script_rig_add(&rig, all, all);
    bytes->rec.key_size = sizeof all;
    bytes->rec.value_size = sizeof all;
    script_rig_run(&rig);
    for (size_t i = 0; i < rig.count; i++) {
        const struct work *work = &rig.works[i];
        expect_done(work);
        cr_assert_eq(work->effects.count, 2);
        for (const struct emission *out = work->effects.first; out; out = out->next) {
            cr_assert_eq(out->key == NULL, work->rec.key == NULL, "record %zu", i);
            cr_assert_eq(out->value == NULL, work->rec.value == NULL, "record %zu", i);
            expect_bytes(out->key, out->key_size, work->rec.key, work->rec.key_size);
            expect_bytes(out->value, out->value_size, work->rec.value, work->rec.value_size);
        }
        cr_assert_str_eq(work->effects.first->topic, "copy");
        cr_assert_null(work->effects.last->topic);
    }
    script_rig_fini(&rig);
}

static const struct header MANY[] = {
    {"b", "1", 1, 1},    {"a", NULL, 1, 0},         {"b", "", 1, 0},
    {"", "empty", 0, 5}, {"n\0l", "v\0\xff", 3, 3}, {"b", "1", 1, 1},
};
enum { MANY_COUNT = sizeof MANY / sizeof MANY[0] };

static void expect_many(const struct emission *out)
{
    cr_assert_eq(out->header_count, MANY_COUNT);
    for (size_t i = 0; i < MANY_COUNT; i++) {
        const struct header *header = &out->headers[i];
        expect_bytes(header->name, header->name_size, MANY[i].name, MANY[i].name_size);
        cr_assert_eq(header->value == NULL, MANY[i].value == NULL, "header %zu", i);
        if (header->value) {
            expect_bytes(header->value, header->value_size, MANY[i].value, MANY[i].value_size);
        }
    }
}

Test(lua_processor, headers_pass_through_lua_unchanged)
{
    static const char *const SCRIPTS[] = {
        PROCESS("return rec"),                                           /* never touched */
        PROCESS("rec.headers:get('b') return rec"),                      /* read */
        PROCESS("rec.headers:add('x') rec.headers:del('x') return rec"), /* written anew */
        PROCESS("ctx:emit('t', { headers = rec.headers })"),             /* as they came */
        PROCESS("rec.headers:del('no') ctx:emit('t', { headers = rec.headers })"),
        PROCESS("ctx:emit('t', { headers = rec:copy().headers })"), /* detached */
        PROCESS("local list = {} for n, v in rec.headers:iter() do list[#list + 1] = { n, v } end\n"
                "ctx:emit('t', { headers = list })"), /* an array of pairs */
        PROCESS("local list = {} for n, v in rec.headers:iter() do list[#list + 1] = { n, v } end\n"
                "rec.headers = list return rec"),
    };
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof SCRIPTS[0]; i++) {
        struct script_rig rig;
        struct rig_headers headers = {.items = MANY, .count = MANY_COUNT};
        load(&rig, SCRIPTS[i]);
        struct work *work = script_rig_add(&rig, "k", "v");
        script_rig_set_headers(work, &headers);
        script_rig_run(&rig);
        expect_done(work);
        cr_assert_eq(work->effects.count, 1, "script %zu", i);
        expect_many(work->effects.first);
        cr_assert_eq(headers.reads, 1, "script %zu read them %u times", i, headers.reads);
        script_rig_fini(&rig);
    }
}

Test(lua_processor, headers_are_read_only_when_they_are_needed)
{
    struct script_rig rig;
    struct rig_headers headers = {.items = MANY, .count = MANY_COUNT};
    load(&rig,
         PROCESS("rec.headers = { by = 'us' } ctx:emit('t', { value = rec.value }) return rec"));
    struct work *work = script_rig_add(&rig, "k", "v");
    script_rig_set_headers(work, &headers);
    script_rig_run(&rig);
    expect_done(work);
    cr_assert_eq(headers.reads, 0);
    cr_assert_eq(work->effects.first->header_count, 0, "an emission has the headers that it names");
    cr_assert_eq(work->effects.last->header_count, 1);
    expect_bytes(work->effects.last->headers[0].value, 2, "us", 2);
    script_rig_fini(&rig);
}

Test(lua_processor, assigned_fields_leave_with_the_record)
{
    struct script_rig rig;
    load(&rig, PROCESS("rec.key, rec.value, rec.timestamp = 'new\\0key', nil, 42 return rec"));
    struct work *work = script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    expect_done(work);
    const struct emission *out = work->effects.first;
    expect_bytes(out->key, out->key_size, "new\0key", 7);
    cr_assert_null(out->value);
    cr_assert_eq(out->value_size, 0);
    cr_assert_eq(out->timestamp_ms, 42);
    cr_assert_str_eq(work->rec.key, "k", "the record itself stays");
    script_rig_fini(&rig);
}

Test(lua_processor, emissions_keep_their_order_and_fields)
{
    struct script_rig rig;
    load(&rig, PROCESS("ctx:emit('a', { key = '1', partition = 3, timestamp = 9 })\n"
                       "ctx:forward { value = '2' }\n"
                       "ctx:emit('b', { value = '3' })\n"
                       "return rec"));
    struct work *work = script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    expect_done(work);
    cr_assert_eq(work->effects.count, 4);
    const struct emission *out = work->effects.first;
    cr_assert_str_eq(out->topic, "a");
    cr_assert_str_eq(out->key, "1");
    cr_assert_null(out->value);
    cr_assert_eq(out->partition, 3);
    cr_assert_eq(out->timestamp_ms, 9);
    out = out->next;
    cr_assert_null(out->topic);
    cr_assert_null(out->key);
    cr_assert_str_eq(out->value, "2");
    cr_assert_eq(out->partition, PARTITION_BY_KEY);
    cr_assert_eq(out->timestamp_ms, work->rec.timestamp_ms, "the record's own by default");
    out = out->next;
    cr_assert_str_eq(out->topic, "b");
    cr_assert_eq(out->next->value, work->rec.value);
    script_rig_fini(&rig);
}

Test(lua_processor, record_without_a_time_has_none)
{
    struct script_rig rig;
    load(&rig, PROCESS("assert(rec.timestamp == nil) ctx:emit('t', {}) return rec"));
    struct work *work = script_rig_add(&rig, "k", "v");
    work->rec.timestamp_ms = -1;
    script_rig_run(&rig);
    expect_done(work);
    cr_assert_eq(work->effects.first->timestamp_ms, -1);
    cr_assert_eq(work->effects.last->timestamp_ms, -1);
    script_rig_fini(&rig);
}

Test(lua_processor, numbers_are_exact_to_53_bits)
{
    struct script_rig rig;
    load(&rig, PROCESS("rec.value = ('%d'):format(rec.offset) return rec"));
    struct work *work = script_rig_add(&rig, "k", "v");
    work->rec.offset = INT64_C(9007199254740991);
    script_rig_run(&rig);
    expect_done(work);
    cr_assert_str_eq(work->effects.first->value, "9007199254740991");
    script_rig_fini(&rig);
}

Test(lua_processor, failed_records_leave_the_others_alone)
{
    struct script_rig rig;
    load(&rig, PROCESS("ctx:emit('t', { value = rec.value })\n"
                       "if rec.offset % 3 == 0 then error('third ' .. rec.offset) end\n"
                       "if rec.offset == 200 then return 'odd' end\n"
                       "return rec"));
    for (size_t i = 0; i < RIG_RECORDS_MAX; i++) {
        script_rig_add(&rig, "k", "v");
    }
    script_rig_run(&rig);
    for (size_t i = 0; i < rig.count; i++) {
        struct work *work = &rig.works[i];
        if (work->rec.offset % 3 == 0) {
            char text[32];
            snprintf(text, sizeof text, "third %d\n", (int)work->rec.offset);
            expect_failed(work, text);
        } else if (work->rec.offset == 200) {
            expect_failed(work, "process() returned a string");
        } else {
            expect_done(work);
            cr_assert_eq(work->effects.count, 2);
            cr_assert_eq(work->reason, NULL);
        }
    }
    script_rig_fini(&rig);
}

/* A script that breaks what is ours makes the driver itself fail, outside the guard of the record.
 */
Test(lua_processor, driver_that_falls_over_fails_one_record)
{
    struct script_rig rig;
    load(&rig, PROCESS("if rec.key == 'bad' then\n"
                       "rec.headers:add('a', 'b') rec.headers._names = nil end return rec"));
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 20; i++) {
            script_rig_add(&rig, i % 7 == 5 ? "bad" : "good", "v");
        }
        script_rig_run(&rig);
        for (unsigned i = 0; i < 20; i++) {
            if (i % 7 == 5) {
                expect_failed(&rig.works[i], "headers.lua");
            } else {
                expect_done(&rig.works[i]);
                cr_assert_eq(rig.works[i].effects.count, 1);
            }
        }
        script_rig_clear(&rig);
    }
    script_rig_fini(&rig);
}

Test(lua_processor, many_batches_of_every_size)
{
    struct script_rig rig;
    load(&rig, "local n = 0\n" PROCESS("n = n + 1\nrec.value = tostring(n)\n"
                                       "if n % 100 == 0 then error('hundred') end\nreturn rec"));
    unsigned total = 0;
    for (unsigned round = 0; round < 600; round++) {
        unsigned count = round % 7 == 0 ? RIG_RECORDS_MAX : round % 5 + 1;
        for (unsigned i = 0; i < count; i++) {
            script_rig_add(&rig, "k", "v");
        }
        script_rig_run(&rig);
        for (unsigned i = 0; i < count; i++) {
            total++;
            char text[16];
            snprintf(text, sizeof text, "%u", total);
            if (total % 100 == 0) {
                expect_failed(&rig.works[i], "hundred");
            } else {
                expect_done(&rig.works[i]);
                cr_assert_str_eq(rig.works[i].effects.first->value, text);
            }
        }
        script_rig_clear(&rig);
    }
    script_rig_fini(&rig);
}

Test(lua_processor, stale_record_raises_until_its_view_is_used_again)
{
    struct script_rig rig;
    load(
        &rig,
        "local kept, headers, copied, method, write\n"
        "return function(rec, ctx)\n"
        "  local n = rec.offset - 100\n"
        "  if n == 0 then kept, headers, copied = rec, rec.headers, rec:copy() method = rec.copy\n"
        "  elseif n == 1 then return kept.value\n"
        "  elseif n == 2 then kept.value = 'x'\n"
        "  elseif n == 3 then headers:get('a')\n"
        "  elseif n == 4 then method(kept)\n"
        "  elseif n == 5 then return kept:copy()\n"
        "  elseif n == 6 then return kept\n"
        "  elseif n == 7 then ctx:emit('t', { headers = headers })\n"
        "  elseif n == 8 then error(tostring(kept))\n"
        "  elseif n == 9 then\n"
        "    assert(copied.value == 'first' and copied.offset == 100 and copied.topic == 'input')\n"
        "    assert(copied.headers:get('b') == '1' and copied.headers:all('b').n == 3)\n"
        "    copied.headers:add('new', 'x') copied.value = 'mine'\n"
        "    rec.headers = copied.headers return rec\n"
        "  end\n"
        "end");
    struct rig_headers headers = {.items = MANY, .count = MANY_COUNT};
    script_rig_set_headers(script_rig_add(&rig, "k", "first"), &headers);
    for (size_t i = 1; i < 10; i++) {
        script_rig_add(&rig, "k", "v");
    }
    script_rig_run(&rig);
    expect_done(&rig.works[0]);
    for (size_t i = 1; i < 8; i++) {
        expect_failed(&rig.works[i], i == 6 ? "process() returned another record than its own"
                                            : "record used after process(); use rec:copy()");
    }
    expect_failed(&rig.works[8], "record (used after process())");
    expect_done(&rig.works[9]);
    cr_assert_eq(rig.works[9].effects.first->header_count, MANY_COUNT + 1);
    script_rig_fini(&rig);
}

Test(lua_processor, records_and_context_are_dead_between_batches)
{
    struct script_rig rig;
    load(&rig, "local kept, co\n"
               "return function(rec, ctx)\n"
               "  if kept == nil then\n"
               "    kept = rec\n"
               "    co = coroutine.create(function(r) coroutine.yield() return r.value end)\n"
               "    coroutine.resume(co, rec)\n"
               "  else\n"
               "    local ok, text = coroutine.resume(co)\n"
               "    rec.value = tostring(ok) .. ' ' .. text\n"
               "    return rec\n"
               "  end\n"
               "end");
    script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    script_rig_clear(&rig);
    struct work *work = script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    expect_done(work);
    cr_assert(strstr(work->effects.first->value, "false "));
    cr_assert(strstr(work->effects.first->value, "record used after process()"));
    script_rig_fini(&rig);
}

Test(lua_processor, returned_record_needs_a_default_output)
{
    struct script_rig rig;
    struct error err = {0};
    struct script_options options = {.has_output = false};
    script_rig_init(&rig);
    cr_assert(script_rig_load_with(
        &rig, PROCESS("if rec.key == 'f' then ctx:forward {} end return rec"), &options, &err));
    script_rig_add(&rig, "k", "v");
    script_rig_add(&rig, "f", "v");
    script_rig_run(&rig);
    expect_failed(&rig.works[0],
                  "process() returned the record, but there is no default output; give one "
                  "with --out");
    expect_failed(&rig.works[1], "ctx:forward: there is no default output; give one with --out");
    script_rig_fini(&rig);
}

Test(lua_processor, close_runs_once_and_may_fail)
{
    struct script_rig rig;
    load(&rig, "return { process = function(rec) return rec end, close = function(ctx)\n"
               "ctx.log.info('closing') ctx:emit('t', {}) end }");
    script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    log_open(ends[1], LOG_LEVEL_DEBUG, LOG_FORMAT_LOGFMT);
    script_rig_end(&rig);
    char text[4096] = "";
    cr_assert_gt(read(ends[0], text, sizeof text - 1), 0);
    cr_assert(strstr(text, "level=info msg=closing"), "%s", text);
    cr_assert(strstr(text, "level=warn msg=\"the script's close() failed\""), "%s", text);
    cr_assert(strstr(text, "script.lua:2: ctx:emit: works only inside process()"), "%s", text);
    script_rig_fini(&rig);
}

Test(lua_processor, print_and_log_say_where)
{
    struct script_rig rig;
    load(&rig, "return function(rec, ctx)\nprint('a', 1, nil, 'b\\0c')\n"
               "ctx.log.debug('hidden')\nctx.log.warn('careful', rec.offset)\nend");
    script_rig_add(&rig, "k", "v");
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    log_open(ends[1], LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
    script_rig_run(&rig);
    char text[4096] = "";
    cr_assert_gt(read(ends[0], text, sizeof text - 1), 0);
    expect_done(&rig.works[0]);
    cr_assert(strstr(text, "level=info msg=\"a 1 nil b"), "%s", text);
    cr_assert(strstr(text, "script.lua:2\" worker=3") || strstr(text, "script.lua:2 worker=3"),
              "%s", text);
    cr_assert(strstr(text, "level=warn msg=\"careful 100\""), "%s", text);
    cr_assert_not(strstr(text, "hidden"));
    script_rig_fini(&rig);
}

Test(lua_processor, each_worker_has_its_own_state)
{
    struct script_rig rig;
    struct error err = {0};
    load(&rig, "local n = 0\n" PROCESS("n = n + 1 rec.value = ctx.worker .. ':' .. n return rec"));
    struct processor_factory factory = lua_processor_factory(rig.script);
    struct processor *first = rig.processor;
    struct processor *second = factory.create(factory.context, 9, &err);
    cr_assert_not_null(second);
    script_rig_add(&rig, "k", "v");
    script_rig_run(&rig);
    cr_assert_str_eq(rig.works[0].effects.first->value, "3:1");
    script_rig_clear(&rig);
    script_rig_add(&rig, "k", "v");
    rig.processor = second;
    script_rig_run(&rig);
    cr_assert_str_eq(rig.works[0].effects.first->value, "9:1");
    second->ops->destroy(second);
    rig.processor = first;
    script_rig_fini(&rig);
}

Test(lua_processor, failure_names_place_and_frames_of_the_script)
{
    struct script_rig rig;
    load(&rig, "local function deep(rec)\n  error('boom ' .. rec.key)\nend\n"
               "return function(rec)\n  local x = deep(rec)\n  return x\nend");
    struct work *work = script_rig_add(&rig, "k1", "v");
    script_rig_run(&rig);
    expect_failed(work, "script.lua:2: boom k1\n    error('boom ' .. rec.key)\nstack traceback:");
    expect_failed(work, "script.lua:5: in function");
    cr_assert_not(strstr(work->reason, "driver.lua"), "%s", work->reason);
    script_rig_fini(&rig);
}
