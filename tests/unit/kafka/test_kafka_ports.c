#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_role.h"
#include "kafka/embedded_cluster.h"
#include "kafka/kafka_reader.h"
#include "kafka/kafka_sink.h"
#include "kafka/kafka_source.h"

/* Source and sink on librdkafka's mock cluster: bytes, events, commits, refusals. Groups and
 * rebalances are tested on a real broker (tests/integration), since the mock's are not like
 * Kafka's. */

enum { PATIENCE_MS = 15000 };

static struct embedded_cluster *cluster;
static struct clock_source timer;
static struct wakeup wakeup;

static void setup(void)
{
    struct error err;
    log_set_level(LOG_LEVEL_ERROR);
    thread_role_set(ROLE_POLL);
    timer = clock_system();
    wakeup_init(&wakeup);
    cluster = embedded_cluster_create(&err);
    cr_assert_not_null(cluster, "%s", err.text);
    cr_assert(embedded_cluster_add_topic(cluster, "t", 2, &err), "%s", err.text);
}

static void teardown(void)
{
    embedded_cluster_destroy(cluster);
    wakeup_fini(&wakeup);
}

TestSuite(kafka_ports, .init = setup, .fini = teardown, .timeout = 60);

static struct kafka_settings settings(void)
{
    return (struct kafka_settings){
        .brokers = embedded_cluster_brokers(cluster), .group = "g", .offset_reset = "earliest"};
}

static struct sink *open_sink(void)
{
    struct error err;
    struct kafka_sink_options options = {.settings = settings(), .topic = "t"};
    struct sink *sink = kafka_sink_open(&options, &err);
    cr_assert_not_null(sink, "%s", err.text);
    sink->ops->attach(sink, &wakeup);
    return sink;
}

static struct source *open_source(void)
{
    static const char *const TOPICS[] = {"t"};
    struct error err;
    struct kafka_source_options options = {
        .settings = settings(), .topics = TOPICS, .topic_count = 1, .fixed_members = 1};
    struct source *source = kafka_source_open(&options, &err);
    cr_assert_not_null(source, "%s", err.text);
    source->ops->attach(source, &wakeup);
    return source;
}

static void give(struct sink *sink, const struct emission *emission, uint64_t tag)
{
    struct error err;
    cr_assert_eq(sink->ops->send(sink, emission, tag, &err), SINK_TAKEN);
}

/* Waits for that many good reports; returns the tag of the last. */
static uint64_t await_reports(struct sink *sink, size_t count)
{
    struct delivery reports[8];
    uint64_t tag = 0;
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while (count > 0) {
        cr_assert_lt(clock_ms(&timer), end_ms, "no report");
        size_t got = sink->ops->poll(sink, reports, 8);
        for (size_t i = 0; i < got; i++) {
            cr_assert_not(reports[i].failed);
            tag = reports[i].tag;
        }
        count -= got;
    }
    return tag;
}

static struct source_event await(struct source *source, enum source_event_kind kind)
{
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    for (;;) {
        cr_assert_lt(clock_ms(&timer), end_ms, "event %d does not come", (int)kind);
        struct source_event event = source->ops->poll(source);
        cr_assert_neq(event.kind, SOURCE_FATAL);
        if (event.kind == kind) {
            return event;
        }
        cr_assert(event.kind == SOURCE_NOTHING || event.kind == SOURCE_END ||
                  event.kind == SOURCE_READY);
    }
}

/* The assigned partition `number` of the answered assignment. */
static void *assign(struct source *source, int32_t number)
{
    struct source_event event = await(source, SOURCE_ASSIGN);
    cr_assert_eq(event.partition_count, 2);
    void *handle = NULL;
    for (size_t i = 0; i < 2; i++) {
        cr_assert_str_eq(event.partitions[i].topic, "t");
        handle = event.partitions[i].partition == number ? event.partitions[i].handle : handle;
    }
    source->ops->answer(source);
    await(source, SOURCE_READY);
    return handle;
}

static size_t fetch(struct source *source, void *handle, struct record *recs, size_t wanted)
{
    size_t count = 0;
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while (count < wanted) {
        cr_assert_lt(clock_ms(&timer), end_ms, "%zu of %zu records", count, wanted);
        count += source->ops->fetch(source, handle, recs + count, wanted - count);
        source->ops->poll(source);
    }
    return count;
}

