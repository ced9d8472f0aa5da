/*
 * failure_log: records that failed, told in the log without drowning it.
 *
 * Why: one bad field in a topic fails every record in the same way. The first failure of a kind is
 * logged at once with its coordinates and its reason; its likes are counted, and told at most every
 * few seconds with that count, and once at the end. Alike are failures at the same line of a
 * script, since messages often quote the data. Where they do so without a line, each is a kind of
 * its own: so there is a bound to the kinds that are told in those seconds, too.
 *
 * Thread: poll thread.
 */
#ifndef ENGINE_FAILURE_LOG_H
#define ENGINE_FAILURE_LOG_H

#include <stdint.h>

#include "stream/work.h"

enum { FAILURE_LOG_KINDS = 32 };

struct failure_like {
    uint64_t hash;     /* 0: unused */
    uint64_t repeated; /* since it was last told */
    int64_t told_ms;
};

/* Embedded; the fields are private. All zero has told nothing. */
struct failure_log {
    struct failure_like likes[FAILURE_LOG_KINDS];
    uint64_t others; /* not told, of kinds that have no entry */
};

/* What became of the record. */
struct failure_event {
    const char *action; /* "retry" */
    const char *kind;   /* "raised" */
    const char *reason; /* NULL: none was given */
    const struct record *rec;
    uint32_t attempt;    /* from 0 */
    int64_t retry_in_ms; /* -1: will not run again */
};

/* Tells it, or counts it. */
void failure_log_add(struct failure_log *log, const struct failure_event *event, int64_t now_ms);
/* Tells what was only counted so far. */
void failure_log_flush(struct failure_log *log);

#endif
