#include "kafka/kafka_sink.h"

#include <assert.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread_role.h"
#include "kafka/kafka_directory.h"
#include "kafka/kafka_topics.h"

enum {
    BORROW_MIN = 1024,     /* bytes of a value from which on it is not copied */
    MESSAGE_OVERHEAD = 36, /* the most that librdkafka counts for a record, and for a header */
    HEADER_OVERHEAD = 10
};

static const uint64_t WAKE = 1; /* what an eventfd takes */

static_assert(sizeof(void *) == sizeof(uint64_t), "a tag travels as an opaque pointer");

struct sink_topic {
    struct sink_topic *next;
    rd_kafka_topic_t *handle;
    int32_t partitions_seen; /* all below it are there */
    char name[];
};

struct kafka_sink {
    struct sink base;
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue; /* reports and errors */
    struct sink_topic *topics;
    struct sink_topic *last; /* of the last emission: most go to one topic */
    char *default_topic;
    char *brokers;
    struct kafka_directory *directory;
    size_t bytes_max;          /* message.max.bytes */
    rd_kafka_event_t *reports; /* a batch that is not yet given out as a whole */
    bool broken;
    struct error error;
};

static enum sink_result check(struct kafka_sink *s, const struct emission *emission,
                              struct sink_topic **topic, struct error *err);
static enum sink_result find_topic(struct kafka_sink *s, const char *name, int32_t partition,
                                   struct sink_topic **found, struct error *err);
static struct sink_topic *add_topic(struct kafka_sink *s, const char *name);
static bool check_content(const struct kafka_sink *s, const struct emission *emission,
                          const char *topic, struct error *err);
static rd_kafka_resp_err_t produce(struct kafka_sink *s, rd_kafka_topic_t *topic,
                                   const struct emission *emission, uint64_t tag);
static size_t give_reports(struct kafka_sink *s, struct delivery *reports, size_t max);
static void note_error(struct kafka_sink *s, rd_kafka_event_t *event);

static void sink_attach(struct sink *sink, struct wakeup *wakeup)
{
    struct kafka_sink *s = (struct kafka_sink *)sink;
    kafka_directory_attach(s->directory, wakeup);
    rd_kafka_queue_io_event_enable(s->queue, wakeup->fd, &WAKE, sizeof WAKE);
}

/* --- send ---------------------------------------------------------------------------------- */

static enum sink_result sink_send(struct sink *sink, const struct emission *emission, uint64_t tag,
                                  struct error *err)
{
    thread_assert_poll();
    struct kafka_sink *s = (struct kafka_sink *)sink;
    struct sink_topic *topic = NULL;
    enum sink_result checked = check(s, emission, &topic, err);
    if (checked != SINK_TAKEN) {
        return checked;
    }
    rd_kafka_resp_err_t code = produce(s, topic->handle, emission, tag);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return SINK_TAKEN;
    }
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        return SINK_FULL;
    }
    error_set(err, E_BROKER, "topic \"%s\": %s", topic->name, rd_kafka_err2str(code));
    return SINK_REFUSED;
}

static rd_kafka_headers_t *make_headers(const struct emission *emission)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(emission->header_count);
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *one = &emission->headers[i];
        rd_kafka_header_add(headers, one->name, (ssize_t)one->name_size, one->value,
                            (ssize_t)one->value_size);
    }
    return headers;
}

static rd_kafka_resp_err_t produce(struct kafka_sink *s, rd_kafka_topic_t *topic,
                                   const struct emission *emission, uint64_t tag)
{
    int flags = emission->value_size < BORROW_MIN ? RD_KAFKA_MSG_F_COPY : 0;
    /* to librdkafka 0 means the time of sending; a record of the first millisecond is sent with the
     * next one */
    int64_t timestamp = emission->timestamp_ms < 0    ? 0
                        : emission->timestamp_ms == 0 ? 1
                                                      : emission->timestamp_ms;
    rd_kafka_headers_t *headers = emission->header_count ? make_headers(emission) : NULL;
    /* the tags without librdkafka's macros, whose type checks are no ISO C */
    rd_kafka_resp_err_t code = rd_kafka_producev(
        s->rk, RD_KAFKA_VTYPE_RKT, topic, RD_KAFKA_VTYPE_PARTITION, emission->partition,
        RD_KAFKA_VTYPE_MSGFLAGS, flags, RD_KAFKA_VTYPE_VALUE, emission->value,
        (size_t)emission->value_size, RD_KAFKA_VTYPE_KEY, emission->key, (size_t)emission->key_size,
        RD_KAFKA_VTYPE_TIMESTAMP, timestamp, RD_KAFKA_VTYPE_HEADERS, headers, RD_KAFKA_VTYPE_OPAQUE,
        (void *)tag, RD_KAFKA_VTYPE_END);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR && headers) {
        rd_kafka_headers_destroy(headers); /* taken on success only */
    }
    return code;
}

