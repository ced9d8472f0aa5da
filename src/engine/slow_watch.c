#include "engine/slow_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"

enum { NS_PER_MS = 1000000, LONG_NS = 50 * NS_PER_MS /* a batch worth a closer look */ };

static void look_at(struct slow_watch_entry *entry, struct worker *worker,
                    const struct partition_table *table, const struct record_place *batch,
                    int64_t now_ns) ON_THREAD(poll_thread);
static void warn(struct slow_watch_entry *entry, const struct worker_metrics *worker,
                 int64_t now_ns);

void slow_watch_init(struct slow_watch *watch, struct worker *const *workers, size_t count)
{
    *watch = (struct slow_watch){
        .workers = workers,
        .count = count,
        .entries = memory_alloc_array(count + 1, sizeof *watch->entries),
    };
}

void slow_watch_fini(struct slow_watch *watch)
{
    memory_free(watch->entries);
    *watch = (struct slow_watch){0};
}

void slow_watch_look(struct slow_watch *watch, const struct partition_table *table,
                     struct pipeline_metrics *counters, int64_t warn_ms, int64_t now_ns)
{
    for (size_t i = 0; i < watch->count; i++) {
        struct slow_watch_entry *entry = watch->entries + i;
        struct worker_metrics *metrics = worker_get_metrics(watch->workers[i]);
        struct record_place batch;
        worker_metrics_read_batch(metrics, &batch);
        if (batch.topic == NULL || now_ns - batch.batch_ns < LONG_NS) {
            entry->batch_ns = 0;
            continue;
        }
        look_at(entry, watch->workers[i], table, &batch, now_ns);
        worker_metrics_locate(metrics, &entry->place);
        if (warn_ms > 0 && !entry->told && now_ns - entry->place.since_ns >= warn_ms * NS_PER_MS) {
            metric_add(&counters->slow_records, 1);
            warn(entry, metrics, now_ns);
        }
    }
}

static struct slot *find_slot(const struct partition_table *table, const struct work *work)
    ON_THREAD(poll_thread)
{
    struct slot *slot = NULL;
    for (size_t i = 0; i < table->active_count && slot == NULL; i++) {
        slot = commit_window_find(partition_window(table->active[i]), work);
    }
    for (size_t i = 0; i < table->dead_count && slot == NULL; i++) {
        slot = commit_window_find(partition_window(table->dead[i]), work);
    }
    return slot;
}

/* Notes which record the batch is at. What no processor can say counts as its first one. */
static void look_at(struct slow_watch_entry *entry, struct worker *worker,
                    const struct partition_table *table, const struct record_place *batch,
                    int64_t now_ns)
{
    const struct work *work = worker_current(worker);
    bool same = entry->batch_ns == batch->batch_ns && entry->work == work;
    if (same) {
        return;
    }
    *entry = (struct slow_watch_entry){.batch_ns = batch->batch_ns,
                                       .work = work,
                                       .slot = work ? find_slot(table, work) : NULL,
                                       .place = *batch};
    if (entry->slot == NULL) {
        return;
    }
    const struct record *rec = &entry->slot->work.rec;
    bool first = rec->offset == batch->offset && rec->partition == batch->partition &&
                 strcmp(rec->topic, batch->topic) == 0;
    entry->place = (struct record_place){.topic = rec->topic,
                                         .partition = rec->partition,
                                         .offset = rec->offset,
                                         .since_ns = first ? batch->since_ns : now_ns,
                                         .batch_ns = batch->batch_ns};
    entry->told = entry->slot->told_slow;
}

static void warn(struct slow_watch_entry *entry, const struct worker_metrics *worker,
                 int64_t now_ns)
{
    entry->told = true;
    if (entry->slot) {
        entry->slot->told_slow = true; /* also for its next attempt */
    }
    char thread[16];
    snprintf(thread, sizeof thread, "worker-%u", worker->worker);
    log_warn("record is slow", LOG_STR("event", "slow"), LOG_STR("topic", entry->place.topic),
             LOG_INT("partition", entry->place.partition), LOG_INT("offset", entry->place.offset),
             LOG_INT("age_ms", (now_ns - entry->place.since_ns) / NS_PER_MS),
             LOG_STR("thread", thread), LOG_INT("pipeline", worker->pipeline));
}
