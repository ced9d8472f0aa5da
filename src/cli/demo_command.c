#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file_bytes.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/runtime.h"
#include "cli/signals.h"
#include "cli/tally.h"
#include "kafka/kafka_reader.h"
#include "metrics/metrics_snapshot.h"

/* The main job on nothing but this process: an embedded Kafka, real text, the word count, its
 * output. */

static const char DEFAULT_SCRIPT[] = "scripts/wordcount.lua";
static const char DEFAULT_TEXT[] = "/usr/share/common-licenses";

enum {
    LOAD_BYTES = 2 << 20, /* the text is repeated up to this; the cluster keeps 5 MiB a partition */
    TOP = 10,
    LOOK_MS = 20,    /* between two looks at the output while the engine runs */
    SILENCE_MS = 500 /* no more output is expected after it */
};

const struct argument DEMO_ARGUMENTS[] = {
    {0, "text", "DIR", false, "folder with the text (/usr/share/common-licenses)"},
    {0, NULL, NULL, false, NULL},
};

struct demo {
    struct config cfg;
    struct runtime runtime;
    struct clock_source clock;
    uint64_t lines;
    struct kafka_reader *reader;
    struct tally words;
    int64_t outputs;
    int64_t first_ns; /* when the first record was admitted */
    int64_t last_ns;  /* when the last one was retired */
    int64_t retired;
    bool shown;
};

static bool has_default_script(struct error *err);
static bool configure(struct demo *demo, const char *script, struct error *err);
static bool load_text(struct demo *demo, const char *folder, struct error *err);
static bool run(struct demo *demo, struct error *err);
static void watch(struct demo *demo, struct engine *engine);
static void show_threads(const struct metrics_snapshot *snapshot);
static void show_result(struct demo *demo);

bool demo_command(const struct arguments *args, struct error *err)
{
    struct demo demo = {.clock = clock_system()};
    const struct argument_given *given = arguments_find(args, "text");
    const char *folder = given ? given->value : DEFAULT_TEXT;
    config_init(&demo.cfg);
    bool ok = configure(&demo, args->operand_count ? args->operands[0] : DEFAULT_SCRIPT, err) &&
              (args->operand_count || has_default_script(err)) &&
              config_check_run(&demo.cfg, err) && runtime_check(&demo.runtime, &demo.cfg, err) &&
              runtime_open(&demo.runtime, err) && load_text(&demo, folder, err) && run(&demo, err);
    if (ok) {
        show_result(&demo);
    }
    kafka_reader_close(demo.reader);
    tally_fini(&demo.words);
    runtime_close(&demo.runtime);
    config_fini(&demo.cfg);
    return ok;
}

static bool has_default_script(struct error *err)
{
    return access(DEFAULT_SCRIPT, F_OK) == 0 ||
           error_set(err, E_USAGE,
                     "there is no %s here: run the demo in Moontide's source folder, or name a "
                     "script: moontide demo SCRIPT",
                     DEFAULT_SCRIPT);
}

static bool configure(struct demo *demo, const char *script, struct error *err)
{
    const struct config_setting settings[] = {
        {"SCRIPT", "script", "file", script},
        {"demo", "moontide", "input.topics", "lines"},
        {"demo", "moontide", "output.topic", "counts"},
        {"demo", "moontide", "embedded", "true"},
        {"demo", "moontide", "embedded.partitions", "4"},
        {"demo", "moontide", "num.stream.threads", "4"},
        {"demo", "moontide", "num.threads.per.task", "2"},
        {"demo", "moontide", "exit.at.end", "true"},
    };
    struct config_request request = {.settings = settings,
                                     .setting_count = sizeof settings / sizeof settings[0]};
    log_set_level(LOG_LEVEL_WARN);
    return config_load(&demo->cfg, &request, err);
}

/* --- the input ----------------------------------------------------------------------------- */

/* All files of the folder, in the order of their names. */
static bool read_folder(const char *folder, struct byte_buffer *text, struct error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        return error_set(err, E_IO, "%s: %s; name another folder with --text", folder,
                         strerrordesc_np(errno));
    }
    bool ok = true;
    for (int i = 0; i < count; i++) {
        if (ok && entries[i]->d_name[0] != '.') {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            ok = file_bytes_read(path, text, err);
        }
        free(entries[i]);
    }
    free(entries);
    return ok;
}

static bool load_text(struct demo *demo, const char *folder, struct error *err)
{
    struct byte_buffer text;
    byte_buffer_init(&text);
    bool ok = read_folder(folder, &text, err);
    if (ok && text.size == 0) {
        ok = error_set(err, E_IO, "%s: no text there; name another folder with --text", folder);
    }
    size_t times = ok && text.size > 0 ? LOAD_BYTES / text.size + 1 : 0;
    for (size_t i = 0; i < times && ok; i++) {
        ok = embedded_cluster_load_lines(demo->runtime.cluster, "lines", text.data, text.size,
                                         &demo->lines, err);
    }
    if (ok) {
        printf("embedded Kafka on %s: %" PRIu64 " lines of %s on topic lines, 4 partitions\n",
               embedded_cluster_brokers(demo->runtime.cluster), demo->lines, folder);
    }
    byte_buffer_fini(&text);
    return ok;
}

