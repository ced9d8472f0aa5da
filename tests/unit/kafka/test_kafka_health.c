#include "kafka/kafka_health.h"

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_role.h"
#include "kafka/kafka_source.h"

enum { PATIENCE_MS = 20000 };

static struct kafka_health health;

static void begin(void)
{
    log_set_level(LOG_LEVEL_ERROR);
}

TestSuite(kafka_health, .init = begin);

/* As librdkafka writes it, shortened. */
#define STATISTICS(first, second)                                                                  \
    "{ \"name\": \"a#consumer-1\", \"brokers\":{ \"b:9092/1\": { \"nodeid\":1, \"state\":\"" first \
    "\", \"stateage\":5 } , \"GroupCoordinator\": { \"nodeid\":1, \"state\":\"" second             \
    "\" } }, \"topics\":{  } , \"cgrp\": { \"state\": \"up\", \"join_state\": \"steady\" } }"

Test(kafka_health, one_broker_that_is_up_is_enough)
{
    kafka_health_note(&health, STATISTICS("INIT", "UP"));
    cr_assert_not(health.away);
}

Test(kafka_health, away_and_back)
{
    kafka_health_note(&health, STATISTICS("DOWN", "CONNECT"));
    cr_assert(health.away);
    kafka_health_note(&health, STATISTICS("UP", "CONNECT"));
    cr_assert_not(health.away);
}

Test(kafka_health, what_says_nothing_changes_nothing)
{
    kafka_health_note(&health, STATISTICS("DOWN", "DOWN"));
    kafka_health_note(&health, "{}");
    cr_assert(health.away);
}

static bool becomes(struct source *source, bool away)
{
    struct clock_source timer = clock_system();
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while (source->ops->is_away(source) != away && clock_ms(&timer) < end_ms) {
        struct source_event event = source->ops->poll(source);
        if (event.kind == SOURCE_ASSIGN) {
            source->ops->answer(source);
        }
        usleep(10000);
    }
    return source->ops->is_away(source) == away;
}

Test(kafka_health, a_broker_that_goes_down_and_comes_up_is_noticed, .timeout = 60)
{
    static const char *const TOPICS[] = {"t"};
    static const struct kafka_setting OFTEN[] = {{"statistics.interval.ms", "100", NULL}};
    struct error err;
    struct wakeup wakeup;
    rd_kafka_t *carrier = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(carrier, 1);
    cr_assert_not_null(cluster);
    rd_kafka_mock_topic_create(cluster, "t", 1, 1);
    thread_role_set(ROLE_POLL);
    wakeup_init(&wakeup);
    struct kafka_source_options options = {
        .settings = {.brokers = rd_kafka_mock_cluster_bootstraps(cluster),
                     .group = "g",
                     .offset_reset = "earliest",
                     .consumer = {.items = OFTEN, .count = 1}},
        .topics = TOPICS,
        .topic_count = 1,
        .fixed_members = 1};
    struct source *source = kafka_source_open(&options, &err);
    cr_assert_not_null(source, "%s", err.text);
    source->ops->attach(source, &wakeup);
    cr_assert(becomes(source, false));
    rd_kafka_mock_broker_set_down(cluster, 1);
    cr_assert(becomes(source, true));
    rd_kafka_mock_broker_set_up(cluster, 1);
    cr_assert(becomes(source, false));
    source->ops->destroy(source);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(carrier);
    wakeup_fini(&wakeup);
}
