/*
 * sim: one thread plays all threads of the engine in an order chosen by a seed.
 *   sim --seeds N [--from S] [--steps M]   runs N seeds
 *   sim --seed S [--steps M] [-v]          replays one, -v tells its events
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/pipeline.h"
#include "engine/worker.h"
#include "sim/sim_processor.h"
#include "sim/sim_sink.h"
#include "sim/sim_source.h"
#include "sim/sim_world.h"

enum { WORKERS_MAX = 4, LAST_STEPS = 400000 };

/* One pipeline with its workers, as a process has it. */
struct member {
    struct source *source;
    struct pipeline *pipeline;
    struct worker *workers[WORKERS_MAX];
};

struct process {
    struct sim_world *world;
    struct member members[SIM_PIPELINES_MAX];
};

static uint64_t seed; /* for the handler of SIGABRT */
static uint64_t totals[SIM_COUNTS];
static long steps = 1000;

static void start_member(struct process *process, unsigned index)
{
    struct sim_world *world = process->world;
    struct member *member = &process->members[index];
    thread_role_set(ROLE_POLL);
    member->source = sim_source_create(world, (int)index);
    member->pipeline = pipeline_create(&(struct pipeline_options){
        .index = index,
        .workers = world->workers,
        .engine = &world->options,
        .clock = &world->clock,
        .source = member->source,
        .sink = sim_sink_create(world, (int)index),
    });
    for (unsigned i = 0; i < world->workers; i++) {
        member->workers[i] = worker_create(&(struct worker_options){
            .index = index * world->workers + i,
            .exchange = pipeline_exchange(member->pipeline),
            .processor = sim_processor_create(world),
            .clock = &world->clock,
            .policy = &world->options.failure,
            .batch_max = 1 + sim_below(world, 6),
        });
    }
}

static void end_member(struct process *process, unsigned index)
{
    struct member *member = &process->members[index];
    sim_source_die(member->source);
    for (unsigned i = 0; i < process->world->workers; i++) {
        worker_destroy(member->workers[i]);
    }
    thread_role_set(ROLE_POLL);
    pipeline_destroy(member->pipeline);
}

/* A failed or stopped pipeline ends and is started again, as an operator would do. */
static void restart(struct process *process, unsigned index)
{
    sim_say(process->world, "pipeline %u: starts again", index);
    end_member(process, index);
    start_member(process, index);
}

static void turn_pipeline(struct process *process)
{
    unsigned index = (unsigned)sim_below(process->world, process->world->pipelines);
    struct pipeline *pipeline = process->members[index].pipeline;
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    pipeline_turn(pipeline);
    pipeline_check(pipeline, true);
    if (pipeline_state(pipeline) == PIPELINE_CLOSED) {
        restart(process, index);
    }
}

static void turn_worker(struct process *process)
{
    struct sim_world *world = process->world;
    unsigned index = (unsigned)sim_below(world, world->pipelines);
    struct member *member = &process->members[index];
    thread_role_set(ROLE_WORKER);
    thread_assert_worker();
    worker_turn(member->workers[sim_below(world, world->workers)]);
    thread_role_set(ROLE_POLL);
    thread_assert_poll();
    pipeline_check(member->pipeline, true);
}

static void choose_owners(struct sim_world *world)
{
    for (int32_t p = 0; p < world->partition_count; p++) {
        world->target[p] = (int)sim_below(world, world->pipelines);
    }
}

static void group_turn(struct process *process)
{
    for (unsigned i = 0; i < process->world->pipelines; i++) {
        sim_source_rebalance(process->members[i].source);
    }
}

static void happen(struct process *process)
{
    struct sim_world *world = process->world;
    unsigned index = (unsigned)sim_below(world, world->pipelines);
    struct member *member = &process->members[index];
    if (sim_fault(world, 200)) {
        choose_owners(world);
    }
    if (sim_rough_fault(world, 40)) {
        sim_source_lose(member->source);
    }
    if (sim_rough_fault(world, 40)) {
        sim_source_regress(member->source);
    }
    if (sim_rough_fault(world, 10)) {
        sim_source_fence(member->source);
    }
    if (sim_fault(world, 30)) {
        world->away_until_ns = world->now_ns + (int64_t)sim_below(world, 500000000);
        sim_say(world, "the broker is away");
    }
    if (sim_fault(world, 30)) {
        sim_say(world, "pipeline %u: stops", index);
        pipeline_stop(member->pipeline, sim_below(world, 4) == 0 && !world->calm);
    }
    if (sim_rough_fault(world, 20)) {
        world->counts[SIM_CRASHES]++;
        sim_say(world, "all crash");
        for (unsigned i = 0; i < world->pipelines; i++) {
            restart(process, i);
        }
    }
    group_turn(process);
}

