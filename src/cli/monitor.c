#include "cli/monitor.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/signals.h"
#include "cli/state_log.h"
#include "cli/version.h"

enum {
    LOOK_MS = 200, /* between two looks for a SIGUSR1 */
    COLUMNS = 80   /* of a terminal that does not say */
};

static const int64_t PROGRESS_NS = 1000000000;

static bool wants_progress(const struct config *cfg);
static void look(struct monitor *monitor);
static void show_progress(struct monitor *monitor, const struct metrics_snapshot *snapshot,
                          int64_t now_ns);

bool monitor_open(struct monitor *monitor, const struct runtime *runtime, struct engine *engine,
                  const struct clock_source *clock, struct error *err)
{
    int64_t now_ns = clock_ns(clock);
    *monitor = (struct monitor){
        .engine = engine,
        .clock = clock,
        .pages = {.registry = engine_metrics(engine),
                  .clock = clock,
                  .version = version_text(),
                  .begin_ns = now_ns},
        .has_progress = wants_progress(runtime->cfg),
        .progress_ns = now_ns + PROGRESS_NS,
    };
    if (runtime->admin.kind == ADMIN_OFF) {
        return true;
    }
    struct admin_hooks hooks = admin_pages_hooks(&monitor->pages);
    monitor->server = admin_server_open(&runtime->admin, &hooks, err);
    return monitor->server != NULL;
}

/* Not where it would mix with records on the same terminal. */
static bool wants_progress(const struct config *cfg)
{
    bool to_stdout = cfg->output_topic && strcmp(cfg->output_topic, "-") == 0;
    for (size_t i = 0; i < cfg->output_files.count; i++) {
        const char *equals = strrchr(cfg->output_files.items[i], '=');
        to_stdout = to_stdout || (equals && strcmp(equals, "=-") == 0);
    }
    return cfg->log_progress == CONFIG_PROGRESS_AUTO && isatty(STDERR_FILENO) &&
           !(to_stdout && isatty(STDOUT_FILENO));
}

void monitor_run(struct monitor *monitor)
{
    while (!engine_wait(monitor->engine, LOOK_MS)) {
        look(monitor);
    }
}

static void look(struct monitor *monitor)
{
    bool report = signals_take_report();
    int64_t now_ns = clock_ns(monitor->clock);
    bool progress = monitor->has_progress && now_ns >= monitor->progress_ns;
    if (!report && !progress) {
        return;
    }
    struct metrics_snapshot snapshot;
    metrics_snapshot_take(&snapshot, engine_metrics(monitor->engine));
    if (report) {
        state_log_write(&snapshot, now_ns);
    }
    if (progress) {
        monitor->progress_ns = now_ns + PROGRESS_NS;
        show_progress(monitor, &snapshot, now_ns);
    }
    metrics_snapshot_fini(&snapshot);
}

static size_t terminal_columns(void)
{
    struct winsize size = {.ws_col = 0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : COLUMNS;
}

static void show_progress(struct monitor *monitor, const struct metrics_snapshot *snapshot,
                          int64_t now_ns)
{
    struct byte_buffer line;
    byte_buffer_init(&line);
    struct progress_reading reading = progress_read(snapshot, now_ns);
    progress_note(&monitor->progress, &reading, &line);
    size_t most = terminal_columns() - 1; /* a full line would make a second one */
    if (line.size > most) {
        line.data[most] = 0;
    }
    log_set_footer(byte_buffer_text(&line));
    byte_buffer_fini(&line);
}

void monitor_close(struct monitor *monitor)
{
    if (monitor->has_progress) {
        log_set_footer("");
    }
    admin_server_close(monitor->server);
    monitor->server = NULL;
}
