#include "script/lua_processor.h"

#include <criterion/criterion.h>
#include <string.h>

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
    cr_assert_eq(memcmp(data, expected, size), 0);
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

Test(lua_processor, failure_names_place_and_frames_of_the_script)
{
    struct script_rig rig;
    load(&rig, "local function deep(rec)\n  error('boom ' .. rec.key)\nend\n"
               "return function(rec)\n  local x = deep(rec)\n  return x\nend");
    struct work *work = script_rig_add(&rig, "k1", "v");
    script_rig_run(&rig);
    expect_failed(work, "script.lua:2: boom k1\nstack traceback:");
    expect_failed(work, "script.lua:5: in function");
    cr_assert_not(strstr(work->reason, "driver.lua"), "%s", work->reason);
    script_rig_fini(&rig);
}
