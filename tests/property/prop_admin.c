/*
 * prop_admin: the admin pages under load: three clients read all pages without a pause while an
 * engine with Lua scripts, some of whose records are slow, works through its input. Every answer is
 * whole, counters never fall, slow records are told once each. Runs under ThreadSanitizer.
 *
 * Usage: prop_admin [RECORDS]
 */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/admin_pages.h"
#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "engine/engine.h"
#include "support/memory_ports.h"
#include "support/script_rig.h"

enum { CLIENTS = 3, PARTITIONS = 4, PIPELINES = 2, SLOW_EVERY = 1000, WARN_MS = 100 };

/* Offsets have gaps, so that some of the multiples are not there. */
static const char SCRIPT[] = "local tide = require 'moontide'\n"
                             "local kept = {}\n"
                             "return function(rec)\n"
                             "    kept[rec.offset % 100] = rec.key .. rec.offset\n"
                             "    if rec.offset % 1000 == 0 then tide.sleep('600ms') end\n"
                             "end\n";

static const char *const PATHS[] = {"/metrics", "/status", "/livez", "/readyz"};

struct client {
    struct thread thread;
    const char *address;
    const atomic_bool *ended;
    uint64_t answers;
    uint64_t wrong;
    int64_t retired; /* seen last */
};

static struct memory_topic topic = {.partitions = PARTITIONS, .records = 4000, .keys = 50};

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    (void)context;
    (void)err;
    return memory_source_create(&topic, pipeline, PIPELINES);
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    (void)context;
    (void)pipeline;
    (void)err;
    return memory_sink_create(PARTITIONS, false);
}

/* All that comes for one request; the caller frees it. */
static char *ask(const char *address, const char *path)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct byte_buffer text = {0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&in, sizeof in) == 0) {
        (void)dprintf(fd, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
        char part[4096];
        for (ssize_t got; (got = read(fd, part, sizeof part)) > 0;) {
            byte_buffer_append(&text, part, (size_t)got);
        }
    }
    close(fd);
    return byte_buffer_take(&text);
}

static int64_t sum_of(const char *text, const char *name)
{
    int64_t sum = 0;
    size_t size = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + size, name)) {
        const char *value = strstr(at, "} ");
        sum += value && at[-1] == '\n' ? strtoll(value + 2, NULL, 10) : 0;
    }
    return sum;
}

static bool is_right(struct client *client, const char *path, const char *text)
{
    const char *body = strstr(text, "\r\n\r\n");
    size_t size = strlen(text);
    bool whole = body && size > 0 && text[size - 1] == '\n' &&
                 (strncmp(text, "HTTP/1.1 200", 12) == 0 || strncmp(text, "HTTP/1.1 503", 12) == 0);
    if (whole && strcmp(path, "/metrics") == 0) {
        int64_t retired = sum_of(body, "moontide_pipeline_records_retired_total{");
        whole = retired >= client->retired && strstr(body, "moontide_task_thread_state");
        client->retired = retired;
    } else if (whole && strcmp(path, "/status") == 0) {
        whole = body[4] == '{' && strcmp(text + size - 3, "]}\n") == 0;
    }
    return whole;
}

static void read_all(void *context)
{
    struct client *client = context;
    while (!atomic_load(client->ended)) {
        const char *path = PATHS[client->answers++ % (sizeof PATHS / sizeof PATHS[0])];
        char *text = ask(client->address, path);
        if (!is_right(client, path, text)) {
            client->wrong++;
            printf("%s: %.300s\n", path, text);
        }
        memory_free(text);
    }
}

/* The multiples that are offsets, and may be the last ones of a batch of any size. */
static uint64_t slow_records(void)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < topic.records; i++) {
        count += memory_offset(i) % SLOW_EVERY == 0;
    }
    return count * PARTITIONS;
}

static bool report(const char *what, bool good)
{
    if (!good) {
        printf("FAILED: %s\n", what);
    }
    return good;
}

int main(int argc, char **argv)
{
    topic.records = argc > 1 ? strtoull(argv[1], NULL, 0) : topic.records;
    log_set_level(LOG_LEVEL_ERROR);
    struct error err = {0};
    struct script_rig *rig = memory_alloc(sizeof *rig);
    script_rig_init(rig);
    CHECK(script_rig_load(rig, SCRIPT, &err));
    struct clock_source clock = clock_system();
    struct engine_options options = {.num_stream_threads = 4,
                                     .num_threads_per_task = 2,
                                     .window_records = 1024,
                                     .window_bytes = 1 << 20,
                                     .commit_interval_ms = 20,
                                     .drain_timeout_ms = 5000,
                                     .shutdown_timeout_ms = 30000,
                                     .slow_record_warn_ms = WARN_MS,
                                     .exit_at_end = true};
    struct engine_ports ports = {.open_source = open_source,
                                 .open_sink = open_sink,
                                 .processors = lua_processor_factory(rig->script)};
    struct engine *engine = engine_create(&options, &ports, &clock, &err);
    CHECK(engine != NULL);
    struct admin_pages pages = {.registry = engine_metrics(engine),
                                .clock = &clock,
                                .version = "test",
                                .begin_ns = clock_ns(&clock)};
    struct admin_hooks hooks = admin_pages_hooks(&pages);
    struct admin_address address;
    CHECK(admin_address_parse("0", &address, &err));
    struct admin_server *server = admin_server_open(&address, &hooks, &err);
    CHECK(server != NULL);
    atomic_bool ended = false;
    struct client clients[CLIENTS] = {0};
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].address = admin_server_name(server);
        clients[i].ended = &ended;
        thread_start(&clients[i].thread, "client", ROLE_NONE, read_all, &clients[i]);
    }
    engine_start(engine);
    CHECK(engine_wait(engine, -1));
    bool drained = engine_result(engine, &err);
    atomic_store(&ended, true);
    uint64_t answers = 0;
    uint64_t wrong = 0;
    for (int i = 0; i < CLIENTS; i++) {
        thread_join(&clients[i].thread);
        answers += clients[i].answers;
        wrong += clients[i].wrong;
    }
    char *last = ask(admin_server_name(server), "/metrics");
    int64_t told = sum_of(last, "moontide_pipeline_slow_records_total{");
    int64_t retired = sum_of(last, "moontide_pipeline_records_retired_total{");
    int64_t latencies = sum_of(last, "moontide_window_latency_seconds_count{");
    memory_free(last);
    admin_server_close(server);
    engine_destroy(engine);
    script_rig_fini(rig);
    memory_free(rig);
    printf("%" PRIu64 " answers, %" PRId64 " records, %" PRId64 " slow of %" PRIu64 "\n", answers,
           retired, told, slow_records());
    int passed = 0;
    passed += report("the engine ends well", drained);
    passed += report("every answer is whole", wrong == 0 && answers > 20);
    passed += report("all records are counted",
                     retired == (int64_t)topic.records * PARTITIONS && latencies == retired);
    passed += report("each slow record is told once", told == (int64_t)slow_records());
    printf("%d passed, %d failed, 0 skipped\n", passed, 4 - passed);
    return passed == 4 ? 0 : 1;
}
