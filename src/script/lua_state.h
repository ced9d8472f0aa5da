/*
 * lua_state: one LuaJIT state with the driver and one script in it.
 *
 * Why: a worker runs one of these for its life, a trial load makes one and throws it away; whatever
 * can go wrong while a script loads is an error of this class, with file and line.
 *
 * C calls Lua here and nowhere else: once to load, once a batch, once to close. Each is one
 * lua_pcall.
 *
 * Thread: created and destroyed on the main thread; run and close on the worker thread.
 * Owns: the LuaJIT state and all that scripts allocate.
 */
#ifndef SCRIPT_LUA_STATE_H
#define SCRIPT_LUA_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "script/script_files.h"
#include "stream/work.h"

struct lua_state;

/* A value for a parameter of the script, as text. */
struct script_param {
    const char *name;
    const char *value;
};

/* Borrowed for the call of create. */
struct lua_state_options {
    struct script_files *files;
    const struct script_param *params;
    size_t param_count;
    bool has_output; /* there is a default output */
    unsigned worker;
    bool trial; /* load and check only: no init, and what the script logs is dropped */
};

/* Loads the script and, but in a trial, runs its init. NULL: E_SCRIPT. */
struct lua_state *lua_state_create(const struct lua_state_options *options, struct error *err);
/* Accepts NULL. */
void lua_state_destroy(struct lua_state *state);

/* Runs 1 to TIDE_BATCH_MAX records, up to the first that fails, and returns how many that were;
 * each of them ends as DONE or FAILED. */
size_t lua_state_run(struct lua_state *state, struct work *const *batch, size_t count);
/* The record that run is at, or NULL. Any thread, and maybe stale: for comparing. */
const struct work *lua_state_current(const struct lua_state *state);
/* Bytes that Lua holds. */
size_t lua_state_memory(struct lua_state *state);
/* Runs the script's close. False: it raised an error (E_SCRIPT). */
bool lua_state_close(struct lua_state *state, struct error *err);

/* Makes the text of the ABI headers the module moontide.abi of a state that was just opened, within
 * a protected call. For other states than that of a script, which have it already. */
struct lua_State;
void lua_state_push_abi(struct lua_State *L);

/* What the script says of itself; NULL: nothing. Borrowed from the state. */
const char *lua_state_requires_order(const struct lua_state *state);
const char *lua_state_version(const struct lua_state *state);

#endif
