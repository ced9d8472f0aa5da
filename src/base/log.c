#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log_line.h"

enum { FULL_WAIT_MS = 100 };

/* The log sink of the process: with the signal flag the only mutable global (ARCHITECTURE.md). */
struct log_sink {
    pthread_mutex_t lock; /* held for the write of one line */
    atomic_int level;
    atomic_int fd;
    atomic_int format;
    char footer[LOG_FOOTER_MAX + 1]; /* lock */
};

static const char ERASE_LINE[] = "\r\033[K";

static struct log_sink sink = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .level = LOG_LEVEL_INFO,
    .fd = STDERR_FILENO,
    .format = LOG_FORMAT_AUTO,
};

static enum log_format chosen_format(void);
static void write_above_footer(const struct byte_buffer *line);
static void write_line(const char *data, size_t size);

void log_open(int fd, enum log_level level, enum log_format format)
{
    CHECK(fd >= 0);
    CHECK(format <= LOG_FORMAT_JSON);
    atomic_store(&sink.fd, fd);
    atomic_store(&sink.format, (int)format);
    log_set_level(level);
}

void log_set_level(enum log_level level)
{
    CHECK(level <= LOG_LEVEL_DEBUG);
    atomic_store(&sink.level, (int)level);
}

bool log_enabled(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&sink.level, memory_order_relaxed);
}

void log_write(enum log_level level, const char *message, const struct log_field *fields)
{
    struct clock_source clock = clock_system();
    struct log_line line = {
        .wall_ms = clock_wall_ms(&clock), .level = level, .message = message, .fields = fields};
    struct byte_buffer out;
    byte_buffer_init(&out);
    log_line_print(&line, chosen_format(), &out);
    pthread_mutex_lock(&sink.lock);
    if (sink.footer[0] != 0) {
        write_above_footer(&out);
    } else {
        write_line(out.data, out.size);
    }
    pthread_mutex_unlock(&sink.lock);
    byte_buffer_fini(&out);
}

void log_set_footer(const char *text)
{
    struct byte_buffer out;
    byte_buffer_init(&out);
    byte_buffer_append_text(&out, ERASE_LINE);
    pthread_mutex_lock(&sink.lock);
    bool shown = sink.footer[0] != 0 || text[0] != 0;
    snprintf(sink.footer, sizeof sink.footer, "%s", text);
    byte_buffer_append_text(&out, sink.footer);
    if (shown) {
        write_line(out.data, out.size);
    }
    pthread_mutex_unlock(&sink.lock);
    byte_buffer_fini(&out);
}

/* The line takes the place of the footer, which comes again below it. */
static void write_above_footer(const struct byte_buffer *line)
{
    struct byte_buffer out;
    byte_buffer_init(&out);
    byte_buffer_append_text(&out, ERASE_LINE);
    byte_buffer_append(&out, line->data, line->size);
    byte_buffer_append_text(&out, sink.footer);
    write_line(out.data, out.size);
    byte_buffer_fini(&out);
}

static enum log_format chosen_format(void)
{
    enum log_format format = (enum log_format)atomic_load(&sink.format);
    if (format != LOG_FORMAT_AUTO) {
        return format;
    }
    return isatty(atomic_load(&sink.fd)) ? LOG_FORMAT_TEXT : LOG_FORMAT_LOGFMT;
}

/* One write; the loop goes on only where the system took a part of the line. A reader that lets a
 * non-blocking descriptor stay full loses lines rather than stopping the engine. */
static void write_line(const char *data, size_t size)
{
    DCHECK(size > 0);
    int fd = atomic_load(&sink.fd);
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            struct pollfd waiting = {.fd = fd, .events = POLLOUT};
            if (poll(&waiting, 1, FULL_WAIT_MS) <= 0) {
                return;
            }
        } else if (written == 0 || errno != EINTR) {
            return;
        }
    }
}