static void release(struct source *source, struct record *recs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        source->ops->release(source, &recs[i]);
    }
}

static void leave(struct source *source)
{
    source->ops->close(source);
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    for (;;) {
        cr_assert_lt(clock_ms(&timer), end_ms);
        struct source_event event = source->ops->poll(source);
        if (event.kind == SOURCE_REVOKE || event.kind == SOURCE_LOST) {
            source->ops->answer(source);
        }
        if (event.kind == SOURCE_CLOSED) {
            break;
        }
    }
    source->ops->destroy(source);
}

Test(kafka_ports, bytes_none_and_empty_round_trip)
{
    static const struct header HEADERS[] = {
        {"a", "1", 1, 1}, {"b", NULL, 1, 0}, {"a", "", 1, 0}, {"c", "\0\n", 1, 2}};
    static char big[5000];
    memset(big, 'x', sizeof big);
    struct emission out[] = {
        {.partition = 0, .timestamp_ms = 1777629600123},
        {.partition = 0, .key = "", .value = "", .timestamp_ms = 1777629600124},
        {.partition = 0,
         .key = "k\0\n",
         .key_size = 3,
         .value = "v\0\377",
         .value_size = 3,
         .headers = HEADERS,
         .header_count = 4,
         .timestamp_ms = 1777629600125},
        {.partition = 0,
         .key = "big",
         .key_size = 3,
         .value = big,
         .value_size = sizeof big,
         .timestamp_ms = 1777629600126},
    };
    struct sink *sink = open_sink();
    for (size_t i = 0; i < 4; i++) {
        give(sink, &out[i], UINT64_C(0xfedcba9876543210) + i);
    }
    sink->ops->push(sink);
    cr_assert_eq(await_reports(sink, 4), UINT64_C(0xfedcba9876543213));
    sink->ops->destroy(sink);

    struct source *source = open_source();
    void *handle = assign(source, 0);
    struct record recs[4];
    cr_expect_leq(source->ops->end_offset(source, handle), 4, "before the first answer: unknown");
    fetch(source, handle, recs, 4);
    cr_expect_eq(source->ops->end_offset(source, handle), 4);
    cr_expect_not(source->ops->is_away(source));
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(recs[i].offset, (int64_t)i);
        cr_expect_eq(recs[i].timestamp_ms, out[i].timestamp_ms);
        cr_expect_eq(recs[i].key == NULL, out[i].key == NULL, "key of %zu", i);
        cr_expect_eq(recs[i].value == NULL, out[i].value == NULL, "value of %zu", i);
        cr_assert_eq(recs[i].key_size, out[i].key_size);
        cr_assert_eq(recs[i].value_size, out[i].value_size);
        if (out[i].value_size > 0) {
            cr_expect_eq(memcmp(recs[i].value, out[i].value, out[i].value_size), 0);
        }
    }
    struct arena arena;
    arena_init(&arena);
    struct header *headers = NULL;
    cr_assert_eq(recs[0].origin->read_headers(&recs[0], &arena, &headers), 0);
    cr_assert_eq(recs[2].origin->read_headers(&recs[2], &arena, &headers), 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(headers[i].name_size, 1);
        cr_expect_eq(headers[i].name[0], HEADERS[i].name[0]);
        cr_expect_eq(headers[i].value == NULL, HEADERS[i].value == NULL, "header %zu", i);
        cr_expect_eq(headers[i].value_size, HEADERS[i].value_size);
    }
    arena_fini(&arena);
    release(source, recs, 4);
    leave(source);
}

