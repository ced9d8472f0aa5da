#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/monitor.h"
#include "cli/run_arguments.h"
#include "cli/runtime.h"
#include "cli/signals.h"

static bool run_engine(struct runtime *runtime, struct error *err);

bool run_command(const struct arguments *args, struct error *err)
{
    struct config cfg;
    struct runtime runtime = {0};
    bool ok = run_arguments_load(args, &cfg, err) && config_check_run(&cfg, err) &&
              runtime_check(&runtime, &cfg, err) && runtime_open(&runtime, err) &&
              run_engine(&runtime, err);
    runtime_close(&runtime);
    config_fini(&cfg);
    return ok;
}

static bool run_engine(struct runtime *runtime, struct error *err)
{
    struct clock_source clock = clock_system();
    struct engine *engine = engine_create(&runtime->options, &runtime->ports, &clock, err);
    if (engine == NULL) {
        return false;
    }
    struct monitor monitor;
    if (!monitor_open(&monitor, runtime, engine, &clock, err)) {
        engine_destroy(engine);
        return false;
    }
    signals_open(engine);
    engine_start(engine);
    monitor_run(&monitor);
    monitor_close(&monitor);
    bool ok = engine_result(engine, err);
    /* librdkafka's farewell may wait for a broker that does not answer, or for parts of a topic
     * that was deleted */
    signals_deadline(signals_count() > 1 ? 2 : ok ? 10 : 5, ok ? 0 : error_exit_code(err->code));
    signals_close();
    if (engine_is_stuck(engine)) {
        log_error("a worker is still in the script; the process ends without it");
        _exit(error_exit_code(ok ? E_DRAIN : err->code));
    }
    engine_destroy(engine);
    return ok;
}
