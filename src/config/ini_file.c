#include "config/ini_file.h"

#include <ini.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/file_bytes.h"

struct ini_reader_state {
    const char *at;
    const char *end;
    int line; /* of the text that inih was given last */
    const struct ini_visitor *visitor;
    struct error *err;
    bool failed;
};

static bool check_text(const char *text, size_t size, int *line, struct error *err);
static bool check_bytes(const char *text, size_t size, struct error *err);
static bool check_line(const char *text, size_t size, bool *in_section, struct error *err);
static bool check_section_line(const char *text, size_t size, struct error *err);
static bool has_comment_trap(const char *text, size_t size);
static size_t line_size(const char *text, const char *end);
static char *read_line(char *line, int capacity, void *stream);
static int visit_entry(void *context, const char *section, const char *name, const char *value);

bool ini_file_read(const char *path, const struct ini_visitor *visitor, struct error *err)
{
    struct byte_buffer bytes = {0};
    bool ok = file_bytes_read(path, &bytes, err);
    if (!ok) {
        err->code = E_CONFIG;
    }
    ok = ok && ini_file_parse(path, byte_buffer_text(&bytes), bytes.size, visitor, err);
    byte_buffer_fini(&bytes);
    return ok;
}

bool ini_file_parse(const char *name, const char *text, size_t size,
                    const struct ini_visitor *visitor, struct error *err)
{
    CHECK(visitor->visit != NULL);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3; /* the mark that some editors put before UTF-8 */
        size -= 3;
    }
    int line = 0;
    if (!check_text(text, size, &line, err)) {
        return error_prefix(err, "%s:%d", name, line);
    }
    struct ini_reader_state state = {
        .at = text, .end = text + size, .visitor = visitor, .err = err};
    int bad_line = ini_parse_stream(read_line, &state, visit_entry, &state);
    if (state.failed) {
        return error_prefix(err, "%s:%d", name, state.line);
    }
    if (bad_line != 0) { /* check_text should have seen it */
        error_set(err, E_CONFIG, "cannot be read as \"key = value\"");
        return error_prefix(err, "%s:%d", name, bad_line);
    }
    return true;
}

static bool check_text(const char *text, size_t size, int *line, struct error *err)
{
    const char *end = text + size;
    bool in_section = false;
    for (*line = 1; text < end; ++*line) {
        size_t length = line_size(text, end);
        size_t shown = length > 0 && text[length - 1] == '\r' ? length - 1 : length;
        if (!check_bytes(text, shown, err) || !check_line(text, shown, &in_section, err)) {
            return false;
        }
        text += length + (text + length < end);
    }
    return true;
}

static size_t line_size(const char *text, const char *end)
{
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    return (size_t)((newline ? newline : end) - text);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Or nothing at all. */
static bool is_comment(const char *text, size_t size)
{
    size_t start = 0;
    while (start < size && is_blank(text[start])) {
        start++;
    }
    return start == size || text[start] == '#' || text[start] == ';';
}

static bool check_bytes(const char *text, size_t size, struct error *err)
{
    if (memchr(text, 0, size)) {
        return error_set(err, E_CONFIG, "holds a NUL byte; is it UTF-16? Save the file as UTF-8");
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return error_set(err, E_CONFIG, "holds the control byte 0x%02x", byte);
        }
    }
    if (size > INI_FILE_LINE_MAX && !is_comment(text, size)) {
        return error_set(err, E_CONFIG,
                         "has %zu bytes, more than %d; put the value into a file and write "
                         "${file:PATH}",
                         size, INI_FILE_LINE_MAX);
    }
    return true;
}

static bool check_line(const char *text, size_t size, bool *in_section, struct error *err)
{
    if (is_comment(text, size)) {
        return true;
    }
    if (is_blank(text[0])) {
        return error_set(err, E_CONFIG,
                         "begins with a blank; a value cannot go on over lines, and keys start in "
                         "the first column");
    }
    if (text[0] == '[') {
        *in_section = true;
        return check_section_line(text, size, err);
    }
    size_t name = 0;
    while (name < size && text[name] != '=' && text[name] != ':') {
        name++;
    }
    if (name == size || name == 0) {
        return error_set(err, E_CONFIG, "must be \"key = value\", \"[section]\" or a comment");
    }
    if (!*in_section) {
        return error_set(err, E_CONFIG, "stands before the first section, such as [moontide]");
    }
    if (has_comment_trap(text, size)) {
        return error_set(err, E_CONFIG,
                         "has a \" ;\", at which the value would be cut; put comments on their own "
                         "line");
    }
    return true;
}

static bool check_section_line(const char *text, size_t size, struct error *err)
{
    const char *close = memchr(text, ']', size);
    if (close == NULL) {
        return error_set(err, E_CONFIG, "has no ] at the end of its section's name");
    }
    const char *rest = close + 1;
    const char *end = text + size;
    while (rest < end && is_blank(*rest)) {
        rest++;
    }
    if (rest < end && *rest != ';' && *rest != '#') {
        return error_set(err, E_CONFIG, "has text after the ] of its section, which is lost there");
    }
    return true;
}

static bool has_comment_trap(const char *text, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (text[i] == ';' && is_blank(text[i - 1])) {
            return true;
        }
    }
    return false;
}

static bool has_blank_end(const char *text)
{
    size_t size = strlen(text);
    return size > 0 && (is_blank(text[0]) || is_blank(text[size - 1]));
}

bool ini_file_can_hold(const char *name, const char *value)
{
    CHECK(name != NULL);
    CHECK(value != NULL);
    if (*name == 0 || strchr("[#;", *name) || strpbrk(name, "=:") || has_blank_end(name) ||
        has_blank_end(value)) {
        return false;
    }
    struct byte_buffer line = {0};
    struct error err;
    bool in_section = true;
    byte_buffer_printf(&line, "%s = %s", name, value);
    const char *text = byte_buffer_text(&line);
    bool good =
        check_bytes(text, line.size, &err) && check_line(text, line.size, &in_section, &err);
    byte_buffer_fini(&line);
    return good;
}

/* The reader of inih: one whole line a call, so that the state knows its number. */
static char *read_line(char *line, int capacity, void *stream)
{
    struct ini_reader_state *state = stream;
    if (state->at >= state->end || state->failed) {
        return NULL;
    }
    size_t length = line_size(state->at, state->end);
    size_t copied = length > 0 && state->at[length - 1] == '\r' ? length - 1 : length;
    copied = is_comment(state->at, copied) ? 0 : copied; /* may be of any length */
    CHECK(capacity > INI_FILE_LINE_MAX + 1);
    CHECK(copied <= INI_FILE_LINE_MAX);
    memcpy(line, state->at, copied);
    memcpy(line + copied, "\n", 2);
    state->at += length + (state->at + length < state->end);
    state->line++;
    return line;
}

static int visit_entry(void *context, const char *section, const char *name, const char *value)
{
    struct ini_reader_state *state = context;
    if (state->failed) {
        return 0;
    }
    struct ini_entry entry = {
        .section = section, .name = name, .value = value ? value : "", .line = state->line};
    state->failed = !state->visitor->visit(state->visitor->context, &entry, state->err);
    return !state->failed;
}
