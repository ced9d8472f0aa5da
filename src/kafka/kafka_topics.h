/*
 * kafka_topics: asks the cluster whether topics are there.
 *
 * Why: a wrong broker address or a misspelled topic is told at the start, by name, and not by silence.
 *
 * Thread: main thread; blocks up to about ten seconds.
 */
#ifndef KAFKA_KAFKA_TOPICS_H
#define KAFKA_KAFKA_TOPICS_H

#include <stdbool.h>

#include <librdkafka/rdkafka.h>

#include "base/error.h"

/* True when the topic is there and has a leader for each partition; E_BROKER else. A topic that was made
 * a moment ago is waited for. `brokers` is for the message. */
bool kafka_topics_check(rd_kafka_t *rk, const char *topic, const char *brokers, struct error *err);

#endif
