/*
 * kafka_source: the source port on a consumer of a Kafka group.
 *
 * Why: each assigned partition has a queue of its own that only fetch drains; a partition that is
 * not fetched is held by librdkafka's bounded prefetch, without pause and resume, which cost up to
 * a second and may lose records. Rebalances come as events and are answered when the engine has
 * drained; librdkafka waits for that, and so does the group.
 *
 * A topic that gets more partitions is noticed within topic.metadata.refresh.interval.ms (30 s);
 * they are read from their beginning, also with auto.offset.reset = latest. A topic that is deleted
 * ends the run with SOURCE_FAILED.
 *
 * Thread: open, destroy: main thread. The port: poll thread. read_headers: the holder of the
 * record. Owns: the consumer, its queues.
 */
#ifndef KAFKA_KAFKA_SOURCE_H
#define KAFKA_KAFKA_SOURCE_H

#include <stddef.h>

#include "base/error.h"
#include "kafka/kafka_settings.h"
#include "stream/source.h"

struct kafka_source_options {
    struct kafka_settings settings;
    const char *const *topics; /* copied */
    size_t topic_count;
    unsigned member; /* index of this one among those of the process; a group.instance.id but that
                      * of the first gets it as a suffix */
    /* 0: partitions come from the group. Else the group is not joined: member i of n has the
     * partitions i, i + n, ... of each topic; offsets are committed all the same. For a cluster
     * that nobody else uses. */
    unsigned fixed_members;
};

/* Connects and checks that the topics exist, within about ten seconds: E_BROKER when no broker
 * answers or a topic is not there; E_CONFIG... when a setting is not taken. Joins the group with
 * attach. */
struct source *kafka_source_open(const struct kafka_source_options *options, struct error *err);

#endif
