#include "cli/command.h"
#include "script/lua_tool.h"

bool doc_command(const struct arguments *args, struct error *err)
{
    struct lua_tool_word word = {"name", args->operand_count ? args->operands[0] : NULL};
    return lua_tool_run("doc_tool", &word, args->operand_count, err);
}

bool types_command(const struct arguments *args, struct error *err)
{
    struct lua_tool_word word = {"folder", args->operand_count ? args->operands[0] : "types"};
    return lua_tool_run("doc_tool", &word, 1, err);
}
