#include "local/local_sink.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread_role.h"
#include "local/local_outbox.h"

enum { WAIT_MS = 5000, REPORTS_MAX = 8192 };

static char directory[32];
static struct wakeup wakeup;
static struct error err;
static struct local_routes *routes;
static struct sink *sink;
static struct delivery reports[REPORTS_MAX];

static void begin(void)
{
    strcpy(directory, "/tmp/tide-sink-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
    wakeup_init(&wakeup);
    thread_role_set(ROLE_POLL);
}

static void end(void)
{
    if (sink) {
        sink->ops->destroy(sink);
    }
    local_routes_close(routes);
    wakeup_fini(&wakeup);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(local_sink, .init = begin, .fini = end);

static struct sink *add_sink(void)
{
    struct sink *made = local_sink_create(routes);
    made->ops->attach(made, &wakeup);
    return made;
}

static void open_sink(const char *output, enum local_framing framing)
{
    const char *const outputs[] = {output};
    routes = local_routes_open(
        &(struct local_routes_options){.outputs = outputs, .output_count = 1, .framing = framing},
        &err);
    cr_assert_not_null(routes, "%s", err.text);
    sink = add_sink();
}

static enum sink_result send_value(struct sink *to, const char *value, size_t size, uint64_t tag)
{
    struct emission emission = {.value = value, .value_size = (uint32_t)size, .timestamp_ms = -1};
    return to->ops->send(to, &emission, tag, &err);
}

/* Waits for `count` reports. */
static void await(struct sink *from, size_t count)
{
    size_t got = 0;
    for (int waited = 0; got < count && waited < WAIT_MS; waited++) {
        wakeup_prepare(&wakeup);
        size_t more = from->ops->poll(from, reports + got, count - got);
        if (more) {
            wakeup_cancel(&wakeup);
        } else {
            wakeup_wait(&wakeup, 1);
        }
        got += more;
    }
    cr_assert_eq(got, count);
}

static void await_broken(void)
{
    for (int waited = 0; waited < WAIT_MS; waited++) {
        if (sink->ops->broken(sink, &err)) {
            return;
        }
        wakeup_prepare(&wakeup);
        wakeup_wait(&wakeup, 1);
    }
    cr_assert(false, "not broken");
}

static void expect_content(const char *path, const char *data, size_t size)
{
    char *content = memory_alloc(size + 2);
    int fd = open(path, O_RDONLY);
    cr_assert_eq(read(fd, content, size + 1), (ssize_t)size);
    cr_assert_arr_eq(content, data, size);
    close(fd);
    memory_free(content);
}

/* Standard output becomes a pipe; the reading end. */
static int pipe_for_stdout(void)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(ends[1]);
    return ends[0];
}

Test(local_sink, lines_arrive_in_order_and_are_reported)
{
    open_sink("file:out", LOCAL_LINES);
    cr_assert_eq(send_value(sink, "one", 3, 11), SINK_TAKEN);
    cr_assert_eq(send_value(sink, "", 0, 12), SINK_TAKEN);
    cr_assert_eq(send_value(sink, "t\0o", 3, 13), SINK_TAKEN);
    cr_assert_eq(sink->ops->poll(sink, reports, 8), 0, "held back until push");
    sink->ops->push(sink);
    await(sink, 3);
    for (uint64_t i = 0; i < 3; i++) {
        cr_assert_eq(reports[i].tag, 11 + i);
        cr_assert_not(reports[i].failed);
    }
    cr_assert_eq(sink->ops->poll(sink, reports, 8), 0);
    expect_content("out", "one\n\nt\0o\n", 9);
}

Test(local_sink, reports_come_in_portions)
{
    open_sink("file:out", LOCAL_LINES);
    for (uint64_t i = 0; i < 5; i++) {
        cr_assert_eq(send_value(sink, "x", 1, i), SINK_TAKEN);
    }
    sink->ops->hurry(sink);
    await(sink, 2);
    await(sink, 3);
    cr_assert_eq(reports[2].tag, 4);
}

Test(local_sink, a_value_that_is_no_line_is_refused_and_leaves_nothing)
{
    open_sink("file:out", LOCAL_LINES);
    cr_assert_eq(send_value(sink, "a\nb", 3, 1), SINK_REFUSED);
    cr_assert_str_eq(err.text, "writing file:out: a value with a line break cannot be a line: "
                               "use --frame");
    cr_assert_eq(send_value(sink, NULL, 0, 1), SINK_REFUSED);
    cr_assert_eq(send_value(sink, "ok", 2, 2), SINK_TAKEN);
    sink->ops->push(sink);
    await(sink, 1);
    expect_content("out", "ok\n", 3);
    cr_assert_not(sink->ops->broken(sink, &err));
}

Test(local_sink, an_unknown_topic_is_refused_by_name)
{
    open_sink("file:out", LOCAL_LINES);
    struct emission emission = {.topic = "alerts", .value = "v", .value_size = 1};
    cr_assert_eq(sink->ops->send(sink, &emission, 1, &err), SINK_REFUSED);
    cr_assert(strstr(err.text, "alerts"));
}

Test(local_sink, frames_are_written_as_local_framing_reads_them)
{
    open_sink("file:out", LOCAL_RECORDS);
    struct emission emission = {.key = "k", .key_size = 1, .timestamp_ms = 5};
    cr_assert_eq(sink->ops->send(sink, &emission, 1, &err), SINK_TAKEN);
    sink->ops->push(sink);
    await(sink, 1);
    struct byte_buffer expected = {0};
    local_framing_write(LOCAL_RECORDS, &emission, &expected);
    expect_content("out", expected.data, expected.size);
    byte_buffer_fini(&expected);
}

Test(local_sink, two_pipelines_share_a_file_without_mixing_records)
{
    open_sink("file:out", LOCAL_LINES);
    struct sink *other = add_sink();
    char a[1000], b[1000];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert_eq(send_value(sink, a, sizeof a, i), SINK_TAKEN);
        cr_assert_eq(send_value(other, b, sizeof b, i), SINK_TAKEN);
        if (i % 7 == 0) {
            sink->ops->push(sink);
            other->ops->push(other);
        }
    }
    sink->ops->push(sink);
    other->ops->push(other);
    await(sink, 1000);
    await(other, 1000);
    other->ops->destroy(other);
    FILE *file = fopen("out", "r");
    char line[1100];
    int counts[2] = {0, 0};
    while (fgets(line, sizeof line, file)) {
        cr_assert_eq(strlen(line), 1001);
        cr_assert_eq(strspn(line, line[0] == 'a' ? "a" : "b"), 1000);
        counts[line[0] == 'b']++;
    }
    fclose(file);
    cr_assert_eq(counts[0], 1000);
    cr_assert_eq(counts[1], 1000);
}