/* --- what is refused ----------------------------------------------------------------------- */

static enum sink_result sink_check(struct sink *sink, const struct emission *emission,
                                   struct error *err)
{
    thread_assert_poll();
    struct sink_topic *topic = NULL;
    return check((struct kafka_sink *)sink, emission, &topic, err);
}

static enum sink_result check(struct kafka_sink *s, const struct emission *emission,
                              struct sink_topic **topic, struct error *err)
{
    const char *name = emission->topic ? emission->topic : s->default_topic;
    if (name == NULL) {
        error_set(err, E_CONFIG, "no default output: give --out TOPIC, or emit to a topic by name");
        return SINK_REFUSED;
    }
    bool same = s->last && strcmp(s->last->name, name) == 0;
    if (same && emission->partition < s->last->partitions_seen) {
        *topic = s->last;
    } else {
        enum sink_result result = find_topic(s, name, emission->partition, topic, err);
        if (result != SINK_TAKEN) {
            return result;
        }
        s->last = *topic;
    }
    return check_content(s, emission, name, err) ? SINK_TAKEN : SINK_REFUSED;
}

static enum sink_result find_topic(struct kafka_sink *s, const char *name, int32_t partition,
                                   struct sink_topic **found, struct error *err)
{
    struct sink_topic *topic = s->topics;
    while (topic && strcmp(topic->name, name) != 0) {
        topic = topic->next;
    }
    if (topic == NULL || partition >= topic->partitions_seen) {
        rd_kafka_resp_err_t answer = kafka_directory_find(s->directory, name, partition);
        if (answer == RD_KAFKA_RESP_ERR__IN_PROGRESS) {
            return SINK_FULL;
        }
        if (answer != RD_KAFKA_RESP_ERR_NO_ERROR) {
            kafka_topics_explain(answer, name, partition, s->brokers, err);
            return SINK_REFUSED;
        }
        topic = topic ? topic : add_topic(s, name);
        if (topic == NULL) {
            kafka_topics_explain(rd_kafka_last_error(), name, partition, s->brokers, err);
            return SINK_REFUSED;
        }
    }
    if (partition >= topic->partitions_seen) {
        topic->partitions_seen = partition + 1;
    }
    *found = topic;
    return SINK_TAKEN;
}

static struct sink_topic *add_topic(struct kafka_sink *s, const char *name)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(s->rk, name, NULL);
    if (handle == NULL) {
        return NULL;
    }
    size_t size = strlen(name) + 1;
    struct sink_topic *topic = memory_alloc(sizeof *topic + size);
    memcpy(topic->name, name, size);
    topic->handle = handle;
    topic->next = s->topics;
    s->topics = topic;
    return topic;
}

/* What librdkafka refuses in produce, and what it would change without a word. */
static bool check_content(const struct kafka_sink *s, const struct emission *emission,
                          const char *topic, struct error *err)
{
    size_t bytes = (size_t)emission->key_size + emission->value_size + MESSAGE_OVERHEAD;
    for (uint32_t i = 0; i < emission->header_count; i++) {
        const struct header *one = &emission->headers[i];
        if (memchr(one->name, 0, one->name_size)) {
            return error_set(err, E_BROKER,
                             "topic \"%s\": the name of header %u has a NUL byte, at which most "
                             "readers would end it",
                             topic, i + 1);
        }
        bytes += (size_t)one->name_size + one->value_size + HEADER_OVERHEAD;
    }
    if (bytes > s->bytes_max) {
        return error_set(err, E_BROKER,
                         "topic \"%s\": a record of %zu bytes is above message.max.bytes = %zu of "
                         "[kafka]",
                         topic, bytes, s->bytes_max);
    }
    return true;
}

static void sink_push(struct sink *sink)
{
    (void)sink; /* librdkafka batches by itself */
}

static void sink_hurry(struct sink *sink)
{
    struct kafka_sink *s = (struct kafka_sink *)sink;
    rd_kafka_flush(s->rk, 0); /* while it flushes, it does not linger */
}

/* --- reports ------------------------------------------------------------------------------- */

static size_t sink_poll(struct sink *sink, struct delivery *reports, size_t max)
{
    thread_assert_poll();
    struct kafka_sink *s = (struct kafka_sink *)sink;
    size_t count = 0;
    while (count < max) {
        if (s->reports) {
            count += give_reports(s, reports + count, max - count);
            continue;
        }
        rd_kafka_event_t *event = rd_kafka_queue_poll(s->queue, 0);
        if (event == NULL) {
            break;
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) {
            s->reports = event;
            continue;
        }
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
            note_error(s, event);
        }
        rd_kafka_event_destroy(event);
    }
    return count;
}

