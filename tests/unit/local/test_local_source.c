#include "local/local_source.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/thread_role.h"
#include "local/local_chunk.h"
#include "local/local_input.h"

enum { RECORDS_MAX = 4096, WAIT_MS = 5000 };

static char directory[32];
static struct wakeup wakeup;
static struct error err;
static struct source *source;
static struct record recs[RECORDS_MAX];

static void begin(void)
{
    strcpy(directory, "/tmp/tide-source-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    wakeup_init(&wakeup);
    thread_role_set(ROLE_POLL);
}

static void end(void)
{
    if (source) {
        source->ops->destroy(source);
        source = NULL;
    }
    wakeup_fini(&wakeup);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(local_source, .init = begin, .fini = end);

/* "file:<directory>/<name>" with this content; the caller frees. */
static char *file_with(const char *name, const void *data, size_t size)
{
    char *address = memory_alloc(128);
    snprintf(address, 128, "file:%s/%s", directory, name);
    int fd = open(address + 5, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
    return address;
}

static void open_source(const char *const *inputs, size_t count, enum local_framing framing)
{
    source = local_source_create(inputs, count, framing, &err);
    cr_assert_not_null(source, "%s", err.text);
    source->ops->attach(source, &wakeup);
}

/* Waits for the next event. */
static struct source_event next_event(void)
{
    for (int waited = 0; waited < WAIT_MS; waited++) {
        struct source_event event = source->ops->poll(source);
        if (event.kind != SOURCE_NOTHING) {
            return event;
        }
        wakeup_prepare(&wakeup);
        event = source->ops->poll(source);
        if (event.kind != SOURCE_NOTHING) {
            wakeup_cancel(&wakeup);
            return event;
        }
        wakeup_wait(&wakeup, 1);
    }
    cr_assert(false, "no event");
    return (struct source_event){.kind = SOURCE_NOTHING};
}

/* Plays ASSIGN and READY; the handle of the first input. */
static void *assign(void)
{
    struct source_event event = next_event();
    cr_assert_eq(event.kind, SOURCE_ASSIGN);
    void *handle = event.partitions[0].handle;
    source->ops->answer(source);
    cr_assert_eq(next_event().kind, SOURCE_READY);
    return handle;
}

/* Fetches `count` records into recs, by waiting for them. */
static void fetch(void *handle, size_t count)
{
    size_t got = 0;
    for (int waited = 0; got < count && waited < WAIT_MS; waited++) {
        wakeup_prepare(&wakeup);
        size_t more = source->ops->fetch(source, handle, recs + got, count - got);
        if (more) {
            wakeup_cancel(&wakeup);
        } else {
            wakeup_wait(&wakeup, 1);
        }
        got += more;
    }
    cr_assert_eq(got, count);
}

static void release(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        source->ops->release(source, recs + i);
    }
}

static void *open_one(const char *name, const void *data, size_t size, enum local_framing framing)
{
    char *address = file_with(name, data, size);
    const char *const inputs[] = {address};
    open_source(inputs, 1, framing);
    memory_free(address); /* names are copied */
    return assign();
}

static void expect_value(size_t index, const char *value, size_t size)
{
    cr_assert_eq(recs[index].value_size, size);
    cr_assert_arr_eq(recs[index].value, value, size);
}

Test(local_source, lines_are_records_with_offsets_from_0)
{
    void *handle = open_one("a.txt", "one\n\nt\0o\r\nlast", 14, LOCAL_LINES);
    fetch(handle, 4);
    expect_value(0, "one", 3);
    expect_value(1, "", 0);
    expect_value(2, "t\0o\r", 4);
    expect_value(3, "last", 4);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(recs[i].offset, i);
        cr_assert_eq(recs[i].partition, 0);
        cr_assert_eq(recs[i].timestamp_ms, -1);
        cr_assert_null(recs[i].key);
        cr_assert(strstr(recs[i].topic, "/a.txt"));
        cr_assert_eq(strncmp(recs[i].topic, "file:", 5), 0);
    }
    struct source_event event = next_event();
    cr_assert_eq(event.kind, SOURCE_END);
    cr_assert_eq(event.handle, handle);
    release(4);
}

Test(local_source, an_empty_file_has_an_end_and_no_record)
{
    void *handle = open_one("a.txt", "", 0, LOCAL_LINES);
    cr_assert_eq(next_event().kind, SOURCE_END);
    cr_assert_eq(source->ops->fetch(source, handle, recs, 1), 0);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
}

Test(local_source, the_end_is_told_once_and_not_before_the_last_record)
{
    void *handle = open_one("a.txt", "a\nb\n", 4, LOCAL_LINES);
    fetch(handle, 1);
    release(1);
    usleep(20000);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    fetch(handle, 1);
    release(1);
    cr_assert_eq(next_event().kind, SOURCE_END);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
}

Test(local_source, two_inputs_are_two_partitions)
{
    char *a = file_with("a.txt", "a\n", 2);
    char *b = file_with("b.txt", "b\n", 2);
    const char *const inputs[] = {a, b};
    open_source(inputs, 2, LOCAL_LINES);
    struct source_event event = next_event();
    cr_assert_eq(event.kind, SOURCE_ASSIGN);
    cr_assert_eq(event.partition_count, 2);
    cr_assert_str_eq(event.partitions[0].topic, a);
    cr_assert_str_eq(event.partitions[1].topic, b);
    void *first = event.partitions[0].handle;
    void *second = event.partitions[1].handle;
    source->ops->answer(source);
    cr_assert_eq(next_event().kind, SOURCE_READY);
    fetch(second, 1);
    expect_value(0, "b", 1);
    release(1);
    fetch(first, 1);
    expect_value(0, "a", 1);
    release(1);
    memory_free(a);
    memory_free(b);
}

Test(local_source, without_inputs_it_is_ready_at_once)
{
    open_source(NULL, 0, LOCAL_LINES);
    cr_assert_eq(next_event().kind, SOURCE_READY);
    source->ops->close(source);
    cr_assert_eq(next_event().kind, SOURCE_CLOSED);
}

Test(local_source, lines_cross_the_borders_of_chunks)
{
    enum { LINES = 3000, LENGTH = 997 };
    char *data = memory_alloc(LINES * LENGTH);
    for (int i = 0; i < LINES; i++) {
        memset(data + i * LENGTH, 'a' + i % 26, LENGTH - 1);
        data[i * LENGTH + LENGTH - 1] = '\n';
    }
    cr_assert_gt(LINES * LENGTH, 2 * LOCAL_CHUNK_BYTES * 4);
    void *handle = open_one("a.txt", data, LINES * LENGTH, LOCAL_LINES);
    fetch(handle, LINES); /* none is released: all bytes stay */
    for (int i = 0; i < LINES; i++) {
        expect_value((size_t)i, data + i * LENGTH, LENGTH - 1);
    }
    release(LINES);
    memory_free(data);
}

Test(local_source, a_line_may_be_longer_than_a_chunk)
{
    size_t size = 5 << 20;
    char *data = memory_alloc(size + 2);
    memset(data, 'x', size);
    memcpy(data + size, "\ny", 2);
    void *handle = open_one("a.txt", data, size + 2, LOCAL_LINES);
    fetch(handle, 2);
    expect_value(0, data, size);
    expect_value(1, "y", 1);
    release(2);
    memory_free(data);
}

Test(local_source, a_line_above_the_bound_is_an_error_with_file_and_byte)
{
    char *address = file_with("a.txt", "ok\n", 3);
    cr_assert_eq(truncate(address + 5, (off_t)LOCAL_RECORD_MAX + 100), 0); /* a hole of NUL bytes */
    const char *const inputs[] = {address};
    open_source(inputs, 1, LOCAL_LINES);
    void *handle = assign();
    fetch(handle, 1);
    release(1);
    for (int waited = 0; waited < WAIT_MS; waited++) {
        cr_assert_eq(source->ops->fetch(source, handle, recs, 1), 0);
        struct source_event event = source->ops->poll(source);
        if (event.kind == SOURCE_FAILED) {
            cr_assert_eq(event.err->code, E_IO);
            cr_assert(strstr(event.err->text, address));
            cr_assert(strstr(event.err->text, ": byte 3: a line of more than 64 MiB"));
            memory_free(address);
            return;
        }
        cr_assert_eq(event.kind, SOURCE_NOTHING);
        usleep(1000);
    }
    cr_assert(false, "no error");
}

Test(local_source, frames_keep_key_headers_and_timestamp)
{
    struct byte_buffer bytes = {0};
    const struct header headers[] = {{"h", "1", 1, 1}, {"h", NULL, 1, 0}};
    struct emission emission = {
        .key = "", .timestamp_ms = 77, .headers = headers, .header_count = 2};
    local_framing_write(LOCAL_RECORDS, &emission, &bytes);
    emission = (struct emission){.value = "v", .value_size = 1, .timestamp_ms = -1};
    local_framing_write(LOCAL_RECORDS, &emission, &bytes);
    void *handle = open_one("a.bin", bytes.data, bytes.size, LOCAL_RECORDS);
    byte_buffer_fini(&bytes);
    fetch(handle, 2);
    cr_assert_not_null(recs[0].key);
    cr_assert_null(recs[0].value);
    cr_assert_eq(recs[0].timestamp_ms, 77);
    struct arena arena;
    struct header *read;
    arena_init(&arena);
    cr_assert_eq(recs[0].origin->read_headers(recs, &arena, &read), 2);
    cr_assert_arr_eq(read[0].value, "1", 1);
    cr_assert_null(read[1].value);
    cr_assert_eq(recs[1].origin->read_headers(recs + 1, &arena, &read), 0);
    arena_fini(&arena);
    cr_assert_null(recs[1].key);
    expect_value(1, "v", 1);
    release(2);
    cr_assert_eq(next_event().kind, SOURCE_END);
}

static void expect_damage(const char *data, size_t size, const char *text)
{
    struct byte_buffer bytes = {0};
    struct emission emission = {.value = "v", .value_size = 1, .timestamp_ms = -1};
    local_framing_write(LOCAL_RECORDS, &emission, &bytes); /* 25 bytes */
    byte_buffer_append(&bytes, data, size);
    void *handle = open_one("a.bin", bytes.data, bytes.size, LOCAL_RECORDS);
    byte_buffer_fini(&bytes);
    fetch(handle, 1);
    cr_assert_eq(source->ops->fetch(source, handle, recs + 1, 1), 0);
    /* what came before is processed first */
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    release(1);
    struct source_event event = next_event();
    cr_assert_eq(event.kind, SOURCE_FAILED);
    cr_assert_eq(event.err->code, E_IO);
    cr_assert(strstr(event.err->text, "/a.bin: byte 25: "), "%s", event.err->text);
    cr_assert(strstr(event.err->text, text), "%s", event.err->text);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
}

Test(local_source, a_frame_that_is_cut_off_names_file_and_byte)
{
    expect_damage("\0\0\0\x14\0\0", 6, "the input ends within a record");
}

Test(local_source, a_frame_of_impossible_size_names_file_and_byte)
{
    expect_damage("text", 4, "damaged, or not framed");
}

Test(local_source, a_frame_with_damaged_fields_names_file_and_byte)
{
    char body[24] = "\0\0\0\x14";
    memset(body + 12, 1, 12);
    expect_damage(body, 24, "fields are longer than the record");
}

Test(local_source, a_missing_file_is_an_error_before_anything_runs)
{
    const char *const inputs[] = {"file:/nowhere/at/all"};
    cr_assert_null(local_source_create(inputs, 1, LOCAL_LINES, &err));
    cr_assert_eq(err.code, E_IO);
    cr_assert_str_eq(err.text, "reading file:/nowhere/at/all: No such file or directory");
}

Test(local_source, a_directory_is_an_error_before_anything_runs)
{
    const char *const inputs[] = {"file:/"};
    cr_assert_null(local_source_create(inputs, 1, LOCAL_LINES, &err));
    cr_assert_str_eq(err.text, "reading file:/: it is a directory");
}

Test(local_source, a_commit_is_confirmed_at_the_next_poll_with_its_tag)
{
    void *handle = open_one("a.txt", "a\n", 2, LOCAL_LINES);
    fetch(handle, 1);
    release(1);
    struct source_commit commit = {.handle = handle, .position = 1, .tag = 42, .refused = true};
    source->ops->commit(source, &commit, 1);
    source->ops->close(source);
    struct source_event event = next_event();
    cr_assert_eq(event.kind, SOURCE_COMMITTED);
    cr_assert_null(event.err);
    cr_assert_eq(event.commit_count, 1);
    cr_assert_eq(event.commits[0].tag, 42);
    cr_assert_not(event.commits[0].refused);
    cr_assert_eq(next_event().kind, SOURCE_CLOSED);
}

Test(local_source, standard_input_may_be_a_pipe_that_is_slow)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    const char *const inputs[] = {"-"};
    open_source(inputs, 1, LOCAL_LINES);
    void *handle = assign();
    cr_assert_eq(source->ops->fetch(source, handle, recs, 1), 0);
    cr_assert_eq(write(ends[1], "on", 2), 2);
    usleep(5000);
    cr_assert_eq(source->ops->fetch(source, handle, recs, 1), 0);
    cr_assert_eq(write(ends[1], "e\ntw", 4), 4);
    fetch(handle, 1);
    expect_value(0, "one", 3);
    cr_assert_str_eq(recs[0].topic, "-");
    release(1);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    close(ends[1]);
    fetch(handle, 1);
    expect_value(0, "tw", 2);
    cr_assert_eq(recs[0].offset, 1);
    release(1);
    cr_assert_eq(next_event().kind, SOURCE_END);
    cr_assert_eq(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
}

Test(local_source, destroy_does_not_wait_for_an_idle_pipe, .timeout = 5)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    const char *const inputs[] = {"-"};
    open_source(inputs, 1, LOCAL_LINES);
    usleep(5000);
    source->ops->destroy(source);
    source = NULL;
    close(ends[1]);
}

