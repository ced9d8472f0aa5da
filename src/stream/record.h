/*
 * record: one record as it came in, and as the script sees it. All bytes are borrowed.
 *
 * Why: the payload stays where the client library put it until somebody reads it; a record is a
 * view of 90 bytes that is copied into a slot of the commit window and handed from thread to thread
 * whole. A NULL key or value is "none" (a tombstone); size 0 with an address is the empty string.
 *
 * Thread: belongs to the holder of its slot: poll thread, one worker, poll thread again.
 * Borrows: topic, key, value from the origin; valid until source release.
 * Public because it is hot, and because Lua reads key, value and numbers through FFI.
 */
#ifndef STREAM_RECORD_H
#define STREAM_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct header {
    const char *name;  /* not NUL-terminated; may hold any byte */
    const char *value; /* NULL: the header has no value */
    uint32_t name_size;
    uint32_t value_size;
};

struct record;

/* What only the side that the record came from can do. */
struct record_origin {
    /* Reads the headers into an array in `arena` and returns their number, in their order,
     * duplicates kept. Any thread that holds the record; called once a run at most. */
    uint32_t (*read_headers)(struct record *rec, struct arena *arena, struct header **headers);
};

struct record {
    const char *key;
    const char *value;
    uint32_t key_size;
    uint32_t value_size;
    int64_t offset;
    int64_t timestamp_ms; /* milliseconds since 1970; -1: none */
    const char *topic;    /* NUL-terminated, valid while the source is open */
    int32_t partition;
    int32_t leader_epoch; /* -1: unknown */
    const struct record_origin *origin;
    void *message; /* the source's own handle; source release gives it back */
};

enum { PARTITION_BY_KEY = -1 };

/* Bytes that a record keeps in memory: key and value (headers are within the origin's buffer). */
static inline size_t record_bytes(const struct record *rec)
{
    return (size_t)rec->key_size + rec->value_size;
}

#endif
