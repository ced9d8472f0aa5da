#include "kafka/kafka_health.h"

#include <criterion/criterion.h>

#include "base/log.h"

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
