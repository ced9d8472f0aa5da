/*
 * quoted_text: any bytes as text within quotes, as JSON and logfmt have it.
 *
 * Why: topics, keys and messages hold what their senders put there; whatever that is, a line stays
 * a line, valid UTF-8, and valid JSON.
 *
 * Thread: any.
 */
#ifndef BASE_QUOTED_TEXT_H
#define BASE_QUOTED_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/byte_buffer.h"

/* Appends the bytes escaped and in quotes. A byte that is not UTF-8 becomes the replacement
 * character with `json`, else \xNN. */
void quoted_text_append(struct byte_buffer *out, const char *text, size_t size, bool json);
/* The same without the quotes. */
void quoted_text_append_bare(struct byte_buffer *out, const char *text, size_t size, bool json);

#endif
