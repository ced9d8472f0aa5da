#include "base/text.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"

struct number_row {
    const char *text;
    int64_t value;
    const char *refusal; /* NULL: accepted */
};

static void expect_row(const struct number_row *row, bool ok, int64_t value,
                       const struct error *err)
{
    if (row->refusal) {
        cr_assert_not(ok, "%s was accepted as %" PRId64, row->text, value);
        cr_assert_str_eq(err->text, row->refusal);
        cr_assert_eq(err->code, E_CONFIG);
    } else {
        cr_assert(ok, "%s: %s", row->text, err->text);
        cr_assert_eq(value, row->value, "%s: got %" PRId64, row->text, value);
    }
}

Test(text, int_within_bounds)
{
    static const struct number_row ROWS[] = {
        {"1", 1, NULL},
        {"+256", 256, NULL},
        {"007", 7, NULL},
        {"300", 0, "must be between -5 and 256, not 300"},
        {"-5", -5, NULL},
        {"-6", 0, "must be between -5 and 256, not -6"},
        {"99999999999999999999", 0, "must be between -5 and 256, not 99999999999999999999"},
        {"", 0, "must be a whole number, not \"\""},
        {" 1", 0, "must be a whole number, not \" 1\""},
        {"1x", 0, "must be a whole number, not \"1x\""},
        {"0x10", 0, "must be a whole number, not \"0x10\""},
        {"--1", 0, "must be a whole number, not \"--1\""},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct error err = {0};
        int64_t value = 0;
        bool ok = text_parse_int(ROWS[i].text, -5, 256, &value, &err);
        expect_row(&ROWS[i], ok, value, &err);
    }
}

#define NOT_A_DURATION "must be a duration such as 5ms, 1.5s, 10m or 1h, not "

Test(text, duration_in_nanoseconds_needs_a_unit)
{
    static const struct number_row ROWS[] = {
        {"5ms", 5000000, NULL},
        {"1.5s", 1500000000, NULL},
        {"0", 0, NULL},
        {"0.25us", 250, NULL},
        {"100000d", INT64_C(8640000000000000000), NULL},
        {"200000d", 0, NOT_A_DURATION "\"200000d\""},
        {"5", 0, NOT_A_DURATION "\"5\""},
        {"-5ms", 0, NOT_A_DURATION "\"-5ms\""},
        {"5 ms", 0, NOT_A_DURATION "\"5 ms\""},
        {"5mss", 0, NOT_A_DURATION "\"5mss\""},
        {"1.s", 0, NOT_A_DURATION "\"1.s\""},
        {".5s", 0, NOT_A_DURATION "\".5s\""},
        {"1.2.3s", 0, NOT_A_DURATION "\"1.2.3s\""},
        {"", 0, NOT_A_DURATION "\"\""},
        {"ms", 0, NOT_A_DURATION "\"ms\""},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct error err = {0};
        int64_t value = 0;
        bool ok = text_parse_duration_ns(ROWS[i].text, 0, &value, &err);
        expect_row(&ROWS[i], ok, value, &err);
    }
}

Test(text, duration_in_milliseconds_takes_plain_numbers)
{
    static const struct number_row ROWS[] = {
        {"1000", 1000, NULL},
        {"10s", 10000, NULL},
        {"1h", 3600000, NULL},
        {"0.5s", 500, NULL},
        {"1.5", 0, "must be a whole number of milliseconds, not \"1.5\""},
        {"10us", 0, "must be a whole number of milliseconds, not \"10us\""},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct error err = {0};
        int64_t value = 0;
        bool ok = text_parse_duration_ms(ROWS[i].text, &value, &err);
        expect_row(&ROWS[i], ok, value, &err);
    }
}

#define NOT_A_SIZE "must be a size such as 512, 100kB or 64MiB, not "

Test(text, bytes_with_binary_and_decimal_units)
{
    static const struct number_row ROWS[] = {
        {"512", 512, NULL},
        {"64MiB", INT64_C(64) << 20, NULL},
        {"100kB", 100000, NULL},
        {"1.5GiB", INT64_C(3) << 29, NULL},
        {"7B", 7, NULL},
        {"64M", 0, NOT_A_SIZE "\"64M\""},
        {"9000000TiB", 0, NOT_A_SIZE "\"9000000TiB\""},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct error err = {0};
        int64_t value = 0;
        bool ok = text_parse_bytes(ROWS[i].text, &value, &err);
        expect_row(&ROWS[i], ok, value, &err);
    }
}

Test(text, booleans_in_four_spellings)
{
    struct error err = {0};
    bool value = false;
    cr_assert(text_parse_bool("yes", &value, &err) && value);
    cr_assert(text_parse_bool("off", &value, &err) && !value);
    cr_assert(text_parse_bool("1", &value, &err) && value);
    cr_assert(text_parse_bool("false", &value, &err) && !value);
    cr_assert_not(text_parse_bool("maybe", &value, &err));
    cr_assert_str_eq(err.text, "must be true or false, not \"maybe\"");
}

Test(text, distance_counts_edits_and_forgives_case_and_separators)
{
    cr_assert_eq(text_distance("", ""), 0);
    cr_assert_eq(text_distance("abc", ""), 3);
    cr_assert_eq(text_distance("kitten", "sitting"), 3);
    cr_assert_eq(text_distance("ab", "ba"), 1);
    cr_assert_eq(text_distance("Num_Stream-Threads", "num.stream.threads"), 0);
    char longest[TEXT_NAME_MAX + 2];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    cr_assert_eq(text_distance(longest, "a"), SIZE_MAX);
    cr_assert_eq(text_distance(longest + 1, ""), TEXT_NAME_MAX);
}

Test(text, nearest_knows_when_nothing_is_near)
{
    static const char *const NAMES[] = {"run", "check", NULL, "config", "version"};
    cr_assert_str_eq(text_nearest("chekc", NAMES, 5), "check");
    cr_assert_str_eq(text_nearest("ru", NAMES, 5), "run");
    cr_assert_null(text_nearest("r", NAMES, 5));
    cr_assert_str_eq(text_nearest("rnu", NAMES, 5), "run");
    cr_assert_null(text_nearest("elephant", NAMES, 5));
    cr_assert_null(text_nearest("", NAMES, 5));
}

Test(text, secrets_are_known_by_their_name)
{
    cr_assert(text_names_a_secret("sasl.password"));
    cr_assert(text_names_a_secret("ssl.key.password"));
    cr_assert(text_names_a_secret("API_TOKEN"));
    cr_assert(text_names_a_secret("ssl.key.pem"));
    cr_assert_not(text_names_a_secret("sasl.username"));
    cr_assert_not(text_names_a_secret("processing.null.key"));
}
