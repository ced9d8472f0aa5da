#include "local/local_starts.h"

#include "base/check.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 1024 };

static uint64_t *slot(const struct local_starts *starts, int64_t offset)
{
    return &starts->bytes[(size_t)offset & (starts->capacity - 1)];
}

void local_starts_init(struct local_starts *starts, int64_t next)
{
    CHECK(next >= 0);
    *starts = (struct local_starts){.first = next, .next = next};
}

void local_starts_fini(struct local_starts *starts)
{
    memory_free(starts->bytes);
    local_starts_init(starts, 0);
}

static void grow(struct local_starts *starts)
{
    struct local_starts larger = *starts;
    larger.capacity = starts->capacity ? starts->capacity * 2 : FIRST_CAPACITY;
    larger.bytes = memory_alloc_array(larger.capacity, sizeof *larger.bytes);
    for (int64_t offset = starts->first; offset < starts->next; offset++) {
        *slot(&larger, offset) = *slot(starts, offset);
    }
    memory_free(starts->bytes);
    *starts = larger;
}

void local_starts_push(struct local_starts *starts, uint64_t byte)
{
    if ((size_t)(starts->next - starts->first) == starts->capacity) {
        grow(starts);
    }
    *slot(starts, starts->next++) = byte;
}

uint64_t local_starts_find(const struct local_starts *starts, int64_t offset)
{
    CHECK(offset >= starts->first);
    CHECK(offset < starts->next);
    return *slot(starts, offset);
}

void local_starts_forget(struct local_starts *starts, int64_t offset)
{
    CHECK(offset <= starts->next);
    if (offset > starts->first) {
        starts->first = offset;
    }
}
