/*
 * local_outbox: what one pipeline has on its way into one output.
 *
 * Why: records are put into a batch and the batch is handed over once a turn, or when it is full; a
 * delivery report is due when the output has written the batch. What is on its way is bounded, so
 * that a slow reader holds the pipeline back instead of filling memory.
 *
 * Thread: init, fini: main thread. The rest: poll thread.
 * Owns: the batches that are here. Borrows: output and wake-up until fini.
 */
#ifndef LOCAL_LOCAL_OUTBOX_H
#define LOCAL_LOCAL_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "local/local_output.h"
#include "stream/sink.h"

enum {
    LOCAL_BATCH_BYTES = 256 << 10,
    LOCAL_OUTBOX_BYTES = 4 << 20, /* on the way, before send says full */
    LOCAL_RECORD_COST = 16,       /* counted for each record beside its bytes */
};

/* Embedded; the fields are private. */
struct local_outbox {
    struct local_output *output;
    struct local_return home;
    struct local_batch *open;     /* being filled; NULL: none */
    struct local_batch *returned; /* to be reported, oldest first */
    struct local_batch *spare;
    size_t cost; /* of all records not yet reported */
};

void local_outbox_init(struct local_outbox *box, struct local_output *output);
/* Drops what is not written. */
void local_outbox_fini(struct local_outbox *box);
/* Before the first send. */
void local_outbox_attach(struct local_outbox *box, struct wakeup *wakeup);

/* False and err when the output can never carry the emission. */
bool local_outbox_check(const struct local_outbox *box, const struct emission *emission,
                        struct error *err);
/* As sink_ops.send, push and poll. */
enum sink_result local_outbox_send(struct local_outbox *box, const struct emission *emission,
                                   uint64_t tag, struct error *err) MUST_USE;
void local_outbox_push(struct local_outbox *box);
size_t local_outbox_poll(struct local_outbox *box, struct delivery *reports, size_t max);

#endif
