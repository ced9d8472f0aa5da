/*
 * tally: sums by name, for what a command shows at its end.
 *
 * Thread: one thread.
 * Owns: copies of the names.
 */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_row {
    char *name; /* NUL-terminated; NULL: a free place */
    uint64_t hash;
    int64_t sum;
};

/* Embedded; the fields are private. All zero is an empty tally. */
struct tally {
    struct tally_row *rows; /* open addressing, a power of two */
    size_t capacity;
    size_t count;
};

void tally_fini(struct tally *tally);
void tally_add(struct tally *tally, const char *name, size_t size, int64_t amount);
/* Number of names. */
size_t tally_count(const struct tally *tally);
/* Copies up to `max` rows with the largest sums, largest first, equal ones by name; the names are
 * borrowed until fini. Returns how many. */
size_t tally_top(const struct tally *tally, struct tally_row *top, size_t max);

#endif
