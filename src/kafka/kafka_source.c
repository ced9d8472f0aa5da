#include "kafka/kafka_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "kafka/kafka_assignment.h"
#include "kafka/kafka_directory.h"
#include "kafka/kafka_health.h"
#include "kafka/kafka_records.h"
#include "kafka/kafka_topics.h"
#include "kafka/kafka_trouble.h"

enum {
    FETCH_MAX = 256,
    COOPERATIVE_GOOD = 0x020a0000, /* librdkafka 2.10 */
    READY_MS = 10000,              /* between a revoke and the assignment after it, at most */
    COMMITTED_MS = 3000            /* for the question which offsets are committed */
};

static const uint64_t WAKE = 1; /* what an eventfd takes */

struct kafka_source {
    struct source base;
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue; /* of the consumer: rebalances, errors, commit results */
    rd_kafka_topic_partition_list_t *subscription;
    int32_t *partition_counts; /* of each topic of the subscription when it was opened */
    bool from_latest;          /* auto.offset.reset */
    char *brokers;
    struct kafka_assignment assignment;
    struct kafka_directory *directory;
    struct kafka_trouble trouble;
    struct kafka_partition *fetching;       /* while it is fetched: errors then are of it */
    rd_kafka_event_t *rebalance;            /* waits for the answer */
    enum source_event_kind rebalance_kind;  /* what was told of it */
    rd_kafka_topic_partition_list_t *fixed; /* assigned without a group; NULL: by the group */
    bool fixed_due;                         /* their ASSIGN event is due, */
    bool fixed_open;                        /* or waits for its answer */
    struct source_partition *event_parts;
    size_t event_capacity;
    struct source_commit *commits; /* in flight, then in the COMMITTED event */
    size_t commit_count;
    size_t commit_capacity;
    rd_kafka_topic_partition_list_t *committing; /* of `commits`, in their order */
    bool committed;                              /* a COMMITTED event is due without librdkafka's */
    bool ready_due;                              /* a READY event is due */
    unsigned assigns_before; /* ASSIGN events that come before the one which makes it ready */
    int64_t ready_by_ms;     /* then it is ready all the same; 0: it is */
    struct clock_source clock;
    bool closing;
    bool closed_told;
    struct error error; /* of the last commit */
    struct kafka_health health;
};

static void start(struct kafka_source *s);
static struct source_event translate(struct kafka_source *s, rd_kafka_event_t *event);
static struct source_event rebalance_event(struct kafka_source *s, rd_kafka_event_t *event);
static struct source_event changed_parts(struct kafka_source *s, enum source_event_kind kind,
                                         const rd_kafka_topic_partition_list_t *list);
static struct source_event committed_event(struct kafka_source *s);
static void note_ready(struct kafka_source *s, bool assign, bool revoke_some);
static bool is_overdue(const struct kafka_source *s);
static void note_results(struct kafka_source *s, rd_kafka_event_t *event);
static void note_error(struct kafka_source *s, rd_kafka_resp_err_t code, const char *text);

/* --- life ---------------------------------------------------------------------------------- */

static void source_attach(struct source *source, struct wakeup *wakeup)
{
    struct kafka_source *s = (struct kafka_source *)source;
    s->assignment.wakeup = wakeup;
    kafka_directory_attach(s->directory, wakeup);
    rd_kafka_queue_io_event_enable(s->queue, wakeup->fd, &WAKE, sizeof WAKE);
    start(s);
}

static void start(struct kafka_source *s)
{
    if (s->fixed) {
        s->fixed_due = true;
        return;
    }
    rd_kafka_resp_err_t code = rd_kafka_subscribe(s->rk, s->subscription);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka_trouble_note(&s->trouble, code, "subscribe", rd_kafka_err2str(code));
    }
}

