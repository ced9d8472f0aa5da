/*
 * processing: the choices a user makes about order, as values.
 *
 * Why: script, window, engine and command line speak of the same choices; the names are those of
 * the configuration.
 *
 * Thread: none, values only.
 */
#ifndef STREAM_PROCESSING_H
#define STREAM_PROCESSING_H

/* processing.order: what may run at the same time within one partition. */
enum processing_order {
    ORDER_KEY,       /* records of different keys */
    ORDER_PARTITION, /* nothing */
    ORDER_NONE,      /* anything */
};

/* processing.emit: when effects leave. */
enum processing_emit {
    EMIT_INPUT,      /* in offset order of the partition */
    EMIT_COMPLETION, /* as soon as the record completed; in order within a key */
};

/* processing.null.key: records without a key when order is key. */
enum processing_null_key {
    NULL_KEY_PARALLEL, /* no order among them */
    NULL_KEY_SERIAL,   /* as if they had one common key */
};

/* error.policy: what becomes of a record that failed. */
enum failure_action {
    FAILURE_STOP,        /* drain, commit what lies before it, end */
    FAILURE_RETRY,       /* run it again after a while; its key waits */
    FAILURE_SKIP,        /* pass it over without effects */
    FAILURE_DEAD_LETTER, /* send it to the dead letter topic instead */
};

#endif
