/*
 * kafka_directory: which topics a cluster has, asked without blocking.
 *
 * Why: librdkafka answers that question only by waiting for a broker, which a poll thread must not
 * do; a topic that nobody made is told by it after half a minute, when other outputs of the same
 * record have long left. So a thread of its own asks, and remembers.
 *
 *   unknown -> asked (find) -> there | refused (the thread); there -> asked (doubt, or a partition
 *   beyond those known); refused -> asked (find, after a while)
 *
 * Thread: create, destroy: main thread. The others: one thread, the owner of the wakeup.
 * Owns: its thread, which begins with the first question. Borrows: the client.
 */
#ifndef KAFKA_KAFKA_DIRECTORY_H
#define KAFKA_KAFKA_DIRECTORY_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "base/wakeup.h"

struct kafka_directory;

struct kafka_directory *kafka_directory_create(rd_kafka_t *rk);
/* Accepts NULL. Waits for a question that is under way, a second at most. */
void kafka_directory_destroy(struct kafka_directory *directory);

/* Who is woken when an answer has come; borrowed. Before the first question. */
void kafka_directory_attach(struct kafka_directory *directory, struct wakeup *wakeup);

/* RD_KAFKA_RESP_ERR_NO_ERROR: the topic is there and has that partition (-1: any).
 * RD_KAFKA_RESP_ERR__IN_PROGRESS: not known yet; ask again when woken. Any other: what the cluster
 * says; UNKNOWN_TOPIC_OR_PART not before the topic was missing for two seconds, since one that was
 * made a moment ago is not known everywhere. */
rd_kafka_resp_err_t kafka_directory_find(struct kafka_directory *directory, const char *topic,
                                         int32_t partition);

/* What is known of the topic may be out of date: find asks anew, and believes that it is missing
 * only after patience_ms. */
void kafka_directory_doubt(struct kafka_directory *directory, const char *topic, int patience_ms);

#endif
