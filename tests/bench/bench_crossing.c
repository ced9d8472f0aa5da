/*
 * Cost of the way from C to Lua and back: ns a record for handlers that do next to nothing, at
 * batch 1 and 256, fresh and after 100,000 batches of one record (which must not spoil the compiled
 * loop).
 *
 * Usage: bench_crossing [ROUNDS [NAME]]   NAME: only the handlers whose name begins so
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "support/script_rig.h"

enum {
    RECORDS = 16384,
    KEY_BYTES = 17,
    VALUE_BYTES = 405,
    BATCH = 256,
    SINGLES = 100000,
    TRIES = 5
};

struct handler {
    const char *name;
    const char *text;
};

static const struct handler HANDLERS[] = {
    {"no-op", "return function(rec) end"},
    {"filter, rec:byte(9)", "return function(rec) if rec:byte(9) == 255 then return rec end end"},
    {"filter, rec.value",
     "local byte = string.byte\n"
     "return function(rec) if byte(rec.value, 9) == 255 then return rec end end"},
    {"count, rec.key",
     "local counts = {}\n"
     "return function(rec) local k = rec.key; counts[k] = (counts[k] or 0) + 1 end"},
    {"return rec", "return function(rec) return rec end"},
    {"rec.value = const, return rec", "return function(rec) rec.value = 'constant' return rec end"},
    {"rec.headers:get", "return function(rec) return rec.headers:get('by') and rec or nil end"},
    {"ctx:emit(topic, {key, value})",
     "return function(rec, ctx) ctx:emit('t', { key = rec.key, value = 'constant' }) end"},
    {"rec:copy()", "return function(rec) local copy = rec:copy() end"},
    {"print, to nowhere", "return function(rec) print('a line of a log', rec.offset) end"},
    {"ctx.log.debug, off", "return function(rec, ctx) ctx.log.debug('a line of a log') end"},
    {"1 % raise", "return function(rec) if rec.offset % 100 == 0 then error('no') end end"},
    {"all raise", "return function(rec) error('no') end"},
    {"split into words, emit each",
     "return function(rec, ctx)\n"
     "for word in rec.key:gmatch('%w+') do ctx:emit('t', { key = word }) end end"},
};

struct load {
    struct work *works; /* of RECORDS records */
    struct work **batch;
    char *bytes;
};

static void fill(struct load *load)
{
    load->works = memory_alloc_array(RECORDS, sizeof *load->works);
    load->batch = memory_alloc_array(RECORDS, sizeof(struct work *));
    load->bytes = memory_alloc((size_t)RECORDS * (KEY_BYTES + VALUE_BYTES));
    for (size_t i = 0; i < RECORDS; i++) {
        char *key = load->bytes + i * (KEY_BYTES + VALUE_BYTES);
        snprintf(key, KEY_BYTES, "key-%012zu", i % 1000);
        memset(key + KEY_BYTES, 'v', VALUE_BYTES);
        snprintf(key + KEY_BYTES, VALUE_BYTES, "{\"id\":%zu}", i);
        effects_init(&load->works[i].effects);
        load->works[i].rec = (struct record){.key = key,
                                             .value = key + KEY_BYTES,
                                             .key_size = KEY_BYTES,
                                             .value_size = VALUE_BYTES,
                                             .offset = (int64_t)i,
                                             .timestamp_ms = 1700000000000,
                                             .topic = "input"};
        load->batch[i] = &load->works[i];
    }
}

static void drop(struct load *load)
{
    for (size_t i = 0; i < RECORDS; i++) {
        effects_fini(&load->works[i].effects);
    }
    memory_free(load->works);
    memory_free(load->batch);
    memory_free(load->bytes);
}

static void reset(struct load *load)
{
    for (size_t i = 0; i < RECORDS; i++) {
        effects_clear(&load->works[i].effects);
        load->works[i].outcome = OUTCOME_NONE;
    }
}

/* Runs `count` records in batches and returns ns a record. */
static double pass(struct processor *processor, struct load *load, size_t count, size_t batch)
{
    struct clock_source clock = clock_system();
    int64_t spent_ns = 0;
    for (size_t done = 0; done < count;) {
        reset(load);
        int64_t start = clock_ns(&clock);
        for (size_t at = 0; at < RECORDS && done < count; at += batch, done += batch) {
            size_t ran = processor->ops->run(processor, load->batch + at, batch);
            CHECK(ran == batch);
        }
        spent_ns += clock_ns(&clock) - start;
    }
    return (double)spent_ns / (double)count;
}

static double best(struct processor *processor, struct load *load, size_t batch, unsigned rounds)
{
    double least = 1e9;
    for (unsigned i = 0; i < TRIES; i++) {
        double ns = pass(processor, load, (size_t)RECORDS * rounds, batch);
        least = ns < least ? ns : least;
    }
    return least;
}

static void measure(const struct handler *handler, struct load *load, unsigned rounds)
{
    struct script_rig *rig = memory_alloc(sizeof *rig);
    struct error err = {0};
    script_rig_init(rig);
    if (!script_rig_load(rig, handler->text, &err)) {
        fprintf(stderr, "%s: %s\n", handler->name, err.text);
        exit(1);
    }
    thread_role_set(ROLE_WORKER);
    double fresh = best(rig->processor, load, BATCH, rounds);
    script_rig_fini(rig);
    script_rig_init(rig);
    CHECK(script_rig_load(rig, handler->text, &err));
    double singles = pass(rig->processor, load, SINGLES, 1);
    double after = best(rig->processor, load, BATCH, rounds);
    thread_role_set(ROLE_NONE);
    printf("%-32s %10.1f %10.1f %10.1f\n", handler->name, fresh, singles, after);
    script_rig_fini(rig);
    memory_free(rig);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
    const char *name = argc > 2 ? argv[2] : "";
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(nowhere >= 0);
    log_open(nowhere, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    struct load load;
    fill(&load);
    printf("ns a record; key %d B, value %d B, no headers\n", KEY_BYTES, VALUE_BYTES);
    printf("%-32s %10s %10s %10s\n", "", "batch 256", "100k x 1", "then 256");
    for (size_t i = 0; i < sizeof HANDLERS / sizeof HANDLERS[0]; i++) {
        if (strncmp(HANDLERS[i].name, name, strlen(name)) == 0) {
            measure(&HANDLERS[i], &load, rounds);
        }
    }
    drop(&load);
    return 0;
}
