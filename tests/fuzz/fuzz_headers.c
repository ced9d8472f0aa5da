/*
 * Fuzz target: headers on their way into a script, through its calls, and out again.
 *
 * Input: the headers of a record, then operations for the script below, which reads them from the
 * record's value. Checked beside memory: what the script sees and what leaves is what a plain array
 * in C, given the same operations, holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "support/fuzz_input.h"
#include "support/script_rig.h"

enum { ARRIVED_MAX = 6, HEADERS_MAX = 300, NAME_MAX_SIZE = 3, VALUE_MAX_SIZE = 20 };

enum { ADD, SET, DEL, GET, ALL, ITER, EMIT, COPY, OP_COUNT };

static const char SCRIPT[] =
    "local ADD, SET, DEL, GET, ALL, ITER, EMIT = 0, 1, 2, 3, 4, 5, 6\n"
    "local function piece(value) return value and #value .. ':' .. value or '-' end\n"
    "return function(rec, ctx)\n"
    "    local ops, at = rec.value, 1\n"
    "    local function byte()\n"
    "        local b = ops:byte(at) or 0\n"
    "        at = at + 1\n"
    "        return b\n"
    "    end\n"
    "    local function bytes(max)\n"
    "        local size = math.min(byte(), max, math.max(#ops - at + 1, 0))\n"
    "        local text = ops:sub(at, at + size - 1)\n"
    "        at = at + size\n"
    "        return text\n"
    "    end\n"
    "    local function nullable(max)\n"
    "        if byte() % 4 == 0 then return nil end\n"
    "        return bytes(max)\n"
    "    end\n"
    "    while at <= #ops do\n"
    "        local op = byte() % 8\n"
    "        local h = rec.headers\n"
    "        if op == ADD then\n"
    "            local name = bytes(3)\n"
    "            h:add(name, nullable(20))\n"
    "        elseif op == SET then\n"
    "            local name = bytes(3)\n"
    "            h:set(name, nullable(20))\n"
    "        elseif op == DEL then\n"
    "            ctx:emit('seen', { value = tostring(h:del(bytes(3))) })\n"
    "        elseif op == GET then\n"
    "            ctx:emit('seen', { value = h:get(bytes(3)) })\n"
    "        elseif op == ALL then\n"
    "            local all = h:all(bytes(3))\n"
    "            local out = { all.n .. ';' }\n"
    "            for i = 1, all.n do out[#out + 1] = piece(all[i]) end\n"
    "            ctx:emit('seen', { value = table.concat(out) })\n"
    "        elseif op == ITER then\n"
    "            local out = {}\n"
    "            for name, value in h:iter() do out[#out + 1] = piece(name) .. piece(value) end\n"
    "            ctx:emit('seen', { value = table.concat(out) })\n"
    "        elseif op == EMIT then\n"
    "            ctx:emit('seen', { headers = h })\n"
    "        else\n"
    "            local copy = rec:copy().headers\n"
    "            copy:add('copied', nil)\n"
    "            if byte() % 2 == 1 then rec.headers = copy end\n"
    "        end\n"
    "    end\n"
    "    return rec\n"
    "end\n";

/* What the headers should be. */
struct model {
    struct header items[HEADERS_MAX];
    uint32_t count;
};

static struct script_rig *rig(void)
{
    static struct script_rig only;
    static bool made;
    if (!made) {
        struct error err;
        script_rig_init(&only);
        bool ok = script_rig_load(&only, SCRIPT, &err);
        if (!ok) {
            fprintf(stderr, "%s\n", err.text);
        }
        CHECK(ok);
        unlink(only.path); /* it is loaded, and nobody ends the rig */
        rmdir(only.folder);
        made = true;
    }
    return &only;
}

static void append(struct model *model, struct header header)
{
    CHECK(model->count < HEADERS_MAX);
    model->items[model->count++] = header;
}

static bool named(const struct header *header, const struct header *wanted)
{
    return fuzz_same(header->name, header->name_size, wanted->name, wanted->name_size);
}

/* Removes all of the name from index `from` on; returns how many. */
static uint32_t remove_named(struct model *model, const struct header *wanted, uint32_t from)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < model->count; i++) {
        if (!named(&model->items[i], wanted)) {
            model->items[kept++] = model->items[i];
        }
    }
    uint32_t removed = model->count - kept;
    model->count = kept;
    return removed;
}

static void set(struct model *model, struct header header)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (named(&model->items[i], &header)) {
            model->items[i] = header;
            remove_named(model, &header, i + 1);
            return;
        }
    }
    append(model, header);
}

