/*
 * lua_tool: a command whose work is done in Lua: test, check, doc, types, new.
 *
 * Why: what such a command reads and says is text about scripts, and the modules that load scripts
 * are in Lua already. The state is trusted: it has all libraries, and scripts never see it.
 *
 * Thread: main thread.
 * Owns: what the command's Lua code opens through tool_abi.h, until the end of the call.
 */
#ifndef SCRIPT_LUA_TOOL_H
#define SCRIPT_LUA_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "script/tool_abi.h"

/* A word for the command: an operand or an option with its value. */
struct lua_tool_word {
    const char *name;
    const char *value;
};

/* Requires moontide.<module> and calls its run with an array of { name =, value = }. False: what
 * it found, as the error that ends the process: E_SCRIPT, E_TESTS, E_USAGE or E_IO. */
bool lua_tool_run(const char *module, const struct lua_tool_word *words, size_t count,
                  struct error *err);

/* --- for the implementation of tool_abi.h -------------------------------------------------- */

/* The case at hand of the tool, NULL: none. Whoever sets one gives the function that ends it. */
struct tide_case *lua_tool_case(const struct tide_tool *tool);
void lua_tool_set_case(struct tide_tool *tool, struct tide_case *run,
                       void (*end)(struct tide_case *run));
/* Keeps a text for `why`; borrowed until the next call. */
const char *lua_tool_keep(struct tide_tool *tool, const char *text);

#endif