Test(local_source, a_fifo_waits_for_its_writer_without_blocking)
{
    char path[64], address[80];
    snprintf(path, sizeof path, "%s/fifo", directory);
    snprintf(address, sizeof address, "file:%s", path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    const char *const inputs[] = {address};
    open_source(inputs, 1, LOCAL_LINES);
    void *handle = assign();
    usleep(20000);
    cr_assert_eq(source->ops->poll(source).kind, SOURCE_NOTHING);
    int writer = open(path, O_WRONLY);
    cr_assert_eq(write(writer, "x\n", 2), 2);
    fetch(handle, 1);
    expect_value(0, "x", 1);
    release(1);
    close(writer);
    cr_assert_eq(next_event().kind, SOURCE_END);
}

Test(local_source, what_nobody_fetches_stays_in_the_file)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    const char *const inputs[] = {"-"};
    open_source(inputs, 1, LOCAL_LINES);
    void *handle = assign();
    char line[4096];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    size_t written = 0;
    for (int idle = 0; idle < 50;) {
        ssize_t put = write(ends[1], line, sizeof line);
        idle = put > 0 ? 0 : idle + 1;
        written += put > 0 ? (size_t)put : 0;
        usleep(put > 0 ? 0 : 1000);
    }
    cr_assert_leq(written, (LOCAL_CHUNKS_AHEAD + 2) * LOCAL_CHUNK_BYTES);
    fetch(handle, written / sizeof line);
    release(written / sizeof line);
    close(ends[1]);
    cr_assert_eq(next_event().kind, SOURCE_END);
}

