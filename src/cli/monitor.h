/*
 * monitor: what shows a run to people and machines: admin pages, a line of progress, the state on
 * SIGUSR1.
 *
 * Why: the main thread has nothing to do while the engine runs; it looks at the metrics a few times
 * a second, as any reader may, and costs the engine nothing.
 *
 * Thread: main thread.
 * Owns: the admin server. Borrows: engine, clock, runtime until close.
 */
#ifndef CLI_MONITOR_H
#define CLI_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "admin/admin_pages.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/progress.h"
#include "cli/runtime.h"
#include "engine/engine.h"

/* Embedded; the fields are private. */
struct monitor {
    struct engine *engine;
    const struct clock_source *clock;
    struct admin_pages pages;
    struct admin_server *server; /* NULL: off */
    bool has_progress;
    struct progress progress;
    int64_t progress_ns; /* when the next line is due */
};

/* Opens the admin pages, if there are to be any, before the engine starts. False: err says why. */
bool monitor_open(struct monitor *monitor, const struct runtime *runtime, struct engine *engine,
                  const struct clock_source *clock, struct error *err);
/* Waits for the end of the engine (engine_wait) and shows it meanwhile. */
void monitor_run(struct monitor *monitor);
/* The pages end, the line goes. The engine still exists. */
void monitor_close(struct monitor *monitor);

#endif
