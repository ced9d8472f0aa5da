#include "engine/hold_log.h"

#include "base/log.h"

enum { LASTS_MS = 1000, QUIET_MS = 60000 };

bool hold_log_note(struct hold_log *log, enum hold_reason reason,
                   const struct source_partition *where, int64_t used, int64_t now_ms)
{
    if (reason != log->reason) {
        if (log->told && reason == HOLD_NONE) {
            log_info("partition goes on", LOG_STR("event", "release"),
                     LOG_STR("topic", where->topic), LOG_INT("partition", where->partition),
                     LOG_STR("reason", hold_reason_name(log->reason)),
                     LOG_INT("held_ms", now_ms - log->since_ms));
        }
        log->reason = reason;
        log->since_ms = now_ms;
        log->told = false;
        log->holds += reason != HOLD_NONE;
    }
    /* a drain has lines of its own */
    bool due = reason != HOLD_NONE && reason != HOLD_DRAIN && !log->told &&
               now_ms - log->since_ms >= LASTS_MS && now_ms >= log->quiet_ms;
    if (due) {
        log_info("partition held", LOG_STR("event", "hold"), LOG_STR("topic", where->topic),
                 LOG_INT("partition", where->partition),
                 LOG_STR("reason", hold_reason_name(reason)),
                 LOG_INT("held_ms", now_ms - log->since_ms), LOG_INT("used", used),
                 LOG_INT("holds", log->holds));
        log->told = true;
        log->quiet_ms = now_ms + QUIET_MS;
        log->holds = 0;
    }
    return due;
}
