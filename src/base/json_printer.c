#include "base/json_printer.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/quoted_text.h"

enum { NS_PER_SECOND = 1000000000 };

static void begin_value(struct json_printer *json, const char *name);
static void open_level(struct json_printer *json, const char *name, char bracket);
static void close_level(struct json_printer *json, char bracket);

void json_printer_init(struct json_printer *json, struct byte_buffer *out)
{
    *json = (struct json_printer){.out = out};
}

void json_printer_begin_object(struct json_printer *json, const char *name)
{
    open_level(json, name, '{');
}

void json_printer_end_object(struct json_printer *json)
{
    close_level(json, '}');
}

void json_printer_begin_array(struct json_printer *json, const char *name)
{
    open_level(json, name, '[');
}

void json_printer_end_array(struct json_printer *json)
{
    close_level(json, ']');
}

void json_printer_text(struct json_printer *json, const char *name, const char *text)
{
    if (text == NULL) {
        json_printer_null(json, name);
        return;
    }
    begin_value(json, name);
    quoted_text_append(json->out, text, strlen(text), true);
}

void json_printer_int(struct json_printer *json, const char *name, int64_t value)
{
    begin_value(json, name);
    byte_buffer_printf(json->out, "%" PRId64, value);
}

void json_printer_bool(struct json_printer *json, const char *name, bool value)
{
    begin_value(json, name);
    byte_buffer_append_text(json->out, value ? "true" : "false");
}

void json_printer_null(struct json_printer *json, const char *name)
{
    begin_value(json, name);
    byte_buffer_append_text(json->out, "null");
}

void json_printer_seconds(struct json_printer *json, const char *name, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    begin_value(json, name);
    byte_buffer_printf(json->out, "%" PRId64 ".%09" PRId64, ns / NS_PER_SECOND, ns % NS_PER_SECOND);
}

static void begin_value(struct json_printer *json, const char *name)
{
    if (json->more) {
        byte_buffer_append_char(json->out, ',');
    }
    json->more = true;
    if (name) {
        quoted_text_append(json->out, name, strlen(name), true);
        byte_buffer_append_char(json->out, ':');
    }
}

static void open_level(struct json_printer *json, const char *name, char bracket)
{
    begin_value(json, name);
    byte_buffer_append_char(json->out, bracket);
    json->more = false;
    json->depth++;
}

static void close_level(struct json_printer *json, char bracket)
{
    CHECK(json->depth > 0);
    byte_buffer_append_char(json->out, bracket);
    json->more = true;
    json->depth--;
}
