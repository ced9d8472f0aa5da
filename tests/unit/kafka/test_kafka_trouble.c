#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/wakeup.h"
#include "kafka/kafka_assignment.h"
#include "kafka/kafka_directory.h"
#include "kafka/kafka_trouble.h"

/* On librdkafka's mock cluster, which can be told to deny a topic. */

enum { PATIENCE_MS = 20000 };

static rd_kafka_t *rk;
static rd_kafka_mock_cluster_t *mock;
static struct clock_source timer;
static struct wakeup wakeup;
static struct kafka_directory *directory;
static rd_kafka_topic_partition_list_t *topics;
static struct kafka_trouble trouble;

static void setup(void)
{
    char text[512];
    log_set_level(LOG_LEVEL_ERROR);
    timer = clock_system();
    wakeup_init(&wakeup);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "log_level", "0", text, sizeof text);
    rd_kafka_conf_set(conf, "group.id", "g", text, sizeof text);
    rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    cr_assert_not_null(rk, "%s", text);
    mock = rd_kafka_mock_cluster_new(rk, 1);
    rd_kafka_brokers_add(rk, rd_kafka_mock_cluster_bootstraps(mock));
    rd_kafka_mock_topic_create(mock, "a", 3, 1);
    rd_kafka_mock_topic_create(mock, "b", 1, 1);
    directory = kafka_directory_create(rk);
    kafka_directory_attach(directory, &wakeup);
    topics = rd_kafka_topic_partition_list_new(2);
    rd_kafka_topic_partition_list_add(topics, "a", -1);
    rd_kafka_topic_partition_list_add(topics, "b", -1);
    trouble = (struct kafka_trouble){
        .rk = rk, .directory = directory, .topics = topics, .brokers = "broker:1"};
}

