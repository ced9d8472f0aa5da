#include "base/log_line.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"

struct level_name {
    const char *lower;
    const char *padded;
};

static const struct level_name LEVELS[] = {
    [LOG_LEVEL_ERROR] = {"error", "ERROR"},
    [LOG_LEVEL_WARN] = {"warn", "WARN "},
    [LOG_LEVEL_INFO] = {"info", "INFO "},
    [LOG_LEVEL_DEBUG] = {"debug", "DEBUG"},
};
static_assert(sizeof LEVELS / sizeof LEVELS[0] == LOG_LEVEL_DEBUG + 1, "one row for each level");

static void print_plain(const struct log_line *line, enum log_format format,
                        struct byte_buffer *out);
static void print_json(const struct log_line *line, struct byte_buffer *out);
static void print_time(int64_t wall_ms, struct byte_buffer *out);
static void print_value(const struct log_field *field, bool json, struct byte_buffer *out);
static void print_number(double number, bool json, struct byte_buffer *out);
static void print_bare(const char *text, size_t size, struct byte_buffer *out);
static void print_quoted(const char *text, size_t size, bool json, struct byte_buffer *out);
static void print_escaped(const char *text, size_t size, bool json, struct byte_buffer *out);
static size_t utf8_size(const unsigned char *bytes, size_t left);

void log_line_print(const struct log_line *line, enum log_format format, struct byte_buffer *out)
{
    CHECK(line->message != NULL);
    CHECK(line->fields != NULL);
    CHECK(line->level <= LOG_LEVEL_DEBUG);
    if (format == LOG_FORMAT_JSON) {
        print_json(line, out);
    } else {
        print_plain(line, format, out);
    }
    byte_buffer_append_char(out, '\n');
}

static void print_plain(const struct log_line *line, enum log_format format,
                        struct byte_buffer *out)
{
    size_t size = strlen(line->message);
    if (format == LOG_FORMAT_LOGFMT) {
        byte_buffer_append_text(out, "time=");
        print_time(line->wall_ms, out);
        byte_buffer_printf(out, " level=%s msg=", LEVELS[line->level].lower);
        print_bare(line->message, size, out);
    } else {
        print_time(line->wall_ms, out);
        byte_buffer_printf(out, " %s ", LEVELS[line->level].padded);
        print_escaped(line->message, size, false, out);
    }
    for (const struct log_field *field = line->fields; field->kind != LOG_KIND_END; field++) {
        byte_buffer_printf(out, " %s=", field->name);
        print_value(field, false, out);
    }
}

static void print_json(const struct log_line *line, struct byte_buffer *out)
{
    byte_buffer_append_text(out, "{\"time\":\"");
    print_time(line->wall_ms, out);
    byte_buffer_printf(out, "\",\"level\":\"%s\",\"msg\":", LEVELS[line->level].lower);
    print_quoted(line->message, strlen(line->message), true, out);
    for (const struct log_field *field = line->fields; field->kind != LOG_KIND_END; field++) {
        byte_buffer_printf(out, ",\"%s\":", field->name);
        print_value(field, true, out);
    }
    byte_buffer_append_char(out, '}');
}

static void print_time(int64_t wall_ms, struct byte_buffer *out)
{
    int64_t ms = ((wall_ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((wall_ms - ms) / 1000);
    struct tm tm;
    char text[64];
    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, sizeof text, "%FT%T", &tm) == 0) {
        byte_buffer_append_text(out, "unknown");
        return;
    }
    byte_buffer_printf(out, "%s.%03dZ", text, (int)ms);
}

static void print_value(const struct log_field *field, bool json, struct byte_buffer *out)
{
    DCHECK(field->name != NULL);
    switch (field->kind) {
    case LOG_KIND_TEXT: {
        if (field->text == NULL) {
            byte_buffer_append_text(out, json ? "null" : "-");
            return;
        }
        size_t size = field->size == SIZE_MAX ? strlen(field->text) : field->size;
        if (json) {
            print_quoted(field->text, size, true, out);
        } else {
            print_bare(field->text, size, out);
        }
        return;
    }
    case LOG_KIND_INT:
        byte_buffer_printf(out, "%lld", (long long)field->integer);
        return;
    case LOG_KIND_NUMBER:
        print_number(field->number, json, out);
        return;
    case LOG_KIND_BOOL:
        byte_buffer_append_text(out, field->truth ? "true" : "false");
        return;
    case LOG_KIND_END:
        break;
    }
    CHECK(field->kind != LOG_KIND_END);
}

/* JSON has no word for NaN and infinity. */
static void print_number(double number, bool json, struct byte_buffer *out)
{
    if (json && !isfinite(number)) {
        byte_buffer_append_text(out, "null");
    } else {
        byte_buffer_printf(out, "%.6g", number);
    }
}

/* As it is when that is clear to a logfmt reader, else in quotes. */
static void print_bare(const char *text, size_t size, struct byte_buffer *out)
{
    bool clear = size > 0 && !(size == 1 && text[0] == '-');
    for (size_t i = 0; i < size && clear; i++) {
        unsigned char byte = (unsigned char)text[i];
        clear = byte > ' ' && byte < 0x7f && byte != '"' && byte != '=' && byte != '\\';
    }
    if (clear) {
        byte_buffer_append(out, text, size);
    } else {
        print_quoted(text, size, false, out);
    }
}

static void print_quoted(const char *text, size_t size, bool json, struct byte_buffer *out)
{
    byte_buffer_append_char(out, '"');
    print_escaped(text, size, json, out);
    byte_buffer_append_char(out, '"');
}

static char short_escape(unsigned char byte)
{
    switch (byte) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* JSON cannot say "this byte", so a byte that is not UTF-8 becomes the replacement character there;
 * the other formats keep its value as \xNN. */
static void print_escaped(const char *text, size_t size, bool json, struct byte_buffer *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < size;) {
        unsigned char byte = bytes[at];
        size_t length = byte < 0x80 ? 1 : utf8_size(bytes + at, size - at);
        if (short_escape(byte)) {
            byte_buffer_printf(out, "\\%c", short_escape(byte));
        } else if (byte < ' ' || byte == 0x7f) {
            byte_buffer_printf(out, json ? "\\u%04x" : "\\x%02x", (unsigned)byte);
        } else if (length == 0) {
            byte_buffer_printf(out, json ? "\\ufffd" : "\\x%02x", (unsigned)byte);
        } else {
            byte_buffer_append(out, text + at, length);
        }
        at += length ? length : 1;
    }
}

/* Bytes of the well-formed multi-byte sequence at `bytes` (Unicode table 3-7), or 0. */
static size_t utf8_size(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) {
        return 0;
    }
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf) {
            return 0;
        }
    }
    return size;
}
