/*
 * kafka_trouble: what the errors of a consumer mean for its run.
 *
 * Why: most errors pass by themselves, and librdkafka tries again; a few never do, and it goes on
 * trying all the same. A topic that somebody deleted is one of these, but a broker that has just
 * started says the same of a topic that it does not know yet; so the cluster is asked again for a
 * while before it is believed.
 *
 * Thread: poll thread; init, fini: main thread.
 * Borrows: client, directory, the list of topics, the text of the brokers.
 */
#ifndef KAFKA_KAFKA_TROUBLE_H
#define KAFKA_KAFKA_TROUBLE_H

#include <stdbool.h>

#include <librdkafka/rdkafka.h>

#include "base/error.h"
#include "kafka/kafka_directory.h"
#include "stream/source.h"

/* Embedded; the fields are private. */
struct kafka_trouble {
    rd_kafka_t *rk;
    struct kafka_directory *directory;
    const rd_kafka_topic_partition_list_t *topics;
    const char *brokers;
    enum source_event_kind due;  /* FAILED or FATAL; else NOTHING */
    enum source_event_kind told; /* the worst so far */
    bool doubting;               /* a topic may be gone, the directory asks */
    bool missing;                /* one is */
    struct error err;
};

/* An error of the client. `where` is "topic [partition]", or NULL when the text says it. */
void kafka_trouble_note(struct kafka_trouble *trouble, rd_kafka_resp_err_t code, const char *where,
                        const char *text);

/* SOURCE_FAILED or SOURCE_FATAL when one is due, each once; else SOURCE_NOTHING. */
struct source_event kafka_trouble_turn(struct kafka_trouble *trouble);

/* An input topic is gone: what is committed for it is refused for ever. */
bool kafka_trouble_is_missing(const struct kafka_trouble *trouble);

#endif
