/*
 * lua_processor: the processor port on LuaJIT.
 *
 * Why: the engine runs records through a port and knows nothing of Lua; here a batch becomes calls
 * of the script's process, and whatever it raises becomes the failure of one record.
 *
 * Thread: as the port says. The script's init runs in the factory, on the main thread.
 */
#ifndef SCRIPT_LUA_PROCESSOR_H
#define SCRIPT_LUA_PROCESSOR_H

#include "script/script.h"
#include "stream/processor.h"

/* Makes one LuaJIT state a worker. Borrows the script, which must outlive all processors. */
struct processor_factory lua_processor_factory(const struct script *script);

#endif
