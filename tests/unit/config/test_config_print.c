#include "config/config_print.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads a text through a file of a changing name, to which *path is set. */
static void load_text(struct config *cfg, const char *text, const struct config_setting *settings,
                      size_t setting_count, char *path)
{
    strcpy(path, "/tmp/tide_print_XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    config_init(cfg);
    struct config_request request = {
        .file = path, .settings = settings, .setting_count = setting_count};
    struct error err = {0};
    cr_assert(config_load(cfg, &request, &err), "%s", err.text);
    unlink(path);
}

/* The lines that are no comments. */
static void strip_comments(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        size += line[size] == '\n';
        if (*line != '#') {
            memmove(to, line, size);
            to += size;
        }
        line += size;
    }
    *to = 0;
}

Test(config_print, a_dump_can_be_loaded_again)
{
    static const char TEXT[] = "[moontide]\napplication.id = app\ninput.topics = a,b\n"
                               "num.stream.threads = 8\ntask.window.bytes = 3KiB\n"
                               "client.id = $$5 ${TIDE_TEST_UNSET:-x}\n"
                               "[params]\nrate = 1.5\nempty =\n[kafka]\nssl.ca.location = /x\n"
                               "[kafka.producer]\nlinger.ms = 5\n[log]\nformat = json\n";
    char path[64];
    struct config first_cfg;
    struct config second_cfg;
    struct byte_buffer first = {0};
    struct byte_buffer second = {0};
    unsetenv("TIDE_TEST_UNSET");
    load_text(&first_cfg, TEXT, NULL, 0, path);
    config_print_dump(&first_cfg, &first);
    load_text(&second_cfg, byte_buffer_text(&first), NULL, 0, path);
    config_print_dump(&second_cfg, &second);
    cr_assert_str_eq(second_cfg.client_id, "$5 x");
    strip_comments(first.data);
    strip_comments(second.data);
    cr_assert_str_eq(first.data, second.data);
    byte_buffer_fini(&first);
    byte_buffer_fini(&second);
    config_fini(&first_cfg);
    config_fini(&second_cfg);
}

/* A leading semicolon is a value when it stands at the equals sign, and a comment behind a blank;
 * the command line can say what no line of a file can. */
Test(config_print, what_a_file_cannot_hold_is_a_comment_and_the_rest_loads)
{
    static const struct config_setting SETTINGS[] = {
        {"--set", "params", "broken", "a\nb"},    {"--set", "params", "blank", " a"},
        {"--set", "params", "cut", "a ;b"},       {"--set", "params", "a:b", "c"},
        {"--set", "params", "[moontide]", "c"},   {"--set", "params", "#", "c"},
        {"-X", "params", "x=", "\033[2J"},        {"--set", "params", "good", "a;b = c"},
        {"--set", "params", "dollar", "${NOPE}"},
    };
    char path[64];
    struct config cfg;
    struct byte_buffer first = {0};
    struct byte_buffer second = {0};
    load_text(&cfg, "[params]\nsemicolon =;x\n", SETTINGS, sizeof SETTINGS / sizeof *SETTINGS,
              path);
    config_print_dump(&cfg, &first);
    config_fini(&cfg);
    cr_expect(strstr(first.data, "# a file cannot hold this: broken = a b\n"), "%s", first.data);
    cr_expect(strstr(first.data, "# a file cannot hold this: semicolon = ;x\n"));
    cr_expect(strstr(first.data, "# a file cannot hold this: x= =  [2J\n"));
    cr_expect(strstr(first.data, "\ngood = a;b = c\n"));
    cr_expect(strstr(first.data, "\ndollar = $${NOPE}\n"));
    load_text(&cfg, first.data, NULL, 0, path);
    cr_assert_eq(cfg.params.count, 2);
    config_print_dump(&cfg, &second);
    strip_comments(first.data);
    strip_comments(second.data);
    cr_assert_str_eq(first.data, second.data);
    byte_buffer_fini(&first);
    byte_buffer_fini(&second);
    config_fini(&cfg);
}