/* What a message is cut from may hold megabytes of other partitions, so a small one is not kept. */
Test(kafka_ports, small_records_are_copied_and_go_in_any_order)
{
    static const struct header HEADERS[] = {{"h", "one", 1, 3}};
    static char big[5000];
    struct sink *sink = open_sink();
    for (int i = 0; i < 4; i++) {
        struct emission emission = {.partition = 0,
                                    .key = &"0123"[i],
                                    .key_size = 1,
                                    .value = i == 1 ? big : "small",
                                    .value_size = i == 1 ? sizeof big : 5,
                                    .headers = HEADERS,
                                    .header_count = i == 2,
                                    .timestamp_ms = -1};
        give(sink, &emission, 0);
    }
    await_reports(sink, 4);
    sink->ops->destroy(sink);
    struct source *source = open_source();
    void *handle = assign(source, 0);
    int64_t end_ms = clock_ms(&timer) + 1500; /* until all wait in the queue */
    while (clock_ms(&timer) < end_ms) {
        source->ops->poll(source);
    }
    struct record recs[4];
    cr_assert_eq(source->ops->fetch(source, handle, recs, 4), 4);
    cr_expect_eq(recs[0].value, recs[0].key + 1);
    cr_expect_eq(recs[2].key, recs[0].value + 5, "small ones lie in one block");
    cr_expect_eq(recs[3].key, recs[2].value + 5);
    release(source, recs + 3, 1);
    release(source, recs, 2);
    cr_expect_eq(memcmp(recs[2].key, "2small", 6), 0);
    struct arena arena;
    arena_init(&arena);
    struct header *headers = NULL;
    cr_assert_eq(recs[2].origin->read_headers(&recs[2], &arena, &headers), 1);
    cr_expect_eq(memcmp(headers[0].value, "one", 3), 0);
    arena_fini(&arena);
    release(source, recs + 2, 1);
    leave(source);
}

Test(kafka_ports, a_restart_resumes_at_the_committed_offset)
{
    struct sink *sink = open_sink();
    for (int i = 0; i < 10; i++) {
        struct emission emission = {
            .partition = 1, .value = &"0123456789"[i], .value_size = 1, .timestamp_ms = -1};
        give(sink, &emission, 0);
    }
    await_reports(sink, 10);
    sink->ops->destroy(sink);

    struct source *source = open_source();
    void *handle = assign(source, 1);
    struct record recs[10];
    fetch(source, handle, recs, 10);
    struct source_commit commit = {.handle = handle, .position = 7, .tag = 99};
    source->ops->commit(source, &commit, 1);
    struct source_event event = await(source, SOURCE_COMMITTED);
    cr_assert_eq(event.commit_count, 1);
    cr_assert_eq(event.commits[0].tag, 99);
    cr_assert_eq(event.commits[0].position, 7);
    cr_assert_not(event.commits[0].refused);
    release(source, recs, 10);
    leave(source);

    source = open_source();
    handle = assign(source, 1);
    fetch(source, handle, recs, 3);
    cr_assert_eq(recs[0].offset, 7);
    cr_assert_eq(recs[0].value[0], '7');
    release(source, recs, 3);
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    do { /* the end is found by a fetch that finds nothing */
        cr_assert_lt(clock_ms(&timer), end_ms);
        cr_assert_eq(source->ops->fetch(source, handle, recs, 10), 0);
    } while (source->ops->poll(source).kind != SOURCE_END);
    leave(source);
}

/* librdkafka gives an end behind records as one more message of the batch, which is not kept. */
Test(kafka_ports, an_end_in_one_batch_with_records_is_told)
{
    struct sink *sink = open_sink();
    struct emission emission = {.partition = 0, .value = "x", .value_size = 1, .timestamp_ms = -1};
    for (int i = 0; i < 3; i++) {
        give(sink, &emission, 0);
    }
    await_reports(sink, 3);
    sink->ops->destroy(sink);
    struct source *source = open_source();
    void *handle = assign(source, 0);
    int64_t end_ms = clock_ms(&timer) + 1500; /* until records and end wait in the queue */
    while (clock_ms(&timer) < end_ms) {
        cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    }
    struct record recs[10];
    cr_assert_eq(source->ops->fetch(source, handle, recs, 10), 3);
    struct source_event event = source->ops->poll(source);
    cr_assert_eq(event.kind, SOURCE_END);
    cr_assert_eq(event.handle, handle);
    release(source, recs, 3);
    leave(source);
}

