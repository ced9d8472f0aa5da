#include "script/luajit_version.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

#include "base/check.h"

void luajit_version(char *text, size_t size)
{
    CHECK(size > 0);
    const char *version = "LuaJIT, unknown version";
    lua_State *L = luaL_newstate();
    if (L) {
        lua_pushcfunction(L, luaopen_jit);
        if (lua_pcall(L, 0, 0, 0) == 0) {
            lua_getglobal(L, LUA_JITLIBNAME);
            lua_getfield(L, -1, "version");
            version = lua_isstring(L, -1) ? lua_tostring(L, -1) : version;
        }
    }
    snprintf(text, size, "%s", version);
    if (L) {
        lua_close(L);
    }
}
