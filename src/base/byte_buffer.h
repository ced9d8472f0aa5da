/*
 * byte_buffer: bytes that grow at the end, for text of unknown length.
 *
 * Why: log lines, help texts and dumps are built piece by piece; a fixed buffer would cut them and
 * a stream of stdio would hide when memory moves. The bytes always end with a NUL that is not
 * counted, so that they can be used as a string; NUL bytes inside are kept.
 *
 * Thread: a buffer belongs to its caller.
 * Owns: its bytes.
 */
#ifndef BASE_BYTE_BUFFER_H
#define BASE_BYTE_BUFFER_H

#include <stddef.h>

#include "base/annotations.h"

/* Embedded; the fields are read-only outside byte_buffer.c. All zero is an empty buffer. */
struct byte_buffer {
    char *data; /* NULL until the first append */
    size_t size;
    size_t capacity; /* private */
};

void byte_buffer_init(struct byte_buffer *buffer);
/* Frees the bytes. The buffer is empty afterwards and may be used again. */
void byte_buffer_fini(struct byte_buffer *buffer);
/* Forgets the bytes and keeps the memory. */
void byte_buffer_clear(struct byte_buffer *buffer);

void byte_buffer_append(struct byte_buffer *buffer, const void *data, size_t size);
void byte_buffer_append_text(struct byte_buffer *buffer, const char *text);
void byte_buffer_append_char(struct byte_buffer *buffer, char byte);
void byte_buffer_printf(struct byte_buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);

/* The bytes as a string, "" when empty; borrowed, valid until the next change. */
const char *byte_buffer_text(const struct byte_buffer *buffer);
/* Gives the bytes to the caller, who frees them with memory_free; never NULL. The buffer is empty
 * afterwards. */
char *byte_buffer_take(struct byte_buffer *buffer) MUST_USE;

#endif
