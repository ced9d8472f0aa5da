#include "base/log_line.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void expect_line(enum log_format format, const char *message, const struct log_field *fields,
                        const char *expected)
{
    struct log_line line = {.wall_ms = INT64_C(1796126482007),
                            .level = LOG_LEVEL_INFO,
                            .message = message,
                            .fields = fields};
    struct byte_buffer out = {0};
    log_line_print(&line, format, &out);
    cr_assert_str_eq(byte_buffer_text(&out), expected, "got: %s", byte_buffer_text(&out));
    byte_buffer_fini(&out);
}

#define FIELDS(...) ((const struct log_field[]){__VA_ARGS__, LOG_END})
#define NO_FIELDS   ((const struct log_field[]){LOG_END})

Test(log_line, text_has_time_level_message_and_fields)
{
    expect_line(LOG_FORMAT_TEXT, "partition assigned",
                FIELDS(LOG_STR("topic", "orders"), LOG_INT("partition", 3), LOG_BOOL("new", true)),
                "2026-12-01T12:01:22.007Z INFO  partition assigned topic=orders partition=3 "
                "new=true\n");
}

Test(log_line, logfmt_quotes_what_is_not_clear)
{
    expect_line(LOG_FORMAT_LOGFMT, "two words",
                FIELDS(LOG_STR("a", "x y"), LOG_STR("b", ""), LOG_STR("c", "k=v"),
                       LOG_STR("d", NULL), LOG_STR("e", "-"), LOG_NUMBER("f", 0.5)),
                "time=2026-12-01T12:01:22.007Z level=info msg=\"two words\" a=\"x y\" b=\"\" "
                "c=\"k=v\" d=- e=\"-\" f=0.5\n");
}

Test(log_line, json_is_one_object)
{
    expect_line(LOG_FORMAT_JSON, "m",
                FIELDS(LOG_STR("s", "x"), LOG_INT("i", INT64_MIN), LOG_BOOL("b", false),
                       LOG_STR("n", NULL), LOG_NUMBER("inf", 1.0 / 0.0)),
                "{\"time\":\"2026-12-01T12:01:22.007Z\",\"level\":\"info\",\"msg\":\"m\","
                "\"s\":\"x\",\"i\":-9223372036854775808,\"b\":false,\"n\":null,\"inf\":null}\n");
}

Test(log_line, without_fields_ends_after_the_message)
{
    expect_line(LOG_FORMAT_TEXT, "hello", NO_FIELDS, "2026-12-01T12:01:22.007Z INFO  hello\n");
}

struct escape_row {
    const char *bytes;
    size_t size;
    const char *json;
    const char *logfmt;
};

static const struct escape_row ESCAPES[] = {
    {"a\"b\\c", 5, "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\""},
    {"l1\nl2\r\t", 7, "\"l1\\nl2\\r\\t\"", "\"l1\\nl2\\r\\t\""},
    {"\0\x01\x1b\x7f", 4, "\"\\u0000\\u0001\\u001b\\u007f\"", "\"\\x00\\x01\\x1b\\x7f\""},
    {"\xc2\x9b\xc2\xa0", 4, "\"\xc2\x9b\xc2\xa0\"", "\"\\xc2\\x9b\xc2\xa0\""},
    {"caf\xc3\xa9", 5, "\"caf\xc3\xa9\"", "\"caf\xc3\xa9\""},
    {"\xf0\x9f\x8c\x99", 4, "\"\xf0\x9f\x8c\x99\"", "\"\xf0\x9f\x8c\x99\""},
    {"x\xff\xc3", 3, "\"x\\ufffd\\ufffd\"", "\"x\\xff\\xc3\""},              /* cut sequence */
    {"\xc0\x80", 2, "\"\\ufffd\\ufffd\"", "\"\\xc0\\x80\""},                 /* overlong */
    {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"", "\"\\xed\\xa0\\x80\""}, /* surrogate */
    {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"", "\"\\xf4\\x90\\x80\\x80\""},
    {"\xe2\x82(", 3, "\"\\ufffd\\ufffd(\"", "\"\\xe2\\x82(\""},
};

Test(log_line, any_byte_stays_on_one_valid_line)
{
    for (size_t i = 0; i < sizeof ESCAPES / sizeof ESCAPES[0]; i++) {
        const struct escape_row *row = &ESCAPES[i];
        const struct log_field fields[] = {LOG_BYTES("v", row->bytes, row->size), LOG_END};
        char expected[256];
        snprintf(
            expected, sizeof expected,
            "{\"time\":\"2026-12-01T12:01:22.007Z\",\"level\":\"info\",\"msg\":\"m\",\"v\":%s}\n",
            row->json);
        expect_line(LOG_FORMAT_JSON, "m", fields, expected);
        snprintf(expected, sizeof expected, "time=2026-12-01T12:01:22.007Z level=info msg=m v=%s\n",
                 row->logfmt);
        expect_line(LOG_FORMAT_LOGFMT, "m", fields, expected);
    }
}

Test(log_line, a_message_cannot_break_the_line)
{
    expect_line(LOG_FORMAT_TEXT, "a\nb\x1b[0m", NO_FIELDS,
                "2026-12-01T12:01:22.007Z INFO  a\\nb\\x1b[0m\n");
}
