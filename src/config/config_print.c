#include "config/config_print.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "config/expansion.h"
#include "config/ini_file.h"
#include "config/option_table.h"

static void print_option(const struct option *option, struct byte_buffer *out);
static void print_free_sections(struct byte_buffer *out);
static void dump_section(const struct config *cfg, const char *section, struct byte_buffer *out);
static void dump_pairs(const struct config_pairs *pairs, const char *section,
                       struct byte_buffer *out);
static void dump_value(const char *name, const char *value, bool secret, struct byte_buffer *out);
static void dump_origin(const char *origin, struct byte_buffer *out);
static void append_line(const char *text, struct byte_buffer *out);

void config_print_options(struct byte_buffer *out)
{
    size_t count = 0;
    const struct option *options = option_table(&count);
    CHECK(count > 0);
    const char *section = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(section, options[i].section) != 0) {
            section = options[i].section;
            byte_buffer_printf(out, "%s[%s]\n", i ? "\n" : "", section);
        }
        print_option(&options[i], out);
    }
    print_free_sections(out);
}

static void print_option(const struct option *option, struct byte_buffer *out)
{
    struct byte_buffer type = {0};
    option_print_type(option, &type);
    bool set = option->fallback != NULL;
    byte_buffer_printf(out, "%s =%s%s\n", option->name, set ? " " : "",
                       set ? option->fallback : "");
    byte_buffer_printf(out, "    # %s", byte_buffer_text(&type));
    if (option->flag) {
        byte_buffer_printf(out, "; on the command line %s", option->flag);
    }
    byte_buffer_printf(out, "\n    # %s\n", option->doc);
    byte_buffer_fini(&type);
}

static void print_free_sections(struct byte_buffer *out)
{
    byte_buffer_append_text(
        out, "\n[params]\n"
             "    # Parameters of the script, as it declares them; on the command line --set.\n"
             "\n[kafka]\n"
             "    # Options of librdkafka for consumer and producer; -X kafka.NAME=VALUE.\n"
             "    # Those that the engine decides are refused by name.\n"
             "\n[kafka.consumer]\n"
             "    # Options of librdkafka for the consumer; -X kafka.consumer.NAME=VALUE.\n"
             "\n[kafka.producer]\n"
             "    # Options of librdkafka for the producer; -X kafka.producer.NAME=VALUE.\n");
}

void config_print_dump(const struct config *cfg, struct byte_buffer *out)
{
    dump_section(cfg, "moontide", out);
    dump_section(cfg, "script", out);
    dump_pairs(&cfg->params, "params", out);
    dump_pairs(&cfg->kafka, "kafka", out);
    dump_pairs(&cfg->kafka_consumer, "kafka.consumer", out);
    dump_pairs(&cfg->kafka_producer, "kafka.producer", out);
    dump_section(cfg, "log", out);
}

static void dump_section(const struct config *cfg, const char *section, struct byte_buffer *out)
{
    size_t count = 0;
    const struct option *options = option_table(&count);
    byte_buffer_printf(out, "%s[%s]\n", out->size ? "\n" : "", section);
    struct byte_buffer value = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].section, section) != 0) {
            continue;
        }
        byte_buffer_clear(&value);
        option_print(&options[i], cfg, &value);
        if (value.size == 0 && options[i].fallback == NULL) {
            byte_buffer_printf(out, "# not set: %s\n", options[i].name);
        } else {
            dump_origin(cfg->origins[i], out);
            bool any_text = options[i].type == OPTION_STRING || options[i].type == OPTION_LIST;
            if (cfg->secrets[i] && !any_text) { /* *** is no number and no choice */
                byte_buffer_append_text(out, "# a secret: ");
            }
            dump_value(options[i].name, byte_buffer_text(&value), cfg->secrets[i], out);
        }
    }
    byte_buffer_fini(&value);
}

static void dump_pairs(const struct config_pairs *pairs, const char *section,
                       struct byte_buffer *out)
{
    DCHECK(pairs->count == 0 || pairs->items != NULL);
    if (pairs->count > 0) {
        byte_buffer_printf(out, "\n[%s]\n", section);
    }
    for (size_t i = 0; i < pairs->count; i++) {
        const struct config_pair *pair = &pairs->items[i];
        dump_origin(pair->origin, out);
        dump_value(pair->name, pair->value, pair->secret, out);
    }
}

/* What a file cannot hold is a comment, so that the rest of the dump can be loaded. */
static void dump_value(const char *name, const char *value, bool secret, struct byte_buffer *out)
{
    struct byte_buffer text = {0};
    if (secret) {
        byte_buffer_append_text(&text, "***");
    } else {
        expansion_escape(value, &text);
    }
    bool fits = ini_file_can_hold(name, byte_buffer_text(&text));
    append_line(fits ? "" : "# a file cannot hold this: ", out);
    append_line(name, out);
    byte_buffer_append_text(out, " = ");
    append_line(byte_buffer_text(&text), out);
    byte_buffer_append_char(out, '\n');
    byte_buffer_fini(&text);
}

static void dump_origin(const char *origin, struct byte_buffer *out)
{
    byte_buffer_append_text(out, "# ");
    append_line(origin, out);
    byte_buffer_append_char(out, '\n');
}

/* Control bytes are shown as blanks: nothing begins a line of its own, or speaks to a terminal. */
static void append_line(const char *text, struct byte_buffer *out)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        byte_buffer_append_char(out, byte < ' ' || byte == 0x7f ? ' ' : *text);
    }
}
