#include "cli/command.h"
#include "script/lua_tool.h"

bool new_command(const struct arguments *args, struct error *err)
{
    if (args->operand_count == 0) {
        return error_set(err, E_USAGE, "new needs a name for the script");
    }
    struct lua_tool_word word = {"name", args->operands[0]};
    return lua_tool_run("new_tool", &word, 1, err);
}
