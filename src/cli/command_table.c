#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/run_arguments.h"

static const struct argument NO_ARGUMENTS[] = {{0, NULL, NULL, false, NULL}};

static const struct command COMMANDS[] = {
    {.name = "run",
     .usage = "SCRIPT | -c FILE  [--in TOPIC]... [--out TOPIC] [-b BROKERS] [-g GROUP]",
     .summary = "run a script on the records of topics or files",
     .details =
         "Reads each input, runs the script, writes what it returns to the output and what it\n"
         "emits to the topics that it names. An input or output is a topic, file:PATH, or -\n"
         "for the standard streams. SIGINT and SIGTERM drain, commit and leave; a second one\n"
         "goes at once.\n"
         "\n"
         "Exit codes: 0 done or drained, 1 failure at run time, 2 usage or configuration,\n"
         "3 the script does not load, 4 a record failed, 5 broker, 7 not drained in time.\n"
         "\n"
         "  moontide run scripts/wordcount.lua --in lines --out counts -b localhost:9092 -g app\n"
         "  moontide run scripts/uppercase.lua --in - --out -\n",
     .arguments = RUN_ARGUMENTS,
     .operand_max = 1,
     .run = run_command},
    {.name = "check",
     .usage = "SCRIPT... | -c FILE  [options of run]",
     .summary = "load scripts and configuration as run would, and say all that is wrong",
     .details =
         "Tells all faults of each script with file, line and column: syntax, loading, members,\n"
         "parameters, undeclared globals, records that are kept. With --json one object a fault.\n"
         "Asks no broker and opens no output. Exit codes: 0 good, 2 configuration, 3 script.\n"
         "\n"
         "  moontide check scripts/filter.lua --set contains=ERROR\n"
         "  moontide check scripts/identity.lua scripts/wordcount.lua --json\n",
     .arguments = CHECK_ARGUMENTS,
     .operand_max = OPERANDS_MANY,
     .run = check_command},
    {.name = "test",
     .usage = "DIR | FILE...",
     .summary = "run tests of scripts on the engine itself",
     .details =
         "Runs the cases of *_test.lua files, each with a fresh script, engine and clock. "
         "NAME_test.lua\n"
         "tests NAME.lua beside it. Results are TAP in a pipe, lines for people on a terminal.\n"
         "\n"
         "Exit codes: 0 all passed, 2 usage, 3 a script or test does not load, 6 tests failed.\n"
         "\n"
         "  moontide test scripts\n"
         "  moontide test scripts/filter_test.lua -k tombstone --junit results.xml\n",
     .arguments = TEST_ARGUMENTS,
     .operand_max = OPERANDS_MANY,
     .run = test_command},
    {.name = "new",
     .usage = "NAME",
     .summary = "write a script, its test and its configuration to begin with",
     .details = "Writes NAME.lua, NAME_test.lua and NAME.ini, which run as they stand; nothing is\n"
                "written over. NAME may have folders in front.\n"
                "\n"
                "  moontide new pricing\n"
                "  moontide test pricing_test.lua\n",
     .arguments = NO_ARGUMENTS,
     .operand_max = 1,
     .run = new_command},
    {.name = "doc",
     .usage = "[NAME]",
     .summary = "explain a function, member or module of scripts",
     .details = "Without a name all of them are listed.\n"
                "\n"
                "  moontide doc ctx.emit\n"
                "  moontide doc moontide.test\n",
     .arguments = NO_ARGUMENTS,
     .operand_max = 1,
     .run = doc_command},
    {.name = "types",
     .usage = "[DIR]",
     .summary = "write stubs for the Lua language server",
     .details =
         "Writes a file for each module to DIR (types), for completion and hints in editors;\n"
         "name the folder in workspace.library of .luarc.json.\n"
         "\n"
         "  moontide types\n"
         "  moontide types ~/.local/share/moontide/types\n",
     .arguments = NO_ARGUMENTS,
     .operand_max = 1,
     .run = types_command},
    {.name = "demo",
     .usage = "[SCRIPT] [--text DIR]",
     .summary = "count the words of real text on a Kafka inside the process",
     .details = "Loads the files of DIR into an embedded Kafka, line by line, runs the script on "
                "them with\n"
                "four threads, two a task, and shows threads, windows, speed and the top words.\n",
     .arguments = DEMO_ARGUMENTS,
     .operand_max = 1,
     .run = demo_command},
    {.name = "config",
     .usage = "",
     .summary = "list all options with type, default and bounds",
     .arguments = NO_ARGUMENTS,
     .run = config_command},
    {.name = "config dump",
     .usage = "[SCRIPT] [-c FILE] [-X KEY=VALUE]...",
     .summary = "print the effective values and where they come from",
     .details = "Takes the options of run. What it prints can be loaded again, but for secrets,\n"
                "which are shown as ***, and values that a file cannot hold, which are comments.\n",
     .arguments = RUN_ARGUMENTS,
     .operand_max = 1,
     .run = config_dump_command},
    {.name = "version",
     .usage = "",
     .summary = "print the versions of moontide, LuaJIT and librdkafka",
     .arguments = NO_ARGUMENTS,
     .run = version_command},
    {.name = "help",
     .usage = "[COMMAND]",
     .summary = "explain a command",
     .arguments = NO_ARGUMENTS,
     .operand_max = 2,
     .run = help_command},
};

enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

const struct command *command_table(size_t *count)
{
    *count = COMMAND_COUNT;
    return COMMANDS;
}

/* Number of words of the name when argv begins with them, else 0. */
static int words_matched(const char *name, int argc, char *const *argv)
{
    int words = 0;
    for (const char *at = name; *at; words++) {
        size_t size = strcspn(at, " ");
        if (words == argc || strlen(argv[words]) != size || strncmp(argv[words], at, size) != 0) {
            return 0;
        }
        at += size + (at[size] == ' ');
    }
    return words;
}

const struct command *command_find(int argc, char *const *argv, int *words)
{
    CHECK(argc >= 0);
    const struct command *found = NULL;
    *words = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        int matched = words_matched(COMMANDS[i].name, argc, argv);
        if (matched > *words) {
            found = &COMMANDS[i];
            *words = matched;
        }
    }
    return found;
}

bool command_unknown(const char *word, struct error *err)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = COMMANDS[i].name;
    }
    const char *nearest = text_nearest(word, names, COMMAND_COUNT);
    if (nearest) {
        return error_set(err, E_USAGE, "there is no command \"%s\"; did you mean %s?", word,
                         nearest);
    }
    return error_set(err, E_USAGE, "there is no command \"%s\"; `moontide help` lists them", word);
}
