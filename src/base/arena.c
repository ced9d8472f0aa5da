#include "base/arena.h"

#include <string.h>

#include "base/check.h"
#include "base/memory.h"

struct arena_block {
    struct arena_block *older;
    size_t size; /* bytes that follow this head */
};

enum { FIRST_BLOCK = 240, GROWTH_MAX = 64 << 10, ALIGNMENT = 8 };

static char *block_bytes(struct arena_block *block)
{
    return (char *)(block + 1);
}

void arena_init(struct arena *arena)
{
    arena->block = NULL;
    arena->used = 0;
}

static void free_chain(struct arena_block *block)
{
    while (block) {
        struct arena_block *older = block->older;
        memory_free(block);
        block = older;
    }
}

void arena_fini(struct arena *arena)
{
    free_chain(arena->block);
    arena_init(arena);
}

void arena_reset(struct arena *arena)
{
    arena->used = 0;
    struct arena_block *block = arena->block;
    if (block == NULL) {
        return;
    }
    free_chain(block->older);
    block->older = NULL;
    if (block->size > ARENA_KEEP_MAX) {
        memory_free(block);
        arena->block = NULL;
    }
}

static void add_block(struct arena *arena, size_t size)
{
    size_t doubled = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
    size_t step = doubled < GROWTH_MAX ? doubled : GROWTH_MAX;
    size_t wanted = size > step ? size : step;
    struct arena_block *block = memory_resize(NULL, sizeof *block + wanted);
    block->older = arena->block;
    block->size = wanted;
    arena->block = block;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    CHECK(size < SIZE_MAX / 4);
    size_t whole = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (arena->block == NULL || arena->block->size - arena->used < whole) {
        add_block(arena, whole);
    }
    DCHECK(arena->used % ALIGNMENT == 0);
    void *piece = block_bytes(arena->block) + arena->used;
    arena->used += whole;
    return piece;
}

char *arena_copy(struct arena *arena, const void *data, size_t size)
{
    char *copy = arena_alloc(arena, size + 1);
    if (size) {
        memcpy(copy, data, size);
    }
    copy[size] = 0;
    return copy;
}

size_t arena_bytes(const struct arena *arena)
{
    size_t total = 0;
    for (const struct arena_block *block = arena->block; block; block = block->older) {
        total += sizeof *block + block->size;
    }
    return total;
}
