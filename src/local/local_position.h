/*
 * local_position: how far one input file was processed, kept in a small file of `state.dir`.
 *
 * Why: a file has no broker that remembers for us. The position is written beside the old one,
 * synced and renamed over it, so that a crash leaves the one or the other. It names the file by
 * what is in it, the first bytes and those before the position, so that a file that was cut,
 * replaced or rotated away is noticed, and one that was only moved by an editor or a copy is not.
 *
 * Thread: open, load, close: main thread; save: any one at a time.
 * Owns: the lock that keeps other processes away from the same position.
 */
#ifndef LOCAL_LOCAL_POSITION_H
#define LOCAL_LOCAL_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "local/local_framing.h"

struct local_position;

/* The record that comes next, and the byte where it begins. */
struct local_mark {
    int64_t offset;
    uint64_t byte;
};

/* `folder` is made when it is not there; `path` is the input. E_IO when the folder cannot be used,
 * or another process has this position. Strings are copied. */
struct local_position *local_position_open(const char *folder, const char *path,
                                           enum local_framing framing, struct error *err);
/* Accepts NULL. */
void local_position_close(struct local_position *position);

/* The saved mark, 0 and 0 when there is none. `fd` is the open input. E_IO when the file has become
 * shorter, has other content, or was read with another framing, or when what is saved is damaged;
 * the sentence says how to go on. */
bool local_position_load(const struct local_position *position, int fd, struct local_mark *mark,
                         struct error *err);
/* Blocks until the mark is on the disk. */
bool local_position_save(struct local_position *position, int fd, const struct local_mark *mark,
                         struct error *err);

#endif
