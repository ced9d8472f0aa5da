#include "config/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/expansion.h"
#include "config/ini_file.h"
#include "config/option_table.h"
#include "config/reserved_keys.h"

static const char DEFAULT_ORIGIN[] = "default";
static const char COMMAND_LINE[] = "command line";
static const char EMBEDDED_GROUP[] = "moontide-embedded";

/* A value on its way in. */
struct setting {
    const char *section;
    const char *name;
    const char *value;
    const char *origin; /* lives as long as the config */
    bool secret;
};

/* A key of the file that was read, to find it written twice. */
struct seen_key {
    const char *section;
    const char *name;
    int line;
};

struct file_reading {
    struct config *cfg;
    const char *file;
    struct seen_key *seen;
    size_t seen_count;
};

static bool load_file(struct config *cfg, const char *file, struct error *err);
static bool load_entry(void *context, const struct ini_entry *entry, struct error *err);
static bool note_key(struct file_reading *reading, const struct ini_entry *entry,
                     struct error *err);
static bool apply(struct config *cfg, const struct setting *setting, struct error *err);
static bool apply_option(struct config *cfg, const struct setting *setting, struct error *err);
static void set_pair(struct config *cfg, struct config_pairs *pairs, const struct setting *setting);
static struct config_pairs *pairs_of(struct config *cfg, const char *section);
static bool check_together(struct config *cfg, struct error *err);
static bool check_dead_letters(const struct config *cfg, struct error *err);
static const char *origin_of(const struct config *cfg, const char *section, const char *name);

void config_init(struct config *cfg)
{
    memset(cfg, 0, sizeof *cfg);
    arena_init(&cfg->arena);
    size_t count = 0;
    const struct option *options = option_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct error err;
        cfg->origins[i] = DEFAULT_ORIGIN;
        bool ok = options[i].fallback == NULL ||
                  option_parse(&options[i], options[i].fallback, cfg, &err);
        CHECK(ok);
    }
}

void config_fini(struct config *cfg)
{
    struct config_pairs *all[] = {&cfg->params, &cfg->kafka, &cfg->kafka_consumer,
                                  &cfg->kafka_producer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        memory_free(all[i]->items);
    }
    arena_fini(&cfg->arena);
    memset(cfg, 0, sizeof *cfg);
}

bool config_load(struct config *cfg, const struct config_request *request, struct error *err)
{
    CHECK(request->settings != NULL || request->setting_count == 0);
    if (request->file && !load_file(cfg, request->file, err)) {
        return false;
    }
    for (size_t i = 0; i < request->setting_count; i++) {
        const struct config_setting *given = &request->settings[i];
        struct setting setting = {.section = given->section,
                                  .name = given->name,
                                  .value = given->value,
                                  .origin = COMMAND_LINE,
                                  .secret = text_names_a_secret(given->name)};
        if (!apply(cfg, &setting, err)) {
            return error_prefix(err, "%s", given->flag);
        }
    }
    return check_together(cfg, err);
}

static bool load_file(struct config *cfg, const char *file, struct error *err)
{
    struct file_reading reading = {.cfg = cfg, .file = file};
    struct ini_visitor visitor = {.visit = load_entry, .context = &reading};
    bool ok = ini_file_read(file, &visitor, err);
    memory_free(reading.seen);
    return ok;
}

static bool load_entry(void *context, const struct ini_entry *entry, struct error *err)
{
    struct file_reading *reading = context;
    struct arena *arena = &reading->cfg->arena;
    if (!option_table_has_section(entry->section)) {
        return option_table_unknown_section(entry->section, err);
    }
    if (!note_key(reading, entry, err)) {
        return false;
    }
    struct byte_buffer value = {0};
    bool secret = text_names_a_secret(entry->name);
    bool ok = expansion_apply(entry->value, &value, &secret, err);
    if (ok) {
        char line[32];
        snprintf(line, sizeof line, ":%d", entry->line);
        size_t size = strlen(reading->file);
        char *origin = arena_alloc(arena, size + sizeof line);
        memcpy(origin, reading->file, size);
        memcpy(origin + size, line, strlen(line) + 1);
        struct setting setting = {.section = entry->section,
                                  .name = entry->name,
                                  .value = byte_buffer_text(&value),
                                  .origin = origin,
                                  .secret = secret};
        ok = apply(reading->cfg, &setting, err);
    } else {
        error_prefix(err, "%s", entry->name);
    }
    byte_buffer_fini(&value);
    return ok;
}