Test(kafka_ports, a_commit_is_confirmed_for_each_partition_in_whatever_order)
{
    struct source *source = open_source();
    struct source_event event = await(source, SOURCE_ASSIGN);
    cr_assert_eq(event.partition_count, 2);
    void *handles[2] = {event.partitions[0].handle, event.partitions[1].handle};
    source->ops->answer(source);
    await(source, SOURCE_READY);
    for (size_t first = 0; first < 2; first++) {
        struct source_commit commits[2] = {
            {.handle = handles[first], .position = 5 + (int64_t)first, .tag = 1},
            {.handle = handles[1 - first], .position = 15 + (int64_t)first, .tag = 2}};
        source->ops->commit(source, commits, 2);
        event = await(source, SOURCE_COMMITTED);
        cr_assert_eq(event.commit_count, 2);
        for (size_t i = 0; i < 2; i++) {
            cr_assert_not(event.commits[i].refused, "%s", event.err->text);
            cr_assert_eq(event.commits[i].tag, i + 1);
            cr_assert_eq(event.commits[i].handle, commits[i].handle);
        }
    }
    leave(source);
}

Test(kafka_ports, a_held_partition_keeps_its_records)
{
    struct sink *sink = open_sink();
    for (int i = 0; i < 6; i++) {
        struct emission emission = {
            .partition = i % 2, .value = &"012345"[i], .value_size = 1, .timestamp_ms = -1};
        give(sink, &emission, 0);
    }
    await_reports(sink, 6);
    sink->ops->destroy(sink);
    struct source *source = open_source();
    struct source_event event = await(source, SOURCE_ASSIGN);
    void *handles[2] = {event.partitions[0].handle, event.partitions[1].handle};
    source->ops->answer(source);
    await(source, SOURCE_READY);
    struct record recs[6];
    fetch(source, handles[1], recs, 3);
    int64_t end_ms = clock_ms(&timer) + 300;
    while (clock_ms(&timer) < end_ms) {
        source->ops->poll(source); /* serving the group takes nothing out of a partition's queue */
    }
    int64_t begin_ms = clock_ms(&timer);
    fetch(source, handles[0], recs + 3, 3);
    cr_expect_lt(clock_ms(&timer) - begin_ms, 200, "what waited is there at once");
    release(source, recs, 6);
    leave(source);
}

Test(kafka_ports, a_full_queue_says_so_and_takes_the_rest_later)
{
    static const struct kafka_setting SMALL[] = {{"queue.buffering.max.messages", "10", "test"},
                                                 {"linger.ms", "1", "test"}};
    struct error err;
    struct kafka_sink_options options = {.settings = settings(), .topic = "t"};
    options.settings.producer = (struct kafka_setting_list){SMALL, 2};
    struct sink *sink = kafka_sink_open(&options, &err);
    cr_assert_not_null(sink, "%s", err.text);
    sink->ops->attach(sink, &wakeup);
    struct emission emission = {.partition = 0, .value = "x", .value_size = 1, .timestamp_ms = -1};
    int full = 0;
    size_t taken = 0;
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while (taken < 100) {
        cr_assert_lt(clock_ms(&timer), end_ms);
        enum sink_result result = sink->ops->send(sink, &emission, taken, &err);
        cr_assert_neq(result, SINK_REFUSED);
        if (result == SINK_TAKEN) {
            taken++;
            continue;
        }
        full++;
        struct delivery reports[8];
        sink->ops->poll(sink, reports, 8);
    }
    cr_assert_gt(full, 0);
    sink->ops->destroy(sink);
}

Test(kafka_ports, a_record_that_is_too_large_is_refused_by_name)
{
    static char huge[2 << 20];
    struct sink *sink = open_sink();
    struct emission emission = {
        .partition = 0, .value = huge, .value_size = sizeof huge, .timestamp_ms = -1};
    struct error err = {.code = E_NONE};
    cr_assert_eq(sink->ops->send(sink, &emission, 0, &err), SINK_REFUSED);
    cr_assert_not_null(strstr(err.text, "topic \"t\""));
    sink->ops->destroy(sink);
}

static void await_refusal(const struct emission *emission, const char *reason)
{
    struct sink *sink = open_sink();
    struct error err = {.code = E_NONE};
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    enum sink_result result;
    while ((result = sink->ops->check(sink, emission, &err)) == SINK_FULL) {
        cr_assert_lt(clock_ms(&timer), end_ms, "no answer");
    }
    cr_assert_eq(result, SINK_REFUSED);
    cr_assert_not_null(strstr(err.text, reason), "%s", err.text);
    cr_assert_eq(sink->ops->send(sink, emission, 0, &err), SINK_REFUSED);
    sink->ops->destroy(sink);
}

