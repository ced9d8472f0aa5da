/*
 * case_source: the input of a test of a script: records in memory, each partition there once it has
 * a record.
 *
 * Thread: poll thread, as the port says; push between two turns.
 * Owns: its partitions. Borrows: the bytes of the records, until destroy.
 */
#ifndef CLI_CASE_SOURCE_H
#define CLI_CASE_SOURCE_H

#include <stdbool.h>

#include "stream/source.h"

/* One pushed record with its headers; offset -1: the next one of its partition. */
struct case_input {
    struct record rec;
    const struct header *headers;
    uint32_t header_count;
};

struct source *case_source_create(void);
/* False: the offset is not behind the last one of its partition. */
bool case_source_push(struct source *source, const struct case_input *input);

#endif
