/*
 * Fuzz target: the bytes of a file or pipe as records, in both framings.
 *
 * Input: a byte for the framing, two for the sizes of reads in turn, then the stream.
 * Checked beside memory: what is found does not depend on how the stream is cut into reads; damage
 * is told at the same place; a record that was read is written as the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/memory.h"
#include "fuzz/fuzz_target.h"
#include "local/local_framing.h"

struct stream {
    enum local_framing framing;
    const char *data;
    size_t size;
    size_t steps[2]; /* bytes of a read, in turn */
};

/* What a reader of the whole stream finds. */
struct found {
    size_t whole; /* bytes of whole records */
    struct local_fault fault;
};

/* As the reader thread does it: unfinished bytes are looked at again when more have come. A copy of
 * just these bytes lets a read behind them be seen. */
static struct found scan_in_steps(const struct stream *stream)
{
    struct found found = {.whole = 0};
    size_t filled = 0;
    for (size_t turn = 0;; turn++) {
        size_t step = stream->steps[turn % 2];
        size_t seen = filled - found.whole;
        size_t got = stream->size - filled < step ? stream->size - filled : step;
        filled += got;
        char *exact = memory_copy_bytes(stream->data + found.whole, filled - found.whole);
        size_t added = local_framing_scan(stream->framing, exact, filled - found.whole, seen,
                                          got == 0, &found.fault);
        memory_free(exact);
        CHECK(added <= filled - found.whole);
        found.fault.at += found.fault.what ? found.whole : 0;
        found.whole += added;
        if (got == 0 || found.fault.what) {
            return found;
        }
    }
}

static struct found scan_at_once(const struct stream *stream)
{
    struct found found;
    found.whole =
        local_framing_scan(stream->framing, stream->data, stream->size, 0, true, &found.fault);
    return found;
}

/* The record as an emission must give the bytes that it was read from. */
static void write_back(enum local_framing framing, struct record *rec, const char *data,
                       size_t took)
{
    struct arena arena;
    struct header *headers = NULL;
    arena_init(&arena);
    uint32_t count = local_framing_headers(rec, &arena, &headers);
    struct emission emission = {.key = rec->key,
                                .key_size = rec->key_size,
                                .value = rec->value,
                                .value_size = rec->value_size,
                                .timestamp_ms = rec->timestamp_ms,
                                .headers = headers,
                                .header_count = count};
    struct error err;
    bool fits = local_framing_check(framing, &emission, &err);
    CHECK(fits);
    struct byte_buffer out = {0};
    local_framing_write(framing, &emission, &out);
    bool cut = framing == LOCAL_LINES && data[took - 1] != '\n'; /* a last line gets its end */
    CHECK(out.size == took + cut);
    CHECK(memcmp(out.data, data, took) == 0);
    byte_buffer_fini(&out);
    arena_fini(&arena);
}

static void read_records(const struct stream *stream, size_t whole)
{
    size_t at = 0;
    while (at < whole) {
        struct record rec = {.key = NULL};
        struct local_fault fault;
        size_t took =
            local_framing_read(stream->framing, stream->data + at, whole - at, &rec, &fault);
        if (took == 0) {
            CHECK(fault.what != NULL);
            CHECK(fault.at == 0);
            return;
        }
        write_back(stream->framing, &rec, stream->data + at, took);
        at += took;
    }
    CHECK(at == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) {
        return 0;
    }
    struct stream stream = {
        .framing = data[0] & 1 ? LOCAL_RECORDS : LOCAL_LINES,
        .data = (const char *)data + 3,
        .size = size - 3,
        .steps = {(size_t)data[1] + 1, (size_t)data[2] + 1},
    };
    struct found once = scan_at_once(&stream);
    struct found steps = scan_in_steps(&stream);
    CHECK(once.whole <= stream.size);
    CHECK(once.whole == steps.whole);
    CHECK((once.fault.what == NULL) == (steps.fault.what == NULL));
    CHECK(once.fault.what == NULL || once.fault.at == steps.fault.at);
    read_records(&stream, once.whole);
    return 0;
}
