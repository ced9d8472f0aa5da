/*
 * kafka_health: whether any broker can be reached, from the statistics of the client.
 *
 * Why: librdkafka tells when all brokers are down, and never when one is back; its statistics tell
 * both, every two seconds. A consumer that is away goes on by itself; who runs it wants to know.
 *
 * Thread: poll thread.
 */
#ifndef KAFKA_KAFKA_HEALTH_H
#define KAFKA_KAFKA_HEALTH_H

#include <stdbool.h>

/* Embedded; the field is read-only outside kafka_health.c. All zero: reachable. */
struct kafka_health {
    bool away;
};

/* The text of a statistics event, JSON. Logs a change. */
void kafka_health_note(struct kafka_health *health, const char *statistics);

#endif