static void source_close(struct source *source)
{
    thread_assert_poll();
    struct kafka_source *s = (struct kafka_source *)source;
    CHECK(!s->closing);
    s->closing = true;
    rd_kafka_error_t *error = rd_kafka_consumer_close_queue(s->rk, s->queue);
    if (error) {
        log_warn("closing the consumer", LOG_STR("reason", rd_kafka_error_string(error)));
        rd_kafka_error_destroy(error);
    }
}

static void source_destroy(struct source *source)
{
    struct kafka_source *s = (struct kafka_source *)source;
    if (s->rebalance) {
        rd_kafka_event_destroy(s->rebalance);
    }
    kafka_directory_destroy(s->directory);
    kafka_assignment_fini(&s->assignment);
    if (s->queue) {
        rd_kafka_queue_destroy(s->queue);
    }
    if (s->rk) {
        rd_kafka_destroy_flags(s->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    if (s->committing) {
        rd_kafka_topic_partition_list_destroy(s->committing);
    }
    if (s->fixed) {
        rd_kafka_topic_partition_list_destroy(s->fixed);
    }
    if (s->subscription) {
        rd_kafka_topic_partition_list_destroy(s->subscription);
    }
    memory_free(s->partition_counts);
    memory_free(s->brokers);
    memory_free(s->event_parts);
    memory_free(s->commits);
    memory_free(s);
}

/* --- events -------------------------------------------------------------------------------- */

static struct source_event source_poll(struct source *source)
{
    thread_assert_poll();
    struct kafka_source *s = (struct kafka_source *)source;
    struct source_event trouble = kafka_trouble_turn(&s->trouble);
    if (trouble.kind != SOURCE_NOTHING) {
        return trouble;
    }
    if (s->fixed_due) {
        s->fixed_due = false;
        s->fixed_open = true;
        return changed_parts(s, SOURCE_ASSIGN, s->fixed);
    }
    if (s->ready_due || is_overdue(s)) {
        s->ready_due = false;
        s->ready_by_ms = 0;
        return (struct source_event){.kind = SOURCE_READY};
    }
    if (s->committed) {
        return committed_event(s);
    }
    for (struct kafka_partition *part = s->assignment.parts; part; part = part->next) {
        if (part->at_end) {
            part->at_end = false;
            return (struct source_event){.kind = SOURCE_END, .handle = part};
        }
    }
    rd_kafka_event_t *event;
    while ((event = rd_kafka_queue_poll(s->queue, 0)) != NULL) {
        struct source_event translated = translate(s, event);
        if (translated.kind != SOURCE_NOTHING) {
            return translated;
        }
    }
    if (s->closing && !s->closed_told && rd_kafka_consumer_closed(s->rk)) {
        s->closed_told = true;
        return (struct source_event){.kind = SOURCE_CLOSED};
    }
    return (struct source_event){.kind = SOURCE_NOTHING};
}

/* Takes the event. */
static struct source_event translate(struct kafka_source *s, rd_kafka_event_t *event)
{
    struct source_event nothing = {.kind = SOURCE_NOTHING};
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_REBALANCE:
        return rebalance_event(s, event);
    case RD_KAFKA_EVENT_OFFSET_COMMIT:
        if (s->commit_count > 0) {
            note_results(s, event);
            nothing = committed_event(s);
        }
        break;
    case RD_KAFKA_EVENT_ERROR:
        kafka_trouble_note(&s->trouble, rd_kafka_event_error(event), NULL,
                           rd_kafka_event_error_string(event));
        nothing = kafka_trouble_turn(&s->trouble);
        break;
    case RD_KAFKA_EVENT_STATS:
        kafka_health_note(&s->health, rd_kafka_event_stats(event));
        break;
    case RD_KAFKA_EVENT_FETCH:
        /* each partition has its own queue before it is assigned */
        CHECK(rd_kafka_event_message_count(event) == 0);
        break;
    default:
        break;
    }
    rd_kafka_event_destroy(event);
    return nothing;
}

/* Errors of a partition come through its queue, which gives them to this function only. */
static void on_error(rd_kafka_t *rk, int code, const char *text, void *opaque)
{
    struct kafka_source *s = opaque;
    (void)rk;
    note_error(s, (rd_kafka_resp_err_t)code, text);
}

static void note_error(struct kafka_source *s, rd_kafka_resp_err_t code, const char *text)
{
    char where[300] = "";
    const struct kafka_partition *part = s->fetching;
    if (part) {
        snprintf(where, sizeof where, "%s [%d]", part->topic->name, (int)part->partition);
    }
    bool said = part == NULL || strstr(text, where) != NULL;
    kafka_trouble_note(&s->trouble, code, said ? NULL : where, text);
}

/* The event for partitions that come or go. */
static struct source_event changed_parts(struct kafka_source *s, enum source_event_kind kind,
                                         const rd_kafka_topic_partition_list_t *list)
{
    size_t count = list ? (size_t)list->cnt : 0;
    if (s->event_capacity < count) {
        s->event_capacity = count;
        s->event_parts = memory_resize(s->event_parts, count * sizeof *s->event_parts);
    }
    bool assign = kind == SOURCE_ASSIGN;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        struct kafka_partition *part =
            kafka_assignment_find(&s->assignment, one->topic, one->partition);
        if (assign && part) {
            log_warn("partition assigned again, it goes on", LOG_STR("topic", one->topic),
                     LOG_INT("partition", one->partition));
            continue;
        }
        if (assign) {
            part = kafka_assignment_add(&s->assignment, one->topic, one->partition);
        }
        if (part) {
            s->event_parts[known++] = (struct source_partition){
                .topic = part->topic->name, .partition = part->partition, .handle = part};
        }
    }
    return (struct source_event){
        .kind = kind, .partitions = s->event_parts, .partition_count = known};
}

