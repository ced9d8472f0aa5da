#include "local/local_address.h"

#include <string.h>

#include "base/check.h"

static const char PREFIX[] = "file:";

bool local_address_matches(const char *text)
{
    CHECK(text != NULL);
    return strcmp(text, "-") == 0 || strncmp(text, PREFIX, sizeof PREFIX - 1) == 0;
}

bool local_address_parse(const char *text, const char **path, struct error *err)
{
    if (!local_address_matches(text)) {
        return error_set(err, E_USAGE, "\"%s\" is neither file:PATH nor -", text);
    }
    if (strcmp(text, "-") == 0) {
        *path = NULL;
        return true;
    }
    if (text[sizeof PREFIX - 1] == 0) {
        return error_set(err, E_USAGE, "\"%s\" lacks a path: write file:PATH", text);
    }
    *path = text + sizeof PREFIX - 1;
    return true;
}

bool local_address_check_inputs(const char *const *inputs, size_t count, struct error *err)
{
    CHECK(inputs != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        const char *path;
        if (!local_address_parse(inputs[i], &path, err)) {
            return error_prefix(err, "input");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(inputs[i], inputs[j]) == 0) {
                return error_set(err, E_USAGE, "input \"%s\" is given twice", inputs[i]);
            }
        }
    }
    return true;
}
