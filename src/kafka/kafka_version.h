/*
 * kafka_version: which librdkafka is linked.
 *
 * Thread: any.
 */
#ifndef KAFKA_KAFKA_VERSION_H
#define KAFKA_KAFKA_VERSION_H

/* "2.0.2"; borrowed, constant. */
const char *kafka_version(void);

#endif
