/*
 * local_output: one file or standard output, and the thread that writes it.
 *
 * Why a thread: a full pipe or a slow disk must not stop a poll thread, and O_NONBLOCK is refused
 * for standard output because the flag is shared with the user's shell. All pipelines may share one
 * output: it takes whole batches of whole records, so records never mix, and the order of one
 * pipeline stays.
 *
 * A batch is written when write(2) took all of its bytes; there is no fsync. When the reader of a
 * pipe has gone, the output is broken with E_CLOSED, which is an end and not a failure; anything
 * else that write(2) says no to is E_IO. From then on all batches come back unwritten.
 *
 * Thread: open, close: main thread. Batches: poll threads, through local_outbox.
 * Owns: descriptor (not that of standard output), writer thread, batches between give and return.
 */
#ifndef LOCAL_LOCAL_OUTPUT_H
#define LOCAL_LOCAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/wakeup.h"
#include "local/local_framing.h"

struct local_output;

/* Where written batches return to. Embedded in a local_outbox. */
struct local_return {
    struct local_batch *first; /* under the lock of the output */
    struct local_batch *last;  /* under the lock of the output */
    struct wakeup *wakeup IMMUTABLE;
};

/* Whole records of one pipeline; belongs to an outbox, then to the output, then to the outbox. */
struct local_batch {
    struct local_batch *next;
    struct local_return *home; /* NULL: its pipeline has ended; the output frees it */
    struct byte_buffer bytes;
    uint64_t *tags; /* one per record */
    size_t tag_count;
    size_t tag_capacity;
    size_t tag_given; /* tags already reported */
    bool failed;      /* the output is broken; some bytes may have been written */
};

/* Opens `file:PATH` as a shell's `>` does (created, or emptied; a FIFO waits for its reader), or as
 * `>>` does (`append`), or `-`, and starts the writer. What an earlier run wrote and did not finish
 * is ended by a line break, or cut off when it is framed. NULL and err when it cannot be written.
 */
struct local_output *local_output_open(const char *name, enum local_framing framing, bool append,
                                       struct error *err);
/* Accepts NULL. Drops what is not written; everybody has taken their batches back. Bounded. */
void local_output_close(struct local_output *output);

/* Takes the batch; it returns to `home`, whose wake-up is signalled. */
void local_output_give(struct local_output *output, struct local_batch *batch);
/* All batches that returned to `home`, in order, linked; NULL: none. */
struct local_batch *local_output_take_back(struct local_output *output, struct local_return *home);
/* `home` goes away: what is still to be written is dropped. */
void local_output_forget(struct local_output *output, struct local_return *home);

/* True and err when it is broken; stays so. Failed batches return after this is true. Any thread.
 */
bool local_output_is_broken(const struct local_output *output, struct error *err);

enum local_framing local_output_framing(const struct local_output *output);
/* Borrowed. */
const char *local_output_name(const struct local_output *output);

void local_batch_destroy(struct local_batch *batch);

#endif