static void step(struct process *process)
{
    struct sim_world *world = process->world;
    switch (sim_below(world, 20)) {
    case 0:
        happen(process);
        break;
    case 1:
    case 2:
        world->now_ns += (int64_t)sim_below(world, 20000000);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
        turn_pipeline(process);
        break;
    default:
        turn_worker(process);
    }
}

static bool all_at_end(const struct process *process)
{
    bool all = true;
    for (unsigned i = 0; i < process->world->pipelines; i++) {
        all = all && pipeline_state(process->members[i].pipeline) == PIPELINE_RUNNING &&
              sim_source_is_settled(process->members[i].source) &&
              pipeline_is_at_end(process->members[i].pipeline);
    }
    for (int32_t p = 0; p < process->world->partition_count; p++) {
        all = all && process->world->partitions[p].owner == process->world->target[p];
    }
    return all;
}

static void run_seed(uint64_t number, bool verbose)
{
    static struct sim_world world; /* large; one at a time */
    sim_world_init(&world, number, verbose);
    sim_say(&world, "seed %llu: %u pipelines of %u, order %d, emit %d, window %u, %d partitions%s",
            (unsigned long long)number, world.pipelines, world.workers, world.options.order,
            world.options.emit, world.options.window_records, world.partition_count,
            world.calm ? ", calm" : "");
    struct process process = {.world = &world};
    choose_owners(&world);
    for (unsigned i = 0; i < world.pipelines; i++) {
        start_member(&process, i);
    }
    for (long i = 0; i < steps; i++) {
        step(&process);
    }
    world.faults = false;
    sim_say(&world, "faults off");
    long last = 0;
    for (; last < LAST_STEPS && !all_at_end(&process); last++) {
        step(&process);
    }
    if (last == LAST_STEPS) {
        sim_fail(&world, "O6: the end is not reached");
    }
    sim_judge_end(&world);
    for (int i = 0; i < SIM_COUNTS; i++) {
        totals[i] += world.counts[i];
    }
    for (unsigned i = 0; i < world.pipelines; i++) {
        end_member(&process, i);
    }
    sim_world_fini(&world);
}

/* A fault that never happened proves nothing. */
static void print_totals(void)
{
    static const char *const NAMES[SIM_COUNTS] = {
        [SIM_RUNS] = "runs",        [SIM_OUTPUTS] = "outputs",         [SIM_COMMITS] = "commits",
        [SIM_REFUSALS] = "refused", [SIM_REVOKES] = "revokes",         [SIM_LOSSES] = "losses",
        [SIM_CRASHES] = "crashes",  [SIM_REGRESSIONS] = "regressions", [SIM_RETRIES] = "retries",
        [SIM_SKIPS] = "skips",      [SIM_LETTERS] = "dead letters",    [SIM_FATALS] = "fenced",
    };
    for (int i = 0; i < SIM_COUNTS; i++) {
        printf("%s%llu %s", i ? ", " : "", (unsigned long long)totals[i], NAMES[i]);
    }
    printf("\n");
}

static void on_abort(int number)
{
    (void)number;
    char text[160];
    int size = snprintf(text, sizeof text,
                        "FAILED; replay: build/test/tests/sim/sim --seed %llu --steps %ld -v\n"
                        "sim: 0 passed, 1 failed, 0 skipped\n",
                        (unsigned long long)seed, steps);
    fflush(stdout);
    ssize_t put = write(STDOUT_FILENO, text, (size_t)size);
    _exit(put > 0 ? 1 : 2);
}

static uint64_t number_after(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    log_set_level(LOG_LEVEL_ERROR);
    int log = open("/dev/null", O_WRONLY);
    log_open(log, LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
    signal(SIGABRT, on_abort);
    steps = (long)number_after(argc, argv, "--steps", 1000);
    uint64_t one = number_after(argc, argv, "--seed", 0);
    if (one) {
        seed = one;
        run_seed(seed, strcmp(argv[argc - 1], "-v") == 0);
        printf("sim: 1 passed, 0 failed, 0 skipped\n");
        return 0;
    }
    uint64_t from = number_after(argc, argv, "--from", 1);
    uint64_t count = number_after(argc, argv, "--seeds", 300);
    for (seed = from; seed < from + count; seed++) {
        run_seed(seed, false);
    }
    print_totals();
    printf("sim: %llu passed, 0 failed, 0 skipped\n", (unsigned long long)count);
    return 0;
}
