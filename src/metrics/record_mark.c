#include "metrics/record_mark.h"

#include <stddef.h>

#include "base/check.h"

enum { READ_ATTEMPTS_MAX = 1000 };

/* Each store releases and each load acquires, instead of fences, which ThreadSanitizer does not
 * know: whoever reads a new value also sees the odd number that was stored before it. */
void record_mark_set(struct record_mark *mark, const struct record_place *place)
{
    unsigned sequence = atomic_load_explicit(&mark->sequence, memory_order_relaxed);
    DCHECK(sequence % 2 == 0);
    atomic_store_explicit(&mark->sequence, sequence + 1, memory_order_relaxed);
    /* W1 */
    atomic_store_explicit(&mark->topic, place->topic, memory_order_release);
    atomic_store_explicit(&mark->partition, place->partition, memory_order_release);
    atomic_store_explicit(&mark->offset, place->offset, memory_order_release);
    atomic_store_explicit(&mark->since_ns, place->since_ns, memory_order_release);
    atomic_store_explicit(&mark->batch_ns, place->batch_ns, memory_order_release);
    /* W2 */
    atomic_store_explicit(&mark->sequence, sequence + 2, memory_order_release);
}

void record_mark_read(const struct record_mark *mark, struct record_place *place)
{
    for (int attempt = 0; attempt < READ_ATTEMPTS_MAX; attempt++) {
        /* pairs with W2: the values that belong to this number, or newer ones */
        unsigned before = atomic_load_explicit(&mark->sequence, memory_order_acquire);
        /* pair with W1 */
        place->topic = atomic_load_explicit(&mark->topic, memory_order_acquire);
        place->partition = (int32_t)atomic_load_explicit(&mark->partition, memory_order_acquire);
        place->offset = atomic_load_explicit(&mark->offset, memory_order_acquire);
        place->since_ns = atomic_load_explicit(&mark->since_ns, memory_order_acquire);
        place->batch_ns = atomic_load_explicit(&mark->batch_ns, memory_order_acquire);
        unsigned after = atomic_load_explicit(&mark->sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            return;
        }
    }
    *place = (struct record_place){.topic = NULL};
}
