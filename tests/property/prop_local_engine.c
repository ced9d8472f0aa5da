/*
 * The engine on the local ports, with all threads: what goes in as lines comes out as lines in the
 * same order, whatever N and K; a reader that goes away ends the engine, and that is no failure.
 *
 * Usage: prop_local_engine [SEED]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "local/local_sink.h"
#include "local/local_source.h"

enum { LINES = 50000, WAIT_MS = 60000 };

struct setup {
    const char *input; /* of pipeline 0; the others have none */
    struct local_routes *routes;
    uint64_t seed;
};

struct copier {
    struct processor processor;
    uint64_t dice;
};

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    const struct setup *setup = context;
    return local_source_create(&setup->input, pipeline == 0 ? 1 : 0, LOCAL_LINES, err);
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)pipeline;
    (void)err;
    return local_sink_create(((const struct setup *)context)->routes);
}

/* Emits each value as it is, now and then after a nap, so that records finish out of order. */
static size_t run(struct processor *processor, struct work *const *batch, size_t count)
{
    struct copier *copier = (struct copier *)processor;
    for (size_t i = 0; i < count; i++) {
        struct emission *emission = effects_emit(&batch[i]->effects);
        emission->value = batch[i]->rec.value;
        emission->value_size = batch[i]->rec.value_size;
        batch[i]->outcome = OUTCOME_DONE;
        copier->dice = copier->dice * 6364136223846793005u + 1442695040888963407u;
        if (copier->dice >> 52 == 0) {
            usleep(500);
        }
    }
    return count;
}

static void close_processor(struct processor *processor)
{
    (void)processor;
}

static void destroy_processor(struct processor *processor)
{
    memory_free(processor);
}

static const struct processor_ops COPIER = {
    .run = run, .close = close_processor, .destroy = destroy_processor};

static struct processor *create_processor(void *context, unsigned worker, struct error *err)
{
    (void)err;
    struct copier *copier = memory_alloc(sizeof *copier);
    copier->processor.ops = &COPIER;
    copier->dice = ((const struct setup *)context)->seed + worker;
    return &copier->processor;
}

/* Runs the engine to its end; E_NONE or the code of its failure. */
static enum error_code run_engine(unsigned n, unsigned k, const char *input, const char *output,
                                  uint64_t seed)
{
    struct error err;
    struct setup setup = {.input = input, .seed = seed};
    setup.routes = local_routes_open(
        &(struct local_routes_options){
            .outputs = &output, .output_count = 1, .inputs = &input, .input_count = 1},
        &err);
    CHECK(setup.routes != NULL);
    struct engine_options options = {.num_stream_threads = n,
                                     .num_threads_per_task = k,
                                     .window_records = 1024,
                                     .window_bytes = 1 << 20,
                                     .commit_interval_ms = 10,
                                     .drain_timeout_ms = 5000,
                                     .shutdown_timeout_ms = 30000,
                                     .exit_at_end = true};
    struct engine_ports ports = {.open_source = open_source,
                                 .open_sink = open_sink,
                                 .context = &setup,
                                 .processors = {.create = create_processor, .context = &setup}};
    struct clock_source clock = clock_system();
    struct engine *engine = engine_create(&options, &ports, &clock, &err);
    CHECK(engine != NULL);
    engine_start(engine);
    CHECK(engine_wait(engine, WAIT_MS));
    enum error_code code = engine_result(engine, &err) ? E_NONE : err.code;
    engine_destroy(engine);
    local_routes_close(setup.routes);
    return code;
}

static bool same_files(const char *a, const char *b)
{
    FILE *one = fopen(a, "r");
    FILE *two = fopen(b, "r");
    CHECK(one != NULL);
    CHECK(two != NULL);
    int left, right;
    do {
        left = getc(one);
        right = getc(two);
    } while (left == right && left != EOF);
    fclose(one);
    fclose(two);
    return left == right;
}

static bool keeps_order(unsigned n, unsigned k, uint64_t seed)
{
    return run_engine(n, k, "file:in", "file:out", seed) == E_NONE && same_files("in", "out");
}

/* Standard output is a pipe that nobody reads any more. */
static bool ends_with_its_reader(uint64_t seed)
{
    int ends[2];
    int saved = dup(STDOUT_FILENO);
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    CHECK(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    close(ends[1]);
    close(ends[0]);
    enum error_code code = run_engine(3, 2, "file:in", "-", seed);
    CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
    close(saved);
    return code == E_CLOSED;
}

static void write_input(uint64_t seed)
{
    FILE *file = fopen("in", "w");
    CHECK(file != NULL);
    for (uint64_t i = 0; i < LINES; i++) {
        fprintf(file, "%" PRIu64 " %.*s\n", i, (int)((i * seed) % 60),
                "a line may be short, or somewhat longer than the others are");
    }
    fclose(file);
}

static void report(bool good, const char *what, int *passed, int *failed)
{
    if (good) {
        ++*passed;
    } else {
        ++*failed;
        printf("FAILED: %s\n", what);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    int passed = 0;
    int failed = 0;
    printf("prop_local_engine seed %" PRIu64 "\n", seed);
    char directory[] = "/tmp/tide-engine-XXXXXX";
    CHECK(mkdtemp(directory) != NULL);
    CHECK(chdir(directory) == 0);
    write_input(seed);
    report(keeps_order(1, 1, seed), "N 1, K 1", &passed, &failed);
    report(keeps_order(4, 4, seed), "N 4, K 4", &passed, &failed);
    report(keeps_order(7, 3, seed), "N 7, K 3", &passed, &failed);
    report(ends_with_its_reader(seed), "a reader that goes away", &passed, &failed);
    CHECK(unlink("in") == 0);
    CHECK(unlink("out") == 0);
    CHECK(rmdir(directory) == 0);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
