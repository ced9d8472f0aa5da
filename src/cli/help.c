#include "cli/help.h"

#include <stdio.h>

#include "base/check.h"

static void list_commands(struct byte_buffer *out);

void help_text(const struct command *command, struct byte_buffer *out)
{
    if (command == NULL) {
        list_commands(out);
        return;
    }
    DCHECK(command->arguments != NULL);
    byte_buffer_printf(out, "%s\n\n", command->summary);
    byte_buffer_printf(out, "Usage: moontide %s%s%s\n", command->name, *command->usage ? " " : "",
                       command->usage);
    if (command->details) {
        byte_buffer_printf(out, "\n%s", command->details);
    }
    byte_buffer_append_text(out, "\nOptions:\n");
    arguments_print_help(command->arguments, out);
    byte_buffer_append_text(out, "  -h, --help                show this help\n");
}

static void list_commands(struct byte_buffer *out)
{
    byte_buffer_append_text(out, "Moontide processes streams of records with Lua scripts.\n\n"
                                 "Usage: moontide COMMAND [OPTION]... [OPERAND]...\n\nCommands:\n");
    size_t count = 0;
    const struct command *commands = command_table(&count);
    for (size_t i = 0; i < count; i++) {
        byte_buffer_printf(out, "  %-14s %s\n", commands[i].name, commands[i].summary);
    }
    byte_buffer_append_text(out, "\n`moontide help COMMAND` explains one of them.\n");
}

bool help_print(const struct command *command)
{
    struct byte_buffer out = {0};
    help_text(command, &out);
    fputs(byte_buffer_text(&out), stdout);
    byte_buffer_fini(&out);
    return true;
}

bool help_command(const struct arguments *args, struct error *err)
{
    if (args->operand_count == 0) {
        return help_print(NULL);
    }
    char *words[2] = {NULL};
    CHECK(args->operand_count <= 2);
    for (size_t i = 0; i < args->operand_count; i++) {
        words[i] = (char *)args->operands[i];
    }
    int matched = 0;
    const struct command *command = command_find((int)args->operand_count, words, &matched);
    return command ? help_print(command) : command_unknown(args->operands[0], err);
}
