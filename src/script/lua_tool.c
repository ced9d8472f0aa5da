#include "script/lua_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/memory.h"
#include "script/lua_state.h"
#include "script/script_files.h"

struct tide_tool {
    const char *module;
    const struct lua_tool_word *words;
    size_t word_count;
    struct script_files *files;
    struct tide_case *run;
    void (*end_run)(struct tide_case *run);
    struct byte_buffer why;
};

/* What run returns: nil, or one of these and a sentence. */
static const struct {
    const char *name;
    enum error_code code;
} FINDINGS[] = {
    {"script", E_SCRIPT},
    {"tests", E_TESTS},
    {"usage", E_USAGE},
    {"io", E_IO},
};

static void push_words(lua_State *L, const struct tide_tool *tool)
{
    lua_newtable(L);
    for (size_t i = 0; i < tool->word_count; i++) {
        lua_newtable(L);
        lua_pushstring(L, tool->words[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, tool->words[i].value);
        lua_setfield(L, -2, "value");
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* Runs within a lua_pcall; returns what the command's run returns. */
static int run_tool(lua_State *L)
{
    struct tide_tool *tool = lua_touserdata(L, 1);
    luaL_openlibs(L);
    lua_state_push_abi(L);
    lua_getglobal(L, "require");
    lua_pushfstring(L, "moontide.%s", tool->module);
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "run");
    push_words(L, tool);
    lua_pushlightuserdata(L, tool);
    lua_call(L, 2, 2);
    return 2;
}

static bool take_result(lua_State *L, struct error *err)
{
    if (lua_isnil(L, -2)) {
        return true;
    }
    const char *name = lua_tostring(L, -2);
    const char *text = lua_tostring(L, -1);
    CHECK(name != NULL);
    CHECK(text != NULL);
    for (size_t i = 0; i < sizeof FINDINGS / sizeof FINDINGS[0]; i++) {
        if (strcmp(name, FINDINGS[i].name) == 0) {
            return error_set(err, FINDINGS[i].code, "%s", text);
        }
    }
    return error_set(err, E_RUNTIME, "%s: %s", name, text);
}

static void end_run(struct tide_tool *tool)
{
    if (tool->run) {
        tool->end_run(tool->run);
    }
    tool->run = NULL;
}

bool lua_tool_run(const char *module, const struct lua_tool_word *words, size_t count,
                  struct error *err)
{
    CHECK(module != NULL);
    struct tide_tool tool = {.module = module, .words = words, .word_count = count};
    lua_State *L = luaL_newstate();
    CHECK(L != NULL);
    lua_pushcfunction(L, run_tool);
    lua_pushlightuserdata(L, &tool);
    bool ok = true;
    if (lua_pcall(L, 1, 2, 0) == 0) {
        ok = take_result(L, err);
    } else {
        const char *text = lua_tostring(L, -1);
        ok = error_set(err, E_RUNTIME, "%s", text ? text : "an error without a text");
    }
    end_run(&tool);
    lua_close(L);
    script_files_close(tool.files);
    byte_buffer_fini(&tool.why);
    return ok;
}

struct tide_case *lua_tool_case(const struct tide_tool *tool)
{
    return tool->run;
}

void lua_tool_set_case(struct tide_tool *tool, struct tide_case *run,
                       void (*end)(struct tide_case *run))
{
    CHECK(run == NULL || end != NULL);
    end_run(tool);
    tool->run = run;
    tool->end_run = end;
}

const char *lua_tool_keep(struct tide_tool *tool, const char *text)
{
    byte_buffer_clear(&tool->why);
    byte_buffer_append_text(&tool->why, text);
    return byte_buffer_text(&tool->why);
}

EXPORTED struct script_files *tide_tool_open(struct tide_tool *tool, const char *path,
                                             const char **why)
{
    script_files_close(tool->files);
    struct error err = {0};
    tool->files = script_files_open(path, &err);
    if (tool->files == NULL) {
        *why = lua_tool_keep(tool, err.text);
    }
    return tool->files;
}

static bool refuse(struct tide_tool *tool, const char *path, int code, const char **why)
{
    byte_buffer_clear(&tool->why);
    byte_buffer_printf(&tool->why, "%s: %s", path,
                       code == EEXIST ? "is there already" : strerrordesc_np(code));
    *why = byte_buffer_text(&tool->why);
    return false;
}

EXPORTED bool tide_tool_create(struct tide_tool *tool, const char *path, const char *text,
                               size_t size, const char **why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return refuse(tool, path, errno, why);
    }
    size_t done = 0;
    int code = 0;
    while (done < size && code == 0) {
        ssize_t wrote = write(fd, text + done, size - done);
        code = wrote < 0 && errno != EINTR ? errno : 0;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (close(fd) != 0 && code == 0) {
        code = errno;
    }
    return code == 0 || refuse(tool, path, code, why);
}

EXPORTED bool tide_tool_make_folder(struct tide_tool *tool, const char *path, const char **why)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return true;
    }
    return refuse(tool, path, errno, why);
}
