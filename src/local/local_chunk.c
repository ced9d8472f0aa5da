#include "local/local_chunk.h"

#include <assert.h>

#include "base/check.h"
#include "base/memory.h"
#include "local/local_framing.h"

static_assert(offsetof(struct local_chunk, origin) == 0, "a record's origin is its chunk");

void local_chunk_pool_init(struct local_chunk_pool *pool) NO_THREAD_ANALYSIS
{
    lock_init(&pool->lock);
    pool->spare = NULL;
    pool->spare_count = 0;
    pool->records_out = 0;
}

void local_chunk_pool_fini(struct local_chunk_pool *pool)
{
    while (pool->spare) {
        struct local_chunk *chunk = pool->spare;
        pool->spare = chunk->next;
        local_chunk_destroy(chunk);
    }
    lock_fini(&pool->lock);
}

static struct local_chunk *take_spare(struct local_chunk_pool *pool)
{
    lock_acquire(&pool->lock);
    struct local_chunk *chunk = pool->spare;
    if (chunk) {
        CHECK(pool->spare_count > 0);
        pool->spare = chunk->next;
        pool->spare_count--;
    }
    lock_release(&pool->lock);
    return chunk;
}

struct local_chunk *local_chunk_take(struct local_chunk_pool *pool, size_t capacity)
{
    struct local_chunk *chunk = capacity <= LOCAL_CHUNK_BYTES ? take_spare(pool) : NULL;
    if (chunk == NULL) {
        chunk = memory_alloc(sizeof *chunk);
        chunk->origin.read_headers = local_framing_headers;
        chunk->pool = pool;
        chunk->capacity = capacity < LOCAL_CHUNK_BYTES ? LOCAL_CHUNK_BYTES : capacity;
        chunk->data = memory_resize(NULL, chunk->capacity); /* not zeroed */
    }
    chunk->next = NULL;
    return chunk;
}

static void clear(struct local_chunk *chunk) NO_THREAD_ANALYSIS
{
    chunk->filled = 0;
    chunk->ready = 0;
    chunk->sealed = false;
    chunk->parsed = 0;
    chunk->records_out = 0;
    chunk->left = false;
}

void local_chunk_give(struct local_chunk *chunk)
{
    struct local_chunk_pool *pool = chunk->pool;
    clear(chunk);
    lock_acquire(&pool->lock);
    bool keep = chunk->capacity == LOCAL_CHUNK_BYTES && pool->spare_count < LOCAL_CHUNK_SPARES;
    if (keep) {
        chunk->next = pool->spare;
        pool->spare = chunk;
        pool->spare_count++;
    }
    lock_release(&pool->lock);
    if (!keep) {
        local_chunk_destroy(chunk);
    }
}

void local_chunk_destroy(struct local_chunk *chunk)
{
    memory_free(chunk->data);
    memory_free(chunk);
}

void local_chunk_leave(struct local_chunk *chunk)
{
    CHECK(!chunk->left);
    DCHECK(chunk->parsed == chunk->ready); /* sealed: the reader does not touch it any more */
    chunk->left = true;
    if (chunk->records_out == 0) {
        local_chunk_give(chunk);
    }
}

void local_chunk_hand_out(struct local_chunk *chunk)
{
    DCHECK(!chunk->left);
    chunk->records_out++;
    chunk->pool->records_out++;
}

void local_chunk_release(struct record *rec)
{
    struct local_chunk *chunk = (struct local_chunk *)rec->origin;
    CHECK(chunk != NULL);
    CHECK(chunk->records_out > 0);
    rec->origin = NULL; /* a second release is caught above */
    CHECK(chunk->pool->records_out > 0);
    chunk->records_out--;
    chunk->pool->records_out--;
    if (chunk->left && chunk->records_out == 0) {
        local_chunk_give(chunk);
    }
}
