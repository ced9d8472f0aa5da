#include "kafka/kafka_topics.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/check.h"

enum { ANSWER_MS = 8000, TRIES = 20, PAUSE_US = 100000 };

static rd_kafka_resp_err_t look(rd_kafka_t *rk, rd_kafka_topic_t *handle, int timeout_ms,
                                int32_t *partitions);

int32_t kafka_topics_check(rd_kafka_t *rk, const char *topic, const char *brokers,
                           struct error *err)
{
    CHECK(topic != NULL);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
    if (handle == NULL) {
        error_set(err, E_BROKER, "topic \"%s\": %s", topic,
                  rd_kafka_err2str(rd_kafka_last_error()));
        return 0;
    }
    int32_t partitions = 0;
    rd_kafka_resp_err_t result = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < TRIES; i++) {
        result = look(rk, handle, ANSWER_MS, &partitions);
        bool may_come = result == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                        result == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        if (!may_come) {
            break;
        }
        usleep(PAUSE_US);
    }
    rd_kafka_topic_destroy(handle);
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka_topics_explain(result, topic, -1, brokers, err);
        return 0;
    }
    CHECK(partitions > 0);
    return partitions;
}

void kafka_topics_explain(rd_kafka_resp_err_t result, const char *topic, int32_t partition,
                          const char *brokers, struct error *err)
{
    if (result == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        error_set(err, E_BROKER, "topic \"%s\" does not exist on %s: create it, or check its name",
                  topic, brokers);
    } else if (result == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION) {
        error_set(err, E_BROKER, "topic \"%s\" has no partition %" PRId32, topic, partition);
    } else if (result == RD_KAFKA_RESP_ERR__TRANSPORT || result == RD_KAFKA_RESP_ERR__TIMED_OUT) {
        error_set(
            err, E_BROKER,
            "no broker of %s answers: check the address, and that it can be reached from here "
            "(%s)",
            brokers, rd_kafka_err2str(result));
    } else {
        error_set(err, E_BROKER, "topic \"%s\" on %s: %s", topic, brokers,
                  rd_kafka_err2str(result));
    }
}

rd_kafka_resp_err_t kafka_topics_look(rd_kafka_t *rk, const char *topic, int timeout_ms,
                                      int32_t *partitions)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
    if (handle == NULL) {
        return RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION; /* a name that no topic can have */
    }
    rd_kafka_resp_err_t result = look(rk, handle, timeout_ms, partitions);
    rd_kafka_topic_destroy(handle);
    return result;
}

static rd_kafka_resp_err_t look(rd_kafka_t *rk, rd_kafka_topic_t *handle, int timeout_ms,
                                int32_t *partitions)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t result = rd_kafka_metadata(rk, 0, handle, &metadata, timeout_ms);
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return result;
    }
    result = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (metadata->topic_cnt == 1) {
        const rd_kafka_metadata_topic_t *found = &metadata->topics[0];
        result = found->err;
        *partitions = found->partition_cnt;
        if (result == RD_KAFKA_RESP_ERR_NO_ERROR && found->partition_cnt == 0) {
            result = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
        }
    }
    rd_kafka_metadata_destroy(metadata);
    return result;
}
