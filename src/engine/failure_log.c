#include "engine/failure_log.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/log.h"

enum { AGAIN_MS = 5000 };

/* The size of "FILE:LINE:" at the head of the reason, or of all of its first line. */
static size_t place_size(const char *reason)
{
    size_t size = strcspn(reason, "\n");
    for (size_t i = 0; i < size; i++) {
        size_t digits = reason[i] == ':' ? strspn(reason + i + 1, "0123456789") : 0;
        if (digits > 0 && reason[i + 1 + digits] == ':') {
            return i + 1 + digits;
        }
    }
    return size;
}

static uint64_t hash_of(const struct failure_event *event)
{
    const char *reason = event->reason ? event->reason : "";
    uint64_t hash = XXH3_64bits(reason, place_size(reason));
    hash ^= XXH3_64bits(event->action, strlen(event->action));
    return hash ? hash : 1;
}

/* The entry of this failure, else an unused one, else the one that was told longest ago. */
static struct failure_like *find(struct failure_log *log, uint64_t hash)
{
    struct failure_like *oldest = &log->likes[0];
    for (int i = 0; i < FAILURE_LOG_KINDS; i++) {
        struct failure_like *like = &log->likes[i];
        if (like->hash == hash) {
            return like;
        }
        if (like->hash == 0 || (oldest->hash != 0 && like->told_ms < oldest->told_ms)) {
            oldest = like;
        }
    }
    return oldest;
}

void failure_log_add(struct failure_log *log, const struct failure_event *event, int64_t now_ms)
{
    CHECK(event->action != NULL);
    uint64_t hash = hash_of(event);
    struct failure_like *like = find(log, hash);
    bool known = like->hash == hash;
    if (like->hash != 0 && now_ms < like->told_ms + AGAIN_MS) {
        uint64_t *count = known ? &like->repeated : &log->others;
        (*count)++;
        return;
    }
    uint64_t repeated = known ? like->repeated : 0;
    log->others += like->repeated - repeated;
    *like = (struct failure_like){.hash = hash, .told_ms = now_ms};
    const struct record *rec = event->rec;
    log_warn("record failed", LOG_STR("event", "record_failed"), LOG_STR("action", event->action),
             LOG_STR("kind", event->kind), LOG_STR("topic", rec->topic),
             LOG_INT("partition", rec->partition), LOG_INT("offset", rec->offset),
             LOG_INT("attempt", event->attempt + 1), LOG_INT("retry_in_ms", event->retry_in_ms),
             LOG_INT("like_it_before", repeated), LOG_STR("reason", event->reason));
}

void failure_log_flush(struct failure_log *log)
{
    uint64_t total = log->others;
    log->others = 0;
    for (int i = 0; i < FAILURE_LOG_KINDS; i++) {
        total += log->likes[i].repeated;
        log->likes[i].repeated = 0;
    }
    if (total > 0) {
        log_warn("more records failed, like those told before or beside them",
                 LOG_STR("event", "record_failed"), LOG_INT("records", total));
    }
}
