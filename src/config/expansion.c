#include "config/expansion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file_bytes.h"
#include "base/memory.h"

static bool expand_one(char *inside, struct byte_buffer *out, bool *secret, struct error *err);
static bool expand_file(const char *path, struct byte_buffer *out, struct error *err);
static bool is_variable_name(const char *name);

bool expansion_apply(const char *value, struct byte_buffer *out, bool *secret, struct error *err)
{
    CHECK(value != NULL);
    while (*value) {
        if (value[0] == '$' && value[1] == '$') {
            byte_buffer_append_char(out, '$');
            value += 2;
        } else if (value[0] == '$' && value[1] == '{') {
            const char *close = strchr(value, '}');
            if (close == NULL) {
                return error_set(err, E_CONFIG, "${ has no }; a dollar sign is written $$");
            }
            char *inside = memory_copy_bytes(value + 2, (size_t)(close - value) - 2);
            bool ok = expand_one(inside, out, secret, err);
            memory_free(inside);
            if (!ok) {
                return false;
            }
            value = close + 1;
        } else {
            byte_buffer_append_char(out, *value++);
        }
    }
    return true;
}

/* What stands between the braces; is cut into its parts. */
static bool expand_one(char *inside, struct byte_buffer *out, bool *secret, struct error *err)
{
    if (strncmp(inside, "file:", 5) == 0) {
        *secret = true;
        return expand_file(inside + 5, out, err);
    }
    char *fallback = strstr(inside, ":-");
    if (fallback) {
        *fallback = 0;
        fallback += 2;
    }
    if (!is_variable_name(inside)) {
        return error_set(err, E_CONFIG,
                         "\"%s\" is no name of a variable; there are ${VAR}, ${VAR:-text} and "
                         "${file:PATH}",
                         inside);
    }
    const char *text = getenv(inside);
    bool usable = text != NULL && !(fallback && *text == 0);
    if (!usable && fallback == NULL) {
        return error_set(err, E_CONFIG,
                         "the environment variable %s is not set; ${%s:-text} would give a default",
                         inside, inside);
    }
    byte_buffer_append_text(out, usable ? text : fallback);
    return true;
}

static bool expand_file(const char *path, struct byte_buffer *out, struct error *err)
{
    struct byte_buffer bytes = {0};
    bool ok = file_bytes_read(path, &bytes, err);
    if (!ok) {
        err->code = E_CONFIG;
    } else if (bytes.size > 0 && memchr(bytes.data, 0, bytes.size)) {
        ok = error_set(err, E_CONFIG, "%s holds a NUL byte and is no text", path);
    }
    size_t size = bytes.size;
    if (size > 0 && bytes.data[size - 1] == '\n') {
        size -= size > 1 && bytes.data[size - 2] == '\r' ? 2 : 1;
    }
    if (ok && size > 0) {
        byte_buffer_append(out, bytes.data, size);
    }
    byte_buffer_fini(&bytes);
    return ok;
}

static bool is_variable_name(const char *name)
{
    if (*name == 0 || isdigit((unsigned char)*name)) {
        return false;
    }
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && *name != '_') {
            return false;
        }
    }
    return true;
}

void expansion_escape(const char *text, struct byte_buffer *out)
{
    for (; *text; text++) {
        byte_buffer_append_text(out, *text == '$' ? "$" : "");
        byte_buffer_append_char(out, *text);
    }
}
