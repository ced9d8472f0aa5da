/*
 * engine: all pipelines and workers of a process, from the start to the result.
 *
 * Why: the running command owns one engine, which owns the rest. It knows neither Kafka nor Lua:
 * what a pipeline reads, writes and runs comes through ports.
 *
 * Thread: main thread; engine_stop: any, also a signal handler.
 * Owns: pipelines, workers, and what the ports made. Borrows: options, clock.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine_options.h"
#include "metrics/metrics_registry.h"
#include "stream/processor.h"
#include "stream/sink.h"
#include "stream/source.h"

struct engine;

/* Makers of what the pipelines need; each returns NULL with err set when the world says no. */
struct engine_ports {
    struct source *(*open_source)(void *context, unsigned pipeline, struct error *err);
    struct sink *(*open_sink)(void *context, unsigned pipeline, struct error *err);
    void *context;
    struct processor_factory processors;
};

/* Creates everything, starts nothing. NULL with err when the options contradict each other (R5) or
 * a port fails; then nothing remains. */
struct engine *engine_create(const struct engine_options *options, const struct engine_ports *ports,
                             const struct clock_source *clock, struct error *err);
/* Accepts NULL. It was never started, or has been waited for until the end. */
void engine_destroy(struct engine *engine);

/* Starts all threads. */
void engine_start(struct engine *engine);

/* Waits for the end, at most timeout_ms (-1: without bound). True: every pipeline is closed, and
 * every thread joined unless engine_is_stuck. A pipeline that fails stops all; with exit_at_end all
 * stop when all are at their end. */
bool engine_wait(struct engine *engine, int timeout_ms);

/* Asks for a drain and the end; `hurry` skips the drain. */
void engine_stop(struct engine *engine, bool hurry);

/* How it ended: false and err as the first pipeline that failed says. After engine_wait said true.
 */
bool engine_result(const struct engine *engine, struct error *err);

/* After the end: a worker is still in user code and did not come back within the grace time. Its
 * thread cannot be joined; the process has to exit without engine_destroy. */
bool engine_is_stuck(const struct engine *engine);

/* All that it counts, for readers on any thread; borrowed until destroy. */
struct metrics_registry *engine_metrics(const struct engine *engine);
/* Number of pipelines. */
unsigned engine_pipeline_count(const struct engine *engine);

#endif