static void teardown(void)
{
    kafka_directory_destroy(directory);
    rd_kafka_topic_partition_list_destroy(topics);
    rd_kafka_mock_cluster_destroy(mock);
    rd_kafka_destroy_flags(rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    wakeup_fini(&wakeup);
}

TestSuite(kafka_directory, .init = setup, .fini = teardown, .timeout = 60);
TestSuite(kafka_trouble, .init = setup, .fini = teardown, .timeout = 60);
TestSuite(kafka_assignment, .init = setup, .fini = teardown, .timeout = 60);

static rd_kafka_resp_err_t await_answer(const char *topic, int32_t partition)
{
    rd_kafka_resp_err_t answer;
    int64_t end_ms = clock_ms(&timer) + PATIENCE_MS;
    while ((answer = kafka_directory_find(directory, topic, partition)) ==
           RD_KAFKA_RESP_ERR__IN_PROGRESS) {
        cr_assert_lt(clock_ms(&timer), end_ms, "no answer");
        wakeup_prepare(&wakeup);
        wakeup_wait(&wakeup, 10);
    }
    return answer;
}

Test(kafka_directory, the_first_question_is_answered_later_and_then_at_once)
{
    cr_assert_eq(kafka_directory_find(directory, "a", -1), RD_KAFKA_RESP_ERR__IN_PROGRESS);
    cr_assert_eq(await_answer("a", -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(kafka_directory_find(directory, "a", 2), RD_KAFKA_RESP_ERR_NO_ERROR);
}

Test(kafka_directory, a_partition_that_is_not_there_is_denied_on_fresh_knowledge_only)
{
    cr_assert_eq(await_answer("a", -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(kafka_directory_find(directory, "a", 3), RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION);
    int64_t end_ms = clock_ms(&timer) + 1100; /* what was known then may be out of date */
    while (clock_ms(&timer) < end_ms) {
        wakeup_prepare(&wakeup);
        wakeup_wait(&wakeup, 100);
    }
    cr_assert_eq(kafka_directory_find(directory, "a", 3), RD_KAFKA_RESP_ERR__IN_PROGRESS);
    cr_assert_eq(await_answer("a", 3), RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION);
    cr_assert_eq(kafka_directory_find(directory, "a", 0), RD_KAFKA_RESP_ERR_NO_ERROR);
}

Test(kafka_directory, a_missing_topic_is_denied_after_a_while_and_keeps_nobody_else_waiting)
{
    rd_kafka_mock_topic_set_error(mock, "b", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    int64_t begin_ms = clock_ms(&timer);
    cr_assert_eq(kafka_directory_find(directory, "b", -1), RD_KAFKA_RESP_ERR__IN_PROGRESS);
    cr_assert_eq(await_answer("a", -1), RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_lt(clock_ms(&timer) - begin_ms, 1500);
    cr_assert_eq(await_answer("b", -1), RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    int64_t took_ms = clock_ms(&timer) - begin_ms;
    cr_assert(took_ms >= 2000 && took_ms < 10000, "after %d ms", (int)took_ms);
}

Test(kafka_directory, a_name_that_no_topic_can_have_is_denied)
{
    char name[700];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    cr_assert_eq(await_answer(name, -1), RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION);
}

/* The first event within the time, or NOTHING. */
static struct source_event await_trouble(int timeout_ms)
{
    int64_t end_ms = clock_ms(&timer) + timeout_ms;
    struct source_event event = kafka_trouble_turn(&trouble);
    while (event.kind == SOURCE_NOTHING && clock_ms(&timer) < end_ms) {
        wakeup_prepare(&wakeup);
        wakeup_wait(&wakeup, 10);
        event = kafka_trouble_turn(&trouble);
    }
    return event;
}

Test(kafka_trouble, a_topic_that_is_missing_for_a_moment_ends_nothing)
{
    rd_kafka_mock_topic_set_error(mock, "b", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, NULL, "b [0]: unknown");
    cr_assert_eq(await_trouble(2000).kind, SOURCE_NOTHING);
    cr_assert(trouble.doubting);
    rd_kafka_mock_topic_set_error(mock, "b", RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(await_trouble(4000).kind, SOURCE_NOTHING);
    cr_assert_not(trouble.doubting);
    cr_assert_not(kafka_trouble_is_missing(&trouble));
}

Test(kafka_trouble, a_topic_that_stays_missing_fails_once_by_name)
{
    rd_kafka_mock_topic_set_error(mock, "b", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, NULL, "b [0]: unknown");
    struct source_event event = await_trouble(PATIENCE_MS);
    cr_assert_eq(event.kind, SOURCE_FAILED);
    cr_assert_eq(event.err->code, E_BROKER);
    cr_assert_not_null(strstr(event.err->text, "\"b\" is no longer on broker:1"));
    cr_assert(kafka_trouble_is_missing(&trouble));
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, NULL, "again");
    cr_assert_eq(await_trouble(100).kind, SOURCE_NOTHING);
}

Test(kafka_trouble, what_passes_by_itself_ends_nothing)
{
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__TRANSPORT, NULL, "connection refused");
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, NULL, "1/1 brokers down");
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, NULL, "out of range");
    cr_assert_eq(kafka_trouble_turn(&trouble).kind, SOURCE_NOTHING);
}

Test(kafka_trouble, what_ends_all_comes_after_what_ends_a_part_and_not_before)
{
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, "a [1]", "no offset");
    struct source_event event = kafka_trouble_turn(&trouble);
    cr_assert_eq(event.kind, SOURCE_FAILED);
    cr_assert_not_null(strstr(event.err->text, "a [1]: no offset"));
    cr_assert_not_null(strstr(event.err->text, "auto.offset.reset"));
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, NULL, "not you");
    cr_assert_eq(kafka_trouble_turn(&trouble).kind, SOURCE_FATAL);
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "a [0]", "no");
    cr_assert_eq(kafka_trouble_turn(&trouble).kind, SOURCE_NOTHING);
}

Test(kafka_trouble, a_fatal_error_is_one_under_whatever_name_it_comes)
{
    rd_kafka_test_fatal_error(rk, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, "somebody else");
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, NULL, "fenced");
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__FATAL, NULL, "again");
    struct source_event event = kafka_trouble_turn(&trouble);
    cr_assert_eq(event.kind, SOURCE_FATAL);
    cr_assert_not_null(strstr(event.err->text, "same group.instance.id"), "%s", event.err->text);
    kafka_trouble_note(&trouble, RD_KAFKA_RESP_ERR__FATAL, NULL, "and again");
    cr_assert_eq(kafka_trouble_turn(&trouble).kind, SOURCE_NOTHING);
}

Test(kafka_assignment, a_partition_is_found_until_it_is_dropped)
{
    struct kafka_assignment assignment;
    kafka_assignment_init(&assignment, rk);
    assignment.wakeup = &wakeup;
    struct kafka_partition *first = kafka_assignment_add(&assignment, "a", 0);
    struct kafka_partition *other = kafka_assignment_add(&assignment, "b", 0);
    cr_assert_eq(kafka_assignment_find(&assignment, "a", 0), first);
    cr_assert_eq(kafka_assignment_find(&assignment, "b", 0), other);
    cr_assert_null(kafka_assignment_find(&assignment, "a", 1));
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
    rd_kafka_topic_partition_list_add(list, "a", 0);
    rd_kafka_topic_partition_list_add(list, "a", 2); /* never there */
    kafka_assignment_drop(&assignment, list);
    rd_kafka_topic_partition_list_destroy(list);
    cr_assert_null(kafka_assignment_find(&assignment, "a", 0));
    cr_assert_eq(kafka_assignment_find(&assignment, "b", 0), other);
    kafka_assignment_fini(&assignment);
}
