/*
 * json_printer: a JSON text, written in order into a buffer.
 *
 * Why: commas, quotes and escapes are right by construction, and what is written reads like what
 * comes out.
 *
 * Thread: belongs to its caller.
 * Borrows: the buffer.
 */
#ifndef BASE_JSON_PRINTER_H
#define BASE_JSON_PRINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/byte_buffer.h"

/* Embedded; the fields are private. */
struct json_printer {
    struct byte_buffer *out;
    bool more;      /* a value precedes in this array or object */
    unsigned depth; /* open arrays and objects */
};

void json_printer_init(struct json_printer *json, struct byte_buffer *out);

/* `name` NULL: within an array, or the whole text. */
void json_printer_begin_object(struct json_printer *json, const char *name);
void json_printer_end_object(struct json_printer *json);
void json_printer_begin_array(struct json_printer *json, const char *name);
void json_printer_end_array(struct json_printer *json);
/* NULL becomes null. */
void json_printer_text(struct json_printer *json, const char *name, const char *text);
void json_printer_int(struct json_printer *json, const char *name, int64_t value);
void json_printer_bool(struct json_printer *json, const char *name, bool value);
void json_printer_null(struct json_printer *json, const char *name);
/* Nanoseconds as seconds with nine decimals; negative ones as 0. */
void json_printer_seconds(struct json_printer *json, const char *name, int64_t ns);

#endif
