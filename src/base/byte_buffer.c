#include "base/byte_buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 128 };

static void make_room(struct byte_buffer *buffer, size_t size);

void byte_buffer_init(struct byte_buffer *buffer)
{
    *buffer = (struct byte_buffer){.data = NULL, .size = 0, .capacity = 0};
}

void byte_buffer_fini(struct byte_buffer *buffer)
{
    memory_free(buffer->data);
    byte_buffer_init(buffer);
}

void byte_buffer_clear(struct byte_buffer *buffer)
{
    buffer->size = 0;
    if (buffer->data) {
        buffer->data[0] = 0;
    }
}

void byte_buffer_append(struct byte_buffer *buffer, const void *data, size_t size)
{
    CHECK(data != NULL || size == 0);
    make_room(buffer, size);
    if (size) {
        memcpy(buffer->data + buffer->size, data, size);
    }
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

/* Room for `size` more bytes and the NUL. */
static void make_room(struct byte_buffer *buffer, size_t size)
{
    CHECK(size < SIZE_MAX / 4);
    CHECK(buffer->size < SIZE_MAX / 4);
    size_t wanted = buffer->size + size + 1;
    if (wanted <= buffer->capacity) {
        return;
    }
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < wanted) {
        capacity *= 2;
    }
    buffer->data = memory_resize(buffer->data, capacity);
    buffer->capacity = capacity;
}

void byte_buffer_append_text(struct byte_buffer *buffer, const char *text)
{
    CHECK(text != NULL);
    byte_buffer_append(buffer, text, strlen(text));
}

void byte_buffer_append_char(struct byte_buffer *buffer, char byte)
{
    byte_buffer_append(buffer, &byte, 1);
}

void byte_buffer_printf(struct byte_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    CHECK(size >= 0);
    make_room(buffer, (size_t)size);
    int written = vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again);
    va_end(again);
    CHECK(written == size);
    buffer->size += (size_t)size;
}

const char *byte_buffer_text(const struct byte_buffer *buffer)
{
    DCHECK(buffer->data == NULL || buffer->data[buffer->size] == 0);
    return buffer->data ? buffer->data : "";
}

char *byte_buffer_take(struct byte_buffer *buffer)
{
    char *text = buffer->data ? buffer->data : memory_copy_text("");
    byte_buffer_init(buffer);
    return text;
}
