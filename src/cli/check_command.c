#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/run_arguments.h"
#include "cli/runtime.h"
#include "script/lua_tool.h"

const struct argument CHECK_ARGUMENTS[] = {
    RUN_ARGUMENT_ROWS,
    {0, "json", NULL, false, "one JSON object a fault, for editors"},
    {0, NULL, NULL, false, NULL},
};

/* What the Lua side finds in one script, with the parameters that the configuration gives. */
static bool inspect(const struct config *cfg, bool json, struct error *err)
{
    struct lua_tool_word *words = memory_alloc_array(cfg->params.count + 2, sizeof *words);
    size_t count = 0;
    words[count++] = (struct lua_tool_word){"file", cfg->script_file};
    if (json) {
        words[count++] = (struct lua_tool_word){"json", "true"};
    }
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < cfg->params.count; i++) {
        const struct config_pair *pair = &cfg->params.items[i];
        size_t size = sizeof "set:" + strlen(pair->name);
        char *name = arena_alloc(&arena, size);
        snprintf(name, size, "set:%s", pair->name);
        words[count++] = (struct lua_tool_word){name, pair->value};
    }
    bool ok = lua_tool_run("check_tool", words, count, err);
    arena_fini(&arena);
    memory_free(words);
    return ok;
}

/* One script, or none: then that of the configuration. */
static bool check_one(const struct arguments *args, bool json, struct error *err)
{
    struct config cfg;
    struct runtime runtime = {0};
    bool ok = run_arguments_load(args, &cfg, err) && config_check_script(&cfg, err) &&
              inspect(&cfg, json, err) && runtime_check(&runtime, &cfg, err);
    if (ok && !json) {
        const char *version = script_version(runtime.script);
        printf("%s%s%s: good; %u threads, %u a task\n", script_path(runtime.script),
               version ? " " : "", version ? version : "", runtime.options.num_stream_threads,
               runtime.options.num_threads_per_task);
    }
    runtime_close(&runtime);
    config_fini(&cfg);
    return ok;
}

/* Several scripts share the options; the errors of all are told. */
static bool check_all(struct arguments *args, bool json, struct error *err)
{
    const char **operands = args->operands;
    size_t count = args->operand_count;
    struct error first = {.code = E_NONE};
    size_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        struct error one = {.code = E_NONE};
        args->operands = operands + i;
        args->operand_count = 1;
        if (!check_one(args, json, &one)) {
            if (one.code != E_SCRIPT) {
                *err = one;
                return false;
            }
            first = bad++ ? first : one;
        }
    }
    *err = bad ? first : *err;
    return bad < 2 ? bad == 0
                   : error_set(err, E_SCRIPT, "%zu of %zu scripts have faults", bad, count);
}

bool check_command(const struct arguments *args, struct error *err)
{
    struct arguments own = {.given = memory_alloc_array(args->given_count + 1, sizeof *own.given),
                            .operands = args->operands,
                            .operand_count = args->operand_count};
    bool json = false;
    for (size_t i = 0; i < args->given_count; i++) {
        bool is_json = strcmp(args->given[i].argument->name, "json") == 0;
        json = json || is_json;
        if (!is_json) {
            own.given[own.given_count++] = args->given[i];
        }
    }
    bool ok = own.operand_count > 1 ? check_all(&own, json, err) : check_one(&own, json, err);
    memory_free(own.given);
    return ok;
}
