#include "script/script.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/script_rig.h"

struct load_row {
    const char *text;
    const char *refusal; /* a part of the error's text, behind the folder; NULL: it loads */
};

static void expect_row(const struct load_row *row)
{
    struct script_rig rig;
    struct error err = {0};
    script_rig_init(&rig);
    bool ok = script_rig_load(&rig, row->text, &err);
    if (row->refusal) {
        cr_assert_not(ok, "this was accepted: %s", row->text);
        cr_assert_eq(err.code, E_SCRIPT);
        cr_assert_eq(error_exit_code(err.code), 3);
        cr_assert(strstr(err.text, row->refusal), "\"%s\" is not in: %s", row->refusal, err.text);
    } else {
        cr_assert(ok, "%s: %s", row->text, err.text);
    }
    script_rig_fini(&rig);
}

static void expect_rows(const struct load_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expect_row(&rows[i]);
    }
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))
#define TABLE(members)    "return { process = function() end,\n" members " }"

Test(script, accepts_a_function_or_a_table)
{
    static const struct load_row ROWS[] = {
        {"return function() end", NULL},
        {TABLE(""), NULL},
        {TABLE("init = function() end, close = function() end, params = {}, version = '1.4',"
               "requires_order = 'key'"),
         NULL},
        {TABLE("version = 2, requires_order = 'none'"), NULL},
        {"#!/usr/bin/env moontide\nreturn function() end", NULL},
        {"\xef\xbb\xbfreturn function() end", NULL},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, refuses_what_does_not_compile_or_run)
{
    static const struct load_row ROWS[] = {
        {"local x = 1\nlocal y = )", "script.lua:2: unexpected symbol near ')'"},
        {"return function(rec)\n  rec.value = 1 +\nend",
         "script.lua:3: unexpected symbol near 'end'"},
        {"local x = nil\nlocal y = x.name\nreturn function() end",
         "script.lua:2: attempt to index"},
        {"error({})", "(raised a table without __tostring)"},
        {"error()", "(raised nil) nil"},
        {"error(setmetatable({}, { __tostring = function() error('again') end }))",
         "(raised a table whose __tostring fails)"},
        {"local function f() return f() + 1 end\nf()", "stack overflow"},
        {"\x1bLJ\x02", "script.lua: is bytecode; give the source"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, refuses_another_result_by_its_name)
{
    static const struct load_row ROWS[] = {
        {"local M = {}",
         "must return its process function or a table with it, not nil; end it with"},
        {"return 'process'", "not a string"},
        {"return 42", "not a number"},
        {"return {}", "script.lua: the script has no process; add function M.process(rec, ctx)"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, names_the_member_that_was_meant_and_its_line)
{
    static const struct load_row ROWS[] = {
        {"local M = {}\nfunction M.proces() end\nreturn M",
         "script.lua:2: unknown member \"proces\"; did you mean \"process\"?"},
        {TABLE("\nInit = function() end"),
         "script.lua:3: unknown member \"Init\"; did you mean \"init\"?"},
        {TABLE("\nwhatever = 1"),
         "unknown member \"whatever\"; there are close, init, params, process, "},
        {TABLE("[1] = 1"), "unknown member \"1\""},
        {TABLE("stores = {}"), "script.lua:2: \"stores\" is not available in this version"},
        {TABLE("timers = {}"), "\"timers\" is not available in this version"},
        {TABLE("state_version = 2"), "\"state_version\" is not available in this version"},
        {TABLE("migrate = function() end"), "\"migrate\" is not available in this version"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, refuses_members_of_the_wrong_type)
{
    static const struct load_row ROWS[] = {
        {"return { process = 'f' }", "script.lua:1: process must be a function, not a string"},
        {TABLE("init = {}"), "script.lua:2: init must be a function, not a table"},
        {TABLE("close = 1"), "close must be a function, not a number"},
        {TABLE("params = 1"), "params must be a table, not a number"},
        {TABLE("version = {}"), "version must be a string, not a table"},
        {TABLE("requires_order = true"), "requires_order must be a string, not true"},
        {TABLE("requires_order = 'keys'"),
         "requires_order must be \"key\", \"partition\" or \"none\", not \"keys\""},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, schema_of_parameters_is_checked)
{
    static const struct load_row ROWS[] = {
        {TABLE("params = { n = { type = 'integer', default = 3, min = 1, max = 5, doc = 'x' } }"),
         NULL},
        {TABLE("params = { s = { type = 'string', choices = { 'a', 'b' }, default = 'a' } }"),
         NULL},
        {TABLE("params = { b = { type = 'boolean', default = false } }"), NULL},
        {TABLE("params = { n = 1 }"), "params.n must be a table such as"},
        {TABLE("params = { n = {} }"),
         "params.n.type must be one of boolean, integer, number, string"},
        {TABLE("params = { n = { type = 'numbr' } }"), "not numbr"},
        {TABLE("params = {\nrate = { type = 'number', defualt = 1 } }"),
         "script.lua:3: params.rate: unknown field \"defualt\"; did you mean \"default\"?"},
        {TABLE("params = { n = { type = 'number', default = 'x' } }"),
         "params.n.default must be a number, not x"},
        {TABLE("params = { n = { type = 'integer', default = 1.5 } }"),
         "params.n.default must be a whole number, not 1.5"},
        {TABLE("params = { n = { type = 'number', default = 9, max = 5 } }"),
         "params.n.default must be at most 5, not 9"},
        {TABLE("params = { s = { type = 'string', min = 1 } }"), "min and max are for numbers"},
        {TABLE("params = { n = { type = 'number', required = true } }"),
         "parameter n is required; give it with --set n=VALUE"},
    };
    EXPECT_ROWS(ROWS);
}

static const char PARAMS[] = "local M = { params = {\n"
                             "  rate = { type = 'number', default = 1.0, min = 0 },\n"
                             "  size = { type = 'integer', max = 10 },\n"
                             "  mode = { type = 'string', choices = { 'fast', 'slow' } },\n"
                             "  on = { type = 'boolean' } } }\n"
                             "function M.process(rec, ctx)\n"
                             "  local c = ctx.config\n"
                             "  rec.value = ('%s %s %s %s'):format(c.rate, c.size, c.mode, c.on)\n"
                             "  return rec\n"
                             "end\n"
                             "return M";

struct param_row {
    const char *name;
    const char *value;
    const char *result; /* what process() says of all, or the refusal */
    bool ok;
};

Test(script, values_of_parameters_are_checked_by_their_schema)
{
    static const struct param_row ROWS[] = {
        {"rate", "1.5", "1.5 nil nil nil", true},
        {"rate", "-1", "parameter rate must be at least 0, not -1", false},
        {"rate", "fast", "parameter rate must be a number, not fast", false},
        {"rate", "nan", "parameter rate must be a number, not nan", false},
        {"rate", "1e999", "parameter rate must be a number, not inf", false},
        {"size", "7", "1 7 nil nil", true},
        {"size", "7.5", "parameter size must be a whole number, not 7.5", false},
        {"size", "11", "parameter size must be at most 10, not 11", false},
        {"mode", "slow", "1 nil slow nil", true},
        {"mode", "slwo", "parameter mode must be one of fast, slow, not slwo", false},
        {"on", "yes", "1 nil nil true", true},
        {"on", "false", "1 nil nil false", true},
        {"on", "2", "parameter on must be a boolean, not 2", false},
        {"rat", "1", "unknown parameter \"rat\"; did you mean \"rate\"?", false},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct param_row *row = &ROWS[i];
        struct script_rig rig;
        struct error err = {0};
        struct script_param param = {row->name, row->value};
        struct script_options options = {.params = &param, .param_count = 1, .has_output = true};
        script_rig_init(&rig);
        bool ok = script_rig_load_with(&rig, PARAMS, &options, &err);
        cr_assert_eq(ok, row->ok, "%s=%s: %s", row->name, row->value, err.text);
        if (ok) {
            struct work *work = script_rig_add(&rig, NULL, NULL);
            script_rig_run(&rig);
            cr_assert_eq(work->outcome, OUTCOME_DONE, "%s", work->reason);
            cr_assert_str_eq(work->effects.first->value, row->result);
        } else {
            cr_assert_eq(err.code, E_SCRIPT);
            cr_assert(strstr(err.text, row->result), "%s", err.text);
        }
        script_rig_fini(&rig);
    }
}

Test(script, config_is_read_only_and_knows_its_names)
{
    static const struct load_row ROWS[] = {
        {TABLE("init = function(ctx) ctx.config.rate = 2 end, params = { rate = { type = 'number' "
               "} }"),
         "init() failed: "},
        {TABLE("init = function(ctx) ctx.config.rate = 2 end, params = { rate = { type = 'number' "
               "} }"),
         "script.lua:2: ctx.config is read-only"},
        {TABLE("init = function(ctx) return ctx.config.raet end, params = { rate = { type = "
               "'number' } }"),
         "script.lua:2: ctx.config has no \"raet\"; did you mean \"rate\"?"},
        {TABLE("init = function(ctx) assert(ctx.config.rate == nil) end,"
               "params = { rate = { type = 'number' } }"),
         NULL},
        {TABLE("init = function(ctx) ctx.counter = 1 end"), "ctx cannot be assigned"},
        {TABLE("init = function(ctx) ctx.lgo.info('x') end"),
         "ctx has no \"lgo\"; did you mean \"log\"?"},
        {TABLE("init = function(ctx) ctx.log.infos('x') end"),
         "ctx.log has no \"infos\"; did you mean \"info\"?"},
        {TABLE("init = function(ctx) assert(ctx.worker == 3) end"), NULL},
        {TABLE("init = function(ctx) ctx:emit('t', { value = 'x' }) end"),
         "script.lua:2: ctx:emit: works only inside process()"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, failing_init_is_an_error_of_the_load)
{
    static const struct load_row ROWS[] = {
        {TABLE("init = function(ctx) error('no database') end"), "init() failed: "},
        {TABLE("init = function(ctx) local t = nil; return t.x end"),
         "script.lua:2: attempt to index"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, globals_are_those_of_a_sandbox)
{
    static const struct load_row ROWS[] = {
        {"return function(rec) return tostring(os.time()) .. os.date() .. os.clock() end", NULL},
        {"assert(os.execute == nil and os.exit == nil and os.getenv == nil)\nreturn function() end",
         NULL},
        {"assert(debug.traceback and not debug.getinfo)\nreturn function() end", NULL},
        {"assert(not package.cpath and not package.loadlib)\nreturn function() end", NULL},
        {"io.open('x')", "script.lua:1: undeclared global \"io\": scripts do no I/O"},
        {"local f = require 'ffi'", "script.lua:1: module 'ffi' not found"},
        {"local f = require 'moontide.host'", "script.lua:1: module 'moontide.host' not found"},
        {"ffi.cdef('')", "undeclared global \"ffi\": scripts have no FFI"},
        {"jit.off()", "undeclared global \"jit\""},
        {"newproxy()", "undeclared global \"newproxy\""},
        {"dofile('x')", "undeclared global \"dofile\": use require"},
        {"loadfile('x')", "undeclared global \"loadfile\": use require"},
        {"getfenv(0)", "undeclared global \"getfenv\""},
        {"pritn('x')", "script.lua:1: undeclared global \"pritn\"; did you mean \"print\"?"},
        {"load('return 1', 'x', 'b')", "load: bytecode is refused"},
        {"assert(load(string.dump(function() end)))", "attempt to load chunk with wrong mode"},
        {"assert(load('return 1 + 1')() == 2)\nreturn function() end", NULL},
        {"assert(loadstring('return pairs == ...')(pairs))\nreturn function() end", NULL},
        {"assert(load('return io'))()", "undeclared global \"io\""},
        {"coroutine.wrap(function() return io end)()", "undeclared global \"io\""},
        {"collectgarbage('stop')", "collectgarbage: scripts may use"},
        {"assert(collectgarbage('count') > 0)\nreturn function() end", NULL},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, globals_are_locked_after_the_load)
{
    static const struct load_row ROWS[] = {
        {"limit = 3\nreturn function() return limit end", NULL},
        {"limit = 3\nreturn { process = function() end, init = function() limit = 4 end }", NULL},
        {"return { process = function() end,\ninit = function() limit = 4 end }",
         "script.lua:2: assignment to undeclared global \"limit\"; declare it: local limit"},
        {"threshold = 3\nreturn { process = function() end,\ninit = function() return treshold end "
         "}",
         "script.lua:3: undeclared global \"treshold\"; did you mean \"threshold\"?"},
    };
    EXPECT_ROWS(ROWS);
}

Test(script, modules_are_found_beside_the_script_only)
{
    static const char PRICES[] = "local M = {}\nfunction M.total(n) return n * 2 end\nreturn M";
    static const char BROKEN[] = "local x =\n)";
    static const char TWISTED[] = "local again = require 'twisted'";
    static const char RAISING[] = "local t = nil\nreturn t.x";
    static const struct load_row ROWS[] = {
        {"local p = require 'prices'\nassert(p.total(4) == 8 and p == require 'prices')\n"
         "assert(package.loaded.prices == p)\nreturn function() end",
         NULL},
        {"local tide = require 'moontide'\nassert(tide.version and tide.sleep)\nreturn function() "
         "end",
         NULL},
        {"require 'broken'", "broken.lua:2: unexpected symbol near ')'"},
        {"require 'raising'", "raising.lua:2: attempt to index"},
        {"require 'twisted'", "twisted.lua:1: module 'twisted' requires itself"},
        {"local p = require 'price'", "script.lua:1: module 'price' not found: cannot open"},
        {"local p = require '../prices'", "a module is named by letters"},
        {"local p = require 'a..b'", "a module is named by letters"},
        {"require(1)", "require needs the name of a module, not a number"},
        {"require('moontide').slep('1ms')", "moontide has no \"slep\"; did you mean \"sleep\"?"},
        {"require('moontide').sleep = 1", "moontide cannot be changed"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct script_rig rig;
        struct error err = {0};
        script_rig_init(&rig);
        script_rig_write(&rig, "prices.lua", PRICES, strlen(PRICES));
        script_rig_write(&rig, "broken.lua", BROKEN, strlen(BROKEN));
        script_rig_write(&rig, "twisted.lua", TWISTED, strlen(TWISTED));
        script_rig_write(&rig, "raising.lua", RAISING, strlen(RAISING));
        bool ok = script_rig_load(&rig, ROWS[i].text, &err);
        cr_assert_eq(ok, ROWS[i].refusal == NULL, "%s: %s", ROWS[i].text, err.text);
        cr_assert(ok || strstr(err.text, ROWS[i].refusal), "%s", err.text);
        script_rig_fini(&rig);
    }
}

Test(script, a_file_that_is_not_there_is_named)
{
    struct error err = {0};
    struct script_options options = {.path = "/nowhere/script.lua"};
    cr_assert_null(script_load(&options, &err));
    cr_assert_eq(err.code, E_SCRIPT);
    cr_assert_str_eq(err.text, "cannot open /nowhere/script.lua: No such file or directory");
}

Test(script, a_trial_load_runs_no_init)
{
    struct script_rig rig;
    struct error err = {0};
    script_rig_init(&rig);
    static const char TEXT[] = "return { process = function() end, version = '1.4',\n"
                               "init = function() error('not in a trial') end }";
    script_rig_write(&rig, "script.lua", TEXT, strlen(TEXT));
    struct script *script = script_load(&(struct script_options){.path = rig.path}, &err);
    cr_assert_not_null(script, "%s", err.text);
    cr_assert_str_eq(script_version(script), "1.4");
    cr_assert_str_eq(script_path(script), rig.path);
    cr_assert_null(script_make_state(script, 0, &err));
    script_destroy(script);
    script_rig_fini(&rig);
}

struct order_row {
    const char *wanted;
    enum script_order order;
    enum processing_order given;
    unsigned threads;
    bool ok;
};

Test(script, R6_an_order_that_the_configuration_cannot_give_is_refused)
{
    static const struct order_row ROWS[] = {
        {"'none'", SCRIPT_ORDER_ANY, ORDER_NONE, 8, true},
        {"nil", SCRIPT_ORDER_ANY, ORDER_NONE, 8, true},
        {"'key'", SCRIPT_ORDER_KEY, ORDER_NONE, 1, true},
        {"'key'", SCRIPT_ORDER_KEY, ORDER_NONE, 2, false},
        {"'key'", SCRIPT_ORDER_KEY, ORDER_KEY, 8, true},
        {"'key'", SCRIPT_ORDER_KEY, ORDER_PARTITION, 8, true},
        {"'partition'", SCRIPT_ORDER_PARTITION, ORDER_KEY, 1, true},
        {"'partition'", SCRIPT_ORDER_PARTITION, ORDER_KEY, 2, false},
        {"'partition'", SCRIPT_ORDER_PARTITION, ORDER_NONE, 2, false},
        {"'partition'", SCRIPT_ORDER_PARTITION, ORDER_PARTITION, 2, true},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct script_rig rig;
        struct error err = {0};
        char text[128];
        snprintf(text, sizeof text, "return { process = print, requires_order = %s }",
                 ROWS[i].wanted);
        script_rig_init(&rig);
        cr_assert(script_rig_load(&rig, text, &err), "%s", err.text);
        cr_assert_eq(script_requires_order(rig.script), ROWS[i].order);
        bool ok = script_check_order(rig.script, ROWS[i].given, ROWS[i].threads, &err);
        cr_assert_eq(ok, ROWS[i].ok, "row %zu", i);
        if (!ok) {
            cr_assert_eq(err.code, E_ORDER_CONFIG);
            cr_assert(strstr(err.text, "processing.order="));
            cr_assert(strstr(err.text, "num.threads.per.task=2"));
        }
        script_rig_fini(&rig);
    }
}
