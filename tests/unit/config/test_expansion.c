#include "config/expansion.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct expansion_row {
    const char *value;
    const char *expected; /* NULL: refused */
    const char *refusal;
};

static const struct expansion_row ROWS[] = {
    {"plain", "plain", NULL},
    {"", "", NULL},
    {"${TIDE_TEST_SET}", "moon", NULL},
    {"a${TIDE_TEST_SET}b${TIDE_TEST_SET}", "amoonbmoon", NULL},
    {"${TIDE_TEST_UNSET:-x y}", "x y", NULL},
    {"${TIDE_TEST_UNSET:-}", "", NULL},
    {"${TIDE_TEST_EMPTY:-x}", "x", NULL},
    {"${TIDE_TEST_EMPTY}", "", NULL},
    {"$$", "$", NULL},
    {"$${TIDE_TEST_SET}", "${TIDE_TEST_SET}", NULL},
    {"cost $5", "cost $5", NULL},
    {"end$", "end$", NULL},
    {"${TIDE_TEST_UNSET}", NULL,
     "the environment variable TIDE_TEST_UNSET is not set; ${TIDE_TEST_UNSET:-text} would give a "
     "default"},
    {"${", NULL, "${ has no }; a dollar sign is written $$"},
    {"${}", NULL, "\"\" is no name of a variable; there are ${VAR}, ${VAR:-text} and ${file:PATH}"},
    {"${A B}", NULL,
     "\"A B\" is no name of a variable; there are ${VAR}, ${VAR:-text} and ${file:PATH}"},
    {"${file:/no/such}", NULL, "cannot open /no/such: No such file or directory"},
};

Test(expansion, variables_defaults_and_dollar_signs)
{
    setenv("TIDE_TEST_SET", "moon", 1);
    setenv("TIDE_TEST_EMPTY", "", 1);
    unsetenv("TIDE_TEST_UNSET");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct byte_buffer out = {0};
        struct error err = {0};
        bool secret = false;
        bool ok = expansion_apply(ROWS[i].value, &out, &secret, &err);
        if (ROWS[i].expected) {
            cr_assert(ok, "%s: %s", ROWS[i].value, err.text);
            cr_assert_str_eq(byte_buffer_text(&out), ROWS[i].expected);
            cr_assert_not(secret);
        } else {
            cr_assert_not(ok, "%s", ROWS[i].value);
            cr_assert_str_eq(err.text, ROWS[i].refusal);
            cr_assert_eq(err.code, E_CONFIG);
        }
        byte_buffer_fini(&out);
    }
}

Test(expansion, a_file_is_a_secret_without_its_last_newline)
{
    char path[] = "/tmp/tide_expansion_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, "pa$$\n\r\n", 7), 7);
    close(fd);
    char value[64];
    snprintf(value, sizeof value, "<${file:%s}>", path);
    struct byte_buffer out = {0};
    struct error err = {0};
    bool secret = false;
    cr_assert(expansion_apply(value, &out, &secret, &err), "%s", err.text);
    cr_assert(secret);
    cr_assert_str_eq(byte_buffer_text(&out), "<pa$$\n>");
    byte_buffer_fini(&out);
    unlink(path);
}

Test(expansion, escape_is_undone_by_apply)
{
    static const char TEXT[] = "$a ${b} $$ c$";
    struct byte_buffer escaped = {0};
    struct byte_buffer out = {0};
    struct error err = {0};
    bool secret = false;
    expansion_escape(TEXT, &escaped);
    cr_assert(expansion_apply(byte_buffer_text(&escaped), &out, &secret, &err));
    cr_assert_str_eq(byte_buffer_text(&out), TEXT);
    byte_buffer_fini(&escaped);
    byte_buffer_fini(&out);
}
