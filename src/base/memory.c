#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/annotations.h"
#include "base/check.h"

/* jemalloc reads this by its name when it starts, and after it MALLOC_CONF of the environment. What
 * is freed goes back to the system after one second instead of ten: fetches of megabytes, which
 * come and go, would keep as much again in memory as the windows are allowed. */
EXPORTED const char *const malloc_conf = "dirty_decay_ms:1000,background_thread:true";

static void *must(void *memory, size_t size)
{
    if (UNLIKELY(memory == NULL)) {
        fprintf(stderr, "moontide: out of memory (%zu bytes asked for)\n", size);
        abort();
    }
    return memory;
}

void *memory_alloc(size_t size)
{
    return must(calloc(1, size ? size : 1), size);
}

void *memory_alloc_array(size_t count, size_t size)
{
    CHECK(size == 0 || count <= SIZE_MAX / size);
    return memory_alloc(count * size);
}

void *memory_alloc_aligned(size_t size)
{
    size_t whole = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    CHECK(whole >= size);
    void *memory = must(aligned_alloc(CACHE_LINE, whole ? whole : CACHE_LINE), size);
    return memset(memory, 0, whole);
}

void *memory_resize(void *old, size_t size)
{
    return must(realloc(old, size ? size : 1), size);
}

char *memory_copy_text(const char *text)
{
    CHECK(text != NULL);
    return memory_copy_bytes(text, strlen(text));
}

char *memory_copy_bytes(const void *data, size_t size)
{
    CHECK(size < SIZE_MAX);
    char *copy = must(malloc(size + 1), size + 1);
    if (size) {
        memcpy(copy, data, size);
    }
    copy[size] = 0;
    return copy;
}

void memory_free(void *memory)
{
    free(memory);
}
