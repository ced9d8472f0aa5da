/*
 * Property test of the processor on LuaJIT: random records in batches of random sizes, on several
 * threads with a state each. Whichever way a script sends its record on, bytes and headers come out
 * as they went in; records that raise or are dropped leave nothing.
 *
 * Usage: prop_script [SEED]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/thread.h"
#include "support/script_rig.h"

enum { THREADS = 4, BATCHES = 400, HEADERS_MAX = 4, PIECE_MAX = 64, TEXT_SIZE = 4096, WAYS = 8 };
enum { WAY_RAISE = 6, WAY_DROP = 7 };

/* The way is the offset modulo WAYS. */
static const char SCRIPT[] =
    "local ways = {\n"
    "[0] = function(rec) return rec end,\n"
    "function(rec) rec.key, rec.value, rec.timestamp = rec.key, rec.value, rec.timestamp return "
    "rec end,\n"
    "function(rec, ctx) ctx:forward { key = rec.key, value = rec.value, headers = rec.headers } "
    "end,\n"
    "function(rec, ctx)\n"
    "    local list = {}\n"
    "    for name, value in rec.headers:iter() do list[#list + 1] = { name, value } end\n"
    "    ctx:forward { key = rec.key, value = rec.value, headers = list }\n"
    "end,\n"
    "function(rec) rec.headers:add('x', 'y') rec.headers:del('x') return rec end,\n"
    "function(rec, ctx)\n"
    "    local copy = rec:copy()\n"
    "    ctx:forward { key = copy.key, value = copy.value, headers = copy.headers,\n"
    "                  timestamp = copy.timestamp }\n"
    "end,\n"
    "function(rec, ctx) ctx:forward { value = 'void' } error('raised') end,\n"
    "function() end,\n"
    "}\n"
    "return function(rec, ctx) return ways[rec.offset % 8](rec, ctx) end\n";

struct sample {
    struct header headers[HEADERS_MAX];
    struct rig_headers kept;
};

struct part {
    struct thread thread;
    struct script_rig rig; /* only processor and records are used here */
    struct sample samples[RIG_RECORDS_MAX];
    const char *text;
    uint64_t dice;
    uint64_t records;
    uint64_t wrong;
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Bytes out of the random text; none or empty one time in eight each. */
static const char *piece(struct part *part, bool may_be_none, uint32_t *size)
{
    uint64_t roll = next_random(&part->dice) % 8;
    *size = roll < 2 ? 0 : (uint32_t)(next_random(&part->dice) % PIECE_MAX);
    if (roll == 0 && may_be_none) {
        return NULL;
    }
    return part->text + next_random(&part->dice) % (TEXT_SIZE - PIECE_MAX);
}

static void add_record(struct part *part, uint64_t number)
{
    struct sample *sample = &part->samples[part->rig.count];
    struct work *work = script_rig_add(&part->rig, NULL, NULL);
    work->rec.offset = (int64_t)number;
    work->rec.key = piece(part, true, &work->rec.key_size);
    work->rec.value = piece(part, true, &work->rec.value_size);
    work->rec.timestamp_ms = (int64_t)(next_random(&part->dice) % 1000) - 1;
    uint32_t count = (uint32_t)(next_random(&part->dice) % (HEADERS_MAX + 1));
    for (uint32_t i = 0; i < count; i++) {
        struct header *header = &sample->headers[i];
        header->name = piece(part, false, &header->name_size);
        if (header->name_size == 1 && header->name[0] == 'x') {
            header->name_size = 0; /* one way of the script removes this name */
        }
        header->value = piece(part, true, &header->value_size);
    }
    sample->kept = (struct rig_headers){.items = sample->headers, .count = count};
    script_rig_set_headers(work, &sample->kept);
}

static bool same(const char *left, uint32_t left_size, const char *right, uint32_t right_size)
{
    bool both = left != NULL && right != NULL;
    return (left == NULL) == (right == NULL) && left_size == right_size &&
           (!both || memcmp(left, right, left_size) == 0);
}

static bool went_through(const struct work *work, const struct sample *sample)
{
    const struct emission *out = work->effects.first;
    if (work->outcome != OUTCOME_DONE || work->effects.count != 1) {
        return false;
    }
    bool ok = same(out->key, out->key_size, work->rec.key, work->rec.key_size) &&
              same(out->value, out->value_size, work->rec.value, work->rec.value_size) &&
              out->timestamp_ms == work->rec.timestamp_ms &&
              out->header_count == sample->kept.count;
    for (uint32_t i = 0; ok && i < out->header_count; i++) {
        const struct header *left = &out->headers[i];
        const struct header *right = &sample->headers[i];
        ok = same(left->name, left->name_size, right->name, right->name_size) &&
             same(left->value, left->value_size, right->value, right->value_size);
    }
    return ok;
}

static bool is_right(const struct work *work, const struct sample *sample)
{
    switch (work->rec.offset % WAYS) {
    case WAY_RAISE:
        return work->outcome == OUTCOME_FAILED && work->effects.count == 0 &&
               strstr(work->reason, "raised") != NULL;
    case WAY_DROP:
        return work->outcome == OUTCOME_DONE && work->effects.count == 0;
    default:
        return went_through(work, sample);
    }
}

static void run_part(void *context)
{
    struct part *part = context;
    struct work *batch[RIG_RECORDS_MAX];
    for (unsigned i = 0; i < BATCHES; i++) {
        bool single = next_random(&part->dice) % 2;
        size_t count = single ? 1 : 1 + next_random(&part->dice) % RIG_RECORDS_MAX;
        for (size_t j = 0; j < count; j++) {
            add_record(part, next_random(&part->dice) % 1000000);
            batch[j] = &part->rig.works[j];
        }
        for (size_t ran = 0; ran < count;) {
            ran += part->rig.processor->ops->run(part->rig.processor, batch + ran, count - ran);
        }
        for (size_t j = 0; j < count; j++) {
            part->wrong += !is_right(batch[j], &part->samples[j]);
        }
        part->records += count;
        script_rig_clear(&part->rig);
    }
    part->rig.processor->ops->close(part->rig.processor);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("prop_script seed %" PRIu64 "\n", seed);
    char text[TEXT_SIZE];
    uint64_t dice = seed;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)next_random(&dice);
    }
    struct script_rig *rig = memory_alloc(sizeof *rig);
    struct error err = {0};
    script_rig_init(rig);
    CHECK(script_rig_load(rig, SCRIPT, &err));
    struct processor_factory factory = lua_processor_factory(rig->script);
    struct part *parts = memory_alloc_array(THREADS, sizeof *parts);
    for (unsigned i = 0; i < THREADS; i++) {
        parts[i].text = text;
        parts[i].dice = seed * THREADS + i;
        parts[i].rig.processor = factory.create(factory.context, i, &err);
        CHECK(parts[i].rig.processor != NULL);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        thread_start(&parts[i].thread, "part", ROLE_WORKER, run_part, &parts[i]);
    }
    int failed = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        thread_join(&parts[i].thread);
        parts[i].rig.processor->ops->destroy(parts[i].rig.processor);
        if (parts[i].wrong) {
            failed++;
            printf("FAILED: %" PRIu64 " of %" PRIu64 " records of thread %u, seed %" PRIu64 "\n",
                   parts[i].wrong, parts[i].records, i, seed);
        }
    }
    script_rig_fini(rig);
    memory_free(rig);
    memory_free(parts);
    printf("%d passed, %d failed, 0 skipped\n", THREADS - failed, failed);
    return failed ? 1 : 0;
}
