#include "config/ini_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_buffer.h"

/* Writes "section|name|value|line;" for each entry. */
static bool note_entry(void *context, const struct ini_entry *entry, struct error *err)
{
    if (strcmp(entry->name, "refused") == 0) {
        return error_set(err, E_CONFIG, "no such thing");
    }
    byte_buffer_printf(context, "%s|%s|%s|%d;", entry->section, entry->name, entry->value,
                       entry->line);
    return true;
}

static bool parse(const char *text, size_t size, struct byte_buffer *seen, struct error *err)
{
    struct ini_visitor visitor = {.visit = note_entry, .context = seen};
    return ini_file_parse("app.ini", text, size, &visitor, err);
}

struct good_row {
    const char *text;
    const char *entries;
};

static const struct good_row GOOD[] = {
    {"", ""},
    {"[a]\nx = 1\ny=2\n", "a|x|1|2;a|y|2|3;"},
    {"[a]\nx = 1", "a|x|1|2;"},                          /* no newline at the end */
    {"\xef\xbb\xbf[a]\r\nx = 1\r\n", "a|x|1|2;"},        /* mark and DOS line ends */
    {"# c\n; c\n   # c\n\n[a] ; c\nx: 1\n", "a|x|1|6;"}, /* comments, colon */
    {"[a]\nx = a;b\n", "a|x|a;b|2;"},                    /* no blank before it: no comment */
    {"[a]\nx = a # b\n", "a|x|a # b|2;"},
    {"[a]\nx =\n", "a|x||2;"},
    {"[a]\nx = p=q:r\n", "a|x|p=q:r|2;"},
    {"[a]\nx = 1\n[b]\nx = 2\n[a]\ny = 3\n", "a|x|1|2;b|x|2|4;a|y|3|6;"},
    {"[a]\nx = caf\xc3\xa9\n", "a|x|caf\xc3\xa9|2;"},
};

Test(ini_file, entries_come_with_their_lines)
{
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        struct byte_buffer seen = {0};
        struct error err = {0};
        bool ok = parse(GOOD[i].text, strlen(GOOD[i].text), &seen, &err);
        cr_assert(ok, "%s: %s", GOOD[i].text, err.text);
        cr_assert_str_eq(byte_buffer_text(&seen), GOOD[i].entries);
        byte_buffer_fini(&seen);
    }
}

struct bad_row {
    const char *text;
    size_t size; /* 0: up to the NUL */
    const char *refusal;
};

static const struct bad_row BAD[] = {
    {"[a]\nx = a ; b\n", 0,
     "app.ini:2: has a \" ;\", at which the value would be cut; put comments on their own line"},
    {"[a]\nx = 1\n  y = 2\n", 0,
     "app.ini:3: begins with a blank; a value cannot go on over lines, and keys start in the first "
     "column"},
    {"x = 1\n", 0, "app.ini:1: stands before the first section, such as [moontide]"},
    {"[a]\njunk\n", 0, "app.ini:2: must be \"key = value\", \"[section]\" or a comment"},
    {"[a]\n= 1\n", 0, "app.ini:2: must be \"key = value\", \"[section]\" or a comment"},
    {"[a\nx = 1\n", 0, "app.ini:1: has no ] at the end of its section's name"},
    {"[a] x = 1\n", 0, "app.ini:1: has text after the ] of its section, which is lost there"},
    {"[a]\nx = \0\n", 10, "app.ini:2: holds a NUL byte; is it UTF-16? Save the file as UTF-8"},
    {"\xff\xfe[\0a\0]\0", 8, "app.ini:1: holds a NUL byte; is it UTF-16? Save the file as UTF-8"},
    {"[a]\nx = \x1b[0m\n", 0, "app.ini:2: holds the control byte 0x1b"},
    {"[a]\rx = 1\r", 0, "app.ini:1: holds the control byte 0x0d"},
    {"[a]\nrefused = 1\ny = 2\n", 0, "app.ini:2: no such thing"},
};

Test(ini_file, traps_are_refused_with_file_and_line)
{
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct byte_buffer seen = {0};
        struct error err = {0};
        size_t size = BAD[i].size ? BAD[i].size : strlen(BAD[i].text);
        cr_assert_not(parse(BAD[i].text, size, &seen, &err), "%s", BAD[i].text);
        cr_assert_str_eq(err.text, BAD[i].refusal);
        cr_assert_eq(err.code, E_CONFIG);
        byte_buffer_fini(&seen);
    }
}

Test(ini_file, a_comment_may_be_of_any_length)
{
    char text[2000];
    memset(text, 'v', sizeof text);
    memcpy(text, "[a]\n# ", 6);
    memcpy(text + 700, "\n  ; ", 5);
    memcpy(text + 1400, "\nx = 1\n#", 8);
    struct byte_buffer seen = {0};
    struct error err = {0};
    cr_assert(parse(text, sizeof text, &seen, &err), "%s", err.text);
    cr_assert_str_eq(seen.data, "a|x|1|4;");
    byte_buffer_fini(&seen);
}

Test(ini_file, the_longest_line_is_whole_and_one_more_byte_is_refused)
{
    char text[256] = "[a]\nx = ";
    size_t start = 4;
    memset(text + strlen(text), 'v', INI_FILE_LINE_MAX - 4);
    cr_assert_eq(strlen(text) - start, INI_FILE_LINE_MAX);
    struct byte_buffer seen = {0};
    struct error err = {0};
    strcat(text, "\ny = 1\n");
    cr_assert(parse(text, strlen(text), &seen, &err), "%s", err.text);
    cr_assert_eq(seen.size, strlen("a|x||2;a|y|1|3;") + INI_FILE_LINE_MAX - 4);
    *strchr(text + start, '\n') = 'v';
    *strchr(text + start, 'y') = '\n';
    cr_assert_not(parse(text, strlen(text), &seen, &err));
    cr_assert_str_eq(err.text, "app.ini:2: has 199 bytes, more than 198; put the value into a file "
                               "and write ${file:PATH}");
    byte_buffer_fini(&seen);
}

Test(ini_file, a_missing_file_is_named)
{
    struct ini_visitor visitor = {.visit = note_entry, .context = NULL};
    struct error err = {0};
    cr_assert_not(ini_file_read("/no/such/app.ini", &visitor, &err));
    cr_assert_str_eq(err.text, "cannot open /no/such/app.ini: No such file or directory");
    cr_assert_eq(err.code, E_CONFIG);
}
