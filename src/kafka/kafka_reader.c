#include "kafka/kafka_reader.h"

#include <librdkafka/rdkafka.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "kafka/kafka_settings.h"
#include "kafka/kafka_topics.h"

enum { BATCH = 256 };

struct kafka_reader {
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue;
    char *topic;
};

static bool assign_all(struct kafka_reader *reader, int count, struct error *err);

struct kafka_reader *kafka_reader_open(const char *brokers, const char *topic, struct error *err)
{
    CHECK(brokers != NULL);
    CHECK(topic != NULL);
    struct kafka_settings settings = {
        .brokers = brokers, .group = "moontide-reader", .offset_reset = "earliest"};
    rd_kafka_conf_t *conf = kafka_settings_consumer(&settings, err);
    if (conf == NULL) {
        return NULL;
    }
    struct kafka_reader *reader = memory_alloc(sizeof *reader);
    reader->topic = memory_copy_text(topic);
    char text[512];
    reader->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (reader->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        error_set(err, E_CONFIG, "consumer: %s", text);
        kafka_reader_close(reader);
        return NULL;
    }
    rd_kafka_poll_set_consumer(reader->rk);
    reader->queue = rd_kafka_queue_get_consumer(reader->rk);
    int32_t partitions = kafka_topics_check(reader->rk, topic, brokers, err);
    if (partitions == 0 || !assign_all(reader, partitions, err)) {
        kafka_reader_close(reader);
        return NULL;
    }
    return reader;
}

static bool assign_all(struct kafka_reader *reader, int count, struct error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, reader->topic, i)->offset =
            RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(reader->rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(err, E_BROKER, "topic \"%s\": %s", reader->topic, rd_kafka_err2str(code));
    }
    return true;
}

void kafka_reader_close(struct kafka_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->queue) {
        rd_kafka_queue_destroy(reader->queue);
    }
    if (reader->rk) {
        rd_kafka_destroy_flags(reader->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    memory_free(reader->topic);
    memory_free(reader);
}

size_t kafka_reader_read(struct kafka_reader *reader, size_t max, int timeout_ms,
                         void (*take)(void *context, const struct record *rec), void *context)
{
    rd_kafka_message_t *messages[BATCH];
    ssize_t got = rd_kafka_consume_batch_queue(reader->queue, timeout_ms, messages,
                                               max < BATCH ? max : BATCH);
    size_t count = 0;
    for (ssize_t i = 0; i < got; i++) {
        const rd_kafka_message_t *message = messages[i];
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            take(context,
                 &(struct record){.key = message->key,
                                  .value = message->payload,
                                  .key_size = (uint32_t)message->key_len,
                                  .value_size = (uint32_t)message->len,
                                  .offset = message->offset,
                                  .timestamp_ms = rd_kafka_message_timestamp(message, NULL),
                                  .topic = reader->topic,
                                  .partition = message->partition,
                                  .leader_epoch = -1});
            count++;
        } else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            log_warn("reader", LOG_STR("topic", reader->topic),
                     LOG_STR("text", rd_kafka_message_errstr(message)));
        }
        rd_kafka_message_destroy(messages[i]);
    }
    return count;
}
