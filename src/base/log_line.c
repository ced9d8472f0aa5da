#include "base/log_line.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/quoted_text.h"

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
        quoted_text_append_bare(out, line->message, size, false);
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
    quoted_text_append(out, line->message, strlen(line->message), true);
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
            quoted_text_append(out, field->text, size, true);
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
        quoted_text_append(out, text, size, false);
    }
}