static size_t give_reports(struct kafka_sink *s, struct delivery *reports, size_t max)
{
    size_t count = 0;
    const rd_kafka_message_t *message;
    while (count < max && (message = rd_kafka_event_message_next(s->reports)) != NULL) {
        reports[count++] = (struct delivery){
            .tag = (uint64_t)message->_private,
            .failed = message->err != RD_KAFKA_RESP_ERR_NO_ERROR,
            .reason = message->err ? rd_kafka_err2str(message->err) : NULL,
        };
    }
    if (count < max) {
        rd_kafka_event_destroy(s->reports);
        s->reports = NULL;
    }
    return count;
}

static void note_error(struct kafka_sink *s, rd_kafka_event_t *event)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    if (code == RD_KAFKA_RESP_ERR__FATAL || code == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
        char text[512] = "";
        rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(s->rk, text, sizeof text);
        s->broken = true;
        error_set(&s->error, E_BROKER, "producer: %s: %s", rd_kafka_err2name(fatal ? fatal : code),
                  fatal ? text : rd_kafka_event_error_string(event));
        return;
    }
    log_warn("producer", LOG_STR("code", rd_kafka_err2name(code)),
             LOG_STR("text", rd_kafka_event_error_string(event)));
}

static bool sink_broken(struct sink *sink, struct error *err)
{
    struct kafka_sink *s = (struct kafka_sink *)sink;
    if (s->broken) {
        *err = s->error;
    }
    return s->broken;
}

/* --- life ---------------------------------------------------------------------------------- */

static void sink_destroy(struct sink *sink)
{
    struct kafka_sink *s = (struct kafka_sink *)sink;
    if (s->reports) {
        rd_kafka_event_destroy(s->reports);
    }
    if (s->rk) {
        /* what was not acknowledged is not committed either, and will be read again */
        rd_kafka_purge(s->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(s->rk, 0);
    }
    kafka_directory_destroy(s->directory);
    while (s->topics) {
        struct sink_topic *topic = s->topics;
        s->topics = topic->next;
        rd_kafka_topic_destroy(topic->handle);
        memory_free(topic);
    }
    if (s->queue) {
        rd_kafka_queue_destroy(s->queue);
    }
    if (s->rk) {
        rd_kafka_destroy(s->rk);
    }
    memory_free(s->default_topic);
    memory_free(s->brokers);
    memory_free(s);
}

static const struct sink_ops OPS = {
    .attach = sink_attach,
    .check = sink_check,
    .send = sink_send,
    .push = sink_push,
    .poll = sink_poll,
    .broken = sink_broken,
    .hurry = sink_hurry,
    .destroy = sink_destroy,
};

static size_t get_bytes_max(rd_kafka_t *rk)
{
    char text[32];
    size_t size = sizeof text;
    int64_t bytes = 0;
    rd_kafka_conf_res_t result =
        rd_kafka_conf_get(rd_kafka_conf(rk), "message.max.bytes", text, &size);
    CHECK(result == RD_KAFKA_CONF_OK);
    struct error err;
    bool good = text_parse_int(text, 1, INT32_MAX, &bytes, &err);
    CHECK(good);
    return (size_t)bytes;
}

/* False and err when a topic that every run needs is not there. */
static bool check_topic(struct kafka_sink *s, const char *name, struct error *err)
{
    int32_t partitions = kafka_topics_check(s->rk, name, s->brokers, err);
    if (partitions == 0) {
        return false;
    }
    struct sink_topic *topic = add_topic(s, name);
    CHECK(topic != NULL);
    topic->partitions_seen = partitions;
    return true;
}

struct sink *kafka_sink_open(const struct kafka_sink_options *options, struct error *err)
{
    rd_kafka_conf_t *conf = kafka_settings_producer(&options->settings, err);
    if (conf == NULL) {
        return NULL;
    }
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
    struct kafka_sink *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    char text[512];
    s->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (s->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        sink_destroy(&s->base);
        error_set(err, E_CONFIG, "producer: %s", text);
        return NULL;
    }
    s->queue = rd_kafka_queue_get_main(s->rk);
    CHECK(s->queue != NULL);
    s->brokers = memory_copy_text(options->settings.brokers);
    s->bytes_max = get_bytes_max(s->rk);
    s->directory = kafka_directory_create(s->rk);
    s->default_topic = options->topic ? memory_copy_text(options->topic) : NULL;
    const char *topics[] = {options->topic, options->dead_letter_topic};
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        if (topics[i] && !check_topic(s, topics[i], err)) {
            sink_destroy(&s->base);
            return NULL;
        }
    }
    return &s->base;
}
