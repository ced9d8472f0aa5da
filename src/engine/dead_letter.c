#include "engine/dead_letter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum { HEADERS_MAX = 9, NUMBER_SIZE = 24 };

/* The headers of a letter while it is made. */
struct letter {
    struct arena *arena;
    struct header *headers; /* room for HEADERS_MAX more than the record has */
    uint32_t count;
};

static void add(struct letter *letter, const char *name, const char *value, size_t size)
{
    letter->headers[letter->count++] = (struct header){
        .name = name, /* a literal */
        .name_size = (uint32_t)strlen(name),
        .value = arena_copy(letter->arena, value, size),
        .value_size = (uint32_t)size,
    };
}

static void add_number(struct letter *letter, const char *name, int64_t number)
{
    char text[NUMBER_SIZE];
    int size = snprintf(text, sizeof text, "%" PRId64, number);
    CHECK(size > 0 && size < NUMBER_SIZE);
    add(letter, name, text, (size_t)size);
}

static void add_text(struct letter *letter, const char *name, const char *text)
{
    if (text) {
        add(letter, name, text, strlen(text));
    }
}

/* The reason is a message, and after its first line perhaps a traceback. */
static void add_reason(struct letter *letter, const char *reason)
{
    size_t size = strcspn(reason, "\n");
    add(letter, "__streams.errors.message", reason, size);
    if (reason[size] != '\0') {
        add_text(letter, "__streams.errors.stacktrace", reason + size + 1);
    }
}

static void copy_headers(struct letter *letter, struct record *rec)
{
    struct header *own = NULL;
    uint32_t count = 0;
    if (rec->origin && rec->origin->read_headers) {
        count = rec->origin->read_headers(rec, letter->arena, &own);
    }
    letter->headers = arena_alloc(letter->arena, (count + HEADERS_MAX) * sizeof *letter->headers);
    for (uint32_t i = 0; i < count; i++) {
        letter->headers[i] = own[i];
    }
    letter->count = count;
}

void dead_letter_emit(const struct failure_policy *policy, struct work *work, uint32_t attempt,
                      const char *kind, const char *reason)
{
    CHECK(policy->dead_letter_topic != NULL);
    struct record *rec = &work->rec;
    struct letter letter = {.arena = &work->effects.arena};
    copy_headers(&letter, rec);
    uint32_t own = letter.count;
    add_text(&letter, "__streams.errors.exception", kind);
    add_reason(&letter, reason ? reason : "no reason was given");
    add_text(&letter, "__streams.errors.topic", rec->topic);
    add_number(&letter, "__streams.errors.partition", rec->partition);
    add_number(&letter, "__streams.errors.offset", rec->offset);
    add_number(&letter, "__moontide.errors.attempts", (int64_t)attempt + 1);
    add_text(&letter, "__moontide.errors.script", policy->script);
    add_text(&letter, "__moontide.errors.generation", policy->generation);
    CHECK(letter.count - own <= HEADERS_MAX);
    struct emission *emission = effects_emit(&work->effects);
    emission->topic = policy->dead_letter_topic;
    emission->key = rec->key;
    emission->key_size = rec->key_size;
    emission->value = rec->value;
    emission->value_size = rec->value_size;
    emission->timestamp_ms = rec->timestamp_ms;
    emission->headers = letter.headers;
    emission->header_count = letter.count;
}