Test(kafka_ports, what_cannot_be_sent_is_known_before_anything_is)
{
    static char big[1000000];
    static const struct header NUL_NAME = {"a\0b", "1", 3, 1};
    static const struct header BIG_HEADER = {"h", big, 1, 999970};
    struct emission emission = {.partition = 2, .value = "x", .value_size = 1};
    await_refusal(&emission, "topic \"t\" has no partition 2");
    emission = (struct emission){.partition = 0, .headers = &NUL_NAME, .header_count = 1};
    await_refusal(&emission, "NUL");
    emission = (struct emission){.partition = 0, .value = big, .value_size = 999965};
    await_refusal(&emission, "message.max.bytes");
    emission = (struct emission){.partition = 0, .headers = &BIG_HEADER, .header_count = 1};
    await_refusal(&emission, "message.max.bytes");
}

Test(kafka_ports, the_largest_record_that_passes_the_check_is_taken)
{
    static char big[1000000];
    struct sink *sink = open_sink();
    struct emission emission = {.partition = 0, .value = big, .value_size = 999964};
    struct error err = {.code = E_NONE};
    cr_assert_eq(sink->ops->check(sink, &emission, &err), SINK_TAKEN, "%s", err.text);
    give(sink, &emission, 7);
    cr_assert_eq(await_reports(sink, 1), 7);
    sink->ops->destroy(sink);
}

Test(kafka_ports, the_first_millisecond_is_no_missing_time)
{
    struct emission emission = {.partition = 0, .value = "x", .value_size = 1, .timestamp_ms = 0};
    struct sink *sink = open_sink();
    give(sink, &emission, 0);
    await_reports(sink, 1);
    sink->ops->destroy(sink);
    struct source *source = open_source();
    void *handle = assign(source, 0);
    struct record rec;
    fetch(source, handle, &rec, 1);
    cr_assert_eq(rec.timestamp_ms, 1, "librdkafka takes 0 for the time of sending");
    release(source, &rec, 1);
    leave(source);
}

Test(kafka_ports, a_setting_that_nobody_knows_is_told_with_its_place)
{
    static const struct kafka_setting WRONG[] = {{"fetch.wait.max.mss", "1", "app.ini:7"}};
    static const char *const TOPICS[] = {"t"};
    struct kafka_source_options options = {
        .settings = settings(), .topics = TOPICS, .topic_count = 1};
    options.settings.consumer = (struct kafka_setting_list){WRONG, 1};
    struct error err = {.code = E_NONE};
    cr_assert_null(kafka_source_open(&options, &err));
    cr_assert_eq(err.code, E_CONFIG_UNKNOWN);
    cr_assert_not_null(strstr(err.text, "app.ini:7"));
    cr_assert_not_null(strstr(err.text, "fetch.wait.max.ms"));
}

Test(kafka_ports, a_broker_that_does_not_answer_is_told_in_time)
{
    struct kafka_sink_options options = {.settings = {.brokers = "127.0.0.1:1"}, .topic = "t"};
    struct error err = {.code = E_NONE};
    log_set_level(LOG_LEVEL_ERROR);
    int64_t begin_ms = clock_ms(&timer);
    cr_assert_null(kafka_sink_open(&options, &err));
    cr_assert_eq(err.code, E_BROKER);
    cr_assert_not_null(strstr(err.text, "127.0.0.1:1"));
    cr_assert_lt(clock_ms(&timer) - begin_ms, 15000);
}

static void count_record(void *context, const struct record *rec)
{
    size_t *count = context;
    *count += rec->value_size;
}

Test(kafka_ports, lines_are_loaded_one_record_each)
{
    struct error err;
    uint64_t lines = 0;
    cr_assert(embedded_cluster_load_lines(cluster, "t", "ab\n\ncdef", 8, &lines, &err), "%s",
              err.text);
    cr_assert_eq(lines, 3);
    struct kafka_reader *reader = kafka_reader_open(embedded_cluster_brokers(cluster), "t", &err);
    cr_assert_not_null(reader, "%s", err.text);
    size_t bytes = 0;
    size_t records = 0;
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while (records < 3 && clock_ms(&timer) < end_ms) {
        records += kafka_reader_read(reader, 10, 100, count_record, &bytes);
    }
    cr_assert_eq(records, 3);
    cr_assert_eq(bytes, 6);
    kafka_reader_close(reader);
}
