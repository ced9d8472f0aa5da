#include "config/option.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

static bool parse_number(const struct option *option, const char *text, int64_t *value,
                         struct error *err);
static bool parse_choice(const struct option *option, const char *text, int *value,
                         struct error *err);
static void append_items(struct arena *arena, struct config_list *list, const char *text);
static void append_item(struct arena *arena, struct config_list *list, const char *item,
                        size_t size);
static void print_bytes(int64_t bytes, struct byte_buffer *out);

static void *field_of(const struct option *option, struct config *cfg)
{
    CHECK(option->offset < sizeof *cfg);
    return (char *)cfg + option->offset;
}

static const void *const_field_of(const struct option *option, const struct config *cfg)
{
    CHECK(option->offset < sizeof *cfg);
    return (const char *)cfg + option->offset;
}

bool option_parse(const struct option *option, const char *text, struct config *cfg,
                  struct error *err)
{
    CHECK(text != NULL);
    void *field = field_of(option, cfg);
    switch (option->type) {
    case OPTION_INT:
    case OPTION_POWER_OF_TWO:
    case OPTION_DURATION_MS:
    case OPTION_BYTES:
        return parse_number(option, text, field, err);
    case OPTION_BOOL:
        return text_parse_bool(text, field, err);
    case OPTION_ENUM:
        return parse_choice(option, text, field, err);
    case OPTION_STRING:
        *(const char **)field = *text ? arena_copy(&cfg->arena, text, strlen(text)) : NULL;
        return true;
    case OPTION_LIST:
        append_items(&cfg->arena, field, text);
        return true;
    }
    CHECK(option->type <= OPTION_LIST);
    return false;
}

static bool parse_number(const struct option *option, const char *text, int64_t *value,
                         struct error *err)
{
    CHECK(option->min <= option->max);
    if (option->type == OPTION_INT) {
        return text_parse_int(text, option->min, option->max, value, err);
    }
    int64_t number = 0;
    bool ok = option->type == OPTION_POWER_OF_TWO
                  ? text_parse_int(text, option->min, option->max, &number, err)
              : option->type == OPTION_BYTES ? text_parse_bytes(text, &number, err)
                                             : text_parse_duration_ms(text, &number, err);
    if (!ok) {
        return false;
    }
    if (number < option->min || number > option->max) {
        struct byte_buffer bounds = {0};
        option_print_type(option, &bounds);
        error_set(err, E_CONFIG, "must be of type %s, not %s", byte_buffer_text(&bounds), text);
        byte_buffer_fini(&bounds);
        return false;
    }
    *value = number;
    if (option->type == OPTION_POWER_OF_TWO) {
        for (*value = 1; *value < number;) {
            *value *= 2;
        }
    }
    return true;
}

static bool parse_choice(const struct option *option, const char *text, int *value,
                         struct error *err)
{
    size_t count = 0;
    for (; option->choices[count]; count++) {
        if (strcmp(option->choices[count], text) == 0) {
            *value = (int)count;
            return true;
        }
    }
    struct byte_buffer words = {0};
    for (size_t i = 0; i < count; i++) {
        const char *link = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        byte_buffer_printf(&words, "%s%s", link, option->choices[i]);
    }
    error_set(err, E_CONFIG, "must be %s, not \"%s\"", byte_buffer_text(&words), text);
    byte_buffer_fini(&words);
    return false;
}

/* Blanks around an item and empty items are dropped. */
static void append_items(struct arena *arena, struct config_list *list, const char *text)
{
    while (*text) {
        text += strspn(text, " \t,");
        size_t size = strcspn(text, ",");
        size_t trimmed = size;
        while (trimmed > 0 && (text[trimmed - 1] == ' ' || text[trimmed - 1] == '\t')) {
            trimmed--;
        }
        if (trimmed > 0) {
            append_item(arena, list, text, trimmed);
        }
        text += size;
    }
}

/* The array has room for a power of two; old arrays stay in the arena. */
static void append_item(struct arena *arena, struct config_list *list, const char *item,
                        size_t size)
{
    size_t count = list->count;
    bool is_full = (count & (count - 1)) == 0; /* 0, 1, 2, 4, ... */
    if (is_full) {
        const char **items = arena_alloc(arena, (count ? 2 * count : 1) * sizeof *items);
        if (count) {
            memcpy(items, list->items, count * sizeof *items);
        }
        list->items = items;
    }
    list->items[count] = arena_copy(arena, item, size);
    list->count++;
}

void option_clear(const struct option *option, struct config *cfg)
{
    void *field = field_of(option, cfg);
    switch (option->type) {
    case OPTION_STRING:
        *(const char **)field = NULL;
        return;
    case OPTION_LIST:
        *(struct config_list *)field = (struct config_list){.items = NULL, .count = 0};
        return;
    case OPTION_BOOL:
        *(bool *)field = false;
        return;
    case OPTION_ENUM:
        *(int *)field = 0;
        return;
    case OPTION_INT:
    case OPTION_POWER_OF_TWO:
    case OPTION_DURATION_MS:
    case OPTION_BYTES:
        *(int64_t *)field = 0;
        return;
    }
}

void option_print(const struct option *option, const struct config *cfg, struct byte_buffer *out)
{
    const void *field = const_field_of(option, cfg);
    switch (option->type) {
    case OPTION_INT:
    case OPTION_POWER_OF_TWO:
    case OPTION_DURATION_MS:
        byte_buffer_printf(out, "%" PRId64, *(const int64_t *)field);
        return;
    case OPTION_BYTES:
        print_bytes(*(const int64_t *)field, out);
        return;
    case OPTION_BOOL:
        byte_buffer_append_text(out, *(const bool *)field ? "true" : "false");
        return;
    case OPTION_ENUM:
        byte_buffer_append_text(out, option->choices[*(const int *)field]);
        return;
    case OPTION_STRING: {
        const char *text = *(const char *const *)field;
        byte_buffer_append_text(out, text ? text : "");
        return;
    }
    case OPTION_LIST: {
        const struct config_list *list = field;
        for (size_t i = 0; i < list->count; i++) {
            byte_buffer_printf(out, "%s%s", i ? "," : "", list->items[i]);
        }
        return;
    }
    }
}

static void print_bytes(int64_t bytes, struct byte_buffer *out)
{
    static const char *const UNITS[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    byte_buffer_printf(out, "%" PRId64 "%s", bytes, UNITS[unit]);
}

void option_print_type(const struct option *option, struct byte_buffer *out)
{
    switch (option->type) {
    case OPTION_INT:
        byte_buffer_printf(out, "int %" PRId64 "..%" PRId64, option->min, option->max);
        return;
    case OPTION_POWER_OF_TWO:
        byte_buffer_printf(out, "power of two %" PRId64 "..%" PRId64, option->min, option->max);
        return;
    case OPTION_DURATION_MS:
        byte_buffer_printf(out, "duration %" PRId64 "..%" PRId64 " ms", option->min, option->max);
        return;
    case OPTION_BYTES:
        byte_buffer_append_text(out, "bytes ");
        print_bytes(option->min, out);
        byte_buffer_append_text(out, "..");
        print_bytes(option->max, out);
        return;
    case OPTION_BOOL:
        byte_buffer_append_text(out, "true | false");
        return;
    case OPTION_ENUM:
        for (size_t i = 0; option->choices[i]; i++) {
            byte_buffer_printf(out, "%s%s", i ? " | " : "", option->choices[i]);
        }
        return;
    case OPTION_STRING:
        byte_buffer_append_text(out, "string");
        return;
    case OPTION_LIST:
        byte_buffer_append_text(out, "list");
        return;
    }
}
