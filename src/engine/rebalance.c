#include "engine/rebalance.h"

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"

static bool is_quiet(const struct rebalance *rebalance) ON_THREAD(poll_thread);
static bool is_dirty(const struct rebalance *rebalance);
static void give_away(struct rebalance *rebalance, struct partition_table *table)
    ON_THREAD(poll_thread);

void rebalance_init(struct rebalance *rebalance)
{
    *rebalance = (struct rebalance){0};
}

void rebalance_fini(struct rebalance *rebalance)
{
    memory_free(rebalance->revoked);
    rebalance_init(rebalance);
}

void rebalance_begin(struct rebalance *rebalance, const struct partition_table *table,
                     const struct source_event *event, int64_t drain_until_ms,
                     int64_t commit_until_ms)
{
    CHECK(!rebalance->open);
    CHECK(event->kind == SOURCE_REVOKE);
    if (rebalance->capacity < event->partition_count) {
        rebalance->capacity = event->partition_count;
        rebalance->revoked =
            memory_resize(rebalance->revoked, rebalance->capacity * sizeof *rebalance->revoked);
    }
    rebalance->open = true;
    rebalance->commit_sent = false;
    rebalance->drain_until_ms = drain_until_ms;
    rebalance->commit_until_ms = commit_until_ms;
    rebalance->count = 0;
    for (size_t i = 0; i < event->partition_count; i++) {
        struct partition *part = partition_table_find_handle(table, event->partitions[i].handle);
        CHECK(part != NULL);
        partition_drain(part);
        rebalance->revoked[rebalance->count++] = part;
    }
}

bool rebalance_turn(struct rebalance *rebalance, struct partition_table *table,
                    struct commit_plan *plan, struct source *source, int64_t now_ms)
{
    if (!rebalance->open) {
        return false;
    }
    if (!is_quiet(rebalance) && now_ms < rebalance->drain_until_ms) {
        return false;
    }
    for (size_t i = 0; i < rebalance->count; i++) {
        partition_freeze(rebalance->revoked[i]); /* or it would leave behind the commit */
    }
    bool in_time = now_ms < rebalance->commit_until_ms;
    if (plan->in_flight && in_time) {
        return false;
    }
    if (!rebalance->commit_sent && is_dirty(rebalance) && !plan->in_flight) {
        rebalance->commit_sent = commit_plan_send(plan, table, source, now_ms);
        return false;
    }
    give_away(rebalance, table);
    source->ops->answer(source);
    rebalance->open = false;
    return true;
}

static bool is_quiet(const struct rebalance *rebalance)
{
    for (size_t i = 0; i < rebalance->count; i++) {
        if (!partition_is_quiet(rebalance->revoked[i])) {
            return false;
        }
    }
    return true;
}

static bool is_dirty(const struct rebalance *rebalance)
{
    for (size_t i = 0; i < rebalance->count; i++) {
        if (partition_is_dirty(rebalance->revoked[i])) {
            return true;
        }
    }
    return false;
}

static void give_away(struct rebalance *rebalance, struct partition_table *table)
{
    for (size_t i = 0; i < rebalance->count; i++) {
        struct partition *part = rebalance->revoked[i];
        const struct commit_window *win = partition_window(part);
        log_info("partition revoked", LOG_STR("event", "revoke"),
                 LOG_STR("topic", partition_where(part)->topic),
                 LOG_INT("partition", partition_where(part)->partition),
                 LOG_INT("epoch", commit_window_epoch(win)),
                 LOG_INT("committed", commit_window_committed_pos(win)),
                 LOG_INT("abandoned", commit_window_used(win)));
        partition_table_kill(table, part);
    }
    rebalance->count = 0;
}
