#include "engine/commit_plan.h"

#include "base/check.h"
#include "base/memory.h"

void commit_plan_init(struct commit_plan *plan)
{
    *plan = (struct commit_plan){0};
}

void commit_plan_fini(struct commit_plan *plan)
{
    memory_free(plan->entries);
    commit_plan_init(plan);
}

bool commit_plan_is_dirty(const struct partition_table *table)
{
    for (size_t i = 0; i < table->active_count; i++) {
        if (partition_is_dirty(table->active[i])) {
            return true;
        }
    }
    return false;
}

bool commit_plan_send(struct commit_plan *plan, const struct partition_table *table,
                      struct source *source, int64_t now_ms)
{
    if (plan->in_flight) {
        return false;
    }
    if (plan->capacity < table->active_count) {
        plan->capacity = table->capacity;
        plan->entries = memory_resize(plan->entries, plan->capacity * sizeof *plan->entries);
    }
    size_t count = 0;
    for (size_t i = 0; i < table->active_count; i++) {
        struct partition *part = table->active[i];
        const struct commit_window *win = partition_window(part);
        if (partition_is_dirty(part)) {
            plan->entries[count++] = (struct source_commit){
                .handle = partition_where(part)->handle,
                .position = commit_window_commit_pos(win),
                .tag = (uint64_t)partition_id(part) << 32 | commit_window_epoch(win),
            };
        }
    }
    if (count == 0) {
        return false;
    }
    plan->in_flight = true;
    plan->sent_ms = now_ms;
    plan->sent_count++;
    source->ops->commit(source, plan->entries, count);
    return true;
}

size_t commit_plan_confirm(struct commit_plan *plan, const struct partition_table *table,
                           const struct source_event *event)
{
    CHECK(plan->in_flight);
    plan->in_flight = false;
    size_t refused = 0;
    for (size_t i = 0; i < event->commit_count; i++) {
        const struct source_commit *entry = &event->commits[i];
        struct partition *part = partition_table_find(table, (uint32_t)(entry->tag >> 32));
        if (part == NULL || commit_window_epoch(partition_window(part)) != (uint32_t)entry->tag) {
            continue;
        }
        if (entry->refused) {
            refused++;
            if (entry->gone) {
                partition_give_up(part);
            }
        } else {
            commit_window_committed(partition_window(part), entry->position);
        }
    }
    plan->refused_count += refused;
    return refused;
}
