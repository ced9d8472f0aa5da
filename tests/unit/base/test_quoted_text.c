#include "base/quoted_text.h"

#include <criterion/criterion.h>

static struct byte_buffer out;

static void end(void)
{
    byte_buffer_fini(&out);
}

TestSuite(quoted_text, .fini = end);

Test(quoted_text, a_byte_that_is_no_text_keeps_its_value_but_in_json)
{
    quoted_text_append(&out, "a\xff\0\"", 4, false);
    cr_assert_str_eq(byte_buffer_text(&out), "\"a\\xff\\x00\\\"\"");
    byte_buffer_clear(&out);
    quoted_text_append(&out, "a\xff\0\"", 4, true);
    cr_assert_str_eq(byte_buffer_text(&out), "\"a\\ufffd\\u0000\\\"\"");
}

Test(quoted_text, bare_text_has_no_quotes)
{
    quoted_text_append_bare(&out, "a b\n", 4, false);
    cr_assert_str_eq(byte_buffer_text(&out), "a b\\n");
}
