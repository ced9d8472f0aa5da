#include "engine/dead_letter.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct header OWN[] = {
    {"trace", "1", 5, 1},
    {"trace", "2", 5, 1},
    {"bin\0", "\0\xff", 4, 2},
    {"none", NULL, 4, 0},
    {"__streams.errors.topic", "older", 22, 5},
};
enum { OWN_COUNT = sizeof OWN / sizeof OWN[0] };

static uint32_t read_headers(struct record *rec, struct arena *arena, struct header **headers)
{
    (void)rec;
    *headers = arena_alloc(arena, sizeof OWN);
    memcpy(*headers, OWN, sizeof OWN);
    return OWN_COUNT;
}

static const struct record_origin ORIGIN = {read_headers};

static const struct failure_policy POLICY = {
    .dead_letter_topic = "letters", .script = "f.lua", .generation = "9a8b"};

static void begin(struct work *work)
{
    memset(work, 0, sizeof *work);
    effects_init(&work->effects);
    work->rec = (struct record){.key = "k\0y",
                                .key_size = 3,
                                .value = "value",
                                .value_size = 5,
                                .offset = INT64_C(9007199254740993),
                                .timestamp_ms = 1700000000123,
                                .topic = "orders",
                                .partition = 12};
}

static void expect_header(const struct header *header, const char *name, const char *value)
{
    cr_assert_eq(header->name_size, strlen(name));
    cr_assert_eq(memcmp(header->name, name, header->name_size), 0, "%.*s instead of %s",
                 (int)header->name_size, header->name, name);
    cr_assert_eq(header->value_size, strlen(value), "%s: %u bytes", name, header->value_size);
    cr_assert_eq(memcmp(header->value, value, header->value_size), 0, "%s: %.*s instead of %s",
                 name, (int)header->value_size, header->value, value);
}

struct wanted {
    const char *name, *value;
};

static void expect_headers(const struct emission *letter, uint32_t own, const struct wanted *wanted,
                           size_t count)
{
    cr_assert_eq(letter->header_count, own + count, "%u headers", letter->header_count);
    for (size_t i = 0; i < count; i++) {
        expect_header(&letter->headers[own + i], wanted[i].name, wanted[i].value);
    }
}

Test(dead_letter, key_value_and_timestamp_go_as_they_came)
{
    struct work work;
    begin(&work);
    dead_letter_emit(&POLICY, &work, 0, "raised", "f.lua:3: boom");
    cr_assert_eq(work.effects.count, 1);
    const struct emission *letter = work.effects.first;
    cr_assert_str_eq(letter->topic, "letters");
    cr_assert_eq(letter->key, work.rec.key, "the bytes are the record's own");
    cr_assert_eq(letter->key_size, 3);
    cr_assert_eq(letter->value, work.rec.value);
    cr_assert_eq(letter->value_size, 5);
    cr_assert_eq(letter->timestamp_ms, 1700000000123);
    cr_assert_eq(letter->partition, PARTITION_BY_KEY);
    effects_fini(&work.effects);
}

Test(dead_letter, none_stays_none_and_empty_stays_empty)
{
    struct work work;
    begin(&work);
    work.rec.key = NULL;
    work.rec.key_size = 0;
    work.rec.value = NULL;
    work.rec.value_size = 0;
    work.rec.timestamp_ms = -1;
    dead_letter_emit(&POLICY, &work, 0, "raised", "r");
    cr_assert_null(work.effects.first->key);
    cr_assert_null(work.effects.first->value);
    cr_assert_eq(work.effects.first->timestamp_ms, -1);
    effects_fini(&work.effects);
    begin(&work);
    work.rec.key = "";
    work.rec.key_size = 0;
    work.rec.value = "";
    work.rec.value_size = 0;
    dead_letter_emit(&POLICY, &work, 0, "raised", "r");
    cr_assert_not_null(work.effects.first->key);
    cr_assert_not_null(work.effects.first->value);
    cr_assert_eq(work.effects.first->value_size, 0);
    effects_fini(&work.effects);
}

Test(dead_letter, its_headers_say_what_failed_where_and_how)
{
    static const struct wanted WANTED[] = {
        {"__streams.errors.exception", "raised"},
        {"__streams.errors.message", "f.lua:3: boom"},
        {"__streams.errors.stacktrace", "stack traceback:\n\tf.lua:3: in function"},
        {"__streams.errors.topic", "orders"},
        {"__streams.errors.partition", "12"},
        {"__streams.errors.offset", "9007199254740993"},
        {"__moontide.errors.attempts", "4"},
        {"__moontide.errors.script", "f.lua"},
        {"__moontide.errors.generation", "9a8b"},
    };
    struct work work;
    begin(&work);
    /* the reason lies in the arena, as a processor leaves it */
    static const char REASON[] = "f.lua:3: boom\nstack traceback:\n\tf.lua:3: in function";
    work.reason = arena_copy(&work.effects.arena, REASON, sizeof REASON - 1);
    dead_letter_emit(&POLICY, &work, 3, "raised", work.reason);
    expect_headers(work.effects.first, 0, WANTED, sizeof WANTED / sizeof WANTED[0]);
    effects_fini(&work.effects);
}

Test(dead_letter, what_is_not_known_has_no_header)
{
    static const struct wanted WANTED[] = {
        {"__streams.errors.exception", "failed"},
        {"__streams.errors.message", "no reason was given"},
        {"__streams.errors.topic", "orders"},
        {"__streams.errors.partition", "12"},
        {"__streams.errors.offset", "9007199254740993"},
        {"__moontide.errors.attempts", "1"},
    };
    struct failure_policy policy = {.dead_letter_topic = "letters"};
    struct work work;
    begin(&work);
    dead_letter_emit(&policy, &work, 0, "failed", NULL);
    expect_headers(work.effects.first, 0, WANTED, sizeof WANTED / sizeof WANTED[0]);
    effects_fini(&work.effects);
}

Test(dead_letter, the_headers_of_the_record_come_first_with_their_duplicates)
{
    struct work work;
    begin(&work);
    work.rec.origin = &ORIGIN;
    dead_letter_emit(&POLICY, &work, 0, "failed", "r");
    const struct emission *letter = work.effects.first;
    cr_assert_eq(letter->header_count, OWN_COUNT + 8);
    for (uint32_t i = 0; i < OWN_COUNT; i++) {
        cr_assert_eq(letter->headers[i].name_size, OWN[i].name_size);
        cr_assert_eq(memcmp(letter->headers[i].name, OWN[i].name, OWN[i].name_size), 0);
        cr_assert_eq(letter->headers[i].value, OWN[i].value);
        cr_assert_eq(letter->headers[i].value_size, OWN[i].value_size);
    }
    expect_header(&letter->headers[OWN_COUNT], "__streams.errors.exception", "failed");
    expect_header(&letter->headers[OWN_COUNT + 2], "__streams.errors.topic", "orders");
    effects_fini(&work.effects);
}

Test(dead_letter, it_follows_the_emissions_that_had_left)
{
    struct work work;
    begin(&work);
    struct emission *out = effects_emit(&work.effects);
    out->topic = "out";
    dead_letter_emit(&POLICY, &work, 0, "production", "too large");
    cr_assert_eq(work.effects.count, 2);
    cr_assert_str_eq(work.effects.first->topic, "out");
    cr_assert_str_eq(work.effects.last->topic, "letters");
    cr_assert_eq(work.effects.first->next, work.effects.last);
    effects_fini(&work.effects);
}
