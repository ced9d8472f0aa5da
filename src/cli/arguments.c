#include "cli/arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/text.h"

enum { OPTION_ROWS_MAX = 64, HELP_COLUMN = 28 };

struct argument_reading {
    struct arguments *args;
    const struct argument *table;
    size_t operand_max;
    int argc;
    char *const *argv;
    int at;
    struct error *err;
};

static bool read_long(struct argument_reading *reading);
static bool read_short(struct argument_reading *reading);
static bool take_value(struct argument_reading *reading, const char *flag, const char **value);
static bool give(struct argument_reading *reading, const struct argument *argument,
                 const char *flag, const char *value);
static bool give_operand(struct argument_reading *reading, const char *word);
static bool unknown(const struct argument_reading *reading, const char *flag, size_t size);

static bool is_end(const struct argument *argument)
{
    return argument->letter == 0 && argument->name == NULL;
}

bool arguments_parse(struct arguments *args, const struct argument *table, size_t operand_max,
                     int argc, char *const *argv, struct error *err)
{
    CHECK(argc >= 0);
    size_t room = (size_t)argc;
    size_t letters = 0; /* a word of short options holds several */
    for (int i = 0; i < argc; i++) {
        letters += strlen(argv[i]);
    }
    *args = (struct arguments){
        .given = memory_alloc_array(letters + 1, sizeof *args->given),
        .operands = memory_alloc_array(room + 1, sizeof *args->operands),
    };
    struct argument_reading reading = {.args = args,
                                       .table = table,
                                       .operand_max = operand_max,
                                       .argc = argc,
                                       .argv = argv,
                                       .err = err};
    bool ok = true;
    bool options_end = false;
    for (; ok && reading.at < argc; reading.at++) {
        const char *word = argv[reading.at];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (options_end || word[0] != '-' || word[1] == 0) {
            ok = give_operand(&reading, word);
        } else {
            ok = word[1] == '-' ? read_long(&reading) : read_short(&reading);
        }
    }
    if (!ok) {
        arguments_fini(args);
    }
    return ok;
}

void arguments_fini(struct arguments *args)
{
    memory_free(args->given);
    memory_free(args->operands);
    *args = (struct arguments){.given = NULL};
}

/* --name, --name VALUE, --name=VALUE */
static bool read_long(struct argument_reading *reading)
{
    const char *word = reading->argv[reading->at];
    size_t size = strcspn(word, "=");
    const char *equals = word[size] == '=' ? word + size + 1 : NULL;
    for (const struct argument *argument = reading->table; !is_end(argument); argument++) {
        if (argument->name == NULL || strlen(argument->name) != size - 2 ||
            strncmp(argument->name, word + 2, size - 2) != 0) {
            continue;
        }
        char flag[sizeof reading->args->given->flag];
        snprintf(flag, sizeof flag, "--%s", argument->name);
        if (argument->value_name == NULL && equals) {
            return error_set(reading->err, E_USAGE, "%s takes no value", flag);
        }
        const char *value = equals;
        if (argument->value_name && !equals && !take_value(reading, flag, &value)) {
            return false;
        }
        return give(reading, argument, flag, value);
    }
    return unknown(reading, word, size);
}

/* -e, -ev, -c VALUE, -cVALUE */
static bool read_short(struct argument_reading *reading)
{
    const char *word = reading->argv[reading->at];
    for (const char *letter = word + 1; *letter; letter++) {
        const struct argument *argument = reading->table;
        while (!is_end(argument) && argument->letter != *letter) {
            argument++;
        }
        char flag[] = {'-', *letter, 0};
        if (is_end(argument)) {
            return unknown(reading, flag, 2);
        }
        if (argument->value_name == NULL) {
            if (!give(reading, argument, flag, NULL)) {
                return false;
            }
            continue;
        }
        const char *value = letter + 1;
        if (*value == 0 && !take_value(reading, flag, &value)) {
            return false;
        }
        return give(reading, argument, flag, value);
    }
    return true;
}

/* The next word, unless it looks like an option that was meant as one. */
static bool take_value(struct argument_reading *reading, const char *flag, const char **value)
{
    const char *next = reading->at + 1 < reading->argc ? reading->argv[reading->at + 1] : NULL;
    if (next == NULL) {
        return error_set(reading->err, E_USAGE, "%s needs a value", flag);
    }
    if (next[0] == '-' && next[1] != 0) {
        return error_set(reading->err, E_USAGE, "%s needs a value; if it is \"%s\", write %s%s%s",
                         flag, next, flag, flag[1] == '-' ? "=" : "", next);
    }
    reading->at++;
    *value = next;
    return true;
}

static bool give(struct argument_reading *reading, const struct argument *argument,
                 const char *flag, const char *value)
{
    struct arguments *args = reading->args;
    for (size_t i = 0; i < args->given_count && !argument->repeated; i++) {
        if (args->given[i].argument == argument) {
            return error_set(reading->err, E_USAGE, "%s is given twice", flag);
        }
    }
    struct argument_given *given = &args->given[args->given_count++];
    given->argument = argument;
    given->value = value;
    snprintf(given->flag, sizeof given->flag, "%s", flag);
    return true;
}

static bool give_operand(struct argument_reading *reading, const char *word)
{
    struct arguments *args = reading->args;
    if (args->operand_count == reading->operand_max) {
        return error_set(reading->err, E_USAGE, "\"%s\" is one word too many", word);
    }
    args->operands[args->operand_count++] = word;
    return true;
}

static bool unknown(const struct argument_reading *reading, const char *flag, size_t size)
{
    const char *names[OPTION_ROWS_MAX] = {NULL};
    size_t count = 0;
    for (const struct argument *argument = reading->table; !is_end(argument); argument++) {
        CHECK(count < OPTION_ROWS_MAX);
        names[count++] = argument->name;
    }
    char *wanted = memory_copy_bytes(flag, size);
    const char *nearest = size > 2 ? text_nearest(wanted + 2, names, count) : NULL;
    if (nearest) {
        error_set(reading->err, E_USAGE, "there is no option %s; did you mean --%s?", wanted,
                  nearest);
    } else {
        error_set(reading->err, E_USAGE, "there is no option %s", wanted);
    }
    memory_free(wanted);
    return false;
}

const struct argument_given *arguments_find(const struct arguments *args, const char *name)
{
    CHECK(name != NULL);
    for (size_t i = args->given_count; i > 0; i--) {
        const struct argument *argument = args->given[i - 1].argument;
        bool by_name = argument->name && strcmp(argument->name, name) == 0;
        if (by_name || (argument->letter == name[0] && name[1] == 0)) {
            return &args->given[i - 1];
        }
    }
    return NULL;
}

void arguments_print_help(const struct argument *table, struct byte_buffer *out)
{
    for (const struct argument *argument = table; !is_end(argument); argument++) {
        size_t start = out->size;
        if (argument->letter) {
            byte_buffer_printf(out, "  -%c%s", argument->letter, argument->name ? ", " : "");
        } else {
            byte_buffer_append_text(out, "      ");
        }
        if (argument->name) {
            byte_buffer_printf(out, "--%s", argument->name);
        }
        if (argument->value_name) {
            byte_buffer_printf(out, " %s", argument->value_name);
        }
        size_t used = out->size - start;
        int blanks = used + 2 > HELP_COLUMN ? 2 : (int)(HELP_COLUMN - used);
        byte_buffer_printf(out, "%*s%s%s\n", blanks, "", argument->doc,
                           argument->repeated ? " (repeatable)" : "");
    }
}
