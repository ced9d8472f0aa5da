#include "config/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/log.h"
#include "stream/processing.h"

/* Loads a text as the file app.ini of a new folder, which becomes the working directory. */
static bool load_text(struct config *cfg, const char *text, const struct config_setting *settings,
                      size_t setting_count, struct error *err)
{
    char folder[] = "/tmp/tide_config_XXXXXX";
    cr_assert(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    FILE *file = fopen("app.ini", "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
    config_init(cfg);
    struct config_request request = {
        .file = "app.ini", .settings = settings, .setting_count = setting_count};
    bool ok = config_load(cfg, &request, err);
    unlink("app.ini");
    cr_assert_eq(chdir("/"), 0);
    rmdir(folder);
    return ok;
}

Test(config, defaults_are_those_of_the_documentation)
{
    struct config cfg;
    config_init(&cfg);
    cr_assert_null(cfg.application_id);
    cr_assert_str_eq(cfg.client_id, "moontide");
    cr_assert_eq(cfg.num_stream_threads, 1);
    cr_assert_eq(cfg.num_threads_per_task, 1);
    cr_assert_eq(cfg.processing_order, ORDER_KEY);
    cr_assert_eq(cfg.processing_emit, EMIT_INPUT);
    cr_assert_eq(cfg.processing_null_key, NULL_KEY_PARALLEL);
    cr_assert_eq(cfg.task_window_records, 16384);
    cr_assert_eq(cfg.task_window_bytes, 64 << 20);
    cr_assert_eq(cfg.commit_interval_ms, 1000);
    cr_assert_eq(cfg.drain_timeout_ms, 5000);
    cr_assert_eq(cfg.shutdown_timeout_ms, 30000);
    cr_assert_eq(cfg.auto_offset_reset, CONFIG_RESET_EARLIEST);
    cr_assert_eq(cfg.local_framing, 0);
    cr_assert_eq(cfg.embedded_partitions, 4);
    cr_assert_eq(cfg.log_level, LOG_LEVEL_INFO);
    cr_assert_eq(cfg.log_format, LOG_FORMAT_AUTO);
    cr_assert_eq(cfg.input_topics.count, 0);
    config_fini(&cfg);
}

Test(config, a_file_sets_all_kinds_of_values)
{
    struct config cfg;
    struct error err = {0};
    bool ok = load_text(&cfg,
                        "[moontide]\napplication.id = app\ninput.topics = a, b ,,c\n"
                        "num.stream.threads = 8\nprocessing.order = none\n"
                        "task.window.records = 1000\ntask.window.bytes = 1.5MiB\n"
                        "commit.interval.ms = 2s\nexit.at.end = yes\n"
                        "[script]\nfile = x.lua\n[params]\nrate = 1.5\n"
                        "[kafka]\nsecurity.protocol = SSL\n[kafka.consumer]\nfetch.min.bytes = 1\n"
                        "[kafka.producer]\nlinger.ms = 5\n[log]\nlevel = debug\n",
                        NULL, 0, &err);
    cr_assert(ok, "%s", err.text);
    cr_assert_str_eq(cfg.application_id, "app");
    cr_assert_eq(cfg.input_topics.count, 3);
    cr_assert_str_eq(cfg.input_topics.items[1], "b");
    cr_assert_eq(cfg.num_stream_threads, 8);
    cr_assert_eq(cfg.processing_order, ORDER_NONE);
    cr_assert_eq(cfg.task_window_records, 1024);
    cr_assert_eq(cfg.task_window_bytes, 3 << 19);
    cr_assert_eq(cfg.commit_interval_ms, 2000);
    cr_assert(cfg.exit_at_end);
    cr_assert_eq(cfg.log_level, LOG_LEVEL_DEBUG);
    cr_assert_eq(cfg.params.count, 1);
    cr_assert_str_eq(cfg.params.items[0].origin, "app.ini:13");
    cr_assert_str_eq(cfg.kafka.items[0].value, "SSL");
    cr_assert_str_eq(cfg.kafka_consumer.items[0].name, "fetch.min.bytes");
    cr_assert_str_eq(cfg.kafka_producer.items[0].name, "linger.ms");
    config_fini(&cfg);
}

Test(config, the_command_line_wins_and_its_lists_add_up)
{
    static const struct config_setting SETTINGS[] = {
        {"-X", "moontide", "num.stream.threads", "2"},
        {"-X", "moontide", "num.stream.threads", "3"},
        {"--in", "moontide", "input.topics", "x"},
        {"--in", "moontide", "input.topics", "y"},
        {"--set", "params", "rate", "2"},
        {"-X", "kafka", "debug", "all"},
    };
    struct config cfg;
    struct error err = {0};
    bool ok = load_text(&cfg,
                        "[moontide]\nnum.stream.threads = 8\ninput.topics = a,b\n"
                        "[params]\nrate = 1\nother = 1\n",
                        SETTINGS, sizeof SETTINGS / sizeof SETTINGS[0], &err);
    cr_assert(ok, "%s", err.text);
    cr_assert_eq(cfg.num_stream_threads, 3);
    cr_assert_eq(cfg.input_topics.count, 2);
    cr_assert_str_eq(cfg.input_topics.items[0], "x");
    cr_assert_str_eq(cfg.input_topics.items[1], "y");
    cr_assert_eq(cfg.params.count, 2);
    cr_assert_str_eq(cfg.params.items[0].value, "2");
    cr_assert_str_eq(cfg.params.items[0].origin, "command line");
    cr_assert_str_eq(cfg.params.items[1].origin, "app.ini:6");
    config_fini(&cfg);
}

Test(config, an_embedded_kafka_needs_no_group)
{
    struct config cfg;
    struct error err = {0};
    cr_assert(load_text(&cfg,
                        "[moontide]\nembedded = true\ninput.topics = a\n[script]\nfile = x.lua\n",
                        NULL, 0, &err));
    cr_assert_str_eq(cfg.application_id, "moontide-embedded");
    cr_assert(config_check_run(&cfg, &err), "%s", err.text);
    config_fini(&cfg);
}

struct refused_row {
    const char *text;
    enum error_code code;
    const char *refusal;
};

static const struct refused_row REFUSED[] = {
    {"[moontide]\n\nnum.stream.thread = 4\n", E_CONFIG_UNKNOWN,
     "app.ini:3: [moontide] has no option \"num.stream.thread\"; did you mean num.stream.threads?"},
    {"[moontide]\nNUM_STREAM_THREADS = 4\n", E_CONFIG_UNKNOWN,
     "app.ini:2: [moontide] has no option \"NUM_STREAM_THREADS\"; did you mean "
     "num.stream.threads?"},
    {"[moontide]\nlevel = info\n", E_CONFIG_UNKNOWN,
     "app.ini:2: [moontide] has no option \"level\"; it belongs to [log]"},
    {"[moontide]\nfetch.wait.max.ms = 5\n", E_CONFIG_UNKNOWN,
     "app.ini:2: [moontide] has no option \"fetch.wait.max.ms\"; `moontide config` lists them, and "
     "options of librdkafka belong to [kafka]"},
    {"[moontied]\nx = 1\n", E_CONFIG_UNKNOWN,
     "app.ini:2: no section [moontied]; did you mean [moontide]?"},
    {"[zzz]\nx = 1\n", E_CONFIG_UNKNOWN,
     "app.ini:2: no section [zzz]; there are [moontide], [script], [params], [kafka], "
     "[kafka.consumer], [kafka.producer], [admin] and [log]"},
    {"[moontide]\nnum.stream.threads = 300\n", E_CONFIG,
     "app.ini:2: num.stream.threads: must be between 1 and 256, not 300"},
    {"[moontide]\nnum.stream.threads = four\n", E_CONFIG,
     "app.ini:2: num.stream.threads: must be a whole number, not \"four\""},
    {"[moontide]\nprocessing.order = keys\n", E_CONFIG,
     "app.ini:2: processing.order: must be key, partition or none, not \"keys\""},
    {"[moontide]\ncommit.interval.ms = 2h\n", E_CONFIG,
     "app.ini:2: commit.interval.ms: must be of type duration 1..3600000 ms, not 2h"},
    {"[moontide]\ntask.window.bytes = 12\n", E_CONFIG,
     "app.ini:2: task.window.bytes: must be of type bytes 1KiB..64GiB, not 12"},
    {"[moontide]\ntask.window.records = 1\n", E_CONFIG,
     "app.ini:2: task.window.records: must be between 2 and 1048576, not 1"},
    {"[moontide]\nexit.at.end = maybe\n", E_CONFIG,
     "app.ini:2: exit.at.end: must be true or false, not \"maybe\""},
    {"[params]\na = 1\nb = 2\na = 3\n", E_CONFIG,
     "app.ini:4: a of [params] was already set in line 2"},
    {"[moontide]\nclient.id = ${TIDE_TEST_UNSET}\n", E_CONFIG,
     "app.ini:2: client.id: the environment variable TIDE_TEST_UNSET is not set; "
     "${TIDE_TEST_UNSET:-text} would give a default"},
    {"[kafka]\nenable.auto.commit = true\n", E_CONFIG_RESERVED,
     "app.ini:2: enable.auto.commit is reserved: offsets are committed when their records have "
     "retired; see commit.interval.ms"},
    {"[kafka.consumer]\ngroup.id = g\n", E_CONFIG_RESERVED,
     "app.ini:2: group.id is reserved: set application.id in [moontide], or -g"},
    {"[moontide]\nnum.threads.per.task = 4\n", E_CONFIG_THREADS,
     "num.stream.threads = 1 (default) is less than num.threads.per.task = 4 (app.ini:2): a task "
     "cannot have more threads than there are; raise the first or lower the second"},
};

Test(config, refusals_name_the_place_and_the_way_out)
{
    unsetenv("TIDE_TEST_UNSET");
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        struct config cfg;
        struct error err = {0};
        cr_assert_not(load_text(&cfg, REFUSED[i].text, NULL, 0, &err), "%s", REFUSED[i].text);
        cr_assert_str_eq(err.text, REFUSED[i].refusal);
        cr_assert_eq(err.code, REFUSED[i].code);
        config_fini(&cfg);
    }
}

/* R5 of the proposal: N < K is refused at load, exit code 2. */
Test(config, r5_fewer_stream_threads_than_threads_per_task_exits_2)
{
    static const struct config_setting SETTINGS[] = {
        {"-X", "moontide", "num.stream.threads", "3"},
        {"-X", "moontide", "num.threads.per.task", "4"},
    };
    struct config cfg;
    struct error err = {0};
    struct config_request request = {.settings = SETTINGS, .setting_count = 2};
    config_init(&cfg);
    cr_assert_not(config_load(&cfg, &request, &err));
    cr_assert_eq(err.code, E_CONFIG_THREADS);
    cr_assert_eq(error_exit_code(err.code), 2);
    cr_assert(strstr(err.text, "num.stream.threads = 3 (command line)"));
    cr_assert(strstr(err.text, "num.threads.per.task = 4 (command line)"));
    config_fini(&cfg);
}

Test(config, a_secret_of_the_wrong_type_is_not_shown)
{
    char path[] = "/tmp/tide_secret_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, "hush\n", 5), 5);
    close(fd);
    static const char *const KEYS[] = {"num.stream.threads", "exit.at.end", "processing.order",
                                       "task.window.bytes", "commit.interval.ms"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "[moontide]\n%s = ${file:%s}\n", KEYS[i], path);
        struct config cfg;
        struct error err = {.code = E_NONE};
        cr_assert_not(load_text(&cfg, text, NULL, 0, &err));
        cr_expect_eq(err.code, E_CONFIG);
        cr_expect(strstr(err.text, KEYS[i]), "%s", err.text);
        cr_expect(strstr(err.text, "app.ini:2: "), "%s", err.text);
        cr_expect_not(strstr(err.text, "hush"), "%s", err.text);
        config_fini(&cfg);
    }
    unlink(path);
}