static bool note_key(struct file_reading *reading, const struct ini_entry *entry, struct error *err)
{
    for (size_t i = 0; i < reading->seen_count; i++) {
        const struct seen_key *seen = &reading->seen[i];
        if (strcmp(seen->section, entry->section) == 0 && strcmp(seen->name, entry->name) == 0) {
            return error_set(err, E_CONFIG, "%s of [%s] was already set in line %d", entry->name,
                             entry->section, seen->line);
        }
    }
    struct arena *arena = &reading->cfg->arena;
    reading->seen = memory_resize(reading->seen, (reading->seen_count + 1) * sizeof *reading->seen);
    reading->seen[reading->seen_count++] =
        (struct seen_key){.section = arena_copy(arena, entry->section, strlen(entry->section)),
                          .name = arena_copy(arena, entry->name, strlen(entry->name)),
                          .line = entry->line};
    return true;
}

/* One value from wherever it comes. */
static bool apply(struct config *cfg, const struct setting *setting, struct error *err)
{
    DCHECK(option_table_has_section(setting->section));
    struct config_pairs *pairs = pairs_of(cfg, setting->section);
    if (pairs == NULL) {
        return apply_option(cfg, setting, err);
    }
    if (pairs != &cfg->params && !reserved_keys_check(setting->name, err)) {
        return false;
    }
    set_pair(cfg, pairs, setting);
    return true;
}

static bool apply_option(struct config *cfg, const struct setting *setting, struct error *err)
{
    const struct option *option = option_table_find(setting->section, setting->name);
    if (option == NULL) {
        return option_table_unknown(setting->section, setting->name, err);
    }
    CHECK(cfg != NULL);
    size_t index = option_table_index(option);
    if (option->type == OPTION_LIST && cfg->origins[index] != setting->origin) {
        option_clear(option, cfg); /* a later place replaces the list, its own items add up */
    }
    if (!option_parse(option, setting->value, cfg, err)) {
        if (setting->secret) { /* the text of the fault shows the value */
            struct byte_buffer type = {0};
            option_print_type(option, &type);
            error_set(err, err->code, "must be of type %s, and what its ${file:...} holds is not",
                      byte_buffer_text(&type));
            byte_buffer_fini(&type);
        }
        return error_prefix(err, "%s", setting->name);
    }
    cfg->origins[index] = setting->origin;
    cfg->secrets[index] = setting->secret;
    return true;
}

static struct config_pairs *pairs_of(struct config *cfg, const char *section)
{
    if (strcmp(section, "params") == 0) {
        return &cfg->params;
    }
    if (strcmp(section, "kafka") == 0) {
        return &cfg->kafka;
    }
    if (strcmp(section, "kafka.consumer") == 0) {
        return &cfg->kafka_consumer;
    }
    if (strcmp(section, "kafka.producer") == 0) {
        return &cfg->kafka_producer;
    }
    return NULL;
}

static void set_pair(struct config *cfg, struct config_pairs *pairs, const struct setting *setting)
{
    size_t at = 0;
    while (at < pairs->count && strcmp(pairs->items[at].name, setting->name) != 0) {
        at++;
    }
    if (at == pairs->count) {
        if (pairs->count == pairs->capacity) {
            pairs->capacity = pairs->capacity ? pairs->capacity * 2 : 8;
            pairs->items = memory_resize(pairs->items, pairs->capacity * sizeof *pairs->items);
        }
        pairs->count++;
    }
    struct arena *arena = &cfg->arena;
    pairs->items[at] =
        (struct config_pair){.name = arena_copy(arena, setting->name, strlen(setting->name)),
                             .value = arena_copy(arena, setting->value, strlen(setting->value)),
                             .origin = setting->origin,
                             .secret = setting->secret};
}

static bool check_together(struct config *cfg, struct error *err)
{
    if (cfg->num_stream_threads < cfg->num_threads_per_task) {
        return error_set(err, E_CONFIG_THREADS,
                         "num.stream.threads = %" PRId64 " (%s) is less than num.threads.per.task "
                         "= %" PRId64 " (%s): a task cannot have more threads than there are; "
                         "raise the first or lower the second",
                         cfg->num_stream_threads, origin_of(cfg, "moontide", "num.stream.threads"),
                         cfg->num_threads_per_task,
                         origin_of(cfg, "moontide", "num.threads.per.task"));
    }
    if (cfg->embedded && cfg->application_id == NULL) {
        cfg->application_id = EMBEDDED_GROUP;
    }
    return check_dead_letters(cfg, err);
}

