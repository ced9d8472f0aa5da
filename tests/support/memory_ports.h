/*
 * memory_ports: a source, a sink and a processor in memory, for tests and benchmarks of the engine
 * with real threads.
 *
 * Why: they cost next to nothing, so that a benchmark measures the engine; and they remember what
 * came out in which order.
 *
 * Thread: as the ports say; the queries after the engine has ended.
 */
#ifndef SUPPORT_MEMORY_PORTS_H
#define SUPPORT_MEMORY_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/processor.h"
#include "stream/sink.h"
#include "stream/source.h"

/* What one input partition holds: `records` records, offsets with gaps, one key of `keys` in turn
 * by a fixed pseudo-random order; 0 keys: no key. */
struct memory_topic {
    int32_t partitions;
    uint64_t records; /* in each partition */
    uint32_t keys;
};

/* The offset and the key number of the record at `index` of a partition. */
int64_t memory_offset(uint64_t index);
uint32_t memory_key(const struct memory_topic *topic, int32_t partition, uint64_t index);

/* A source of the partitions p with p % pipelines == pipeline. */
struct source *memory_source_create(const struct memory_topic *topic, unsigned pipeline,
                                    unsigned pipelines);
/* The last position committed of a partition of this source, -1: none. */
int64_t memory_source_committed(const struct source *source, int32_t partition);

/* What came out for one partition, in order. */
struct memory_output {
    int64_t *offsets; /* of the input records, as the processors emit them */
    size_t count;
};

/* Remembers when `keep`; emissions carry the input offset in the value (8 bytes, native order). */
struct sink *memory_sink_create(int32_t partitions, bool keep);
struct memory_output memory_sink_output(const struct sink *sink, int32_t partition);
uint64_t memory_sink_count(const struct sink *sink);

/* Emits each record's offset to its partition, after sleeping a random time up to sleep_us. */
struct processor *memory_processor_create(unsigned worker, unsigned sleep_us);

#endif
