/*
 * arena: memory for things that all end together, such as what one record emits.
 *
 * Why: a record's effects are a handful of small pieces that are kept or dropped whole. A bump
 * allocator with stable addresses needs no free lists, and its first block is kept for the next
 * record, so that the record path allocates nothing in the steady state.
 *
 * Thread: an arena belongs to whoever holds the record it serves.
 * Owns: its blocks.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/annotations.h"

struct arena_block; /* private */

/* Embedded; the fields are private. All zero is an empty arena. */
struct arena {
    struct arena_block *block; /* newest block; older ones hang behind it */
    size_t used;               /* bytes used of the newest block */
};

/* Makes an empty arena; allocates nothing. */
void arena_init(struct arena *arena);
/* Frees all blocks. The arena is empty afterwards and may be used again. */
void arena_fini(struct arena *arena);
/* Ends all pieces at once; keeps one block of at most ARENA_KEEP_MAX bytes for reuse. */
void arena_reset(struct arena *arena);

/* `size` bytes, aligned to 8, valid until reset or fini; not zeroed. Never NULL, also for size 0.
 */
void *arena_alloc(struct arena *arena, size_t size) MUST_USE;
/* A copy of the bytes with a NUL behind it. Never NULL. */
char *arena_copy(struct arena *arena, const void *data, size_t size) MUST_USE;

/* Bytes of memory held, blocks included. */
size_t arena_bytes(const struct arena *arena);

enum { ARENA_KEEP_MAX = 2048 };

#endif
