/*
 * Property test of the local ports: random records go through a sink into a pipe or a file and come
 * back through a source, with all threads at work; nothing is lost, doubled, changed or out of
 * order.
 *
 * Usage: prop_local [SEED]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "local/local_sink.h"
#include "local/local_source.h"

enum { RECORDS = 20000, BATCH = 64, HEADERS_MAX = 3, SIZE_MAX_USUAL = 300, SIZE_MAX_RARE = 700000 };

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Everything about record `number` follows from seed and number, so that nothing has to be kept. */
struct sample {
    struct emission emission;
    struct header headers[HEADERS_MAX];
};

/* Bytes out of one long random text; NULL one time in eight. */
static const char *piece(uint64_t *dice, const char *text, uint32_t *size)
{
    uint64_t roll = next_random(dice);
    uint32_t bound = roll % 2048 == 0 ? SIZE_MAX_RARE : SIZE_MAX_USUAL;
    *size = (uint32_t)(next_random(dice) % bound);
    if (roll % 8 == 1) {
        *size = 0;
        return NULL;
    }
    return roll % 8 == 2 ? (*size = 0, text) : text + next_random(dice) % 1000;
}

static void make_sample(struct sample *sample, enum local_framing framing, uint64_t seed,
                        uint64_t number, const char *text)
{
    uint64_t dice = seed * 1000003 + number;
    struct emission *emission = &sample->emission;
    *emission = (struct emission){.timestamp_ms = (int64_t)(next_random(&dice) % 1000) - 1};
    emission->value = piece(&dice, text, &emission->value_size);
    if (framing == LOCAL_LINES) {
        emission->value = emission->value ? emission->value : text;
        return;
    }
    emission->key = piece(&dice, text, &emission->key_size);
    emission->header_count = (uint32_t)(next_random(&dice) % (HEADERS_MAX + 1));
    emission->headers = sample->headers;
    for (uint32_t i = 0; i < emission->header_count; i++) {
        struct header *header = sample->headers + i;
        header->name = piece(&dice, text, &header->name_size);
        header->name = header->name ? header->name : "";
        header->value = piece(&dice, text, &header->value_size);
    }
}

