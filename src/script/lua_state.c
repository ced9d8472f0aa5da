#include "script/lua_state.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>

#include "base/check.h"
#include "base/memory.h"
#include "script/lua_abi.h"

/* longer than C promises, and no trouble for the compilers that we use */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const char ABI_TEXT[] =
#include "script/lua_abi_text.h"
    ;
#pragma GCC diagnostic pop

struct lua_state {
    lua_State *L;
    struct tide_call *call;     /* lies in Lua, anchored by the driver */
    const char *requires_order; /* both anchored on the stack */
    const char *version;
};

/* What stays at the bottom of the state's stack, as the driver's load returns it. */
enum { RUN = 1, CLOSE, REQUIRES_ORDER, VERSION, KEPT = VERSION };

static const char NO_TEXT[] = "the script raised an error without a text";

static bool load(struct lua_state *state, const struct lua_state_options *options,
                 struct error *err);
static void push_options(lua_State *L, const struct lua_state_options *options);
static void fail_current(struct lua_state *state, bool no_memory);
static const char *top_text(lua_State *L);

struct lua_state *lua_state_create(const struct lua_state_options *options, struct error *err)
{
    CHECK(options->files != NULL);
    CHECK(options->params != NULL || options->param_count == 0);
    struct lua_state *state = memory_alloc(sizeof *state);
    state->L = luaL_newstate();
    CHECK(state->L != NULL);
    if (!load(state, options, err)) {
        lua_state_destroy(state);
        return NULL;
    }
    return state;
}

void lua_state_destroy(struct lua_state *state)
{
    if (state == NULL) {
        return;
    }
    lua_close(state->L);
    memory_free(state);
}

void lua_state_push_abi(struct lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "loaded");
    lua_pushlstring(L, ABI_TEXT, sizeof ABI_TEXT - 1);
    lua_setfield(L, -2, "moontide.abi");
    lua_pop(L, 2);
}

/* Runs within a lua_pcall, so that running out of Lua's memory is an error like any other. Returns
 * what the driver's load returns: run, close, requires_order, version. */
static int boot(lua_State *L)
{
    const struct lua_state_options *options = lua_touserdata(L, 1);
    struct lua_state *state = lua_touserdata(L, 2);
    luaL_openlibs(L);
    lua_state_push_abi(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "moontide.driver");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "call");
    state->call = (struct tide_call *)(uintptr_t)lua_topointer(L, -1);
    lua_pop(L, 1);
    state->call->at = TIDE_NO_RECORD;
    state->call->worker = options->worker;
    state->call->mute = options->trial;
    state->call->files = options->files;
    lua_getfield(L, -1, "load");
    push_options(L, options);
    lua_call(L, 1, KEPT);
    state->call->files = NULL;
    return KEPT;
}

static bool load(struct lua_state *state, const struct lua_state_options *options,
                 struct error *err)
{
    lua_State *L = state->L;
    lua_pushcfunction(L, boot);
    lua_pushlightuserdata(L, (void *)(uintptr_t)options);
    lua_pushlightuserdata(L, state);
    if (lua_pcall(L, 2, KEPT, 0) != 0) {
        return error_set(err, E_SCRIPT, "%s", top_text(L));
    }
    CHECK(lua_gettop(L) == KEPT);
    CHECK(lua_isfunction(L, RUN));
    CHECK(lua_isfunction(L, CLOSE));
    state->requires_order = lua_tostring(L, REQUIRES_ORDER);
    state->version = lua_tostring(L, VERSION);
    return true;
}

