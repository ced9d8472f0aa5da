/*
 * local_input: one file or standard input as a partition: a reader thread and the records it found.
 *
 * Why a thread: read(2) on a file, a slow disk, a pipe or a terminal may wait, and the poll thread
 * must not. O_NONBLOCK is refused for standard input: the flag belongs to the open file, which the
 * user's shell shares. The reader sleeps in poll(2) beside an eventfd, so that closing does not
 * wait for data.
 *
 *   reader: read, find the end of the last whole record, publish (bounded: LOCAL_CHUNKS_AHEAD)
 *   poll:   fetch parses what is published, as views into chunks (bounded: the windows)
 *
 *   FLOWING -> ENDED    the end of the file was read, every record was fetched
 *           -> FAILED   reading failed or the bytes are damaged; all before that was fetched
 *
 * Thread: open, start, close: main or poll thread. The rest: poll thread.
 * Owns: descriptor (not that of standard input), reader thread, chunks.
 * Borrows: `name` until close, the wake-up from start until close.
 */
#ifndef LOCAL_LOCAL_INPUT_H
#define LOCAL_LOCAL_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/thread_role.h"
#include "base/wakeup.h"
#include "local/local_framing.h"
#include "local/local_position.h"
#include "stream/record.h"

struct local_input;

enum { LOCAL_CHUNKS_AHEAD = 4 };

enum local_input_state { LOCAL_FLOWING, LOCAL_ENDED, LOCAL_FAILED };

/* `name` is `file:PATH` or `-`, and the topic of the records. NULL and err (E_IO with path and
 * reason) when it cannot be read. */
struct local_input *local_input_open(const char *name, enum local_framing framing,
                                     struct error *err);
/* True when it is a file that can be gone on with: no pipe, terminal or standard input. */
bool local_input_can_resume(const struct local_input *input);
/* The open input, for reading at a place; borrowed until close. */
int local_input_descriptor(const struct local_input *input);
/* Begins at this mark instead of the start, and remembers where records begin. Before start, and
 * only where it can. */
bool local_input_resume(struct local_input *input, const struct local_mark *mark,
                        struct error *err);
/* Starts the reader, which signals the wake-up for whatever it finds. */
void local_input_start(struct local_input *input, struct wakeup *wakeup);
/* Accepts NULL. All records are released. Waits for the reader for a second at most: one that hangs
 * in a read (somebody else took the data of the same terminal) is left behind with its memory. */
void local_input_close(struct local_input *input);

/* Up to max records; never blocks. */
size_t local_input_fetch(struct local_input *input, struct record *recs, size_t max)
    ON_THREAD(poll_thread);
/* FLOWING also while there are records to fetch. */
enum local_input_state local_input_state(struct local_input *input) ON_THREAD(poll_thread);
/* Records that were fetched and not yet released. */
bool local_input_has_records_out(const struct local_input *input) ON_THREAD(poll_thread);
/* The mark of a commit at this offset, of an input that was resumed; lower offsets are not asked
 * for afterwards. */
struct local_mark local_input_mark(struct local_input *input, int64_t offset)
    ON_THREAD(poll_thread);
/* Why it FAILED, with name and byte offset; borrowed until close. */
const struct error *local_input_failure(const struct local_input *input) ON_THREAD(poll_thread);

/* The topic; borrowed. */
const char *local_input_name(const struct local_input *input);

#endif
