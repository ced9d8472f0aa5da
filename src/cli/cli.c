#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/signals.h"

static bool run_words(int argc, char **argv, struct error *err);
static bool asks_for_help(int argc, char *const *argv);

int cli_main(int argc, char **argv)
{
    CHECK(argc >= 0);
    signals_ignore();
    int words = argc > 0 ? argc - 1 : 0;
    struct error err = {.code = E_NONE};
    bool ok = run_words(words, argv + argc - words, &err);
    fflush(stdout);
    if (ok || err.code == E_CLOSED) { /* whose reader went away is done */
        return 0;
    }
    fprintf(stderr, "moontide: %s: %s\n", error_code_name(err.code), err.text);
    if (err.code == E_USAGE) {
        fprintf(stderr, "`moontide help` shows how it is used\n");
    }
    return error_exit_code(err.code);
}

static bool run_words(int argc, char **argv, struct error *err)
{
    char version_word[] = "version"; /* lives as long as argv is read */
    if (argc == 0) {
        return error_set(err, E_USAGE, "which command?");
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        return help_print(NULL);
    }
    if (strcmp(argv[0], "--version") == 0) {
        argv[0] = version_word;
    }
    int words = 0;
    const struct command *command = command_find(argc, argv, &words);
    if (command == NULL) {
        return command_unknown(argv[0], err);
    }
    if (asks_for_help(argc - words, argv + words)) {
        return help_print(command);
    }
    struct arguments args;
    if (!arguments_parse(&args, command->arguments, command->operand_max, argc - words,
                         argv + words, err)) {
        return error_prefix(err, "%s", command->name);
    }
    bool ok = command->run(&args, err);
    arguments_fini(&args);
    return ok;
}

static bool asks_for_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}
