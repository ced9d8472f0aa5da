/*
 * source: the port through which records come in and offsets go back.
 *
 * Why: the engine treats Kafka, files and the simulator alike. Whatever happens to the membership
 * arrives as an event that the engine answers when it is ready, so that draining is a state of the
 * pipeline and not a nested loop in a callback.
 *
 * Life of a partition: ASSIGN event -> answer -> fetch ... -> REVOKE event -> (the engine drains
 * and commits) -> answer; or LOST event -> answer. Between an ASSIGN/REVOKE/LOST event and its
 * answer no other of these three is delivered. The handle of an assigned partition is chosen by the
 * source and valid until the answer to its REVOKE or LOST.
 *
 * Thread: poll thread, but create and destroy, which are the implementation's own (main thread).
 */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/wakeup.h"
#include "stream/record.h"

struct source;

/* One assigned partition. */
struct source_partition {
    const char *topic; /* NUL-terminated, valid while the source is open */
    int32_t partition;
    void *handle; /* the source's own, passed back in fetch and commit */
};

/* One offset to commit, and what became of it. */
struct source_commit {
    void *handle;
    int64_t position; /* next offset to read after a restart */
    uint64_t tag;     /* the engine's own; comes back unread in the COMMITTED event */
    bool refused;     /* in the COMMITTED event: this one did not pass */
    bool gone;        /* refused: and it never will, its partition does not exist any more */
};

enum source_event_kind {
    SOURCE_NOTHING, /* no event now */
    SOURCE_ASSIGN,  /* `partitions` are added; answer */
    SOURCE_REVOKE,  /* `partitions` are to be given back in good order; answer */
    SOURCE_LOST,    /* `partitions` belong to somebody else already: no drain, no commit; answer */
    SOURCE_END,     /* partition `handle` has no record now; void once a later fetch returns some */
    SOURCE_COMMITTED, /* the commit in flight ended; `commits`, `commit_count`; `err` when refused
                       */
    SOURCE_READY,     /* what is assigned is whole, even if empty; void from REVOKE or LOST on, and
                       * until then nothing is committed but what is revoked */
    SOURCE_FAILED,    /* something that was read is gone for good, `err` says why; what was fetched
                       * can be committed as ever */
    SOURCE_FATAL,     /* nothing more will come and nothing can be committed; `err` says why */
    SOURCE_CLOSED,    /* the answer to close: all is given back */
};

/* Arrays and err are borrowed, valid until the next call of poll. */
struct source_event {
    enum source_event_kind kind;
    const struct source_partition *partitions;
    size_t partition_count;
    void *handle;
    const struct source_commit *commits;
    size_t commit_count;
    const struct error *err;
};

struct source_ops {
    /* The source signals this when poll or fetch may have something after they had nothing. Called
     * once, before all others. Borrowed until destroy. */
    void (*attach)(struct source *source, struct wakeup *wakeup);
    /* The next event. Never blocks. Call until SOURCE_NOTHING, at least every 500 ms: this is also
     * what keeps the membership alive. */
    struct source_event (*poll)(struct source *source);
    /* Ends the ASSIGN, REVOKE or LOST event that is open. */
    void (*answer)(struct source *source);
    /* Up to `max` records of one partition in offset order, written to recs; never blocks; 0: none
     * now. Offsets rise but have gaps. Each record is to be released. A partition that is not
     * fetched is held: its records stay in the source's bounded prefetch. */
    size_t (*fetch)(struct source *source, void *handle, struct record *recs, size_t max);
    /* Gives the bytes of records back. Any handle, also after its partition was revoked. */
    void (*release)(struct source *source, struct record *rec);
    /* Starts an asynchronous commit; exactly one SOURCE_COMMITTED follows, in all cases. At most
     * one is in flight. The array is copied. */
    void (*commit)(struct source *source, const struct source_commit *commits, size_t count);
    /* Begins to leave: REVOKE for what is still assigned may come, then SOURCE_CLOSED. */
    void (*close)(struct source *source);
    /* Frees all, closed or not, within a bounded time. All records are released before. Main
     * thread. */
    void (*destroy)(struct source *source);
    /* Optional: the offset behind the last record of an assigned partition, as far as is known
     * without asking; -1: not known. */
    int64_t (*end_offset)(struct source *source, void *handle);
    /* Optional: the other side cannot be reached at present. */
    bool (*is_away)(struct source *source);
};

/* Embedded first in each implementation. */
struct source {
    const struct source_ops *ops;
};

#endif
