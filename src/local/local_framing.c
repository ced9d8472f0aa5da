#include "local/local_framing.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"

enum { SIZE_FIELD = 4, BODY_MIN = 8 + 4 + 4 + 4, HEADER_MIN = 4 + 4 };
static_assert(LOCAL_RECORD_MAX < INT32_MAX / 2, "sizes fit into i32 and into sums of size_t");

/* A reader that turns sour at the first field that does not fit; checked once, at the end. */
struct cursor {
    const char *at;
    size_t left;
    bool good;
};

static size_t scan_lines(const char *data, size_t size, size_t seen, bool at_end,
                         struct local_fault *fault);
static size_t scan_records(const char *data, size_t size, bool at_end, struct local_fault *fault);
static size_t read_line(const char *data, size_t size, struct record *rec,
                        struct local_fault *fault);
static size_t read_record(const char *data, size_t size, struct record *rec,
                          struct local_fault *fault);

static size_t fail(struct local_fault *fault, size_t at, const char *what)
{
    fault->at = at;
    fault->what = what;
    return 0;
}

size_t local_framing_scan(enum local_framing framing, const char *data, size_t size, size_t seen,
                          bool at_end, struct local_fault *fault)
{
    CHECK(seen <= size);
    fault->what = NULL;
    return framing == LOCAL_LINES ? scan_lines(data, size, seen, at_end, fault)
                                  : scan_records(data, size, at_end, fault);
}

static size_t scan_lines(const char *data, size_t size, size_t seen, bool at_end,
                         struct local_fault *fault)
{
    const char *last = size > seen ? memrchr(data + seen, '\n', size - seen) : NULL;
    size_t whole = last ? (size_t)(last - data) + 1 : 0;
    if (size - whole > LOCAL_RECORD_MAX) {
        fail(fault, whole, "a line of more than 64 MiB");
        return whole;
    }
    return at_end ? size : whole;
}

static uint32_t big_u32(const char *data)
{
    uint32_t value;
    memcpy(&value, data, sizeof value);
    return be32toh(value);
}

static size_t scan_records(const char *data, size_t size, bool at_end, struct local_fault *fault)
{
    size_t whole = 0;
    while (size - whole >= SIZE_FIELD) {
        uint32_t body = big_u32(data + whole);
        if (body < BODY_MIN || body > LOCAL_RECORD_MAX) {
            fail(fault, whole, "the size of the record is out of range: damaged, or not framed");
            return whole;
        }
        if (size - whole - SIZE_FIELD < body) {
            break;
        }
        whole += SIZE_FIELD + body;
    }
    DCHECK(whole <= size);
    if (at_end && whole < size) {
        fail(fault, whole, "the input ends within a record");
    }
    return whole;
}

size_t local_framing_read(enum local_framing framing, const char *data, size_t size,
                          struct record *rec, struct local_fault *fault)
{
    CHECK(size > 0);
    fault->what = NULL;
    size_t took = framing == LOCAL_LINES ? read_line(data, size, rec, fault)
                                         : read_record(data, size, rec, fault);
    DCHECK(took <= size);
    DCHECK((took == 0) == (fault->what != NULL));
    return took;
}

static size_t read_line(const char *data, size_t size, struct record *rec,
                        struct local_fault *fault)
{
    const char *end = memchr(data, '\n', size);
    size_t value_size = end ? (size_t)(end - data) : size;
    if (value_size > LOCAL_RECORD_MAX) {
        return fail(fault, 0, "a line of more than 64 MiB");
    }
    rec->key = NULL;
    rec->key_size = 0;
    rec->value = data;
    rec->value_size = (uint32_t)value_size;
    rec->timestamp_ms = -1;
    rec->message = NULL;
    return value_size + (end ? 1 : 0);
}

static uint32_t take_u32(struct cursor *cursor)
{
    if (!cursor->good || cursor->left < 4) {
        cursor->good = false;
        return 0;
    }
    uint32_t value = big_u32(cursor->at);
    cursor->at += 4;
    cursor->left -= 4;
    return value;
}

static const char *take_bytes(struct cursor *cursor, uint32_t size)
{
    if (!cursor->good || cursor->left < size) {
        cursor->good = false;
        return NULL;
    }
    const char *bytes = cursor->at;
    cursor->at += size;
    cursor->left -= size;
    return bytes;
}

/* Bytes with an i32 size, where -1 is NULL. */
static const char *take_nullable(struct cursor *cursor, uint32_t *size)
{
    *size = take_u32(cursor);
    if (*size == UINT32_MAX) {
        *size = 0;
        return NULL;
    }
    const char *bytes = take_bytes(cursor, *size);
    if (!cursor->good) {
        *size = 0;
    }
    return bytes;
}

