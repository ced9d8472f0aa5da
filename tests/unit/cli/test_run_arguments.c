#include "cli/run_arguments.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/log.h"
#include "config/option_table.h"
#include "stream/processing.h"

/* Parses and loads; the error is set when false. */
static bool load(struct config *cfg, int argc, char *const *words, struct error *err)
{
    struct arguments args;
    cr_assert(arguments_parse(&args, RUN_ARGUMENTS, 1, argc, words, err), "%s", err->text);
    bool ok = run_arguments_load(&args, cfg, err);
    arguments_fini(&args);
    return ok;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

Test(run_arguments, all_options_reach_the_configuration)
{
    char *words[] = {"x.lua",
                     "--in",
                     "a",
                     "--in=b",
                     "--out",
                     "c",
                     "-bh:1",
                     "-g",
                     "grp",
                     "-X",
                     "num.stream.threads=4",
                     "-Xnum.threads.per.task=2",
                     "-X",
                     "kafka.fetch.wait.max.ms=5",
                     "-X",
                     "kafka.producer.linger.ms=1",
                     "-X",
                     "log.level=warn",
                     "--set",
                     "rate=a=b",
                     "--embedded",
                     "-e",
                     "--frame"};
    struct config cfg;
    struct error err = {0};
    cr_assert(load(&cfg, COUNT(words), words, &err), "%s", err.text);
    cr_assert_str_eq(cfg.script_file, "x.lua");
    cr_assert_eq(cfg.input_topics.count, 2);
    cr_assert_str_eq(cfg.input_topics.items[1], "b");
    cr_assert_str_eq(cfg.output_topic, "c");
    cr_assert_str_eq(cfg.bootstrap_servers, "h:1");
    cr_assert_str_eq(cfg.application_id, "grp");
    cr_assert_eq(cfg.num_stream_threads, 4);
    cr_assert_eq(cfg.num_threads_per_task, 2);
    cr_assert_str_eq(cfg.kafka.items[0].name, "fetch.wait.max.ms");
    cr_assert_str_eq(cfg.kafka_producer.items[0].value, "1");
    cr_assert_str_eq(cfg.params.items[0].name, "rate");
    cr_assert_str_eq(cfg.params.items[0].value, "a=b");
    cr_assert(cfg.embedded);
    cr_assert(cfg.exit_at_end);
    cr_assert_eq(cfg.local_framing, 1);
    cr_assert_not(log_enabled(LOG_LEVEL_INFO));
    config_fini(&cfg);
}

Test(run_arguments, an_output_with_a_name_is_a_file_for_emissions)
{
    char *words[] = {"--out", "-", "--out", "long=file:/tmp/long"};
    struct config cfg;
    struct error err = {0};
    cr_assert(load(&cfg, COUNT(words), words, &err), "%s", err.text);
    cr_assert_str_eq(cfg.output_topic, "-");
    cr_assert_eq(cfg.output_files.count, 1);
    cr_assert_str_eq(cfg.output_files.items[0], "long=file:/tmp/long");
    config_fini(&cfg);
}

struct refused_row {
    char *words[4];
    int count;
    const char *refusal;
};

static const struct refused_row REFUSED[] = {
    {{"-X", "oops"}, 2, "-X needs KEY=VALUE, not \"oops\""},
    {{"--set", "=1"}, 2, "--set needs NAME=VALUE, not \"=1\""},
    {{"-X", "kafka.group.id=x"},
     2,
     "-X: group.id is reserved: set application.id in [moontide], or -g"},
    {{"-X", "local.framing=line"}, 2, "-X: local.framing: must be lines or records, not \"line\""},
    {{"-X", "num.stream.threds=2"},
     2,
     "-X: [moontide] has no option \"num.stream.threds\"; did you mean num.stream.threads?"},
    {{"-c", "/no/such.ini"}, 2, "cannot open /no/such.ini: No such file or directory"},
};

Test(run_arguments, refusals_name_the_flag)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        struct config cfg;
        struct error err = {0};
        cr_assert_not(load(&cfg, REFUSED[i].count, REFUSED[i].words, &err));
        cr_assert_str_eq(err.text, REFUSED[i].refusal);
        cr_assert_eq(error_exit_code(err.code), 2);
        config_fini(&cfg);
    }
}

/* The words of the configuration and the enums of their readers are two lists. */
Test(run_arguments, choices_are_numbered_like_their_enums)
{
    const struct option *order = option_table_find("moontide", "processing.order");
    cr_assert_str_eq(order->choices[ORDER_KEY], "key");
    cr_assert_str_eq(order->choices[ORDER_PARTITION], "partition");
    cr_assert_str_eq(order->choices[ORDER_NONE], "none");
    const struct option *emit = option_table_find("moontide", "processing.emit");
    cr_assert_str_eq(emit->choices[EMIT_INPUT], "input");
    cr_assert_str_eq(emit->choices[EMIT_COMPLETION], "completion");
    const struct option *null_key = option_table_find("moontide", "processing.null.key");
    cr_assert_str_eq(null_key->choices[NULL_KEY_PARALLEL], "parallel");
    cr_assert_str_eq(null_key->choices[NULL_KEY_SERIAL], "serial");
    const struct option *level = option_table_find("log", "level");
    cr_assert_str_eq(level->choices[LOG_LEVEL_ERROR], "error");
    cr_assert_str_eq(level->choices[LOG_LEVEL_WARN], "warn");
    cr_assert_str_eq(level->choices[LOG_LEVEL_INFO], "info");
    cr_assert_str_eq(level->choices[LOG_LEVEL_DEBUG], "debug");
    const struct option *format = option_table_find("log", "format");
    cr_assert_str_eq(format->choices[LOG_FORMAT_AUTO], "auto");
    cr_assert_str_eq(format->choices[LOG_FORMAT_TEXT], "text");
    cr_assert_str_eq(format->choices[LOG_FORMAT_LOGFMT], "logfmt");
    cr_assert_str_eq(format->choices[LOG_FORMAT_JSON], "json");
}
