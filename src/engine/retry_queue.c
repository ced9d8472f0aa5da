#include "engine/retry_queue.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 64 };

static bool is_before(const struct retry_entry *a, const struct retry_entry *b);
static void sift_up(struct retry_queue *queue, size_t at);
static void sift_down(struct retry_queue *queue, size_t at);
static struct slot *remove_at(struct retry_queue *queue, size_t at);

void retry_queue_fini(struct retry_queue *queue)
{
    memory_free(queue->entries);
    *queue = (struct retry_queue){0};
}

void retry_queue_put(struct retry_queue *queue, struct slot *slot, int64_t due_ms)
{
    CHECK(slot_get_state(slot) == SLOT_WAITING);
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity ? queue->capacity * 2 : FIRST_CAPACITY;
        queue->entries = memory_resize(queue->entries, queue->capacity * sizeof *queue->entries);
    }
    queue->entries[queue->count] = (struct retry_entry){due_ms, slot};
    sift_up(queue, queue->count++);
}

int64_t retry_queue_due_ms(const struct retry_queue *queue)
{
    return queue->count > 0 ? queue->entries[0].due_ms : INT64_MAX;
}

struct slot *retry_queue_take(struct retry_queue *queue)
{
    return queue->count > 0 ? remove_at(queue, 0) : NULL;
}

struct slot *retry_queue_take_stopped(struct retry_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (!slot_may_begin(queue->entries[i].slot)) {
            return remove_at(queue, i);
        }
    }
    return NULL;
}

static struct slot *remove_at(struct retry_queue *queue, size_t at)
{
    DCHECK(at < queue->count);
    struct slot *slot = queue->entries[at].slot;
    CHECK(slot_get_state(slot) == SLOT_WAITING);
    queue->entries[at] = queue->entries[--queue->count];
    if (at < queue->count) {
        sift_down(queue, at);
        sift_up(queue, at);
    }
    return slot;
}

static bool is_before(const struct retry_entry *a, const struct retry_entry *b)
{
    if (a->due_ms != b->due_ms) {
        return a->due_ms < b->due_ms;
    }
    return a->slot->sequence < b->slot->sequence;
}

static void swap(struct retry_entry *a, struct retry_entry *b)
{
    struct retry_entry kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct retry_queue *queue, size_t at)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!is_before(&queue->entries[at], &queue->entries[parent])) {
            break;
        }
        swap(&queue->entries[at], &queue->entries[parent]);
        at = parent;
    }
}

static void sift_down(struct retry_queue *queue, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < queue->count; child++) {
            if (is_before(&queue->entries[child], &queue->entries[least])) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        swap(&queue->entries[at], &queue->entries[least]);
        at = least;
    }
}