/* The name of an option that asks for dead letters, or NULL. */
static const char *wants_dead_letters(const struct config *cfg)
{
    static const char *const KINDS[CONFIG_KIND_COUNT] = {
        [CONFIG_KIND_RAISED] = "error.policy.raised",
        [CONFIG_KIND_FAILED] = "error.policy.failed",
        [CONFIG_KIND_MEMORY] = "error.policy.memory",
        [CONFIG_KIND_TIMEOUT] = "error.policy.timeout",
    };
    if (cfg->error_policy == CONFIG_ACTION_DEAD_LETTER) {
        return "error.policy";
    }
    for (int i = 0; i < CONFIG_KIND_COUNT; i++) {
        if (cfg->error_policies[i] == 1 + CONFIG_ACTION_DEAD_LETTER) {
            return KINDS[i];
        }
    }
    bool outputs = cfg->production_error_policy == CONFIG_OUTPUT_DEAD_LETTER;
    return outputs ? "production.error.policy" : NULL;
}

static bool check_dead_letters(const struct config *cfg, struct error *err)
{
    const char *wants = wants_dead_letters(cfg);
    if (wants && cfg->dead_letter_topic == NULL) {
        return error_set(err, E_CONFIG,
                         "%s = dlq (%s) needs a topic: set errors.dead.letter.queue.topic.name",
                         wants, origin_of(cfg, "moontide", wants));
    }
    for (size_t i = 0; cfg->dead_letter_topic && i < cfg->input_topics.count; i++) {
        if (strcmp(cfg->dead_letter_topic, cfg->input_topics.items[i]) == 0) {
            return error_set(err, E_CONFIG,
                             "errors.dead.letter.queue.topic.name = %s is an input as well: dead "
                             "letters would be read again; choose another topic",
                             cfg->dead_letter_topic);
        }
    }
    return true;
}

static const char *origin_of(const struct config *cfg, const char *section, const char *name)
{
    const struct option *option = option_table_find(section, name);
    CHECK(option != NULL);
    return cfg->origins[option_table_index(option)];
}

bool config_check_script(const struct config *cfg, struct error *err)
{
    return cfg->script_file != NULL ||
           error_set(err, E_CONFIG,
                     "no script: name one on the command line, or set file in [script]");
}

bool config_check_run(const struct config *cfg, struct error *err)
{
    if (!config_check_script(cfg, err)) {
        return false;
    }
    if (cfg->input_topics.count == 0) {
        return error_set(err, E_CONFIG,
                         "no input: give --in TOPIC, or set input.topics in [moontide]");
    }
    bool from_kafka = false;
    for (size_t i = 0; i < cfg->input_topics.count; i++) {
        from_kafka = from_kafka || !config_is_local(cfg->input_topics.items[i]);
    }
    bool to_kafka = cfg->output_topic && !config_is_local(cfg->output_topic);
    if ((from_kafka || to_kafka) && !cfg->embedded && cfg->bootstrap_servers == NULL) {
        return error_set(err, E_CONFIG,
                         "no brokers: give -b HOST:PORT, or set bootstrap.servers in [moontide]; "
                         "--embedded brings its own");
    }
    if (from_kafka && cfg->application_id == NULL) {
        return error_set(err, E_CONFIG,
                         "no group: give -g GROUP, or set application.id in [moontide]; it names "
                         "the offsets from which a restart goes on");
    }
    return true;
}

void config_split_key(const char *key, const char **section, const char **name)
{
    /* the longer prefix first */
    static const char *const PREFIXED[] = {"kafka.consumer", "kafka.producer", "kafka", "script",
                                           "params",         "admin",          "log"};
    CHECK(key != NULL);
    for (size_t i = 0; i < sizeof PREFIXED / sizeof PREFIXED[0]; i++) {
        size_t size = strlen(PREFIXED[i]);
        if (strncmp(key, PREFIXED[i], size) == 0 && key[size] == '.' && key[size + 1] != 0) {
            *section = PREFIXED[i];
            *name = key + size + 1;
            return;
        }
    }
    *section = "moontide";
    *name = key;
}

bool config_is_local(const char *topic)
{
    CHECK(topic != NULL);
    return strcmp(topic, "-") == 0 || strncmp(topic, "file:", 5) == 0;
}