static bool same(const char *a, uint32_t a_size, const char *b, uint32_t b_size)
{
    return (a == NULL) == (b == NULL) && a_size == b_size &&
           (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static bool equals(const struct sample *sample, struct record *rec, enum local_framing framing)
{
    const struct emission *want = &sample->emission;
    if (!same(want->value, want->value_size, rec->value, rec->value_size)) {
        return false;
    }
    if (framing == LOCAL_LINES) {
        return rec->key == NULL;
    }
    struct arena arena;
    struct header *headers;
    arena_init(&arena);
    uint32_t count = rec->origin->read_headers(rec, &arena, &headers);
    bool good = count == want->header_count && rec->timestamp_ms == want->timestamp_ms &&
                same(want->key, want->key_size, rec->key, rec->key_size);
    for (uint32_t i = 0; i < count && good; i++) {
        good = same(want->headers[i].name, want->headers[i].name_size, headers[i].name,
                    headers[i].name_size) &&
               same(want->headers[i].value, want->headers[i].value_size, headers[i].value,
                    headers[i].value_size);
    }
    arena_fini(&arena);
    return good;
}

struct run {
    enum local_framing framing;
    uint64_t seed;
    const char *text;
    struct sink *sink;
    struct source *source;
    uint64_t sent;
    uint64_t reported;
    uint64_t fetched;
    uint64_t released;
    bool ended;
    struct record held[BATCH * 4]; /* fetched, not yet released */
    size_t held_count;
};

static bool send_some(struct run *run)
{
    struct error err;
    uint64_t until = run->sent + BATCH < RECORDS ? run->sent + BATCH : RECORDS;
    while (run->sent < until) {
        struct sample sample;
        make_sample(&sample, run->framing, run->seed, run->sent, run->text);
        enum sink_result result =
            run->sink->ops->send(run->sink, &sample.emission, run->sent, &err);
        CHECK(result != SINK_REFUSED);
        if (result == SINK_FULL) {
            break;
        }
        run->sent++;
    }
    run->sink->ops->push(run->sink);
    struct delivery reports[BATCH];
    size_t count = run->sink->ops->poll(run->sink, reports, BATCH);
    for (size_t i = 0; i < count; i++) {
        if (reports[i].tag != run->reported++ || reports[i].failed) {
            return false;
        }
    }
    return true;
}

static bool fetch_some(struct run *run, void *handle, uint64_t *dice)
{
    size_t room = sizeof run->held / sizeof run->held[0] - run->held_count;
    struct record *recs = run->held + run->held_count;
    size_t count = run->source->ops->fetch(run->source, handle, recs, room < BATCH ? room : BATCH);
    for (size_t i = 0; i < count; i++) {
        struct sample sample;
        make_sample(&sample, run->framing, run->seed, run->fetched, run->text);
        if (recs[i].offset != (int64_t)run->fetched++ || !equals(&sample, recs + i, run->framing)) {
            return false;
        }
    }
    run->held_count += count;
    size_t give = run->ended || run->held_count == sizeof run->held / sizeof run->held[0]
                      ? run->held_count
                      : next_random(dice) % (run->held_count + 1);
    for (size_t i = 0; i < give; i++) { /* from the back: release has no order */
        run->source->ops->release(run->source, run->held + --run->held_count);
    }
    struct source_event event = run->source->ops->poll(run->source);
    CHECK(event.kind != SOURCE_FAILED);
    run->ended = run->ended || event.kind == SOURCE_END;
    return true;
}

static void *assign(struct source *source)
{
    struct source_event event = source->ops->poll(source);
    CHECK(event.kind == SOURCE_ASSIGN);
    void *handle = event.partitions[0].handle;
    source->ops->answer(source);
    CHECK(source->ops->poll(source).kind == SOURCE_READY);
    return handle;
}

/* `path` is a FIFO (both sides at once) or a file (one after the other). */
static bool comes_back(struct run *run, const char *path, bool is_fifo, uint64_t dice)
{
    char address[128];
    struct error err;
    struct wakeup wakeup;
    snprintf(address, sizeof address, "file:%s", path);
    const char *const addresses[] = {address};
    wakeup_init(&wakeup);
    if (is_fifo) { /* the source first: opening a FIFO for writing waits for its reader */
        CHECK(mkfifo(path, 0600) == 0);
        run->source = local_source_create(addresses, 1, run->framing, &err);
        CHECK(run->source != NULL);
    }
    struct local_routes *routes = local_routes_open(
        &(struct local_routes_options){
            .outputs = addresses, .output_count = 1, .framing = run->framing},
        &err);
    CHECK(routes != NULL);
    run->sink = local_sink_create(routes);
    run->sink->ops->attach(run->sink, &wakeup);
    bool good = true;
    while (!is_fifo && good && run->reported < RECORDS) {
        good = send_some(run);
    }
    if (!is_fifo) {
        run->source = local_source_create(addresses, 1, run->framing, &err);
        CHECK(run->source != NULL);
    }
    run->source->ops->attach(run->source, &wakeup);
    void *handle = assign(run->source);
    while (good && !run->ended) {
        if (run->sink && run->reported < RECORDS) {
            good = send_some(run);
        } else if (run->sink) { /* the source sees the end of a FIFO when its writer is closed */
            run->sink->ops->destroy(run->sink);
            local_routes_close(routes);
            run->sink = NULL;
        }
        good = good && fetch_some(run, handle, &dice);
    }
    good = good && fetch_some(run, handle, &dice) && run->fetched == RECORDS;
    run->source->ops->destroy(run->source);
    wakeup_fini(&wakeup);
    CHECK(unlink(path) == 0);
    return good;
}

static char *make_text(uint64_t seed, bool with_breaks)
{
    size_t size = SIZE_MAX_RARE + 2000;
    char *text = memory_alloc(size);
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)next_random(&seed);
        if (text[i] == '\n' && !with_breaks) {
            text[i] = 0;
        }
    }
    return text;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    int passed = 0;
    int failed = 0;
    printf("prop_local seed %" PRIu64 "\n", seed);
    char directory[] = "/tmp/tide-prop-XXXXXX";
    CHECK(mkdtemp(directory) != NULL);
    char path[64];
    snprintf(path, sizeof path, "%s/data", directory);
    thread_role_set(ROLE_POLL);
    for (int i = 0; i < 4; i++) {
        struct run *run = memory_alloc(sizeof *run);
        run->framing = i & 1 ? LOCAL_RECORDS : LOCAL_LINES;
        run->seed = seed;
        char *text = make_text(seed, run->framing == LOCAL_RECORDS);
        run->text = text;
        if (comes_back(run, path, i & 2, seed)) {
            passed++;
        } else {
            failed++;
            printf("FAILED: %s through a %s: %" PRIu64 " sent, %" PRIu64 " fetched\n",
                   i & 1 ? "records" : "lines", i & 2 ? "fifo" : "file", run->sent, run->fetched);
        }
        memory_free(text);
        memory_free(run);
    }
    CHECK(rmdir(directory) == 0);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