static void take_header(struct cursor *cursor, struct header *header)
{
    header->name_size = take_u32(cursor);
    header->name = take_bytes(cursor, header->name_size);
    header->value = take_nullable(cursor, &header->value_size);
}

static size_t read_record(const char *data, size_t size, struct record *rec,
                          struct local_fault *fault)
{
    CHECK(size >= SIZE_FIELD + BODY_MIN);
    uint32_t body = big_u32(data);
    CHECK(body <= size - SIZE_FIELD); /* the scan let only whole records pass */
    struct cursor cursor = {.at = data + SIZE_FIELD, .left = body, .good = true};
    uint64_t high = take_u32(&cursor);
    uint32_t low = take_u32(&cursor);
    rec->timestamp_ms = (int64_t)(high << 32 | low);
    rec->key = take_nullable(&cursor, &rec->key_size);
    rec->value = take_nullable(&cursor, &rec->value_size);
    rec->message = (void *)cursor.at; /* read-only in local_framing_headers */
    uint32_t count = take_u32(&cursor);
    for (uint32_t i = 0; i < count && cursor.good; i++) {
        struct header header;
        take_header(&cursor, &header);
    }
    if (!cursor.good) {
        return fail(fault, 0, "the record's fields are longer than the record");
    }
    if (cursor.left > 0) {
        return fail(fault, 0, "the record is longer than its fields");
    }
    return SIZE_FIELD + body;
}

uint32_t local_framing_headers(struct record *rec, struct arena *arena, struct header **headers)
{
    *headers = NULL;
    if (rec->message == NULL) {
        return 0;
    }
    /* the whole block was walked by read_record: no bound can be passed here */
    struct cursor cursor = {.at = rec->message, .left = SIZE_MAX, .good = true};
    uint32_t count = take_u32(&cursor);
    if (count == 0) {
        return 0;
    }
    CHECK(count <= LOCAL_RECORD_MAX / HEADER_MIN);
    *headers = arena_alloc(arena, count * sizeof **headers);
    for (uint32_t i = 0; i < count; i++) {
        take_header(&cursor, *headers + i);
    }
    return count;
}

static size_t body_size(const struct emission *emission)
{
    size_t size = BODY_MIN;
    size += emission->key_size;
    size += emission->value_size;
    for (uint32_t i = 0; i < emission->header_count; i++) {
        size += HEADER_MIN;
        size += emission->headers[i].name_size;
        size += emission->headers[i].value_size;
    }
    return size;
}

bool local_framing_check(enum local_framing framing, const struct emission *emission,
                         struct error *err)
{
    size_t size = framing == LOCAL_LINES ? emission->value_size : body_size(emission);
    if (size > LOCAL_RECORD_MAX) {
        return error_set(err, E_IO, "a record of %zu bytes is larger than 64 MiB", size);
    }
    if (framing == LOCAL_RECORDS) {
        return true;
    }
    if (emission->value == NULL) {
        return error_set(err, E_IO, "a record without a value cannot be a line: use --frame");
    }
    if (memchr(emission->value, '\n', emission->value_size)) {
        return error_set(err, E_IO, "a value with a line break cannot be a line: use --frame");
    }
    return true;
}

static void put_u32(struct byte_buffer *out, uint32_t value)
{
    uint32_t big = htobe32(value);
    byte_buffer_append(out, &big, sizeof big);
}

static void put_bytes(struct byte_buffer *out, const char *bytes, uint32_t size)
{
    DCHECK(bytes != NULL || size == 0);
    put_u32(out, bytes ? size : UINT32_MAX);
    if (bytes && size) {
        byte_buffer_append(out, bytes, size);
    }
}

void local_framing_write(enum local_framing framing, const struct emission *emission,
                         struct byte_buffer *out)
{
    if (framing == LOCAL_LINES) {
        byte_buffer_append(out, emission->value, emission->value_size);
        byte_buffer_append_char(out, '\n');
        return;
    }
    size_t body = body_size(emission);
    CHECK(body <= LOCAL_RECORD_MAX);
    size_t end = out->size + SIZE_FIELD + body;
    put_u32(out, (uint32_t)body);
    put_u32(out, (uint32_t)((uint64_t)emission->timestamp_ms >> 32));
    put_u32(out, (uint32_t)(uint64_t)emission->timestamp_ms);
    put_bytes(out, emission->key, emission->key_size);
    put_bytes(out, emission->value, emission->value_size);
    put_u32(out, emission->header_count);
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *header = emission->headers + i;
        put_bytes(out, header->name ? header->name : "", header->name_size);
        put_bytes(out, header->value, header->value_size);
    }
    CHECK(out->size == end);
}