/* Keeps librdkafka's event until the answer. */
static struct source_event rebalance_event(struct kafka_source *s, rd_kafka_event_t *event)
{
    CHECK(s->rebalance == NULL);
    CHECK(!s->fixed_open);
    s->rebalance = event;
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    enum source_event_kind kind = SOURCE_LOST;
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        kind = SOURCE_ASSIGN;
    } else if (code == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS && !rd_kafka_assignment_lost(s->rk)) {
        kind = SOURCE_REVOKE;
    }
    s->rebalance_kind = kind;
    return changed_parts(s, kind, rd_kafka_event_topic_partition_list(event));
}

static bool is_new(const struct kafka_source *s, const rd_kafka_topic_partition_t *one)
{
    for (int i = 0; i < s->subscription->cnt; i++) {
        if (strcmp(s->subscription->elems[i].topic, one->topic) == 0) {
            return one->partition >= s->partition_counts[i];
        }
    }
    return false;
}

/* With auto.offset.reset = latest a partition that came to a topic while we were reading it would
 * begin at what is its end when we hear of it: what was written before would be lost. It begins at
 * its beginning, unless an offset is committed. Asks the group, which is there, and waits. */
static void begin_new_parts(struct kafka_source *s, rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *fresh = rd_kafka_topic_partition_list_new(1);
    for (int i = 0; i < list->cnt && s->from_latest; i++) {
        if (is_new(s, &list->elems[i])) {
            rd_kafka_topic_partition_list_add(fresh, list->elems[i].topic,
                                              list->elems[i].partition);
        }
    }
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (fresh->cnt > 0) {
        code = rd_kafka_committed(s->rk, fresh, COMMITTED_MS);
    }
    for (int i = 0; i < fresh->cnt && !code; i++) {
        const rd_kafka_topic_partition_t *one = &fresh->elems[i];
        if (!one->err && one->offset == RD_KAFKA_OFFSET_INVALID) {
            rd_kafka_topic_partition_list_set_offset(list, one->topic, one->partition,
                                                     RD_KAFKA_OFFSET_BEGINNING);
        }
    }
    if (code) {
        log_warn("a new partition begins at its end", LOG_STR("topic", fresh->elems[0].topic),
                 LOG_STR("reason", rd_kafka_err2str(code)));
    }
    rd_kafka_topic_partition_list_destroy(fresh);
}