Test(config, a_long_list_takes_memory_in_proportion)
{
    enum { ITEMS = 20000 };
    struct byte_buffer value = {0};
    for (int i = 0; i < ITEMS; i++) {
        byte_buffer_printf(&value, "t%d,", i);
    }
    struct config_setting setting = {"--in", "moontide", "input.topics", byte_buffer_text(&value)};
    struct config_request request = {.settings = &setting, .setting_count = 1};
    struct config cfg;
    struct error err = {.code = E_NONE};
    config_init(&cfg);
    cr_assert(config_load(&cfg, &request, &err), "%s", err.text);
    cr_assert_eq(cfg.input_topics.count, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        cr_assert_str_eq(cfg.input_topics.items[i], name);
    }
    cr_assert_lt(arena_bytes(&cfg.arena), 2 << 20);
    config_fini(&cfg);
    byte_buffer_fini(&value);
}

Test(config, settings_of_the_command_line_are_refused_by_flag)
{
    static const struct config_setting SETTING = {"-X", "moontide", "comit.interval.ms", "5"};
    struct config cfg;
    struct error err = {0};
    struct config_request request = {.settings = &SETTING, .setting_count = 1};
    config_init(&cfg);
    cr_assert_not(config_load(&cfg, &request, &err));
    cr_assert_str_eq(err.text, "-X: [moontide] has no option \"comit.interval.ms\"; did you mean "
                               "commit.interval.ms?");
    config_fini(&cfg);
}

