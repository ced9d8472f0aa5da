#include "metrics/metrics_registry.h"

#include <string.h>

#include "base/check.h"
#include "base/lock.h"
#include "base/memory.h"

/* A growing array of addresses; the things themselves never move. */
struct list {
    void **items;
    size_t count;
    size_t capacity;
};

struct metrics_registry {
    struct lock lock;
    struct list pipelines; /* lock */
    struct list workers;   /* lock */
    struct list windows;   /* lock; also those that were given away */
};

static void list_add(struct list *list, void *item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 8;
        list->items = memory_resize(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
}

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free(list->items[i]);
    }
    memory_free(list->items);
}

struct metrics_registry *metrics_registry_create(void)
{
    struct metrics_registry *registry = memory_alloc(sizeof *registry);
    lock_init(&registry->lock);
    return registry;
}

void metrics_registry_destroy(struct metrics_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    for (size_t i = 0; i < registry->windows.count; i++) {
        struct window_metrics *window = registry->windows.items[i];
        memory_free((char *)window->topic);
    }
    list_free(&registry->windows);
    list_free(&registry->workers);
    list_free(&registry->pipelines);
    lock_fini(&registry->lock);
    memory_free(registry);
}

struct pipeline_metrics *metrics_registry_add_pipeline(struct metrics_registry *registry,
                                                       unsigned pipeline)
{
    struct pipeline_metrics *metrics = memory_alloc_aligned(sizeof *metrics);
    metrics->pipeline = pipeline;
    lock_acquire(&registry->lock);
    list_add(&registry->pipelines, metrics);
    lock_release(&registry->lock);
    return metrics;
}

struct worker_metrics *metrics_registry_add_worker(struct metrics_registry *registry,
                                                   unsigned pipeline, unsigned worker)
{
    struct worker_metrics *metrics = memory_alloc_aligned(sizeof *metrics);
    metrics->pipeline = pipeline;
    metrics->worker = worker;
    lock_acquire(&registry->lock);
    list_add(&registry->workers, metrics);
    lock_release(&registry->lock);
    return metrics;
}

static struct window_metrics *find_window(struct metrics_registry *registry, unsigned pipeline,
                                          const char *topic, int32_t partition)
    REQUIRES(registry->lock)
{
    for (size_t i = 0; i < registry->windows.count; i++) {
        struct window_metrics *window = registry->windows.items[i];
        if (window->pipeline == pipeline && window->partition == partition &&
            strcmp(window->topic, topic) == 0) {
            return window;
        }
    }
    return NULL;
}

static struct window_metrics *make_window(unsigned pipeline, const char *topic, int32_t partition)
{
    struct window_metrics *window = memory_alloc_aligned(sizeof *window);
    window->pipeline = pipeline;
    window->partition = partition;
    window->topic = memory_copy_text(topic);
    return window;
}

struct window_metrics *metrics_registry_add_window(struct metrics_registry *registry,
                                                   unsigned pipeline, const char *topic,
                                                   int32_t partition)
{
    CHECK(topic != NULL);
    lock_acquire(&registry->lock);
    struct window_metrics *window = find_window(registry, pipeline, topic, partition);
    if (window == NULL) {
        window = make_window(pipeline, topic, partition);
        list_add(&registry->windows, window);
    }
    CHECK(!window->assigned);
    window_metrics_set(window, &(struct window_reading){.head_since_ms = -1,
                                                        .commit_pos = -1,
                                                        .committed_pos = -1,
                                                        .end_offset = -1,
                                                        .lag = -1});
    window->assigned = true;
    lock_release(&registry->lock);
    return window;
}

void metrics_registry_remove_window(struct metrics_registry *registry,
                                    struct window_metrics *window)
{
    lock_acquire(&registry->lock);
    CHECK(window->assigned);
    window->assigned = false;
    lock_release(&registry->lock);
}

size_t metrics_registry_pipelines(struct metrics_registry *registry,
                                  const struct pipeline_metrics **pipelines, size_t max)
{
    lock_acquire(&registry->lock);
    size_t count = registry->pipelines.count;
    for (size_t i = 0; i < count && i < max; i++) {
        pipelines[i] = registry->pipelines.items[i];
    }
    lock_release(&registry->lock);
    return count;
}

size_t metrics_registry_workers(struct metrics_registry *registry,
                                const struct worker_metrics **workers, size_t max)
{
    lock_acquire(&registry->lock);
    size_t count = registry->workers.count;
    for (size_t i = 0; i < count && i < max; i++) {
        workers[i] = registry->workers.items[i];
    }
    lock_release(&registry->lock);
    return count;
}

size_t metrics_registry_windows(struct metrics_registry *registry,
                                const struct window_metrics **windows, size_t max)
{
    lock_acquire(&registry->lock);
    size_t count = 0;
    for (size_t i = 0; i < registry->windows.count; i++) {
        const struct window_metrics *window = registry->windows.items[i];
        if (window->assigned) {
            if (count < max) {
                windows[count] = window;
            }
            count++;
        }
    }
    lock_release(&registry->lock);
    return count;
}