/* What is assigned is whole after the assignment that follows a revoke. A cooperative revoke has
 * two of them: what the member gets for it, then, when it has joined again, the final one. Should
 * that not come, it is ready after a while. */
static void note_ready(struct kafka_source *s, bool assign, bool revoke_some)
{
    if (assign && s->assigns_before > 0) {
        s->assigns_before--;
        return;
    }
    s->ready_due = assign;
    s->assigns_before = revoke_some;
    s->ready_by_ms = assign ? 0 : clock_ms(&s->clock) + READY_MS;
}

static bool is_overdue(const struct kafka_source *s)
{
    return s->ready_by_ms != 0 && clock_ms(&s->clock) >= s->ready_by_ms;
}

static void source_answer(struct source *source)
{
    thread_assert_poll();
    struct kafka_source *s = (struct kafka_source *)source;
    if (s->fixed_open) {
        s->fixed_open = false;
        rd_kafka_assign(s->rk, s->fixed);
        s->ready_due = true;
        return;
    }
    CHECK(s->rebalance != NULL);
    rd_kafka_event_t *event = s->rebalance;
    rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    bool assign = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    bool cooperative = strcmp(rd_kafka_rebalance_protocol(s->rk), "COOPERATIVE") == 0;
    rd_kafka_error_t *error = NULL;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (assign && list) {
        begin_new_parts(s, list);
    }
    if (!assign && list) {
        kafka_assignment_drop(&s->assignment, list);
    }
    if (cooperative && list) {
        error = assign ? rd_kafka_incremental_assign(s->rk, list)
                       : rd_kafka_incremental_unassign(s->rk, list);
    } else {
        code = rd_kafka_assign(s->rk, assign ? list : NULL);
    }
    if (error || code) {
        log_warn("rebalance was not taken",
                 LOG_STR("reason", error ? rd_kafka_error_string(error) : rd_kafka_err2str(code)));
    }
    if (error) {
        rd_kafka_error_destroy(error);
    }
    rd_kafka_event_destroy(event);
    s->rebalance = NULL;
    note_ready(s, assign, s->rebalance_kind == SOURCE_REVOKE && cooperative);
}

/* --- records ------------------------------------------------------------------------------- */

static size_t source_fetch(struct source *source, void *handle, struct record *recs, size_t max)
{
    thread_assert_poll();
    struct kafka_source *s = (struct kafka_source *)source;
    struct kafka_partition *part = handle;
    rd_kafka_message_t *messages[FETCH_MAX];
    s->fetching = part;
    ssize_t got =
        rd_kafka_consume_batch_queue(part->queue, 0, messages, max < FETCH_MAX ? max : FETCH_MAX);
    size_t count = 0;
    for (ssize_t i = 0; i < got; i++) {
        rd_kafka_message_t *message = messages[i];
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            messages[count++] = message;
            part->at_end = false; /* what comes after an end has moved it */
            continue;
        }
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            part->at_end = true;
        } else {
            note_error(s, message->err, rd_kafka_message_errstr(message));
        }
        rd_kafka_message_destroy(message);
    }
    kafka_records_take(messages, count, part->topic->name, recs);
    s->fetching = NULL;
    return count;
}

static void source_release(struct source *source, struct record *rec)
{
    thread_assert_poll();
    (void)source;
    kafka_records_release(rec);
}

/* --- commits ------------------------------------------------------------------------------- */