Test(local_sink, a_slow_reader_fills_the_outbox_and_blocks_nobody, .timeout = 20)
{
    int reader = pipe_for_stdout();
    open_sink("-", LOCAL_LINES);
    char value[4095];
    memset(value, 'x', sizeof value);
    uint64_t taken = 0;
    while (send_value(sink, value, sizeof value, taken) == SINK_TAKEN) {
        taken++;
        cr_assert_lt(taken, REPORTS_MAX);
    }
    cr_assert_geq(taken * 4096, LOCAL_OUTBOX_BYTES - (4096 + 16) * 5);
    sink->ops->push(sink);
    cr_assert_eq(send_value(sink, value, sizeof value, taken), SINK_FULL);
    char *sunk = memory_alloc(1 << 20);
    size_t left = taken * 4096;
    while (left > 0) {
        ssize_t got = read(reader, sunk, 1 << 20);
        cr_assert_gt(got, 0);
        left -= (size_t)got;
    }
    memory_free(sunk);
    await(sink, taken);
    cr_assert_eq(send_value(sink, value, sizeof value, taken), SINK_TAKEN);
}

Test(local_sink, a_record_larger_than_the_outbox_passes_when_it_is_alone)
{
    open_sink("file:out", LOCAL_LINES);
    size_t size = 2 * LOCAL_OUTBOX_BYTES;
    char *value = memory_alloc(size);
    memset(value, 'x', size);
    cr_assert_eq(send_value(sink, value, size, 1), SINK_TAKEN);
    cr_assert_eq(send_value(sink, "y", 1, 2), SINK_FULL);
    await(sink, 1);
    cr_assert_eq(send_value(sink, "y", 1, 2), SINK_TAKEN);
    sink->ops->push(sink);
    await(sink, 1);
    memory_free(value);
}

Test(local_sink, a_closed_pipe_is_an_end_and_no_failure)
{
    int reader = pipe_for_stdout();
    open_sink("-", LOCAL_LINES);
    cr_assert_eq(send_value(sink, "one", 3, 1), SINK_TAKEN);
    sink->ops->push(sink);
    await(sink, 1);
    close(reader);
    cr_assert_eq(send_value(sink, "two", 3, 2), SINK_TAKEN);
    sink->ops->push(sink);
    await_broken();
    cr_assert_eq(err.code, E_CLOSED);
    cr_assert_eq(error_exit_code(err.code), 0);
    cr_assert_eq(sink->ops->poll(sink, reports, 8), 0, "what was not delivered has no report");
    cr_assert_eq(send_value(sink, "three", 5, 3), SINK_REFUSED);
    cr_assert_eq(err.code, E_CLOSED);
}

Test(local_sink, a_full_device_is_an_error_that_names_it)
{
    open_sink("file:/dev/full", LOCAL_LINES);
    cr_assert_eq(send_value(sink, "x", 1, 1), SINK_TAKEN);
    sink->ops->push(sink);
    await_broken();
    cr_assert_eq(err.code, E_IO);
    cr_assert_str_eq(err.text, "writing file:/dev/full: No space left on device");
}

Test(local_sink, destroy_drops_what_a_stuck_reader_does_not_take, .timeout = 5)
{
    int reader = pipe_for_stdout();
    open_sink("-", LOCAL_LINES);
    char value[4095];
    memset(value, 'x', sizeof value);
    for (uint64_t i = 0; i < 500; i++) {
        cr_assert_eq(send_value(sink, value, sizeof value, i), SINK_TAKEN);
    }
    sink->ops->push(sink);
    usleep(5000);
    sink->ops->destroy(sink);
    sink = NULL;
    local_routes_close(routes);
    routes = NULL;
    close(reader);
}

Test(local_sink, the_users_descriptor_stays_blocking)
{
    int reader = pipe_for_stdout();
    open_sink("-", LOCAL_LINES);
    cr_assert_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
    close(reader);
}
