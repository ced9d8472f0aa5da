/*
 * Fuzz target: records with headers through librdkafka, the embedded cluster, and back.
 *
 * Input: up to eight records: key, value, timestamp, headers. Checked beside memory: what the
 * source reads is what the sink was given, but for what Kafka's client is known to change: a
 * header's name ends at a NUL, and timestamp 0 is none.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread_role.h"
#include "fuzz/fuzz_target.h"
#include "kafka/embedded_cluster.h"
#include "kafka/kafka_sink.h"
#include "kafka/kafka_source.h"
#include "support/fuzz_input.h"

enum { RECORDS_MAX = 8, HEADERS_MAX = 5, PATIENCE_MS = 20000 };

struct ports {
    struct embedded_cluster *cluster;
    struct sink *sink;
    struct source *source;
    void *handle; /* of partition 0 */
    struct wakeup wakeup;
    struct clock_source timer;
};

struct sample {
    struct emission emission;
    struct header headers[HEADERS_MAX];
};

static const struct kafka_setting QUICK_CONSUMER[] = {{"fetch.wait.max.ms", "1", NULL}};
static const struct kafka_setting QUICK_PRODUCER[] = {{"linger.ms", "0", NULL}};

static void open_ports(struct ports *ports)
{
    static const char *const TOPICS[] = {"t"};
    struct error err = {.code = E_NONE};
    ports->cluster = embedded_cluster_create(&err);
    CHECK(ports->cluster != NULL);
    bool ok = embedded_cluster_add_topic(ports->cluster, "t", 1, &err);
    CHECK(ok);
    struct kafka_settings settings = {.brokers = embedded_cluster_brokers(ports->cluster),
                                      .group = "g",
                                      .offset_reset = "earliest",
                                      .consumer = {QUICK_CONSUMER, 1},
                                      .producer = {QUICK_PRODUCER, 1}};
    ports->sink =
        kafka_sink_open(&(struct kafka_sink_options){.settings = settings, .topic = "t"}, &err);
    CHECK(ports->sink != NULL);
    ports->source = kafka_source_open(
        &(struct kafka_source_options){
            .settings = settings, .topics = TOPICS, .topic_count = 1, .fixed_members = 1},
        &err);
    CHECK(ports->source != NULL);
    ports->sink->ops->attach(ports->sink, &ports->wakeup);
    ports->source->ops->attach(ports->source, &ports->wakeup);
    struct source_event event = ports->source->ops->poll(ports->source);
    CHECK(event.kind == SOURCE_ASSIGN);
    ports->handle = event.partitions[0].handle;
    ports->source->ops->answer(ports->source);
}

static struct ports *ports(void)
{
    static struct ports only;
    thread_role_set(ROLE_POLL);
    if (only.cluster == NULL) {
        log_set_level(LOG_LEVEL_ERROR);
        only.timer = clock_system();
        wakeup_init(&only.wakeup);
        open_ports(&only);
    }
    return &only;
}

static void make_sample(struct fuzz_input *input, struct sample *sample)
{
    struct emission *emission = &sample->emission;
    *emission = (struct emission){.partition = 0};
    emission->key = fuzz_input_nullable(input, 40, &emission->key_size);
    emission->value = fuzz_input_nullable(input, 250, &emission->value_size);
    emission->timestamp_ms = (int64_t)fuzz_input_byte(input) << (fuzz_input_byte(input) % 40);
    emission->timestamp_ms += 1;
    emission->header_count = fuzz_input_byte(input) % (HEADERS_MAX + 1);
    emission->headers = sample->headers;
    for (uint32_t i = 0; i < emission->header_count; i++) {
        struct header *header = &sample->headers[i];
        header->name = fuzz_input_bytes(input, 30, &header->name_size);
        header->value = fuzz_input_nullable(input, 60, &header->value_size);
    }
}

/* The name of a header with a NUL byte would be cut by readers: it is refused. */
static bool must_be_refused(const struct emission *emission)
{
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *header = &emission->headers[i];
        if (header->name_size > 0 && memchr(header->name, 0, header->name_size)) {
            return true;
        }
    }
    return false;
}

static void be_refused(struct ports *p, const struct emission *emission)
{
    struct error err;
    CHECK(p->sink->ops->send(p->sink, emission, 0, &err) == SINK_REFUSED);
    CHECK(strstr(err.text, "NUL") != NULL);
}

static void send_all(struct ports *p, const struct sample *samples, size_t count)
{
    struct error err;
    for (size_t i = 0; i < count; i++) {
        enum sink_result result = p->sink->ops->send(p->sink, &samples[i].emission, i, &err);
        CHECK(result == SINK_TAKEN);
    }
    p->sink->ops->push(p->sink);
    struct delivery reports[RECORDS_MAX];
    int64_t end_ms = clock_ms(&p->timer) + PATIENCE_MS;
    for (size_t reported = 0; reported < count;) {
        CHECK(clock_ms(&p->timer) < end_ms);
        size_t got = p->sink->ops->poll(p->sink, reports, RECORDS_MAX);
        for (size_t i = 0; i < got; i++) {
            CHECK(!reports[i].failed);
            CHECK(reports[i].tag == reported + i);
        }
        reported += got;
    }
}

static void check_headers(const struct emission *wanted, struct record *rec)
{
    struct arena arena;
    struct header *headers = NULL;
    arena_init(&arena);
    uint32_t count = rec->origin->read_headers(rec, &arena, &headers);
    CHECK(count == wanted->header_count);
    for (uint32_t i = 0; i < count; i++) {
        const struct header *given = &wanted->headers[i];
        CHECK(fuzz_same(given->name, given->name_size, headers[i].name, headers[i].name_size));
        CHECK(fuzz_same(given->value, given->value_size, headers[i].value, headers[i].value_size));
    }
    arena_fini(&arena);
}

static void read_all(struct ports *p, const struct sample *samples, size_t count)
{
    struct record recs[RECORDS_MAX];
    int64_t end_ms = clock_ms(&p->timer) + PATIENCE_MS;
    size_t got = 0;
    while (got < count) {
        CHECK(clock_ms(&p->timer) < end_ms);
        got += p->source->ops->fetch(p->source, p->handle, recs + got, count - got);
        struct source_event event = p->source->ops->poll(p->source);
        CHECK(event.kind != SOURCE_FATAL);
    }
    for (size_t i = 0; i < count; i++) {
        const struct emission *given = &samples[i].emission;
        CHECK(fuzz_same(given->key, given->key_size, recs[i].key, recs[i].key_size));
        CHECK(fuzz_same(given->value, given->value_size, recs[i].value, recs[i].value_size));
        CHECK(recs[i].timestamp_ms == given->timestamp_ms);
        check_headers(given, &recs[i]);
        p->source->ops->release(p->source, &recs[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.at = data, .left = size};
    struct sample samples[RECORDS_MAX];
    size_t count = 0;
    while (input.left > 0 && count < RECORDS_MAX) {
        make_sample(&input, &samples[count]);
        if (must_be_refused(&samples[count].emission)) {
            be_refused(ports(), &samples[count].emission);
        } else {
            count++;
        }
    }
    send_all(ports(), samples, count);
    read_all(ports(), samples, count);
    return 0;
}
