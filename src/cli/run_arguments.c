#include "cli/run_arguments.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "stream/processing.h"

/* The choices of an option are numbered like the enum that its reader uses; config cannot see these
 * and test_run_arguments.c compares the words. */
static_assert(ORDER_KEY == 0 && ORDER_PARTITION == 1 && ORDER_NONE == 2, "processing.order");
static_assert(EMIT_INPUT == 0 && EMIT_COMPLETION == 1, "processing.emit");
static_assert(NULL_KEY_PARALLEL == 0 && NULL_KEY_SERIAL == 1, "processing.null.key");
static_assert(LOG_LEVEL_ERROR == 0 && LOG_LEVEL_DEBUG == 3, "level");
static_assert(LOG_FORMAT_AUTO == 0 && LOG_FORMAT_JSON == 3, "format");

const struct argument RUN_ARGUMENTS[] = {RUN_ARGUMENT_ROWS, {0, NULL, NULL, false, NULL}};

/* Options that are another name for one key of the configuration. */
struct short_cut {
    const char *argument;
    const char *section;
    const char *name;
    const char *value; /* of an option that takes none */
};

static const struct short_cut SHORT_CUTS[] = {
    {"in", "moontide", "input.topics", NULL},
    {"out", "moontide", "output.topic", NULL},
    {"brokers", "moontide", "bootstrap.servers", NULL},
    {"group", "moontide", "application.id", NULL},
    {"frame", "moontide", "local.framing", "records"},
    {"from-start", "moontide", "local.from.start", "true"},
    {"embedded", "moontide", "embedded", "true"},
    {"exit-at-end", "moontide", "exit.at.end", "true"},
    {"admin", "admin", "listen", NULL},
    {"quiet", "log", "progress", "off"},
};

static bool to_setting(const struct argument_given *given, struct config_setting *setting,
                       struct arena *arena, struct error *err);
static bool split_assignment(const struct argument_given *given, struct arena *arena,
                             const char **key, const char **value, struct error *err);

bool run_arguments_load(const struct arguments *args, struct config *cfg, struct error *err)
{
    CHECK(args->operand_count <= 1);
    config_init(cfg);
    struct config_setting *settings = memory_alloc_array(args->given_count + 1, sizeof *settings);
    struct config_request request = {.file = NULL, .settings = settings};
    struct arena arena;
    arena_init(&arena);
    bool ok = true;
    if (args->operand_count == 1) {
        settings[request.setting_count++] = (struct config_setting){
            .flag = "SCRIPT", .section = "script", .name = "file", .value = args->operands[0]};
    }
    for (size_t i = 0; i < args->given_count && ok; i++) {
        const struct argument_given *given = &args->given[i];
        if (strcmp(given->argument->name, "config") == 0) {
            request.file = given->value;
        } else {
            ok = to_setting(given, &settings[request.setting_count++], &arena, err);
        }
    }
    ok = ok && config_load(cfg, &request, err);
    arena_fini(&arena);
    memory_free(settings);
    if (ok) {
        log_open(STDERR_FILENO, (enum log_level)cfg->log_level, (enum log_format)cfg->log_format);
    }
    return ok;
}

static bool to_setting(const struct argument_given *given, struct config_setting *setting,
                       struct arena *arena, struct error *err)
{
    *setting = (struct config_setting){.flag = given->flag, .value = given->value};
    const char *argument = given->argument->name;
    if (strcmp(argument, "set") == 0) {
        setting->section = "params";
        return split_assignment(given, arena, &setting->name, &setting->value, err);
    }
    if (strcmp(argument, "option") == 0) {
        const char *key = NULL;
        if (!split_assignment(given, arena, &key, &setting->value, err)) {
            return false;
        }
        config_split_key(key, &setting->section, &setting->name);
        return true;
    }
    for (size_t i = 0; i < sizeof SHORT_CUTS / sizeof SHORT_CUTS[0]; i++) {
        if (strcmp(SHORT_CUTS[i].argument, argument) == 0) {
            setting->section = SHORT_CUTS[i].section;
            setting->name = SHORT_CUTS[i].name;
            setting->value = given->value ? given->value : SHORT_CUTS[i].value;
        }
    }
    CHECK(setting->name != NULL);
    if (strcmp(argument, "out") == 0 && strchr(given->value, '=') &&
        !config_is_local(given->value)) {
        setting->name = "output.files";
    }
    CHECK(setting->value != NULL);
    return true;
}

static bool split_assignment(const struct argument_given *given, struct arena *arena,
                             const char **key, const char **value, struct error *err)
{
    const char *equals = strchr(given->value, '=');
    if (equals == NULL || equals == given->value) {
        return error_set(err, E_USAGE, "%s needs %s, not \"%s\"", given->flag,
                         given->argument->value_name, given->value);
    }
    *key = arena_copy(arena, given->value, (size_t)(equals - given->value));
    *value = equals + 1;
    return true;
}
