#include "local/local_framing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* A string constant with the NUL bytes inside it, as address and size. */
#define BYTES(text) text, (uint32_t)(sizeof(text) - 1)

static struct byte_buffer out;
static struct local_fault fault;
static struct error err;

static void clear(void)
{
    byte_buffer_fini(&out);
}

TestSuite(local_framing, .fini = clear);

static size_t scan_lines(const char *text, size_t seen, bool at_end)
{
    return local_framing_scan(LOCAL_LINES, text, strlen(text), seen, at_end, &fault);
}

Test(local_framing, whole_lines_end_behind_the_last_break)
{
    cr_assert_eq(scan_lines("a\nbc\nd", 0, false), 5);
    cr_assert_eq(scan_lines("abc", 0, false), 0);
    cr_assert_eq(scan_lines("", 0, false), 0);
    cr_assert_eq(scan_lines("\n", 0, false), 1);
}

Test(local_framing, the_last_line_needs_no_break_at_the_end)
{
    cr_assert_eq(scan_lines("a\nbc", 0, true), 4);
    cr_assert_null(fault.what);
}

Test(local_framing, bytes_seen_before_are_not_searched_again)
{
    cr_assert_eq(scan_lines("a\nb", 2, false), 0);
    cr_assert_eq(scan_lines("ab\n", 2, false), 3);
}

Test(local_framing, a_line_is_a_value_with_cr_and_nul_and_nothing_else)
{
    struct record rec;
    cr_assert_eq(local_framing_read(LOCAL_LINES, BYTES("a\0b\r\nrest"), &rec, &fault), 5);
    cr_assert_eq(rec.value_size, 4);
    cr_assert_arr_eq(rec.value, "a\0b\r", 4);
    cr_assert_null(rec.key);
    cr_assert_eq(rec.timestamp_ms, -1);
    struct arena arena;
    struct header *headers;
    arena_init(&arena);
    cr_assert_eq(local_framing_headers(&rec, &arena, &headers), 0);
}

Test(local_framing, an_empty_line_is_an_empty_value)
{
    struct record rec;
    cr_assert_eq(local_framing_read(LOCAL_LINES, BYTES("\n\n"), &rec, &fault), 1);
    cr_assert_eq(rec.value_size, 0);
    cr_assert_not_null(rec.value);
}

static size_t round_trip(const struct emission *emission, struct record *rec)
{
    cr_assert(local_framing_check(LOCAL_RECORDS, emission, &err));
    local_framing_write(LOCAL_RECORDS, emission, &out);
    cr_assert_eq(local_framing_scan(LOCAL_RECORDS, out.data, out.size, 0, true, &fault), out.size);
    return local_framing_read(LOCAL_RECORDS, out.data, out.size, rec, &fault);
}

Test(local_framing, a_frame_carries_everything_with_duplicate_headers)
{
    const struct header headers[] = {
        {.name = "h\n", .name_size = 2, .value = "1\0", .value_size = 2},
        {.name = "h\n", .name_size = 2, .value = NULL},
        {.name = "", .name_size = 0, .value = "", .value_size = 0},
    };
    struct emission emission = {.key = "k\0",
                                .key_size = 2,
                                .value = "v\nw",
                                .value_size = 3,
                                .timestamp_ms = 1700000000123,
                                .headers = headers,
                                .header_count = 3};
    struct record rec;
    cr_assert_eq(round_trip(&emission, &rec), out.size);
    cr_assert_eq(rec.key_size, 2);
    cr_assert_arr_eq(rec.key, "k\0", 2);
    cr_assert_eq(rec.value_size, 3);
    cr_assert_arr_eq(rec.value, "v\nw", 3);
    cr_assert_eq(rec.timestamp_ms, 1700000000123);
    struct arena arena;
    struct header *read;
    arena_init(&arena);
    cr_assert_eq(local_framing_headers(&rec, &arena, &read), 3);
    cr_assert_arr_eq(read[0].name, "h\n", 2);
    cr_assert_arr_eq(read[0].value, "1\0", 2);
    cr_assert_eq(read[1].name_size, 2);
    cr_assert_null(read[1].value);
    cr_assert_eq(read[2].name_size, 0);
    cr_assert_not_null(read[2].value);
    cr_assert_eq(read[2].value_size, 0);
    arena_fini(&arena);
}

Test(local_framing, none_and_empty_are_not_the_same)
{
    struct emission emission = {.value = "", .timestamp_ms = -1};
    struct record rec;
    cr_assert_eq(round_trip(&emission, &rec), 24);
    cr_assert_null(rec.key);
    cr_assert_not_null(rec.value);
    cr_assert_eq(rec.value_size, 0);
    cr_assert_eq(rec.timestamp_ms, -1);
    emission = (struct emission){.key = "", .timestamp_ms = -1};
    byte_buffer_clear(&out);
    cr_assert_eq(round_trip(&emission, &rec), 24);
    cr_assert_not_null(rec.key);
    cr_assert_null(rec.value);
}

