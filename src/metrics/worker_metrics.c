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

void worker_metrics_set_state(struct worker_metrics *metrics, enum worker_state state)
{
    CHECK(state != WORKER_RUNNING);
    DCHECK(metric_get(&metrics->state) != WORKER_CLOSED);
    metric_set(&metrics->state, (int64_t)state);
}

void worker_metrics_set_memory(struct worker_metrics *metrics, size_t bytes)
{
    metric_set(&metrics->memory_bytes, (int64_t)bytes);
}

void worker_metrics_begin(struct worker_metrics *metrics, const char *topic, int32_t partition,
                          int64_t offset, int64_t now_ns)
{
    CHECK(topic != NULL);
    metrics->began_ns = now_ns;
    record_mark_set(&metrics->batch, &(struct record_place){.topic = topic,
                                                            .partition = partition,
                                                            .offset = offset,
                                                            .since_ns = now_ns,
                                                            .batch_ns = now_ns});
    metric_set(&metrics->state, WORKER_RUNNING);
}

void worker_metrics_end(struct worker_metrics *metrics, size_t done, size_t failed, int64_t now_ns)
{
    DCHECK(metric_get(&metrics->state) == WORKER_RUNNING);
    int64_t count = (int64_t)(done + failed);
    int64_t took_ns = now_ns - metrics->began_ns;
    metric_add(&metrics->done, (int64_t)done);
    metric_add(&metrics->failed, (int64_t)failed);
    metric_add(&metrics->batches, 1);
    metric_add(&metrics->busy_ns, took_ns);
    if (count > 0) {
        histogram_add(&metrics->run_time, &histogram_fine, took_ns / count, count);
    }
    metric_set(&metrics->state, WORKER_TAKING);
    record_mark_set(&metrics->batch, &(struct record_place){.topic = NULL});
}

void worker_metrics_locate(struct worker_metrics *metrics, const struct record_place *place)
{
    CHECK(place->topic != NULL);
    record_mark_set(&metrics->located, place);
}

void worker_metrics_read_batch(const struct worker_metrics *metrics, struct record_place *place)
{
    record_mark_read(&metrics->batch, place);
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
        .memory_bytes = metric_get(&metrics->memory_bytes),
    };
    histogram_read(&metrics->run_time, &reading->run_time);
    struct record_place located;
    record_mark_read(&metrics->located, &located);
    record_mark_read(&metrics->batch, &reading->at_hand);
    if (reading->at_hand.topic && located.topic && located.batch_ns == reading->at_hand.batch_ns) {
        reading->at_hand = located;
    }
}

const char *worker_state_name(enum worker_state state)
{
    CHECK(state < WORKER_STATE_COUNT);
    return STATE_NAMES[state];
}
