/*
 * local_framing: how records lie in a stream of bytes.
 *
 *   lines    a record is its value and a "\n". A last line without one counts. Every other byte
 *            belongs to the value, CR and NUL too. Nothing but a value fits into a line.
 *   records  (--frame) length-framed, everything a record has. All numbers big endian:
 *              u32 size of the body that follows, 20 to LOCAL_RECORD_MAX
 *              i64 timestamp, ms since 1970, -1: none
 *              i32 size of the key, -1: no key           then its bytes
 *              i32 size of the value, -1: no value       then its bytes
 *              u32 number of headers, and for each:
 *                  u32 size of the name                  then its bytes
 *                  i32 size of the value, -1: no value   then its bytes
 *            The body ends exactly with the last header. No magic and no end mark: files can be
 *            joined with cat.
 *
 * Why: one place knows the bytes; reading, writing and the check for damage cannot drift apart.
 *
 * Thread: any, pure functions on the caller's bytes.
 */
#ifndef LOCAL_LOCAL_FRAMING_H
#define LOCAL_LOCAL_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/byte_buffer.h"
#include "base/error.h"
#include "stream/effects.h"
#include "stream/record.h"

enum local_framing { LOCAL_LINES, LOCAL_RECORDS };

/* A line, or the body of a frame. */
enum { LOCAL_RECORD_MAX = 64 << 20 };

/* What is wrong with the bytes, and where. */
struct local_fault {
    size_t at;        /* where the damaged record begins, counted from `data` */
    const char *what; /* constant; NULL: nothing is wrong */
};

/* How many of the bytes are whole records. `data` begins with a record; the first `seen` bytes were
 * looked at before and held none; `at_end`: nothing follows. A fault ends the count. */
size_t local_framing_scan(enum local_framing framing, const char *data, size_t size, size_t seen,
                          bool at_end, struct local_fault *fault);

/* Reads the record at the front of whole records: key, value, timestamp, and `message` for
 * local_framing_headers; borrowed from data. Returns the bytes it took; 0 and a fault if damaged.
 */
size_t local_framing_read(enum local_framing framing, const char *data, size_t size,
                          struct record *rec, struct local_fault *fault);

/* The headers of a record that was read, as record_origin.read_headers. */
uint32_t local_framing_headers(struct record *rec, struct arena *arena, struct header **headers);

/* False with err when the framing cannot carry the emission, or it is too large. */
bool local_framing_check(enum local_framing framing, const struct emission *emission,
                         struct error *err);
/* Appends an emission that passed the check. A timestamp of -1 stays -1. */
void local_framing_write(enum local_framing framing, const struct emission *emission,
                         struct byte_buffer *out);

#endif