Test(local_framing, the_bytes_of_a_frame_are_these)
{
    const struct header header = {.name = "h", .name_size = 1};
    struct emission emission = {
        .value = "v", .value_size = 1, .timestamp_ms = 258, .headers = &header, .header_count = 1};
    local_framing_write(LOCAL_RECORDS, &emission, &out);
    static const char expected[] = "\0\0\0\x1e"
                                   "\0\0\0\0\0\0\1\2"
                                   "\xff\xff\xff\xff"
                                   "\0\0\0\1v"
                                   "\0\0\0\1"
                                   "\0\0\0\1h"
                                   "\xff\xff\xff\xff";
    cr_assert_eq(out.size, sizeof expected - 1);
    cr_assert_arr_eq(out.data, expected, sizeof expected - 1);
}

Test(local_framing, a_frame_that_is_cut_off_is_a_fault_at_the_end_only)
{
    struct emission emission = {.value = "v", .value_size = 1, .timestamp_ms = -1};
    local_framing_write(LOCAL_RECORDS, &emission, &out);
    size_t one = out.size;
    local_framing_write(LOCAL_RECORDS, &emission, &out);
    for (size_t size = one + 1; size < 2 * one; size++) {
        cr_assert_eq(local_framing_scan(LOCAL_RECORDS, out.data, size, 0, false, &fault), one);
        cr_assert_null(fault.what);
        cr_assert_eq(local_framing_scan(LOCAL_RECORDS, out.data, size, 0, true, &fault), one);
        cr_assert_eq(fault.at, one);
        cr_assert_str_eq(fault.what, "the input ends within a record");
    }
}

Test(local_framing, a_size_out_of_range_is_a_fault)
{
    cr_assert_eq(local_framing_scan(LOCAL_RECORDS, BYTES("\0\0\0\x13"), 0, false, &fault), 0);
    cr_assert_not_null(fault.what);
    cr_assert_eq(local_framing_scan(LOCAL_RECORDS, BYTES("some text"), 0, false, &fault), 0);
    cr_assert_not_null(fault.what);
}

/* Whatever a byte of a frame is changed to, reading stays inside and ends with a record or a fault.
 */
Test(local_framing, damaged_fields_are_faults_and_never_pass_the_record)
{
    const struct header header = {.name = "hn", .name_size = 2, .value = "hv", .value_size = 2};
    struct emission emission = {.key = "key",
                                .key_size = 3,
                                .value = "val",
                                .value_size = 3,
                                .timestamp_ms = -1,
                                .headers = &header,
                                .header_count = 1};
    local_framing_write(LOCAL_RECORDS, &emission, &out);
    size_t faults = 0;
    for (size_t at = 12; at < out.size; at++) {
        for (int change = 1; change < 256; change++) {
            char *copy = malloc(out.size); /* exactly so large: the sanitizer sees a step too far */
            memcpy(copy, out.data, out.size);
            copy[at] = (char)(copy[at] ^ change);
            struct record rec;
            size_t took = local_framing_read(LOCAL_RECORDS, copy, out.size, &rec, &fault);
            cr_assert(took == 0 || took == out.size);
            faults += took == 0;
            free(copy);
        }
    }
    cr_assert_gt(faults, 255 * 16); /* most of the changes to the five sizes and the count */
}

Test(local_framing, a_line_refuses_what_it_cannot_carry)
{
    struct emission emission = {.value = "a\nb", .value_size = 3};
    cr_assert_not(local_framing_check(LOCAL_LINES, &emission, &err));
    cr_assert_str_eq(err.text, "a value with a line break cannot be a line: use --frame");
    emission = (struct emission){.key = "k", .key_size = 1};
    cr_assert_not(local_framing_check(LOCAL_LINES, &emission, &err));
    cr_assert_str_eq(err.text, "a record without a value cannot be a line: use --frame");
    emission = (struct emission){.value = "a\0\r", .value_size = 3};
    cr_assert(local_framing_check(LOCAL_LINES, &emission, &err));
    local_framing_write(LOCAL_LINES, &emission, &out);
    cr_assert_eq(out.size, 4);
    cr_assert_arr_eq(out.data, "a\0\r\n", 4);
}

Test(local_framing, a_record_above_the_bound_is_refused)
{
    struct emission emission = {.value = "", .value_size = LOCAL_RECORD_MAX - 19};
    cr_assert_not(local_framing_check(LOCAL_RECORDS, &emission, &err));
    cr_assert(strstr(err.text, "larger than 64 MiB"));
    emission.value_size--;
    cr_assert(local_framing_check(LOCAL_RECORDS, &emission, &err));
}