/* Opens the input with its position kept, from the start or not. */
static void open_kept(const char *const *input, bool from_start)
{
    char folder[64];
    snprintf(folder, sizeof folder, "%s/state", directory);
    source = local_source_create(input, 1, LOCAL_LINES, &err);
    cr_assert_not_null(source, "%s", err.text);
    cr_assert(local_source_keep(source, folder, from_start, &err), "%s", err.text);
    source->ops->attach(source, &wakeup);
}

static void commit_kept(void *handle, int64_t position, bool refused)
{
    struct source_commit commit = {.handle = handle, .position = position, .tag = 5};
    source->ops->commit(source, &commit, 1);
    struct source_event event = next_event();
    while (event.kind == SOURCE_END) {
        event = next_event();
    }
    cr_assert_eq(event.kind, SOURCE_COMMITTED);
    cr_assert_eq(event.commits[0].tag, 5);
    cr_assert_eq(event.commits[0].refused, refused);
}

static void close_kept(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        source->ops->release(source, &recs[i]);
    }
    source->ops->destroy(source);
    source = NULL;
}

Test(local_source, a_kept_position_is_where_the_next_run_begins)
{
    const char *input = file_with("in", "zero\none\ntwo\n\nfour\n", 19);
    open_kept(&input, false);
    void *handle = assign();
    fetch(handle, 5);
    commit_kept(handle, 2, false);
    commit_kept(handle, 3, false);
    close_kept(5);
    open_kept(&input, false);
    handle = assign();
    fetch(handle, 2);
    cr_assert_eq(recs[0].offset, 3);
    cr_assert_eq(recs[0].value_size, 0);
    cr_assert_eq(recs[1].offset, 4);
    cr_assert_eq(memcmp(recs[1].value, "four", 4), 0);
    commit_kept(handle, 5, false);
    close_kept(2);
    open_kept(&input, false);
    handle = assign();
    cr_assert_eq(next_event().kind, SOURCE_END);
    close_kept(0);
    open_kept(&input, true);
    fetch(assign(), 5);
    cr_assert_eq(recs[0].offset, 0);
    close_kept(5);
    memory_free((char *)input);
}

Test(local_source, a_position_that_cannot_be_saved_is_a_refused_commit)
{
    const char *input = file_with("in", "zero\none\n", 9);
    open_kept(&input, false);
    void *handle = assign();
    fetch(handle, 2);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s/state", directory);
    cr_assert_eq(system(command), 0);
    commit_kept(handle, 1, true);
    snprintf(command, sizeof command, "mkdir %s/state", directory);
    cr_assert_eq(system(command), 0);
    commit_kept(handle, 1, false);
    close_kept(2);
    memory_free((char *)input);
}

Test(local_source, a_fifo_is_not_gone_on_with_and_runs_all_the_same)
{
    char address[64];
    snprintf(address, sizeof address, "file:%s/fifo", directory);
    cr_assert_eq(mkfifo(address + 5, 0600), 0);
    const char *input = address;
    open_kept(&input, false);
    int fd = open(address + 5, O_WRONLY);
    cr_assert_eq(write(fd, "x\n", 2), 2);
    void *handle = assign();
    fetch(handle, 1);
    commit_kept(handle, 1, false);
    close(fd);
    close_kept(1);
}
