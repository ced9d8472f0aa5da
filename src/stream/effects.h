/*
 * effects: what one record wants done in the world, recorded by a worker, replayed in order or
 * dropped whole by the poll thread.
 *
 * Why: nothing that a script does leaves the process before its record retires; so order, commits
 * and all-or-nothing follow from one rule. Store writes join the emissions here when stores come.
 *
 * Thread: belongs to the holder of the slot.
 * Owns: an arena with the emissions and their copied bytes. An emission may also borrow bytes of
 * the record itself, which live as long as the slot.
 */
#ifndef STREAM_EFFECTS_H
#define STREAM_EFFECTS_H

#include <stdint.h>

#include "base/arena.h"
#include "stream/record.h"

/* One record to be produced. */
struct emission {
    struct emission *next;
    const char *topic; /* NUL-terminated; NULL: the default output */
    const char *key;   /* NULL: none */
    const char *value; /* NULL: none (tombstone) */
    uint32_t key_size;
    uint32_t value_size;
    int64_t timestamp_ms; /* -1: the time of sending */
    int32_t partition;    /* PARTITION_BY_KEY: the partitioner decides */
    uint32_t header_count;
    const struct header *headers;
};

/* Embedded in a slot; the fields but `arena` are read-only outside effects.c. */
struct effects {
    struct arena arena; /* for bytes that must live as long as the effects */
    struct emission *first;
    struct emission *last;
    struct emission inlined; /* the first one: most records emit one, and need no arena for it */
    uint32_t count;
};

void effects_init(struct effects *effects);
void effects_fini(struct effects *effects);
/* Drops all effects and all bytes of the arena. */
void effects_clear(struct effects *effects);

/* Appends an empty emission (by key, timestamp -1, no headers) to be filled by the caller, whose
 * bytes must live as long as the effects: copy them with arena_copy(&effects->arena, ...) if in
 * doubt. */
struct emission *effects_emit(struct effects *effects);

#endif
