#include "metrics/worker_metrics.h"

#include <assert.h>

#include "base/check.h"

static const char *const STATE_NAMES[] = {
    [WORKER_IDLE] = "idle",
    [WORKER_TAKING] = "taking",
    [WORKER_RUNNING] = "running",
    [WORKER_CLOSED] = "closed",
};
static_assert(sizeof STATE_NAMES / sizeof STATE_NAMES[0] == WORKER_STATE_COUNT, "one for each");

enum { READ_ATTEMPTS_MAX = 1000 };

void worker_metrics_set_state(struct worker_metrics *metrics, enum worker_state state)
{
    CHECK(state != WORKER_RUNNING);
    DCHECK(metric_get(&metrics->state) != WORKER_CLOSED);
    metric_set(&metrics->state, (int64_t)state);
}

/* Each store releases and each load acquires, instead of fences, which ThreadSanitizer does not
 * know: whoever reads a new value also sees the odd number that was stored before it. */
static void set_at_hand(struct worker_metrics *metrics, const char *topic, int32_t partition,
                        int64_t offset, int64_t since_ns)
{
    unsigned sequence = atomic_load_explicit(&metrics->sequence, memory_order_relaxed);
    DCHECK(sequence % 2 == 0);
    atomic_store_explicit(&metrics->sequence, sequence + 1, memory_order_relaxed);
    /* W1 */
    atomic_store_explicit(&metrics->topic, topic, memory_order_release);
    atomic_store_explicit(&metrics->partition, partition, memory_order_release);
    atomic_store_explicit(&metrics->offset, offset, memory_order_release);
    atomic_store_explicit(&metrics->since_ns, since_ns, memory_order_release);
    /* W2 */
    atomic_store_explicit(&metrics->sequence, sequence + 2, memory_order_release);
}

void worker_metrics_begin(struct worker_metrics *metrics, const char *topic, int32_t partition,
                          int64_t offset, int64_t now_ns)
{
    CHECK(topic != NULL);
    set_at_hand(metrics, topic, partition, offset, now_ns);
    metric_set(&metrics->state, WORKER_RUNNING);
}

void worker_metrics_end(struct worker_metrics *metrics, size_t done, size_t failed, int64_t now_ns)
{
    DCHECK(metric_get(&metrics->state) == WORKER_RUNNING);
    int64_t since_ns = atomic_load_explicit(&metrics->since_ns, memory_order_relaxed); /* own */
    metric_add(&metrics->done, (int64_t)done);
    metric_add(&metrics->failed, (int64_t)failed);
    metric_add(&metrics->batches, 1);
    metric_add(&metrics->busy_ns, now_ns - since_ns);
    metric_set(&metrics->state, WORKER_TAKING);
    set_at_hand(metrics, NULL, 0, 0, 0);
}

static void read_at_hand(const struct worker_metrics *metrics, struct worker_reading *reading)
{
    for (int attempt = 0; attempt < READ_ATTEMPTS_MAX; attempt++) {
        /* pairs with W2: the values that belong to this number, or newer ones */
        unsigned before = atomic_load_explicit(&metrics->sequence, memory_order_acquire);
        /* pair with W1 */
        reading->topic = atomic_load_explicit(&metrics->topic, memory_order_acquire);
        reading->partition =
            (int32_t)atomic_load_explicit(&metrics->partition, memory_order_acquire);
        reading->offset = atomic_load_explicit(&metrics->offset, memory_order_acquire);
        reading->since_ns = atomic_load_explicit(&metrics->since_ns, memory_order_acquire);
        unsigned after = atomic_load_explicit(&metrics->sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            return;
        }
    }
    reading->topic = NULL; /* the worker is faster than the reader: nothing is held up */
}

void worker_metrics_read(const struct worker_metrics *metrics, struct worker_reading *reading)
{
    *reading = (struct worker_reading){
        .pipeline = metrics->pipeline,
        .worker = metrics->worker,
        .state = (enum worker_state)metric_get(&metrics->state),
        .done = metric_get(&metrics->done),
        .failed = metric_get(&metrics->failed),
        .batches = metric_get(&metrics->batches),
        .busy_ns = metric_get(&metrics->busy_ns),
    };
    read_at_hand(metrics, reading);
}

const char *worker_state_name(enum worker_state state)
{
    CHECK(state < WORKER_STATE_COUNT);
    return STATE_NAMES[state];
}