static void source_commit(struct source *source, const struct source_commit *commits, size_t count)
{
    thread_assert_poll();
    struct kafka_source *s = (struct kafka_source *)source;
    CHECK(s->commit_count == 0);
    CHECK(count > 0);
    if (s->commit_capacity < count) {
        s->commit_capacity = count;
        s->commits = memory_resize(s->commits, count * sizeof *s->commits);
    }
    memcpy(s->commits, commits, count * sizeof *commits);
    s->commit_count = count;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++) {
        const struct kafka_partition *part = commits[i].handle;
        rd_kafka_topic_partition_list_add(list, part->topic->name, part->partition)->offset =
            commits[i].position;
        s->commits[i].refused = true; /* until the answer says otherwise */
    }
    if (s->committing) {
        rd_kafka_topic_partition_list_destroy(s->committing);
    }
    s->committing = list;
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(s->rk, list, s->queue, NULL, NULL);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        error_set(&s->error, E_BROKER, "commit: %s", rd_kafka_err2str(code));
        s->committed = true;
    }
}

/* Which of the commits an element of the answer is about; NULL: none. The answer is in an order of
 * its own. */
static struct source_commit *find_commit(struct kafka_source *s, size_t guess,
                                         const rd_kafka_topic_partition_t *one)
{
    const rd_kafka_topic_partition_t *asked = &s->committing->elems[guess];
    if (asked->partition != one->partition || strcmp(asked->topic, one->topic) != 0) {
        asked = rd_kafka_topic_partition_list_find(s->committing, one->topic, one->partition);
    }
    return asked ? &s->commits[asked - s->committing->elems] : NULL;
}

static void note_results(struct kafka_source *s, rd_kafka_event_t *event)
{
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    error_set(&s->error, E_BROKER, "commit: %s", rd_kafka_err2str(code));
    if (list == NULL || (size_t)list->cnt != s->commit_count) {
        return;
    }
    for (size_t i = 0; i < s->commit_count; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        struct source_commit *commit = find_commit(s, i, one);
        CHECK(commit != NULL);
        commit->refused = code || one->err || one->offset != commit->position;
        commit->gone = one->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
                       kafka_trouble_is_missing(&s->trouble);
        if (one->err) {
            error_set(&s->error, E_BROKER, "commit: %s", rd_kafka_err2str(one->err));
        }
    }
}

static struct source_event committed_event(struct kafka_source *s)
{
    struct source_event event = {.kind = SOURCE_COMMITTED,
                                 .commits = s->commits,
                                 .commit_count = s->commit_count,
                                 .err = &s->error};
    s->commit_count = 0;
    s->committed = false;
    return event;
}

/* --- what is known of the other side ------------------------------------------------------- */

static int64_t source_end_offset(struct source *source, void *handle)
{
    thread_assert_poll();
    const struct kafka_partition *part = handle;
    int64_t low = -1;
    int64_t high = -1; /* as the last answer to a fetch said */
    rd_kafka_resp_err_t code = rd_kafka_get_watermark_offsets(
        ((struct kafka_source *)source)->rk, part->topic->name, part->partition, &low, &high);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : -1;
}

static bool source_is_away(struct source *source)
{
    thread_assert_poll();
    return ((struct kafka_source *)source)->health.away;
}

/* --- open ---------------------------------------------------------------------------------- */

static const struct source_ops OPS = {
    .attach = source_attach,
    .poll = source_poll,
    .answer = source_answer,
    .fetch = source_fetch,
    .release = source_release,
    .commit = source_commit,
    .close = source_close,
    .destroy = source_destroy,
    .end_offset = source_end_offset,
    .is_away = source_is_away,
};

/* Each member of the process is one of its own for the group: a static name gets the member's
 * number, or the second pipeline would fence the first. */
