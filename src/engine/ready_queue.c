#include "engine/ready_queue.h"

#include <assert.h>

#include "base/check.h"

enum { WORD_BITS = 64, WORDS = READY_BUCKETS / WORD_BITS };

static_assert((READY_BUCKETS & (READY_BUCKETS - 1)) == 0, "bucket numbers wrap with the stamps");

static uint32_t first_used(const struct ready_queue *queue);

void slot_list_append(struct slot_list *list, struct slot *slot)
{
    slot->next = NULL;
    if (list->last) {
        list->last->next = slot;
    } else {
        list->first = slot;
    }
    list->last = slot;
    list->count++;
}

struct slot *slot_list_take(struct slot_list *list)
{
    struct slot *slot = list->first;
    if (slot == NULL) {
        return NULL;
    }
    list->first = slot->next;
    if (list->first == NULL) {
        list->last = NULL;
    }
    list->count--;
    slot->next = NULL;
    return slot;
}

void ready_queue_put(struct ready_queue *queue, struct slot *slot)
{
    uint32_t number = slot->stamp / BUCKET_STAMPS;
    /* the difference is signed: stamps and numbers wrap */
    if (queue->count == 0 || (int32_t)((number - queue->low) * BUCKET_STAMPS) < 0) {
        queue->low = number;
    }
    uint32_t bucket = number % READY_BUCKETS;
    queue->used[bucket / WORD_BITS] |= UINT64_C(1) << bucket % WORD_BITS;
    slot_list_append(&queue->buckets[bucket], slot);
    queue->count++;
}

struct slot *ready_queue_take(struct ready_queue *queue)
{
    if (queue->count == 0) {
        return NULL;
    }
    uint32_t bucket = first_used(queue);
    queue->low += (bucket - queue->low) % READY_BUCKETS;
    struct slot *slot = slot_list_take(&queue->buckets[bucket]);
    CHECK(slot != NULL);
    queue->count--;
    if (queue->buckets[bucket].first == NULL) {
        queue->used[bucket / WORD_BITS] &= ~(UINT64_C(1) << bucket % WORD_BITS);
    }
    return slot;
}

/* The first bucket with slots from `low` on, around the end. */
static uint32_t first_used(const struct ready_queue *queue)
{
    uint32_t start = queue->low % READY_BUCKETS;
    uint32_t word = start / WORD_BITS;
    uint64_t bits = queue->used[word] & (UINT64_MAX << start % WORD_BITS);
    for (int i = 0; bits == 0; i++) {
        CHECK(i < WORDS);
        word = (word + 1) % WORDS;
        bits = queue->used[word];
    }
    return word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
}
