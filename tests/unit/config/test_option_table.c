#include "config/option_table.h"

#include <criterion/criterion.h>
#include <string.h>

Test(option_table, each_row_is_complete_and_unique)
{
    size_t count = 0;
    const struct option *options = option_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_assert(option_table_has_section(options[i].section));
        cr_assert(strlen(options[i].doc) > 10, "%s", options[i].name);
        cr_assert_eq(option_table_find(options[i].section, options[i].name), &options[i]);
        cr_assert_eq(option_table_index(&options[i]), i);
        cr_assert_eq(options[i].type == OPTION_ENUM, options[i].choices != NULL);
        for (size_t j = 0; j < i; j++) {
            cr_assert_neq(options[i].offset, options[j].offset, "%s and %s share a field",
                          options[i].name, options[j].name);
        }
    }
}

Test(option_table, what_is_printed_is_what_was_read)
{
    size_t count = 0;
    const struct option *options = option_table(&count);
    struct config cfg;
    config_init(&cfg);
    for (size_t i = 0; i < count; i++) {
        struct byte_buffer first = {0};
        struct byte_buffer second = {0};
        struct error err = {0};
        option_print(&options[i], &cfg, &first);
        if (options[i].fallback) {
            cr_assert_str_eq(byte_buffer_text(&first), options[i].fallback);
        }
        option_clear(&options[i], &cfg);
        bool ok = option_parse(&options[i], byte_buffer_text(&first), &cfg, &err);
        cr_assert(ok, "%s: %s", options[i].name, err.text);
        option_print(&options[i], &cfg, &second);
        cr_assert_str_eq(byte_buffer_text(&first), byte_buffer_text(&second));
        byte_buffer_fini(&first);
        byte_buffer_fini(&second);
    }
    config_fini(&cfg);
}

Test(option_table, an_empty_string_unsets)
{
    struct config cfg;
    struct error err;
    config_init(&cfg);
    cr_assert(option_parse(option_table_find("moontide", "client.id"), "", &cfg, &err));
    cr_assert_null(cfg.client_id);
    config_fini(&cfg);
}