/* --- the run ------------------------------------------------------------------------------- */

static bool run(struct demo *demo, struct error *err)
{
    demo->reader =
        kafka_reader_open(embedded_cluster_brokers(demo->runtime.cluster), "counts", err);
    if (demo->reader == NULL) {
        return false;
    }
    struct engine *engine =
        engine_create(&demo->runtime.options, &demo->runtime.ports, &demo->clock, err);
    if (engine == NULL) {
        return false;
    }
    printf("%s: num.stream.threads=4, num.threads.per.task=2\n", script_path(demo->runtime.script));
    fflush(stdout);
    signals_open(engine);
    engine_start(engine);
    while (!engine_wait(engine, 0)) {
        watch(demo, engine);
    }
    watch(demo, engine);
    bool ok = engine_result(engine, err);
    signals_close();
    CHECK(!engine_is_stuck(engine) || !ok);
    engine_destroy(engine);
    return ok;
}

static void take_word(void *context, const struct record *rec)
{
    struct demo *demo = context;
    char number[24];
    size_t size = rec->value_size < sizeof number ? rec->value_size : sizeof number - 1;
    memcpy(number, rec->value ? rec->value : "", rec->value ? size : 0);
    number[rec->value ? size : 0] = 0;
    tally_add(&demo->words, rec->key ? rec->key : "", rec->key_size, strtoll(number, NULL, 10));
    demo->outputs++;
}

/* Reads what came out, and looks at the threads once, in the middle of the work. */
static void watch(struct demo *demo, struct engine *engine)
{
    kafka_reader_read(demo->reader, SIZE_MAX, LOOK_MS, take_word, demo);
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(engine));
    int64_t now_ns = clock_ns(&demo->clock);
    int64_t admitted = 0;
    int64_t retired = 0;
    for (size_t i = 0; i < snapshot.pipeline_count; i++) {
        admitted += metric_get(&snapshot.pipelines[i]->admitted);
        retired += metric_get(&snapshot.pipelines[i]->retired);
    }
    if (admitted > 0 && demo->first_ns == 0) {
        demo->first_ns = now_ns;
    }
    if (retired > demo->retired) {
        demo->retired = retired;
        demo->last_ns = now_ns;
    }
    if (!demo->shown && retired * 5 > (int64_t)demo->lines) {
        demo->shown = true;
        show_threads(&snapshot);
    }
    metrics_snapshot_fini(&snapshot);
}

static void show_threads(const struct metrics_snapshot *snapshot)
{
    printf("\nat work:\n  %-12s %9s %14s %10s\n", "task", "pipeline", "window", "commit_pos");
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task_view *task = &snapshot->tasks[i];
        char name[64];
        snprintf(name, sizeof name, "%s [%" PRId32 "]", task->topic, task->partition);
        char window[32];
        snprintf(window, sizeof window, "%" PRId64 "/%" PRId64, task->window.used,
                 task->window.capacity);
        printf("  %-12s %9u %14s %10" PRId64 "\n", name, task->pipeline, window,
               task->window.commit_pos);
    }
    printf("  %-12s %9s %14s %10s\n", "thread", "pipeline", "state", "records");
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const struct worker_reading *worker = &snapshot->workers[i];
        printf("  worker-%-5u %9u %14s %10" PRId64 "\n", worker->worker, worker->pipeline,
               worker_state_name(worker->state), worker->done);
    }
    fflush(stdout);
}

static void show_result(struct demo *demo)
{
    while (kafka_reader_read(demo->reader, SIZE_MAX, SILENCE_MS, take_word, demo) > 0) {
    }
    double seconds = (double)(demo->last_ns - demo->first_ns) * 1e-9;
    const double least = (double)LOOK_MS * 1e-3;
    if (seconds < least) {
        seconds = least;
    }
    printf("\n%" PRIu64 " records in, %" PRId64 " out in %.2f s: %.0f records/s in, %.0f out; all "
           "committed\n",
           demo->lines, demo->outputs, seconds, (double)demo->lines / seconds,
           (double)demo->outputs / seconds);
    struct tally_row top[TOP];
    size_t count = tally_top(&demo->words, top, TOP);
    printf("\n%10s  word (of %zu)\n", "count", tally_count(&demo->words));
    for (size_t i = 0; i < count; i++) {
        printf("%10" PRId64 "  %s\n", top[i].sum, top[i].name);
    }
}
