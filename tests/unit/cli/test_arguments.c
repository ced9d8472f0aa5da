#include "cli/arguments.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct argument TABLE[] = {
    {'c', "config", "FILE", false, "a file"},
    {0, "in", "TOPIC", true, "an input"},
    {'e', "exit-at-end", NULL, false, "stop"},
    {'v', NULL, NULL, true, "more"},
    {0, NULL, NULL, false, NULL},
};

enum { WORDS_MAX = 8 };

struct parse_row {
    char *words[WORDS_MAX];
    const char *seen; /* "flag=value,...|operand,..."; NULL: refused */
    const char *refusal;
};

static const struct parse_row ROWS[] = {
    {{NULL}, "|", NULL},
    {{"-c", "f"}, "-c=f,|", NULL},
    {{"-cf"}, "-c=f,|", NULL},
    {{"-c="}, "-c==,|", NULL},
    {{"--config", "f"}, "--config=f,|", NULL},
    {{"--config=f"}, "--config=f,|", NULL},
    {{"--config="}, "--config=,|", NULL},
    {{"a", "-e", "b"}, "-e,|a,b,", NULL},
    {{"-evv", "-vcf"}, "-e,-v,-v,-v,-c=f,|", NULL},
    {{"--in", "x", "--in=y", "--in", "-"}, "--in=x,--in=y,--in=-,|", NULL},
    {{"-", "--", "-e"}, "|-,-e,", NULL},
    {{"--in=--out"}, "--in=--out,|", NULL},
    {{"-c"}, NULL, "-c needs a value"},
    {{"--in", "-e"}, NULL, "--in needs a value; if it is \"-e\", write --in=-e"},
    {{"-c", "--in"}, NULL, "-c needs a value; if it is \"--in\", write -c--in"},
    {{"--exit-at-end=1"}, NULL, "--exit-at-end takes no value"},
    {{"-c", "f", "--config=g"}, NULL, "--config is given twice"},
    {{"-e", "-e"}, NULL, "-e is given twice"},
    {{"--confg", "f"}, NULL, "there is no option --confg; did you mean --config?"},
    {{"--confg=f"}, NULL, "there is no option --confg; did you mean --config?"},
    {{"--zzzzzz"}, NULL, "there is no option --zzzzzz"},
    {{"-q"}, NULL, "there is no option -q"},
    {{"-eq"}, NULL, "there is no option -q"},
    {{"a", "b", "c"}, NULL, "\"c\" is one word too many"},
};

static void print_seen(const struct arguments *args, struct byte_buffer *out)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const char *value = args->given[i].value;
        byte_buffer_printf(out, "%s%s%s,", args->given[i].flag, value ? "=" : "",
                           value ? value : "");
    }
    byte_buffer_append_char(out, '|');
    for (size_t i = 0; i < args->operand_count; i++) {
        byte_buffer_printf(out, "%s,", args->operands[i]);
    }
}

Test(arguments, words_become_options_and_operands_or_a_clear_error)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        int argc = 0;
        while (argc < WORDS_MAX && ROWS[i].words[argc]) {
            argc++;
        }
        struct arguments args;
        struct error err = {0};
        bool ok = arguments_parse(&args, TABLE, 2, argc, ROWS[i].words, &err);
        if (ROWS[i].seen) {
            cr_assert(ok, "row %zu: %s", i, err.text);
            struct byte_buffer seen = {0};
            print_seen(&args, &seen);
            cr_assert_str_eq(byte_buffer_text(&seen), ROWS[i].seen);
            byte_buffer_fini(&seen);
            arguments_fini(&args);
        } else {
            cr_assert_not(ok, "row %zu", i);
            cr_assert_str_eq(err.text, ROWS[i].refusal);
            cr_assert_eq(err.code, E_USAGE);
        }
    }
}

Test(arguments, find_gives_the_last_one_by_name_or_letter)
{
    char *words[] = {"--in", "x", "--in", "y", "-v"};
    struct arguments args;
    struct error err;
    cr_assert(arguments_parse(&args, TABLE, 0, 5, words, &err));
    cr_assert_str_eq(arguments_find(&args, "in")->value, "y");
    cr_assert(arguments_find(&args, "v"));
    cr_assert_null(arguments_find(&args, "config"));
    arguments_fini(&args);
}

Test(arguments, help_shows_each_row_of_the_table)
{
    struct byte_buffer out = {0};
    arguments_print_help(TABLE, &out);
    cr_assert_str_eq(byte_buffer_text(&out), "  -c, --config FILE         a file\n"
                                             "      --in TOPIC            an input (repeatable)\n"
                                             "  -e, --exit-at-end         stop\n"
                                             "  -v                        more (repeatable)\n");
    byte_buffer_fini(&out);
}
