/*
 * kafka_sink: the sink port on an idempotent producer.
 *
 * Why: an emission counts as gone with its delivery report, which librdkafka gives in batches and
 * which carries the tag of the slot. Small payloads are copied into librdkafka's message; large
 * ones are borrowed until the report, as the port allows.
 *
 * Thread: open, destroy: main thread. The port: poll thread.
 * Owns: the producer, its topics.
 */
#ifndef KAFKA_KAFKA_SINK_H
#define KAFKA_KAFKA_SINK_H

#include "base/error.h"
#include "kafka/kafka_settings.h"
#include "stream/sink.h"

struct kafka_sink_options {
    struct kafka_settings settings;
    const char *topic;             /* default output; NULL: none */
    const char *dead_letter_topic; /* NULL: none */
};

/* Connects, and checks that both topics exist, within about ten seconds: E_BROKER else. */
struct sink *kafka_sink_open(const struct kafka_sink_options *options, struct error *err);

#endif
