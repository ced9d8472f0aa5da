/*
 * kafka_records: messages of librdkafka as records.
 *
 * Why: a message that is not compressed keeps the whole answer to a fetch in memory, with what
 * other partitions had in it: a small record that waits would hold megabytes that no window counts.
 * So a small one is copied out, those of one call into one block; a large one stays where it is.
 *
 * Thread: poll thread; the headers of a record are read by whoever holds it.
 */
#ifndef KAFKA_KAFKA_RECORDS_H
#define KAFKA_KAFKA_RECORDS_H

#include <librdkafka/rdkafka.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_role.h"
#include "stream/record.h"

/* Takes `count` messages of one partition, none of them an error, and writes as many records to
 * `recs`, each to be released. Borrows `topic` until then. */
void kafka_records_take(rd_kafka_message_t *const *messages, size_t count, const char *topic,
                        struct record *recs) ON_THREAD(poll_thread);
/* Gives one record's bytes back, in any order. */
void kafka_records_release(struct record *rec) ON_THREAD(poll_thread);

#endif