Test(config_print, a_default_that_was_emptied_stays_empty)
{
    char path[64];
    struct config cfg;
    struct byte_buffer out = {0};
    load_text(&cfg, "[moontide]\nclient.id =\n", NULL, 0, path);
    config_print_dump(&cfg, &out);
    config_fini(&cfg);
    cr_expect(strstr(out.data, "\nclient.id = \n"), "%s", out.data);
    load_text(&cfg, out.data, NULL, 0, path);
    cr_expect_null(cfg.client_id);
    config_fini(&cfg);
    byte_buffer_fini(&out);
}

Test(config_print, a_secret_number_or_choice_is_a_comment_and_the_rest_loads)
{
    char path[64];
    struct config cfg;
    struct byte_buffer out = {0};
    load_text(&cfg, "[moontide]\nprocessing.order = partition${file:/dev/null}\nmax.retries = 3\n",
              NULL, 0, path);
    config_print_dump(&cfg, &out);
    config_fini(&cfg);
    cr_expect(strstr(out.data, "\n# a secret: processing.order = ***\n"), "%s", out.data);
    load_text(&cfg, out.data, NULL, 0, path);
    cr_expect_eq(cfg.processing_order, 0);
    cr_expect_eq(cfg.max_retries, 3);
    config_fini(&cfg);
    byte_buffer_fini(&out);
}

Test(config_print, values_come_with_their_origin)
{
    static const struct config_setting SETTING = {"-X", "moontide", "num.threads.per.task", "2"};
    char path[64];
    char expected[256];
    struct config cfg;
    struct byte_buffer out = {0};
    load_text(&cfg, "[moontide]\nnum.stream.threads = 8\n", &SETTING, 1, path);
    config_print_dump(&cfg, &out);
    snprintf(expected, sizeof expected,
             "# %s:2\nnum.stream.threads = 8\n# command line\nnum.threads.per.task = 2\n"
             "# default\nprocessing.order = key\n",
             path);
    cr_assert(strstr(out.data, expected), "%s", out.data);
    cr_assert(strstr(out.data, "# not set: application.id\n"));
    byte_buffer_fini(&out);
    config_fini(&cfg);
}

Test(config_print, secrets_are_never_shown)
{
    static const struct config_setting SETTINGS[] = {
        {"-X", "kafka", "ssl.key.password", "hush1"},
        {"--set", "params", "api_token", "hush2"},
    };
    char secret_path[] = "/tmp/tide_secret_XXXXXX";
    int fd = mkstemp(secret_path);
    cr_assert_eq(write(fd, "hush3\n", 6), 6);
    close(fd);
    char text[256];
    snprintf(text, sizeof text,
             "[moontide]\nclient.id = ${file:%s}\n[kafka]\nsasl.password = hush4\n"
             "sasl.username = ${file:%s}\n",
             secret_path, secret_path);
    char path[64];
    struct config cfg;
    struct byte_buffer out = {0};
    load_text(&cfg, text, SETTINGS, 2, path);
    config_print_dump(&cfg, &out);
    cr_assert_str_eq(cfg.client_id, "hush3");
    cr_assert_not(strstr(out.data, "hush"), "%s", out.data);
    cr_assert(strstr(out.data, "sasl.password = ***\n"));
    cr_assert(strstr(out.data, "client.id = ***\n"));
    cr_assert(strstr(out.data, "api_token = ***\n"));
    byte_buffer_fini(&out);
    config_fini(&cfg);
    unlink(secret_path);
}

Test(config_print, the_list_of_options_is_a_file_of_defaults)
{
    char path[64];
    struct config defaults;
    struct config loaded;
    struct byte_buffer list = {0};
    struct byte_buffer first = {0};
    struct byte_buffer second = {0};
    config_print_options(&list);
    config_init(&defaults);
    load_text(&loaded, byte_buffer_text(&list), NULL, 0, path);
    config_print_dump(&defaults, &first);
    config_print_dump(&loaded, &second);
    strip_comments(first.data);
    strip_comments(second.data);
    cr_assert_str_eq(first.data, second.data);
    cr_assert(strstr(list.data, "num.threads.per.task = 1\n    # int 1..256\n"));
    byte_buffer_fini(&list);
    byte_buffer_fini(&first);
    byte_buffer_fini(&second);
    config_fini(&defaults);
    config_fini(&loaded);
}