static bool name_instance(rd_kafka_conf_t *conf, unsigned member, struct error *err)
{
    char name[256];
    size_t size = sizeof name;
    if (member == 0 || rd_kafka_conf_get(conf, "group.instance.id", name, &size) != 0 ||
        name[0] == 0) {
        return true;
    }
    char numbered[280];
    char text[256];
    snprintf(numbered, sizeof numbered, "%s-%u", name, member);
    if (rd_kafka_conf_set(conf, "group.instance.id", numbered, text, sizeof text) != 0) {
        return error_set(err, E_CONFIG, "group.instance.id: %s", text);
    }
    return true;
}

static bool connect_consumer(struct kafka_source *s, const struct kafka_source_options *options,
                             struct error *err)
{
    rd_kafka_conf_t *conf = kafka_settings_consumer(&options->settings, err);
    if (conf == NULL) {
        return false;
    }
    if (!name_instance(conf, options->member, err)) {
        rd_kafka_conf_destroy(conf);
        return false;
    }
    rd_kafka_conf_set_opaque(conf, s);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT |
                                       RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_FETCH |
                                       RD_KAFKA_EVENT_STATS);
    char text[512];
    s->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (s->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        return error_set(err, E_CONFIG, "consumer: %s", text);
    }
    rd_kafka_poll_set_consumer(s->rk);
    s->queue = rd_kafka_queue_get_consumer(s->rk);
    CHECK(s->queue != NULL);
    kafka_assignment_init(&s->assignment, s->rk);
    s->directory = kafka_directory_create(s->rk);
    s->trouble = (struct kafka_trouble){
        .rk = s->rk, .directory = s->directory, .topics = s->subscription, .brokers = s->brokers};
    return true;
}

/* The user chose a strategy that this version of librdkafka is not good at. */
static void warn_of_cooperative(rd_kafka_t *rk)
{
    char strategy[256] = "";
    size_t size = sizeof strategy;
    rd_kafka_conf_get(rd_kafka_conf(rk), "partition.assignment.strategy", strategy, &size);
    if (strstr(strategy, "cooperative") && rd_kafka_version() < COOPERATIVE_GOOD) {
        log_warn(
            "cooperative-sticky needs librdkafka 2.10: before, a commit during a rebalance may "
            "lose the assignment, so that records run again; before 2.6.1 the assignor may "
            "loop without end, and before 2.3 a member that leaves early aborts; the default "
            "strategy has none of these",
            LOG_STR("librdkafka", rd_kafka_version_str()));
    }
}

struct source *kafka_source_open(const struct kafka_source_options *options, struct error *err)
{
    CHECK(options->topic_count > 0);
    struct kafka_source *s = memory_alloc(sizeof *s);
    s->base.ops = &OPS;
    s->brokers = memory_copy_text(options->settings.brokers);
    s->clock = clock_system();
    s->subscription = rd_kafka_topic_partition_list_new((int)options->topic_count);
    s->partition_counts = memory_alloc_array(options->topic_count, sizeof *s->partition_counts);
    s->from_latest =
        options->settings.offset_reset && strcmp(options->settings.offset_reset, "latest") == 0;
    if (!connect_consumer(s, options, err)) {
        source_destroy(&s->base);
        return NULL;
    }
    if (options->member == 0) {
        warn_of_cooperative(s->rk);
    }
    if (options->fixed_members > 0) {
        s->fixed = rd_kafka_topic_partition_list_new(1);
    }
    for (size_t i = 0; i < options->topic_count; i++) {
        const char *topic = options->topics[i];
        int32_t partitions = kafka_topics_check(s->rk, topic, s->brokers, err);
        if (partitions == 0) {
            source_destroy(&s->base);
            return NULL;
        }
        rd_kafka_topic_partition_list_add(s->subscription, topic, RD_KAFKA_PARTITION_UA);
        s->partition_counts[i] = partitions;
        unsigned step = options->fixed_members;
        for (unsigned p = options->member; step > 0 && p < (unsigned)partitions; p += step) {
            rd_kafka_topic_partition_list_add(s->fixed, topic, (int32_t)p);
        }
    }
    return &s->base;
}
