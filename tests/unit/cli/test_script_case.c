/* The ports of a case of a test, without an engine around them. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "base/wakeup.h"
#include "cli/case_sink.h"
#include "cli/case_source.h"

static bool push(struct source *source, const char *topic, int32_t partition, int64_t offset)
{
    struct case_input input = {
        .rec = {.topic = topic, .partition = partition, .offset = offset, .timestamp_ms = 7}};
    return case_source_push(source, &input);
}

Test(script_case, a_partition_is_assigned_with_its_first_record_and_offsets_rise)
{
    struct wakeup wakeup;
    wakeup_init(&wakeup);
    struct source *source = case_source_create();
    source->ops->attach(source, &wakeup);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_READY);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    cr_assert(push(source, "in", 2, -1));
    cr_assert(push(source, "in", 2, 5));
    cr_assert_not(push(source, "in", 2, 5));
    cr_assert(push(source, "in", 2, -1));

    struct source_event event = source->ops->poll(source);
    cr_assert_eq(event.kind, SOURCE_ASSIGN);
    cr_assert_str_eq(event.partitions[0].topic, "in");
    void *handle = event.partitions[0].handle;
    struct record recs[4];
    cr_assert_eq(source->ops->fetch(source, handle, recs, 2), 2u);
    cr_assert_eq(recs[0].offset, 0);
    cr_assert_eq(recs[1].offset, 5);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING, "there is more to fetch");
    cr_assert_eq(source->ops->fetch(source, handle, recs, 4), 1u);
    cr_assert_eq(recs[0].offset, 6);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_END);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING, "the end is told once");
    cr_assert(push(source, "in", 2, -1));
    cr_assert_eq(source->ops->fetch(source, handle, recs, 4), 1u);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_END, "and again behind what came later");
    source->ops->close(source);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_CLOSED);
    source->ops->destroy(source);
    wakeup_fini(&wakeup);
}

static int64_t fixed(void *context)
{
    return *(int64_t *)context;
}

Test(script_case, the_sink_keeps_copies_and_reports_each_tag_once)
{
    int64_t now = 1234;
    struct clock_source clock = {fixed, fixed, &now};
    struct sink *sink = case_sink_create("output", &clock);
    char value[] = "first";
    struct header header = {.name = "n", .name_size = 1};
    struct emission emission = {
        .value = value, .value_size = 5, .timestamp_ms = -1, .headers = &header, .header_count = 1};
    struct error err;
    for (uint64_t tag = 0; tag < 100; tag++) {
        cr_assert_eq(sink->ops->send(sink, &emission, tag, &err), SINK_TAKEN);
    }
    memset(value, 'x', 5);
    const struct emission *output = case_sink_output(sink, 99);
    cr_assert_str_eq(output->topic, "output");
    cr_assert_eq(memcmp(output->value, "first", 5), 0);
    cr_assert_eq(output->timestamp_ms, 1234);
    cr_assert_null(output->key);
    cr_assert_null(output->headers[0].value);
    cr_assert_null(case_sink_output(sink, 100));
    struct delivery reports[64];
    cr_assert_eq(sink->ops->poll(sink, reports, 64), 64u);
    cr_assert_eq(reports[63].tag, 63u);
    cr_assert_eq(sink->ops->poll(sink, reports, 64), 36u);
    cr_assert_eq(reports[35].tag, 99u);
    cr_assert_eq(sink->ops->poll(sink, reports, 64), 0u);
    sink->ops->destroy(sink);
}

Test(script_case, without_a_default_output_only_named_topics_pass)
{
    int64_t now = 1;
    struct clock_source clock = {fixed, fixed, &now};
    struct sink *sink = case_sink_create(NULL, &clock);
    struct error err;
    struct emission emission = {.topic = NULL};
    cr_assert_eq(sink->ops->check(sink, &emission, &err), SINK_REFUSED);
    cr_assert_eq(sink->ops->send(sink, &emission, 1, &err), SINK_REFUSED);
    emission.topic = "named";
    cr_assert_eq(sink->ops->send(sink, &emission, 1, &err), SINK_TAKEN);
    sink->ops->destroy(sink);
}
