#include "kafka/embedded_cluster.h"

#include <string.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/check.h"
#include "base/memory.h"
#include "kafka/kafka_topics.h"

enum { BROKERS = 1, LOAD_MS = 30000, LOOK_MS = 5000 };

struct embedded_cluster {
    rd_kafka_t *rk; /* a producer: carries the cluster, and loads it */
    rd_kafka_mock_cluster_t *mock;
    uint64_t failed; /* deliveries of load that did not pass */
};

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    (void)rk;
    struct embedded_cluster *cluster = opaque;
    cluster->failed += message->err != RD_KAFKA_RESP_ERR_NO_ERROR;
}

struct embedded_cluster *embedded_cluster_create(struct error *err)
{
    struct embedded_cluster *cluster = memory_alloc(sizeof *cluster);
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_opaque(conf, cluster);
    rd_kafka_conf_set(conf, "client.id", "embedded", text, sizeof text);
    rd_kafka_conf_set(conf, "log_level", "0", text, sizeof text);
    cluster->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (cluster->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        memory_free(cluster);
        error_set(err, E_RUNTIME, "embedded Kafka: %s", text);
        return NULL;
    }
    cluster->mock = rd_kafka_mock_cluster_new(cluster->rk, BROKERS);
    if (cluster->mock == NULL) {
        embedded_cluster_destroy(cluster);
        error_set(err, E_RUNTIME, "embedded Kafka: it cannot listen on loopback");
        return NULL;
    }
    rd_kafka_brokers_add(cluster->rk, rd_kafka_mock_cluster_bootstraps(cluster->mock));
    return cluster;
}

void embedded_cluster_destroy(struct embedded_cluster *cluster)
{
    if (cluster == NULL) {
        return;
    }
    if (cluster->mock) {
        rd_kafka_mock_cluster_destroy(cluster->mock);
    }
    rd_kafka_destroy(cluster->rk);
    memory_free(cluster);
}

const char *embedded_cluster_brokers(const struct embedded_cluster *cluster)
{
    return rd_kafka_mock_cluster_bootstraps(cluster->mock);
}

bool embedded_cluster_add_topic(struct embedded_cluster *cluster, const char *topic,
                                int32_t partitions, struct error *err)
{
    CHECK(partitions > 0);
    rd_kafka_resp_err_t code =
        rd_kafka_mock_topic_create(cluster->mock, topic, partitions, BROKERS);
    int32_t present = 0;
    if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS &&
        kafka_topics_look(cluster->rk, topic, LOOK_MS, &present) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        present == partitions) {
        return true;
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(err, E_BROKER, "embedded Kafka: topic \"%s\": %s", topic,
                         rd_kafka_err2str(code));
    }
    return true;
}

static bool load_line(struct embedded_cluster *cluster, const char *topic, const char *line,
                      size_t size, struct error *err)
{
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            cluster->rk, RD_KAFKA_VTYPE_TOPIC, topic, RD_KAFKA_VTYPE_MSGFLAGS, RD_KAFKA_MSG_F_COPY,
            RD_KAFKA_VTYPE_VALUE, line, size, RD_KAFKA_VTYPE_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return true;
        }
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            return error_set(err, E_BROKER, "embedded Kafka: loading \"%s\": %s", topic,
                             rd_kafka_err2str(code));
        }
        rd_kafka_poll(cluster->rk, 10);
    }
}

bool embedded_cluster_load_lines(struct embedded_cluster *cluster, const char *topic,
                                 const char *text, size_t size, uint64_t *count, struct error *err)
{
    size_t at = 0;
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        if (!load_line(cluster, topic, text + at, length, err)) {
            return false;
        }
        ++*count;
        at += length + 1;
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(cluster->rk, LOAD_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || cluster->failed > 0) {
        return error_set(err, E_BROKER, "embedded Kafka: loading \"%s\": not all lines were stored",
                         topic);
    }
    return true;
}