static void print_piece(struct byte_buffer *out, const char *bytes, uint32_t size)
{
    if (bytes == NULL) {
        byte_buffer_append_char(out, '-');
        return;
    }
    byte_buffer_printf(out, "%" PRIu32 ":", size);
    byte_buffer_append(out, bytes, size);
}

static void print_all(const struct model *model, const struct header *wanted,
                      struct byte_buffer *out)
{
    struct byte_buffer values = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        if (named(&model->items[i], wanted)) {
            print_piece(&values, model->items[i].value, model->items[i].value_size);
            count++;
        }
    }
    byte_buffer_printf(out, "%" PRIu32 ";", count);
    byte_buffer_append(out, byte_buffer_text(&values), values.size);
    byte_buffer_fini(&values);
}

static const struct header *last_named(const struct model *model, const struct header *wanted)
{
    for (uint32_t i = model->count; i > 0; i--) {
        if (named(&model->items[i - 1], wanted)) {
            return &model->items[i - 1];
        }
    }
    return NULL;
}

static void check_headers(const struct model *model, const struct emission *emission)
{
    CHECK(emission->header_count == model->count);
    for (uint32_t i = 0; i < model->count; i++) {
        const struct header *ours = &model->items[i];
        const struct header *theirs = &emission->headers[i];
        CHECK(named(ours, theirs));
        CHECK(fuzz_same(ours->value, ours->value_size, theirs->value, theirs->value_size));
    }
}

static void check_value(const struct emission *emission, const char *value, size_t size)
{
    CHECK(emission != NULL);
    CHECK(fuzz_same(value, (uint32_t)size, emission->value, emission->value_size));
}

/* One operation on the model; `next` is the emission that the script made of it, if it is one that
 * emits. Returns the emission that follows. */
static const struct emission *follow(struct model *model, struct fuzz_input *ops,
                                     const struct emission *next)
{
    unsigned op = fuzz_input_byte(ops) % OP_COUNT;
    struct header header = {.name = ""};
    struct byte_buffer out = {0};
    if (op == COPY) {
        if (fuzz_input_byte(ops) % 2 == 1) {
            append(model, (struct header){.name = "copied", .name_size = 6});
        }
        return next;
    }
    if (op != ITER && op != EMIT) {
        header.name = fuzz_input_bytes(ops, NAME_MAX_SIZE, &header.name_size);
    }
    if (op == ADD || op == SET) {
        header.value = fuzz_input_nullable(ops, VALUE_MAX_SIZE, &header.value_size);
        (op == ADD ? append : set)(model, header);
        return next;
    }
    CHECK(next != NULL);
    if (op == EMIT) {
        check_headers(model, next);
        return next->next;
    }
    const struct header *last = last_named(model, &header);
    if (op == GET) {
        check_value(next, last ? last->value : NULL, last ? last->value_size : 0);
        return next->next;
    }
    if (op == DEL) {
        byte_buffer_printf(&out, "%" PRIu32, remove_named(model, &header, 0));
    } else if (op == ALL) {
        print_all(model, &header, &out);
    } else {
        for (uint32_t i = 0; i < model->count; i++) {
            print_piece(&out, model->items[i].name, model->items[i].name_size);
            print_piece(&out, model->items[i].value, model->items[i].value_size);
        }
    }
    check_value(next, byte_buffer_text(&out), out.size);
    byte_buffer_fini(&out);
    return next->next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.at = data, .left = size};
    struct model model = {.count = 0};
    struct header arrived[ARRIVED_MAX];
    uint32_t count = fuzz_input_byte(&input) % (ARRIVED_MAX + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct header *header = &arrived[i];
        header->name = fuzz_input_bytes(&input, NAME_MAX_SIZE, &header->name_size);
        header->value = fuzz_input_nullable(&input, VALUE_MAX_SIZE, &header->value_size);
        append(&model, *header);
    }
    input.left = input.left < HEADERS_MAX - ARRIVED_MAX ? input.left : HEADERS_MAX - ARRIVED_MAX;

    struct work *work = script_rig_add(rig(), NULL, "");
    struct rig_headers headers = {.items = arrived, .count = count};
    work->rec.value = (const char *)input.at;
    work->rec.value_size = (uint32_t)input.left;
    script_rig_set_headers(work, &headers);
    script_rig_run(rig());
    if (work->outcome != OUTCOME_DONE) {
        fprintf(stderr, "%s\n", work->reason);
    }
    CHECK(work->outcome == OUTCOME_DONE);
    const struct emission *next = work->effects.first;
    while (input.left > 0) {
        next = follow(&model, &input, next);
    }
    CHECK(next != NULL);
    CHECK(next->topic == NULL);
    check_headers(&model, next);
    CHECK(next->next == NULL);
    script_rig_clear(rig());
    return 0;
}
