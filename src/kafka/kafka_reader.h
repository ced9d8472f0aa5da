/*
 * kafka_reader: reads all partitions of a topic from the beginning, without a group and without
 * commits.
 *
 * Why: to show what stands in a topic is another job than processing it; nobody's offsets change.
 *
 * Thread: one thread at a time.
 * Owns: a consumer.
 */
#ifndef KAFKA_KAFKA_READER_H
#define KAFKA_KAFKA_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"

struct kafka_reader;

/* NULL and err when the topic is not there within about ten seconds. */
struct kafka_reader *kafka_reader_open(const char *brokers, const char *topic, struct error *err);
/* Accepts NULL. */
void kafka_reader_close(struct kafka_reader *reader);

/* Calls `take` for each of up to `max` records that arrive within timeout_ms, in the order of each
 * partition; the record is valid for the call. Returns how many there were. */
size_t kafka_reader_read(struct kafka_reader *reader, size_t max, int timeout_ms,
                         void (*take)(void *context, const struct record *rec), void *context);

#endif
