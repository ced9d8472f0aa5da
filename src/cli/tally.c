#include "cli/tally.h"

#define XXH_INLINE_ALL
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 1024 };

static struct tally_row *find(struct tally *tally, const char *name, size_t size, uint64_t hash);
static void grow(struct tally *tally);

void tally_fini(struct tally *tally)
{
    for (size_t i = 0; i < tally->capacity; i++) {
        memory_free(tally->rows[i].name);
    }
    memory_free(tally->rows);
    *tally = (struct tally){0};
}

void tally_add(struct tally *tally, const char *name, size_t size, int64_t amount)
{
    if (tally->count * 2 >= tally->capacity) {
        grow(tally);
    }
    uint64_t hash = XXH3_64bits(name, size);
    struct tally_row *row = find(tally, name, size, hash);
    if (row->name == NULL) {
        row->name = memory_copy_bytes(name, size);
        row->hash = hash;
        tally->count++;
    }
    row->sum += amount;
}

static struct tally_row *find(struct tally *tally, const char *name, size_t size, uint64_t hash)
{
    CHECK(tally->count < tally->capacity);
    size_t at = hash & (tally->capacity - 1);
    for (;;) {
        struct tally_row *row = &tally->rows[at];
        bool same = row->name && row->hash == hash && strlen(row->name) == size &&
                    memcmp(row->name, name, size) == 0;
        if (same || row->name == NULL) {
            return row;
        }
        at = (at + 1) & (tally->capacity - 1);
    }
}

static void grow(struct tally *tally)
{
    struct tally old = *tally;
    tally->capacity = old.capacity ? old.capacity * 2 : FIRST_CAPACITY;
    tally->rows = memory_alloc_array(tally->capacity, sizeof *tally->rows);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.rows[i].name) {
            const struct tally_row *row = &old.rows[i];
            *find(tally, row->name, strlen(row->name), row->hash) = *row;
        }
    }
    memory_free(old.rows);
}

size_t tally_count(const struct tally *tally)
{
    return tally->count;
}

static bool is_above(const struct tally_row *a, const struct tally_row *b)
{
    return a->sum > b->sum || (a->sum == b->sum && strcmp(a->name, b->name) < 0);
}

size_t tally_top(const struct tally *tally, struct tally_row *top, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->capacity; i++) {
        const struct tally_row *row = &tally->rows[i];
        if (row->name == NULL || (count == max && !is_above(row, &top[count - 1]))) {
            continue;
        }
        size_t at = count < max ? count++ : count - 1;
        while (at > 0 && is_above(row, &top[at - 1])) {
            top[at] = top[at - 1];
            at--;
        }
        top[at] = *row;
    }
    return count;
}
