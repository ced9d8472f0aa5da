/*
 * kafka_topics: asks the cluster whether topics are there.
 *
 * Why: a wrong broker address or a misspelled topic is told at the start, by name, and not by
 * silence.
 *
 * Thread: check: main thread, blocks up to about ten seconds; the others: any.
 */
#ifndef KAFKA_KAFKA_TOPICS_H
#define KAFKA_KAFKA_TOPICS_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "base/error.h"

/* The number of partitions when the topic is there; 0 and E_BROKER else. A topic that was made a
 * moment ago is waited for. `brokers` is for the message. */
int32_t kafka_topics_check(rd_kafka_t *rk, const char *topic, const char *brokers,
                           struct error *err);

/* The sentence for what a check, a look or the directory said; E_BROKER. */
void kafka_topics_explain(rd_kafka_resp_err_t result, const char *topic, int32_t partition,
                          const char *brokers, struct error *err);

/* One look, up to timeout_ms: what the cluster says of the topic, and its partitions when it is
 * there. _TIMED_OUT or _TRANSPORT: no broker answers. */
rd_kafka_resp_err_t kafka_topics_look(rd_kafka_t *rk, const char *topic, int timeout_ms,
                                      int32_t *partitions);

#endif
