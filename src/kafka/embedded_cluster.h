/*
 * embedded_cluster: librdkafka's mock cluster inside the process, for demos and prototypes.
 *
 * Why: the main job runs on a machine without Kafka, with the same clients and commits.
 * Its limits, which are the mock's: it keeps about 5 MiB a partition and forgets older records;
 * everything is gone with the process; it has no transactions worth the name and no compaction. Its
 * groups take three seconds to join, and now and then turn a member away; so the pipelines of the
 * process share its partitions among themselves without a group (kafka_source.h, fixed_members).
 *
 * Thread: main thread; the cluster has threads of its own.
 * Owns: the cluster and the client that carries it.
 */
#ifndef KAFKA_EMBEDDED_CLUSTER_H
#define KAFKA_EMBEDDED_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct embedded_cluster;

/* One broker on loopback. NULL and err when it cannot listen. */
struct embedded_cluster *embedded_cluster_create(struct error *err);
/* Accepts NULL. All clients are gone. */
void embedded_cluster_destroy(struct embedded_cluster *cluster);

/* "127.0.0.1:PORT"; borrowed. */
const char *embedded_cluster_brokers(const struct embedded_cluster *cluster);

/* Makes a topic. False and err when it is there already with another number of partitions. */
bool embedded_cluster_add_topic(struct embedded_cluster *cluster, const char *topic,
                                int32_t partitions, struct error *err);

/* Writes each line of the text as a record without a key, spread over the partitions; adds to
 * *count. Returns when all are stored; E_BROKER when one is not. */
bool embedded_cluster_load_lines(struct embedded_cluster *cluster, const char *topic,
                                 const char *text, size_t size, uint64_t *count, struct error *err);

#endif
