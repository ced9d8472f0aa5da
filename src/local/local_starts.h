/*
 * local_starts: where in the input each record begins that is not committed yet.
 *
 * Why: offsets count records, and to go on in a file takes a byte.
 *
 * Thread: poll thread.
 */
#ifndef LOCAL_LOCAL_STARTS_H
#define LOCAL_LOCAL_STARTS_H

#include <stddef.h>
#include <stdint.h>

/* Embedded; the fields are private. A ring that grows. */
struct local_starts {
    uint64_t *bytes;
    size_t capacity; /* a power of two, or 0 */
    int64_t first;   /* offset of the oldest one */
    int64_t next;    /* offset of the next push */
};

/* Empty; the next record has this offset. */
void local_starts_init(struct local_starts *starts, int64_t next);
void local_starts_fini(struct local_starts *starts);
/* The next record begins at this byte. */
void local_starts_push(struct local_starts *starts, uint64_t byte);
/* Where the record begins, which was pushed and not forgotten. */
uint64_t local_starts_find(const struct local_starts *starts, int64_t offset);
/* Those below the offset are not asked for any more. */
void local_starts_forget(struct local_starts *starts, int64_t offset);

#endif
