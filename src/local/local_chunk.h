/*
 * local_chunk: a piece of an input in memory, and the pool that it returns to.
 *
 * Why: records are views into what was read; nothing is copied and nothing is allocated per record.
 * A chunk holds whole records (the reader copies an unfinished one to the next chunk) and is reused
 * when the reader has left it, it is parsed, and its last record was released. It is also the
 * origin of its records, which is how a record finds it.
 *
 * Thread: the reader fills bytes behind `ready`; the poll thread reads bytes below it and counts
 * records; both meet under the lock of the input.
 * Owns: its bytes.
 */
#ifndef LOCAL_LOCAL_CHUNK_H
#define LOCAL_LOCAL_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/thread_role.h"
#include "stream/record.h"

enum { LOCAL_CHUNK_BYTES = 256 << 10, LOCAL_CHUNK_SPARES = 4 };

struct local_chunk_pool;

struct local_chunk {
    struct record_origin origin IMMUTABLE; /* first: a record's origin is its chunk */
    struct local_chunk_pool *pool IMMUTABLE;
    char *data IMMUTABLE;
    size_t capacity IMMUTABLE;
    uint64_t base; /* byte offset of data[0] in the input; set by the reader before the hand-over */

    size_t filled; /* the reader's: bytes read */

    struct local_chunk *next; /* under the lock of the input, or of the pool */
    size_t ready;             /* under the lock of the input: bytes of whole records; never falls */
    bool sealed;              /* under the lock of the input: ready is final */

    size_t parsed OWNED_BY(poll_thread);
    size_t records_out OWNED_BY(poll_thread); /* not yet released */
    bool left OWNED_BY(poll_thread); /* parsed to its end; goes when the last record does */
};

/* Embedded; the fields are private. Spare chunks of the standard size. */
struct local_chunk_pool {
    struct lock lock;
    struct local_chunk *spare;                /* lock */
    size_t spare_count;                       /* lock */
    size_t records_out OWNED_BY(poll_thread); /* of all its chunks, not yet released */
};

void local_chunk_pool_init(struct local_chunk_pool *pool);
/* Frees the spares; chunks that are still out must be freed by their holder. */
void local_chunk_pool_fini(struct local_chunk_pool *pool);

/* An empty chunk for at least `capacity` bytes. Any thread. */
struct local_chunk *local_chunk_take(struct local_chunk_pool *pool, size_t capacity) MUST_USE;
/* Keeps it for reuse, or frees it. Any thread. */
void local_chunk_give(struct local_chunk *chunk);
void local_chunk_destroy(struct local_chunk *chunk);

/* The poll thread has parsed all of it. Gives it back when no record is out. */
void local_chunk_leave(struct local_chunk *chunk) ON_THREAD(poll_thread);
/* A record of the chunk was handed out; its bytes are given back by release. */
void local_chunk_hand_out(struct local_chunk *chunk) ON_THREAD(poll_thread);
void local_chunk_release(struct record *rec) ON_THREAD(poll_thread);

#endif