static void push_options(lua_State *L, const struct lua_state_options *options)
{
    const struct byte_buffer *source = script_files_source(options->files);
    lua_newtable(L);
    lua_pushstring(L, script_files_path(options->files));
    lua_setfield(L, -2, "path");
    lua_pushlstring(L, byte_buffer_text(source), source->size);
    lua_setfield(L, -2, "source");
    lua_pushboolean(L, options->has_output);
    lua_setfield(L, -2, "has_output");
    lua_pushboolean(L, options->trial);
    lua_setfield(L, -2, "trial");
    lua_newtable(L);
    for (size_t i = 0; i < options->param_count; i++) {
        lua_pushstring(L, options->params[i].value);
        lua_setfield(L, -2, options->params[i].name);
    }
    lua_setfield(L, -2, "params");
}

/* The driver stores it as well, record by record, in code of LuaJIT's. */
static void set_at(struct lua_state *state, int32_t at)
{
    __atomic_store_n(&state->call->at, at, __ATOMIC_RELAXED);
}

size_t lua_state_run(struct lua_state *state, struct work *const *batch, size_t count)
{
    CHECK(count > 0);
    CHECK(count <= TIDE_BATCH_MAX);
    lua_State *L = state->L;
    struct tide_call *call = state->call;
    for (size_t i = 0; i < count; i++) {
        DCHECK(batch[i]->outcome == OUTCOME_NONE);
        const struct tide_record *item = (const struct tide_record *)&batch[i]->rec;
        __atomic_store_n(&call->items[i], item, __ATOMIC_RELAXED); /* for `current` */
    }
    lua_pushvalue(L, RUN);
    lua_pushinteger(L, 0);
    lua_pushinteger(L, (lua_Integer)count);
    int status = lua_pcall(L, 2, 0, 0);
    if (status != 0) {
        fail_current(state, status == LUA_ERRMEM);
    }
    lua_settop(L, KEPT);
    size_t ran = call->at == TIDE_NO_RECORD ? count : (size_t)call->at + 1;
    set_at(state, TIDE_NO_RECORD);
    for (size_t i = 0; i < ran; i++) {
        if (batch[i]->outcome == OUTCOME_NONE) {
            batch[i]->outcome = OUTCOME_DONE;
        }
    }
    return ran;
}

/* The driver itself fell over, as when Lua's memory ends: the record it was at has failed. */
static void fail_current(struct lua_state *state, bool no_memory)
{
    struct tide_call *call = state->call;
    if (call->at == TIDE_NO_RECORD) {
        set_at(state, 0);
    }
    const struct work *work = (const struct work *)(const void *)call->items[call->at];
    if (work->outcome == OUTCOME_NONE) {
        size_t size = 0;
        const char *text = lua_tolstring(state->L, -1, &size);
        if (no_memory && call->verdict == 0) {
            call->verdict = TIDE_NO_MEMORY;
        }
        tide_fail(call, text ? text : NO_TEXT, text ? size : sizeof NO_TEXT - 1);
    }
}

const struct work *lua_state_current(const struct lua_state *state)
{
    int32_t at = __atomic_load_n(&state->call->at, __ATOMIC_RELAXED);
    if (at < 0 || at >= TIDE_BATCH_MAX) {
        return NULL;
    }
    return (const struct work *)(const void *)__atomic_load_n(&state->call->items[at],
                                                              __ATOMIC_RELAXED);
}

size_t lua_state_memory(struct lua_state *state)
{
    return (size_t)lua_gc(state->L, LUA_GCCOUNT, 0) * 1024 +
           (size_t)lua_gc(state->L, LUA_GCCOUNTB, 0);
}

bool lua_state_close(struct lua_state *state, struct error *err)
{
    lua_State *L = state->L;
    lua_pushvalue(L, CLOSE);
    bool ok = lua_pcall(L, 0, 0, 0) == 0;
    if (!ok) {
        error_set(err, E_SCRIPT, "%s", top_text(L));
    }
    lua_settop(L, KEPT);
    return ok;
}

static const char *top_text(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    return text ? text : NO_TEXT;
}

const char *lua_state_requires_order(const struct lua_state *state)
{
    return state->requires_order;
}

const char *lua_state_version(const struct lua_state *state)
{
    return state->version;
}
