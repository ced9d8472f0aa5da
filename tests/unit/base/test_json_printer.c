#include "base/json_printer.h"

#include <criterion/criterion.h>
#include <stddef.h>

static struct byte_buffer out;
static struct json_printer json;

static void begin(void)
{
    json_printer_init(&json, &out);
}

static void end(void)
{
    byte_buffer_fini(&out);
}

TestSuite(json_printer, .init = begin, .fini = end);

Test(json_printer, commas_stand_between_values_and_nowhere_else)
{
    json_printer_begin_object(&json, NULL);
    json_printer_begin_array(&json, "empty");
    json_printer_end_array(&json);
    json_printer_begin_array(&json, "two");
    json_printer_int(&json, NULL, -1);
    json_printer_begin_object(&json, NULL);
    json_printer_bool(&json, "a", true);
    json_printer_null(&json, "b");
    json_printer_end_object(&json);
    json_printer_end_array(&json);
    json_printer_text(&json, "last", "x");
    json_printer_end_object(&json);
    cr_assert_str_eq(byte_buffer_text(&out),
                     "{\"empty\":[],\"two\":[-1,{\"a\":true,\"b\":null}],\"last\":\"x\"}");
}

Test(json_printer, text_is_valid_whatever_it_holds)
{
    json_printer_begin_array(&json, NULL);
    json_printer_text(&json, NULL, "q\"b\\n\nc\x01 \xff \xc3\xa9");
    json_printer_text(&json, NULL, NULL);
    json_printer_end_array(&json);
    cr_assert_str_eq(byte_buffer_text(&out), "[\"q\\\"b\\\\n\\nc\\u0001 \\ufffd \xc3\xa9\",null]");
}

Test(json_printer, seconds_are_exact_and_never_negative)
{
    json_printer_begin_array(&json, NULL);
    json_printer_seconds(&json, NULL, 1500000001);
    json_printer_seconds(&json, NULL, -3);
    json_printer_end_array(&json);
    cr_assert_str_eq(byte_buffer_text(&out), "[1.500000001,0.000000000]");
}
