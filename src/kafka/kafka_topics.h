/*
 * kafka_topics: asks the cluster whether topics are there.
 *
 * Why: a wrong broker address or a misspelled topic is told at the start, by name, and not by
 * silence.
 *
 * Thread: main thread; blocks up to about ten seconds.
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

#endif
