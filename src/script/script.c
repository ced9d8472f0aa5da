#include "script/script.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "script/script_files.h"

struct script {
    struct script_files *files;
    struct script_param *params;
    size_t param_count;
    bool has_output;
    enum script_order requires_order;
    char *version; /* or NULL */
    char generation[17];
};

static const char *const SCRIPT_ORDERS[] = {"none", "key", "partition"};
static const char *const ORDERS[] = {"key", "partition", "none"};
static_assert(SCRIPT_ORDER_PARTITION == 2 && ORDER_NONE == 2, "the names are in the enums' order");

static void copy_options(struct script *script, const struct script_options *options);
static bool try_out(struct script *script, struct error *err);
static struct lua_state *make_state(const struct script *script, unsigned worker, bool trial,
                                    struct error *err);

struct script *script_load(const struct script_options *options, struct error *err)
{
    struct script_files *files = script_files_open(options->path, err);
    if (files == NULL) {
        return NULL;
    }
    struct script *script = memory_alloc(sizeof *script);
    script->files = files;
    copy_options(script, options);
    if (!try_out(script, err)) {
        script_destroy(script);
        return NULL;
    }
    snprintf(script->generation, sizeof script->generation, "%016" PRIx64,
             script_files_hash(files));
    return script;
}

static void copy_options(struct script *script, const struct script_options *options)
{
    script->has_output = options->has_output;
    script->param_count = options->param_count;
    script->params = memory_alloc_array(options->param_count + 1, sizeof *script->params);
    for (size_t i = 0; i < options->param_count; i++) {
        script->params[i].name = memory_copy_text(options->params[i].name);
        script->params[i].value = memory_copy_text(options->params[i].value);
    }
}

static bool try_out(struct script *script, struct error *err)
{
    struct lua_state *state = make_state(script, 0, true, err);
    if (state == NULL) {
        return false;
    }
    const char *order = lua_state_requires_order(state);
    for (unsigned i = 0; order && i < sizeof SCRIPT_ORDERS / sizeof SCRIPT_ORDERS[0]; i++) {
        if (strcmp(order, SCRIPT_ORDERS[i]) == 0) {
            script->requires_order = (enum script_order)i;
        }
    }
    const char *version = lua_state_version(state);
    script->version = version ? memory_copy_text(version) : NULL;
    lua_state_destroy(state);
    return true;
}

void script_destroy(struct script *script)
{
    if (script == NULL) {
        return;
    }
    for (size_t i = 0; i < script->param_count; i++) {
        memory_free((char *)script->params[i].name);
        memory_free((char *)script->params[i].value);
    }
    memory_free(script->params);
    memory_free(script->version);
    script_files_close(script->files);
    memory_free(script);
}

struct lua_state *script_make_state(const struct script *script, unsigned worker, struct error *err)
{
    return make_state(script, worker, false, err);
}

static struct lua_state *make_state(const struct script *script, unsigned worker, bool trial,
                                    struct error *err)
{
    CHECK(script->files != NULL);
    struct lua_state_options options = {.files = script->files,
                                        .params = script->params,
                                        .param_count = script->param_count,
                                        .has_output = script->has_output,
                                        .worker = worker,
                                        .trial = trial};
    return lua_state_create(&options, err);
}

enum script_order script_requires_order(const struct script *script)
{
    return script->requires_order;
}

bool script_check_order(const struct script *script, enum processing_order order,
                        unsigned threads_per_task, struct error *err)
{
    CHECK(threads_per_task > 0);
    CHECK((size_t)order < sizeof ORDERS / sizeof ORDERS[0]);
    enum script_order wanted = script->requires_order;
    bool given = threads_per_task == 1 || wanted == SCRIPT_ORDER_ANY || order == ORDER_PARTITION ||
                 (wanted == SCRIPT_ORDER_KEY && order == ORDER_KEY);
    if (given) {
        return true;
    }
    const char *name = SCRIPT_ORDERS[wanted];
    return error_set(err, E_ORDER_CONFIG,
                     "%s: requires_order = \"%s\", which processing.order=%s with "
                     "num.threads.per.task=%u cannot give; set processing.order=%s or "
                     "num.threads.per.task=1",
                     script_path(script), name, ORDERS[order], threads_per_task, name);
}

const char *script_version(const struct script *script)
{
    return script->version;
}

const char *script_path(const struct script *script)
{
    return script_files_path(script->files);
}

const char *script_generation(const struct script *script)
{
    return script->generation;
}
