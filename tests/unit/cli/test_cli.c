#include "cli/cli.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"

/* Runs one command line of up to 6 words; what it prints goes to redirected streams. */
static int run(char *a, char *b, char *c, char *d)
{
    char *words[] = {"moontide", a, b, c, d, NULL};
    int argc = 1;
    while (words[argc]) {
        argc++;
    }
    return cli_main(argc, words);
}

/* What a redirected stream holds by now. */
static void read_all(FILE *file, char *text, size_t size)
{
    fflush(stdout);
    fflush(stderr);
    size_t got = fread(text, 1, size - 1, file);
    text[got] = 0;
}

static void redirect(void)
{
    cr_redirect_stdout();
    cr_redirect_stderr();
}

Test(cli, an_unknown_command_exits_2_with_the_nearest_name, .init = redirect)
{
    char text[512];
    cr_assert_eq(run("verzion", NULL, NULL, NULL), 2);
    read_all(cr_get_redirected_stderr(), text, sizeof text);
    cr_assert(strstr(text, "E_USAGE: there is no command \"verzion\"; did you mean version?"));
}

Test(cli, no_command_and_a_bad_option_exit_2, .init = redirect)
{
    cr_assert_eq(run(NULL, NULL, NULL, NULL), 2);
    cr_assert_eq(run("version", "--zzz", NULL, NULL), 2);
    cr_assert_eq(run("version", "word", NULL, NULL), 2);
    cr_assert_eq(run("help", "nothing", NULL, NULL), 2);
    cr_assert_eq(run("config", "dump", "-X", "num.threads.per.task=4"), 2);
}

Test(cli, version_names_all_three, .init = redirect)
{
    char text[512];
    cr_assert_eq(run("version", NULL, NULL, NULL), 0);
    read_all(cr_get_redirected_stdout(), text, sizeof text);
    cr_assert(strstr(text, "moontide 0.1.0\nLuaJIT 2.1"), "%s", text);
    cr_assert(strstr(text, "\nlibrdkafka 2."), "%s", text);
}

Test(cli, config_dump_shows_the_option_from_the_command_line, .init = redirect)
{
    char text[4096];
    cr_assert_eq(run("config", "dump", "-X", "num.stream.threads=4"), 0);
    read_all(cr_get_redirected_stdout(), text, sizeof text);
    cr_assert(strstr(text, "# command line\nnum.stream.threads = 4\n"), "%s", text);
}

Test(cli, help_comes_by_word_and_by_option, .init = redirect)
{
    char text[8192];
    cr_assert_eq(run("help", "config", "dump", NULL), 0);
    cr_assert_eq(run("config", "dump", "--help", NULL), 0);
    cr_assert_eq(run("--help", NULL, NULL, NULL), 0);
    read_all(cr_get_redirected_stdout(), text, sizeof text);
    const char *first = strstr(text, "Usage: moontide config dump");
    cr_assert(first);
    cr_assert(strstr(first + 1, "Usage: moontide config dump"));
    cr_assert(strstr(text, "Usage: moontide COMMAND"));
}

Test(cli, help_lists_each_command_and_each_command_has_help)
{
    size_t count = 0;
    const struct command *commands = command_table(&count);
    struct byte_buffer all = {0};
    help_text(NULL, &all);
    for (size_t i = 0; i < count; i++) {
        struct byte_buffer one = {0};
        help_text(&commands[i], &one);
        cr_assert(strstr(byte_buffer_text(&all), commands[i].name));
        cr_assert(strstr(byte_buffer_text(&one), commands[i].summary));
        byte_buffer_fini(&one);
    }
    byte_buffer_fini(&all);
}

Test(cli, the_longer_name_of_a_command_wins)
{
    char *words[] = {"config", "dump", "-c"};
    int count = 0;
    cr_assert_str_eq(command_find(3, words, &count)->name, "config dump");
    cr_assert_eq(count, 2);
    cr_assert_str_eq(command_find(1, words, &count)->name, "config");
    cr_assert_eq(count, 1);
    cr_assert_null(command_find(0, words, &count));
}

Test(cli, two_dashes_version_is_the_command)
{
    char *argv[] = {"moontide", "--version", NULL};
    cr_assert_eq(cli_main(2, argv), 0);
}
