/*
 * Fuzz target: the words of a command line, from argv to a checked configuration. A line of the
 * input is a word.
 *
 * Checked beside memory: a refusal has a code that ends the process with 2 and says something; what
 * is accepted can be dumped, and the dump loads to the same again; the last of several -X or --set
 * of one name is the one that counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/run_arguments.h"
#include "config/config_print.h"
#include "fuzz/fuzz_target.h"
#include "support/fuzz_dump.h"

enum { WORDS_MAX = 64 };

/* Cuts the text into its lines; a word ends at a NUL, as in argv. */
static int cut(char *text, size_t size, char **words)
{
    int count = 0;
    char *end = text + size;
    while (text < end && count < WORDS_MAX) {
        char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        *stop = 0;
        words[count++] = text;
        text = stop + 1;
    }
    return count;
}

static void check_error(const struct error *err)
{
    CHECK(error_exit_code(err->code) == 2);
    CHECK(err->text[0] != 0);
}

/* Every parameter has the value that was given last. */
static void check_params(const struct arguments *args, const struct config *cfg)
{
    for (size_t i = 0; i < cfg->params.count; i++) {
        const struct config_pair *pair = &cfg->params.items[i];
        size_t size = strlen(pair->name);
        const char *last = NULL;
        for (size_t at = 0; at < args->given_count; at++) {
            const char *value = args->given[at].value;
            const char *name = args->given[at].argument->name;
            bool option = strcmp(name, "option") == 0 && strncmp(value, "params.", 7) == 0;
            bool set = strcmp(name, "set") == 0;
            const char *assignment = option ? value + 7 : value;
            if ((option || set) && strncmp(assignment, pair->name, size) == 0 &&
                assignment[size] == '=') {
                last = assignment + size + 1;
            }
        }
        CHECK(last == NULL || strcmp(last, pair->value) == 0);
        CHECK(last != NULL || strcmp(pair->origin, "command line") != 0);
    }
}

static void check_dump(const struct config *cfg)
{
    struct byte_buffer dump = {0};
    struct byte_buffer again = {0};
    config_print_dump(cfg, &dump);
    struct config loaded;
    struct error err = {.code = E_NONE};
    struct config_request request = {.file = fuzz_file(byte_buffer_text(&dump), dump.size)};
    config_init(&loaded);
    bool ok = config_load(&loaded, &request, &err);
    CHECK(ok);
    config_print_dump(&loaded, &again);
    CHECK(fuzz_same_dump(byte_buffer_text(&dump), byte_buffer_text(&again)));
    config_fini(&loaded);
    byte_buffer_fini(&dump);
    byte_buffer_fini(&again);
}

static void load(const struct arguments *args)
{
    struct config cfg;
    struct error err = {.code = E_NONE};
    if (run_arguments_load(args, &cfg, &err)) {
        check_params(args, &cfg);
        check_dump(&cfg);
        if (!config_check_run(&cfg, &err)) {
            check_error(&err);
        }
    } else {
        check_error(&err);
    }
    config_fini(&cfg);
}

static void parse(int count, char **words)
{
    struct error err = {.code = E_NONE};
    int taken = 0;
    const struct command *command = command_find(count, words, &taken);
    if (command == NULL) {
        if (count > 0) {
            command_unknown(words[0], &err);
            check_error(&err);
        }
        return;
    }
    CHECK(taken > 0 && taken <= count);
    struct arguments args;
    if (!arguments_parse(&args, command->arguments, command->operand_max, count - taken,
                         words + taken, &err)) {
        check_error(&err);
        return;
    }
    CHECK(args.operand_count <= command->operand_max);
    if (command->arguments == RUN_ARGUMENTS) {
        load(&args);
    }
    arguments_fini(&args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memory_copy_bytes(data, size);
    char *words[WORDS_MAX + 1] = {NULL};
    int count = cut(text, size, words);
    parse(count, words);
    memory_free(text);
    return 0;
}
