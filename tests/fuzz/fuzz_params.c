/*
 * Fuzz target: texts for the parameters of a script, as --set and [params] give them.
 *
 * Input: a parameter's number and its text, again and again until the end.
 * Checked beside memory: a script loads, or the refusal is one of the script and names the
 * parameter; a number that is taken is within its bounds.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "support/fuzz_input.h"
#include "support/script_rig.h"

enum { PARAMS_MAX = 8 };

static const char SCRIPT[] =
    "local M = {}\n"
    "M.params = {\n"
    "    flag = { type = 'boolean', default = false },\n"
    "    whole = { type = 'integer', min = -5, max = 1000, default = 0 },\n"
    "    any = { type = 'integer', default = 0 },\n"
    "    ratio = { type = 'number', min = 0, max = 1, default = 0.5 },\n"
    "    free = { type = 'number', default = 0 },\n"
    "    text = { type = 'string', default = '' },\n"
    "    word = { type = 'string', choices = { 'a', 'bb' }, default = 'a' },\n"
    "}\n"
    "function M.init(ctx)\n"
    "    local c = ctx.config\n"
    "    assert(type(c.flag) == 'boolean')\n"
    "    assert(c.whole >= -5 and c.whole <= 1000 and c.whole % 1 == 0)\n"
    "    assert(c.any % 1 == 0 and math.abs(c.any) <= 2^53)\n"
    "    assert(c.ratio >= 0 and c.ratio <= 1)\n"
    "    assert(c.free == c.free and math.abs(c.free) < math.huge)\n"
    "    assert(type(c.text) == 'string')\n"
    "    assert(c.word == 'a' or c.word == 'bb')\n"
    "end\n"
    "function M.process() end\n"
    "return M\n";

static const char *const NAMES[] = {"flag", "whole", "any",  "ratio",
                                    "free", "text",  "word", "unknown"};
enum { NAME_COUNT = sizeof NAMES / sizeof NAMES[0] };

static const char *script_file(void)
{
    static struct script_rig rig;
    if (rig.path[0] == 0) {
        script_rig_init(&rig);
        script_rig_write(&rig, "script.lua", SCRIPT, sizeof SCRIPT - 1);
    }
    return rig.path;
}

static void load(const struct script_param *params, size_t count)
{
    struct script_options options = {
        .path = script_file(), .params = params, .param_count = count, .has_output = true};
    struct error err = {.code = E_NONE};
    struct script *script = script_load(&options, &err);
    if (script == NULL) {
        CHECK(err.code == E_SCRIPT);
        CHECK(strstr(err.text, "parameter ") != NULL);
        return;
    }
    struct lua_state *state = script_make_state(script, 0, &err);
    if (state == NULL) {
        fprintf(stderr, "%s\n", err.text);
    }
    CHECK(state != NULL);
    lua_state_destroy(state);
    script_destroy(script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.at = data, .left = size};
    struct script_param params[PARAMS_MAX];
    size_t count = 0;
    struct arena arena;
    arena_init(&arena);
    while (input.left > 0 && count < PARAMS_MAX) {
        const char *name = NAMES[fuzz_input_byte(&input) % NAME_COUNT];
        uint32_t text_size;
        const char *text = fuzz_input_bytes(&input, 255, &text_size);
        params[count++] =
            (struct script_param){.name = name, .value = arena_copy(&arena, text, text_size)};
    }
    load(params, count);
    arena_fini(&arena);
    return 0;
}
