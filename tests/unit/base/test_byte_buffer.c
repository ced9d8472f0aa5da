#include "base/byte_buffer.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"

Test(byte_buffer, empty_reads_as_an_empty_string)
{
    struct byte_buffer buffer = {0};
    cr_assert_str_eq(byte_buffer_text(&buffer), "");
    byte_buffer_append(&buffer, NULL, 0);
    cr_assert_str_eq(byte_buffer_text(&buffer), "");
    byte_buffer_fini(&buffer);
}

Test(byte_buffer, keeps_nul_bytes_and_ends_with_one)
{
    struct byte_buffer buffer;
    byte_buffer_init(&buffer);
    byte_buffer_append(&buffer, "a\0b", 3);
    byte_buffer_append_char(&buffer, 'c');
    cr_assert_eq(buffer.size, 4);
    cr_assert_eq(memcmp(buffer.data, "a\0bc", 5), 0);
    byte_buffer_clear(&buffer);
    cr_assert_str_eq(byte_buffer_text(&buffer), "");
    byte_buffer_fini(&buffer);
}

Test(byte_buffer, grows_over_many_appends_of_all_kinds)
{
    struct byte_buffer buffer;
    byte_buffer_init(&buffer);
    for (int i = 0; i < 1000; i++) {
        byte_buffer_printf(&buffer, "%03d", i);
        byte_buffer_append_text(&buffer, ",");
    }
    cr_assert_eq(buffer.size, 4000);
    cr_assert_eq(strncmp(byte_buffer_text(&buffer) + 3996, "999,", 5), 0);
    char *text = byte_buffer_take(&buffer);
    cr_assert_eq(strlen(text), 4000);
    cr_assert_eq(buffer.size, 0);
    memory_free(text);
}

Test(byte_buffer, take_of_an_empty_buffer_is_an_empty_string)
{
    struct byte_buffer buffer = {0};
    char *text = byte_buffer_take(&buffer);
    cr_assert_str_eq(text, "");
    memory_free(text);
}
