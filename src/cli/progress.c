#include "cli/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

enum { NS_PER_SECOND = 1000000000, MINUTE_S = 60, HOUR_S = 3600, DAY_S = 24 * HOUR_S };
enum { AVERAGE_OF = 5 };

static void append_count(struct byte_buffer *line, int64_t count);
static void append_end(const struct progress *progress, int64_t lag, struct byte_buffer *line);
static void append_time(struct byte_buffer *line, int64_t seconds);

struct progress_reading progress_read(const struct metrics_snapshot *snapshot, int64_t now_ns)
{
    struct progress_reading reading = {.now_ns = now_ns,
                                       .lag = snapshot->task_count > 0 ? 0 : -1,
                                       .threads = (unsigned)snapshot->worker_count};
    for (size_t i = 0; i < snapshot->pipeline_count; i++) {
        reading.retired += metric_get(&snapshot->pipelines[i]->retired);
    }
    for (size_t i = 0; i < snapshot->task_count; i++) {
        int64_t lag = snapshot->tasks[i].window.lag;
        reading.lag = lag < 0 || reading.lag < 0 ? -1 : reading.lag + lag;
    }
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        reading.busy += snapshot->workers[i].state == WORKER_RUNNING;
    }
    return reading;
}

/* A mean of all values at first, then one that forgets. */
static double average(double old, double value, unsigned *count)
{
    *count += *count < AVERAGE_OF;
    return old + (value - old) / *count;
}

void progress_note(struct progress *progress, const struct progress_reading *reading,
                   struct byte_buffer *line)
{
    const struct progress_reading *last = &progress->last;
    double seconds = (double)(reading->now_ns - last->now_ns) / NS_PER_SECOND;
    if (last->now_ns > 0 && seconds > 0) {
        double rate = (double)(reading->retired - last->retired) / seconds;
        progress->rate = average(progress->rate, rate, &progress->rates);
        if (reading->lag >= 0 && last->lag >= 0) {
            double shrink = (double)(last->lag - reading->lag) / seconds;
            progress->shrink = average(progress->shrink, shrink, &progress->shrinks);
        }
    }
    if (reading->lag < 0) {
        progress->shrinks = 0;
    }
    progress->last = *reading;
    append_count(line, (int64_t)(progress->rate + 0.5));
    byte_buffer_append_text(line, " records/s");
    if (reading->lag >= 0) {
        byte_buffer_append_text(line, "   lag ");
        append_count(line, reading->lag);
        append_end(progress, reading->lag, line);
    }
    byte_buffer_printf(line, "   threads %u/%u busy", reading->busy, reading->threads);
}

/* With a comma before each three digits. */
static void append_count(struct byte_buffer *line, int64_t count)
{
    if (count >= 1000) {
        append_count(line, count / 1000);
        byte_buffer_printf(line, ",%03" PRId64, count % 1000);
    } else {
        byte_buffer_printf(line, "%" PRId64, count);
    }
}

static void append_end(const struct progress *progress, int64_t lag, struct byte_buffer *line)
{
    if (lag == 0) {
        byte_buffer_append_text(line, "   at the end");
    } else if (progress->shrinks > 0) {
        double seconds = (double)lag / progress->shrink;
        bool near = progress->shrink > 0 && seconds < 100.0 * DAY_S;
        byte_buffer_append_text(line, near ? "   end in " : "   no end in sight");
        if (near) {
            append_time(line, (int64_t)(seconds + 1));
        }
    }
}

static void append_time(struct byte_buffer *line, int64_t seconds)
{
    if (seconds < MINUTE_S) {
        byte_buffer_printf(line, "%" PRId64 " s", seconds);
    } else if (seconds < HOUR_S) {
        byte_buffer_printf(line, "%" PRId64 " min %" PRId64 " s", seconds / MINUTE_S,
                           seconds % MINUTE_S);
    } else if (seconds < DAY_S) {
        byte_buffer_printf(line, "%" PRId64 " h %" PRId64 " min", seconds / HOUR_S,
                           seconds % HOUR_S / MINUTE_S);
    } else {
        byte_buffer_printf(line, "%" PRId64 " d %" PRId64 " h", seconds / DAY_S,
                           seconds % DAY_S / HOUR_S);
    }
}
