/*
 * local_saver: saves the positions of the inputs of one pipeline, in a thread of its own.
 *
 * Why: a position counts when it is on the disk, and the poll thread must not wait for a disk.
 *
 * Thread: create, destroy: main thread; the others: poll thread.
 * Owns: its thread, which begins with the first job. Borrows: positions and descriptors.
 */
#ifndef LOCAL_LOCAL_SAVER_H
#define LOCAL_LOCAL_SAVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/wakeup.h"
#include "local/local_position.h"

struct local_saver;

/* One position to save, and what became of it. */
struct local_save {
    struct local_position *position;
    int fd;
    struct local_mark mark;
    bool saved;
};

/* The wakeup is signalled when a batch is done; borrowed. */
struct local_saver *local_saver_create(struct wakeup *wakeup);
/* Accepts NULL. Waits for what is being saved. */
void local_saver_destroy(struct local_saver *saver);

/* Takes a batch, copied; none is under way. */
void local_saver_give(struct local_saver *saver, const struct local_save *saves, size_t count);
/* True once when the batch is done: `saves` are borrowed until the next give; err is why the last
 * one failed, its code E_NONE when all are saved. */
bool local_saver_take(struct local_saver *saver, const struct local_save **saves,
                      struct error *err);

#endif