struct run_row {
    const char *text;
    const char *refusal; /* NULL: complete */
};

static const struct run_row RUNS[] = {
    {"", "no script: name one on the command line, or set file in [script]"},
    {"[script]\nfile = x\n", "no input: give --in TOPIC, or set input.topics in [moontide]"},
    {"[script]\nfile = x\n[moontide]\ninput.topics = a\n",
     "no brokers: give -b HOST:PORT, or set bootstrap.servers in [moontide]; --embedded brings its "
     "own"},
    {"[script]\nfile = x\n[moontide]\ninput.topics = a\nbootstrap.servers = b:1\n",
     "no group: give -g GROUP, or set application.id in [moontide]; it names the offsets from "
     "which "
     "a restart goes on"},
    {"[script]\nfile = x\n[moontide]\ninput.topics = a\nbootstrap.servers = b:1\n"
     "application.id = g\n",
     NULL},
    {"[script]\nfile = x\n[moontide]\ninput.topics = -\noutput.topic = file:/tmp/o\n", NULL},
    {"[script]\nfile = x\n[moontide]\ninput.topics = -\noutput.topic = o\n",
     "no brokers: give -b HOST:PORT, or set bootstrap.servers in [moontide]; --embedded brings its "
     "own"},
};

Test(config, a_run_needs_script_input_brokers_and_group)
{
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++) {
        struct config cfg;
        struct error err = {0};
        cr_assert(load_text(&cfg, RUNS[i].text, NULL, 0, &err), "%s", err.text);
        bool ok = config_check_run(&cfg, &err);
        cr_assert_eq(ok, RUNS[i].refusal == NULL, "%s", RUNS[i].text);
        if (RUNS[i].refusal) {
            cr_assert_str_eq(err.text, RUNS[i].refusal);
        }
        config_fini(&cfg);
    }
}

Test(config, keys_of_the_command_line_are_split_by_section)
{
    static const char *const ROWS[][3] = {
        {"num.stream.threads", "moontide", "num.stream.threads"},
        {"kafka.fetch.wait.max.ms", "kafka", "fetch.wait.max.ms"},
        {"kafka.consumer.x", "kafka.consumer", "x"},
        {"kafka.producer.x", "kafka.producer", "x"},
        {"log.level", "log", "level"},
        {"script.file", "script", "file"},
        {"params.rate", "params", "rate"},
        {"kafka", "moontide", "kafka"},
        {"kafka.", "moontide", "kafka."},
        {"login", "moontide", "login"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *section = NULL;
        const char *name = NULL;
        config_split_key(ROWS[i][0], &section, &name);
        cr_assert_str_eq(section, ROWS[i][1]);
        cr_assert_str_eq(name, ROWS[i][2]);
    }
}
