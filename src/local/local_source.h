/*
 * local_source: the source port on files and standard input.
 *
 * Why: the same engine, windows and threads as with Kafka. Each input is a topic with the name that
 * the user wrote and one partition, 0; offsets count records from 0; timestamps of lines are -1.
 *
 * Events: ASSIGN with all inputs, once; READY; END when an input is at its end (for good);
 * COMMITTED at the next poll, or when positions are on the disk; FAILED when an input fails; CLOSED
 * without a REVOKE before it. Committed positions live as long as the source unless they are kept.
 *
 * Thread: create and destroy: main thread. The port: poll thread.
 * Owns: its inputs.
 */
#ifndef LOCAL_LOCAL_SOURCE_H
#define LOCAL_LOCAL_SOURCE_H

#include <stddef.h>

#include "base/error.h"
#include "local/local_framing.h"
#include "stream/source.h"

/* Opens the inputs of one pipeline (`file:PATH` or `-`; there may be none). The names are copied.
 * NULL and err when one cannot be read. The readers start with attach. */
struct source *local_source_create(const char *const *inputs, size_t count,
                                   enum local_framing framing, struct error *err);

/* Goes on where an earlier run ended, and keeps positions in this folder from now on, or begins at
 * the start (`from_start`) and keeps them. What cannot be gone on with, pipes and terminals, is
 * told in the log. False and err when a saved position does not fit its file. Before attach. */
bool local_source_keep(struct source *source, const char *folder, bool from_start,
                       struct error *err);

#endif
