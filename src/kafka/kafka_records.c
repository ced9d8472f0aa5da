#include "kafka/kafka_records.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"

enum {
    COPY_BELOW = 1024 /* bytes of key and value; the sink copies outputs below it as well */
};

/* The small records of one call. They are admitted, and so released, about together. */
struct copy_block {
    size_t used; /* records that are not released */
};

/* What `record.message` is of a copied record; in its block. */
struct copied {
    struct copy_block *block;
    rd_kafka_headers_t *headers; /* NULL: none */
};

static uint32_t read_borrowed(struct record *rec, struct arena *arena, struct header **headers);
static uint32_t read_copied(struct record *rec, struct arena *arena, struct header **headers);

static const struct record_origin BORROWED = {.read_headers = read_borrowed};
static const struct record_origin COPIED = {.read_headers = read_copied};

static bool is_small(const rd_kafka_message_t *message)
{
    return message->len < COPY_BELOW && message->key_len < COPY_BELOW - message->len;
}

static void describe(const rd_kafka_message_t *message, const char *topic, struct record *rec)
{
    rd_kafka_timestamp_type_t type;
    *rec = (struct record){
        .key = message->key,
        .value = message->payload,
        .key_size = (uint32_t)message->key_len,
        .value_size = (uint32_t)message->len,
        .offset = message->offset,
        .timestamp_ms = rd_kafka_message_timestamp(message, &type),
        .topic = topic,
        .partition = message->partition,
        .leader_epoch = -1,
        .origin = &BORROWED,
    };
#if RD_KAFKA_VERSION >= 0x020100ff
    rec->leader_epoch = rd_kafka_message_leader_epoch(message);
#endif
}

/* None stays none, and empty empty. */
static const char *move(const char *bytes, uint32_t size, char **end)
{
    if (bytes == NULL) {
        return NULL;
    }
    char *copy = *end;
    memcpy(copy, bytes, size);
    *end += size;
    return copy;
}

static void copy_out(rd_kafka_message_t *message, struct record *rec, struct copied *copied,
                     char **end)
{
    rec->key = move(rec->key, rec->key_size, end);
    rec->value = move(rec->value, rec->value_size, end);
    rec->origin = &COPIED;
    rec->message = copied;
    if (rd_kafka_message_detach_headers(message, &copied->headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        copied->headers = NULL;
    }
    rd_kafka_message_destroy(message);
}

void kafka_records_take(rd_kafka_message_t *const *messages, size_t count, const char *topic,
                        struct record *recs)
{
    size_t small = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR);
        if (is_small(messages[i])) {
            small++;
            bytes += messages[i]->key_len + messages[i]->len;
        }
    }
    struct copy_block *block = NULL;
    struct copied *copied = NULL;
    char *end = NULL;
    if (small > 0) {
        block = memory_resize(NULL, sizeof *block + small * sizeof *copied + bytes);
        block->used = small;
        copied = (struct copied *)(block + 1);
        end = (char *)(copied + small);
    }
    for (size_t i = 0; i < count; i++) {
        describe(messages[i], topic, &recs[i]);
        if (is_small(messages[i])) {
            copied->block = block;
            copy_out(messages[i], &recs[i], copied++, &end);
        } else {
            recs[i].message = messages[i];
        }
    }
}

void kafka_records_release(struct record *rec)
{
    CHECK(rec->message != NULL);
    if (rec->origin == &BORROWED) {
        rd_kafka_message_destroy(rec->message);
    } else {
        struct copied *copied = rec->message;
        if (copied->headers) {
            rd_kafka_headers_destroy(copied->headers);
        }
        CHECK(copied->block->used > 0);
        if (--copied->block->used == 0) {
            memory_free(copied->block);
        }
    }
    rec->message = NULL;
}

/* --- headers ------------------------------------------------------------------------------- */

static uint32_t list_headers(const rd_kafka_headers_t *all, struct arena *arena,
                             struct header **headers)
{
    size_t count = rd_kafka_header_cnt(all);
    struct header *list = arena_alloc(arena, count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t size;
        rd_kafka_resp_err_t code = rd_kafka_header_get_all(all, i, &name, &value, &size);
        CHECK(code == RD_KAFKA_RESP_ERR_NO_ERROR);
        list[i] = (struct header){.name = name,
                                  .value = value,
                                  .name_size = (uint32_t)strlen(name),
                                  .value_size = (uint32_t)size};
    }
    *headers = list;
    return (uint32_t)count;
}

static uint32_t read_borrowed(struct record *rec, struct arena *arena, struct header **headers)
{
    rd_kafka_headers_t *all = NULL;
    *headers = NULL;
    if (rd_kafka_message_headers(rec->message, &all) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return 0;
    }
    return list_headers(all, arena, headers);
}

static uint32_t read_copied(struct record *rec, struct arena *arena, struct header **headers)
{
    const struct copied *copied = rec->message;
    *headers = NULL;
    return copied->headers ? list_headers(copied->headers, arena, headers) : 0;
}
