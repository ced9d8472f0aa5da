#include "local/local_outbox.h"

#include "base/check.h"
#include "base/memory.h"
#include "local/local_framing.h"

static struct local_batch *open_batch(struct local_outbox *box);
static void end_batch(struct local_outbox *box);

void local_outbox_init(struct local_outbox *box, struct local_output *output)
{
    CHECK(output != NULL);
    *box = (struct local_outbox){.output = output};
}

static void destroy_chain(struct local_batch *batch)
{
    while (batch) {
        struct local_batch *next = batch->next;
        local_batch_destroy(batch);
        batch = next;
    }
}

void local_outbox_fini(struct local_outbox *box)
{
    local_output_forget(box->output, &box->home);
    destroy_chain(local_output_take_back(box->output, &box->home));
    destroy_chain(box->returned);
    destroy_chain(box->open);
    destroy_chain(box->spare);
    *box = (struct local_outbox){.output = NULL};
}

void local_outbox_attach(struct local_outbox *box, struct wakeup *wakeup)
{
    CHECK(box->open == NULL);
    box->home.wakeup = wakeup;
}

bool local_outbox_check(const struct local_outbox *box, const struct emission *emission,
                        struct error *err)
{
    if (!local_framing_check(local_output_framing(box->output), emission, err)) {
        return error_prefix(err, "writing %s", local_output_name(box->output));
    }
    return true;
}

enum sink_result local_outbox_send(struct local_outbox *box, const struct emission *emission,
                                   uint64_t tag, struct error *err)
{
    CHECK(box->home.wakeup != NULL);
    enum local_framing framing = local_output_framing(box->output);
    if (local_output_is_broken(box->output, err)) {
        return SINK_REFUSED;
    }
    if (!local_outbox_check(box, emission, err)) {
        return SINK_REFUSED;
    }
    if (box->cost >= LOCAL_OUTBOX_BYTES) {
        return SINK_FULL;
    }
    struct local_batch *batch = open_batch(box);
    size_t before = batch->bytes.size;
    local_framing_write(framing, emission, &batch->bytes);
    if (batch->tag_count == batch->tag_capacity) {
        batch->tag_capacity = batch->tag_capacity ? 2 * batch->tag_capacity : 64;
        batch->tags = memory_resize(batch->tags, batch->tag_capacity * sizeof *batch->tags);
    }
    batch->tags[batch->tag_count++] = tag;
    box->cost += batch->bytes.size - before + LOCAL_RECORD_COST;
    if (batch->bytes.size + batch->tag_count * LOCAL_RECORD_COST >= LOCAL_BATCH_BYTES) {
        local_outbox_push(box);
    }
    return SINK_TAKEN;
}

static struct local_batch *open_batch(struct local_outbox *box)
{
    if (box->open == NULL) {
        box->open = box->spare ? box->spare : memory_alloc(sizeof *box->open);
        box->spare = box->open->next;
        box->open->next = NULL;
        box->open->home = &box->home;
    }
    DCHECK(box->open->tag_given == 0);
    return box->open;
}

void local_outbox_push(struct local_outbox *box)
{
    if (box->open) {
        CHECK(box->open->tag_count > 0);
        struct local_batch *batch = box->open;
        box->open = NULL;
        local_output_give(box->output, batch);
    }
}

size_t local_outbox_poll(struct local_outbox *box, struct delivery *reports, size_t max)
{
    size_t count = 0;
    if (box->returned == NULL && box->cost > 0) {
        box->returned = local_output_take_back(box->output, &box->home);
    }
    /* a failed batch stays: the output is broken, which says more than a failed report could */
    while (count < max && box->returned && !box->returned->failed) {
        struct local_batch *batch = box->returned;
        while (count < max && batch->tag_given < batch->tag_count) {
            reports[count++] = (struct delivery){.tag = batch->tags[batch->tag_given++]};
        }
        if (batch->tag_given == batch->tag_count) {
            end_batch(box);
        }
    }
    return count;
}

/* All records of the oldest batch are reported. */
static void end_batch(struct local_outbox *box)
{
    struct local_batch *batch = box->returned;
    box->returned = batch->next;
    size_t cost = batch->bytes.size + batch->tag_count * LOCAL_RECORD_COST;
    CHECK(box->cost >= cost);
    box->cost -= cost;
    if (batch->bytes.size > (size_t)2 * LOCAL_BATCH_BYTES ||
        box->spare) { /* one is kept, of usual size */
        local_batch_destroy(batch);
        return;
    }
    byte_buffer_clear(&batch->bytes);
    batch->tag_count = 0;
    batch->tag_given = 0;
    batch->failed = false;
    batch->next = NULL;
    box->spare = batch;
}
