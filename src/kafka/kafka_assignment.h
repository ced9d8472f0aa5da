/*
 * kafka_assignment: the partitions that a consumer has, each with a queue of its own.
 *
 * Why: a partition gets its queue before it is assigned, so that no record ever goes elsewhere; and
 * whoever is told of partitions by name finds what belongs to them here.
 *
 * Thread: poll thread; init: main thread.
 * Owns: queues and names. Borrows: the client, the wakeup.
 */
#ifndef KAFKA_KAFKA_ASSIGNMENT_H
#define KAFKA_KAFKA_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "base/wakeup.h"

/* A name that lives as long as the assignment: records point to it. */
struct kafka_topic {
    struct kafka_topic *next;
    char name[];
};

/* The handle of the port. */
struct kafka_partition {
    struct kafka_partition *next;
    struct kafka_topic *topic;
    int32_t partition;
    rd_kafka_queue_t *queue;
    bool at_end; /* the source's: an END event is due */
};

/* Embedded; the fields are read-only outside kafka_assignment.c. */
struct kafka_assignment {
    rd_kafka_t *rk;
    struct wakeup *wakeup;
    struct kafka_topic *topics;
    struct kafka_partition *parts; /* in the order of their assignment */
};

void kafka_assignment_init(struct kafka_assignment *assignment, rd_kafka_t *rk);
/* Also when it was never initialized but is all zero. Before the client is destroyed. */
void kafka_assignment_fini(struct kafka_assignment *assignment);

/* The partition, NULL when it is not there. */
struct kafka_partition *kafka_assignment_find(const struct kafka_assignment *assignment,
                                              const char *topic, int32_t partition);
/* Adds one that is not there. */
struct kafka_partition *kafka_assignment_add(struct kafka_assignment *assignment, const char *topic,
                                             int32_t partition);
/* Removes those of the list that are there. */
void kafka_assignment_drop(struct kafka_assignment *assignment,
                           const rd_kafka_topic_partition_list_t *list);

#endif
