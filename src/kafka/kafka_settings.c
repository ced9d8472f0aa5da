#include "kafka/kafka_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

/* Ours, and the user may choose otherwise. */
static const struct kafka_setting CONSUMER_DEFAULTS[] = {
    {"fetch.wait.max.ms", "50", NULL},
    {"fetch.min.bytes", "1", NULL},
    /* the bytes are the bound; a bound on messages would pause fetching for up to a second */
    {"queued.min.messages", "1000000", NULL},
    {"queued.max.messages.kbytes", "16384", NULL},
    {"socket.nagle.disable", "true", NULL},
    {"session.timeout.ms", "10000", NULL},
    /* from which kafka_health learns whether a broker can be reached */
    {"statistics.interval.ms", "2000", NULL},
    /* how soon a topic that got more partitions is noticed */
    {"topic.metadata.refresh.interval.ms", "30000", NULL},
    {"partition.assignment.strategy", "range,roundrobin", NULL},
};

static const struct kafka_setting PRODUCER_DEFAULTS[] = {
    {"linger.ms", "5", NULL},
    {"batch.num.messages", "10000", NULL},
    {"queue.buffering.max.messages", "200000", NULL},
    {"socket.nagle.disable", "true", NULL},
    /* as Java producers do it, so that both agree on the partition of a key */
    {"partitioner", "murmur2_random", NULL},
};

/* What the engine rests on. */
static const struct kafka_setting CONSUMER_FIXED[] = {
    {"enable.auto.commit", "false", NULL},
    {"enable.auto.offset.store", "false", NULL},
    {"enable.partition.eof", "true", NULL},
};

static const struct kafka_setting PRODUCER_FIXED[] = {
    {"enable.idempotence", "true", NULL},
    {"acks", "all", NULL},
};

enum { NAMES_MAX = 512 };

static bool set_all(rd_kafka_conf_t *conf, const struct kafka_setting *items, size_t count,
                    struct error *err);
static bool refuse_unknown(const struct kafka_setting *setting, struct error *err);
static void forward_log(const rd_kafka_t *rk, int level, const char *facility, const char *text);

#define SET_TABLE(conf, table, err) set_all(conf, table, sizeof(table) / sizeof(table)[0], err)

static bool set_one(rd_kafka_conf_t *conf, const char *name, const char *value, struct error *err)
{
    const struct kafka_setting setting = {name, value, NULL};
    return value == NULL || set_all(conf, &setting, 1, err);
}

static rd_kafka_conf_t *begin(const struct kafka_settings *settings, struct error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, forward_log);
    if (set_one(conf, "bootstrap.servers", settings->brokers, err) &&
        set_one(conf, "client.id", settings->client_id, err)) {
        return conf;
    }
    rd_kafka_conf_destroy(conf);
    return NULL;
}

rd_kafka_conf_t *kafka_settings_consumer(const struct kafka_settings *settings, struct error *err)
{
    CHECK(settings->brokers != NULL);
    CHECK(settings->group != NULL);
    rd_kafka_conf_t *conf = begin(settings, err);
    if (conf == NULL) {
        return NULL;
    }
    if (SET_TABLE(conf, CONSUMER_DEFAULTS, err) &&
        set_one(conf, "group.id", settings->group, err) &&
        set_one(conf, "auto.offset.reset", settings->offset_reset, err) &&
        set_all(conf, settings->common.items, settings->common.count, err) &&
        set_all(conf, settings->consumer.items, settings->consumer.count, err) &&
        SET_TABLE(conf, CONSUMER_FIXED, err)) {
        return conf;
    }
    rd_kafka_conf_destroy(conf);
    return NULL;
}

rd_kafka_conf_t *kafka_settings_producer(const struct kafka_settings *settings, struct error *err)
{
    CHECK(settings->brokers != NULL);
    rd_kafka_conf_t *conf = begin(settings, err);
    if (conf == NULL) {
        return NULL;
    }
    if (SET_TABLE(conf, PRODUCER_DEFAULTS, err) &&
        set_all(conf, settings->common.items, settings->common.count, err) &&
        set_all(conf, settings->producer.items, settings->producer.count, err) &&
        SET_TABLE(conf, PRODUCER_FIXED, err)) {
        return conf;
    }
    rd_kafka_conf_destroy(conf);
    return NULL;
}

bool kafka_settings_check(const struct kafka_settings *settings, struct error *err)
{
    struct kafka_settings full = *settings;
    full.brokers = full.brokers ? full.brokers : "none";
    full.group = full.group ? full.group : "none";
    rd_kafka_conf_t *consumer = kafka_settings_consumer(&full, err);
    rd_kafka_conf_t *producer = consumer ? kafka_settings_producer(&full, err) : NULL;
    bool good = producer != NULL;
    if (consumer) {
        rd_kafka_conf_destroy(consumer);
    }
    if (producer) {
        rd_kafka_conf_destroy(producer);
    }
    return good;
}

static bool set_all(rd_kafka_conf_t *conf, const struct kafka_setting *items, size_t count,
                    struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        char text[512];
        rd_kafka_conf_res_t result =
            rd_kafka_conf_set(conf, items[i].name, items[i].value, text, sizeof text);
        if (result == RD_KAFKA_CONF_UNKNOWN) {
            return refuse_unknown(&items[i], err);
        }
        if (result != RD_KAFKA_CONF_OK) {
            return error_set(err, E_CONFIG, "%s: %s: %s",
                             items[i].origin ? items[i].origin : "kafka", items[i].name, text);
        }
    }
    return true;
}

static bool refuse_unknown(const struct kafka_setting *setting, struct error *err)
{
    rd_kafka_conf_t *all = rd_kafka_conf_new();
    size_t count = 0;
    const char **dump = rd_kafka_conf_dump(all, &count);
    const char *names[NAMES_MAX] = {NULL};
    size_t name_count = 0;
    for (size_t i = 0; i + 1 < count && name_count < NAMES_MAX; i += 2) {
        names[name_count++] = dump[i];
    }
    const char *nearest = text_nearest(setting->name, names, name_count);
    error_set(err, E_CONFIG_UNKNOWN, "%s: librdkafka has no option \"%s\"%s%s%s",
              setting->origin ? setting->origin : "kafka", setting->name,
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    rd_kafka_conf_dump_free(dump, count);
    rd_kafka_conf_destroy(all);
    return false;
}

/* librdkafka's own log goes through ours; it never holds the values of options. */
static void forward_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    enum log_level ours = level <= 3   ? LOG_LEVEL_ERROR
                          : level <= 4 ? LOG_LEVEL_WARN
                          : level <= 6 ? LOG_LEVEL_INFO
                                       : LOG_LEVEL_DEBUG;
    if (ours == LOG_LEVEL_ERROR) {
        ours = LOG_LEVEL_WARN; /* it tries again by itself; what is final arrives as an event */
    }
    LOG_AT(ours, "librdkafka", LOG_STR("client", rk ? rd_kafka_name(rk) : NULL),
           LOG_STR("facility", facility), LOG_STR("text", text), LOG_END);
}
