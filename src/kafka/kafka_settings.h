/*
 * kafka_settings: what librdkafka's clients are told: our defaults, the user's keys, what we must
 * have.
 *
 * Why: the user's keys pass through unread, so security and tuning need no code here; a key that
 * librdkafka does not know is an error that says where it stands and which name is near. The keys
 * that the engine's promises rest on come last, so nothing overrides them (the reserved ones are
 * refused before, in config).
 *
 * Thread: main thread.
 * Borrows: all strings, for each call.
 */
#ifndef KAFKA_KAFKA_SETTINGS_H
#define KAFKA_KAFKA_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <librdkafka/rdkafka.h>

#include "base/error.h"

struct kafka_setting {
    const char *name;
    const char *value;
    const char *origin; /* "app.ini:12", "command line" */
};

struct kafka_setting_list {
    const struct kafka_setting *items;
    size_t count;
};

/* The strings live as long as the source or sink that is made with them. */
struct kafka_settings {
    const char *brokers;
    const char *group;        /* consumers */
    const char *client_id;    /* NULL: librdkafka's */
    const char *offset_reset; /* consumers: earliest, latest, error */
    struct kafka_setting_list common;
    struct kafka_setting_list consumer;
    struct kafka_setting_list producer;
};

/* A configuration for rd_kafka_new; NULL and err when a key is unknown or its value is not taken.
 */
rd_kafka_conf_t *kafka_settings_consumer(const struct kafka_settings *settings, struct error *err);
rd_kafka_conf_t *kafka_settings_producer(const struct kafka_settings *settings, struct error *err);

/* True when both would be made: keys and values are checked though no client is needed. brokers and
 * group may be NULL. */
bool kafka_settings_check(const struct kafka_settings *settings, struct error *err);

#endif
