/*
 * log_line: one log event as one line of text, logfmt or JSON.
 *
 * Why: apart from the sink, so that the exact bytes of a line are tested without time or
 * descriptors. Whatever bytes a message or a field holds, the line is one line, valid UTF-8, and,
 * as JSON, valid.
 *
 *     text    2026-12-01T10:20:30.123Z INFO  partition assigned topic=orders partition=3
 *     logfmt  time=2026-12-01T10:20:30.123Z level=info msg="partition assigned" topic=orders ...
 *     json    {"time":"2026-12-01T10:20:30.123Z","level":"info","msg":"partition assigned",...}
 *
 * Thread: any.
 */
#ifndef BASE_LOG_LINE_H
#define BASE_LOG_LINE_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "base/log.h"

struct log_line {
    int64_t wall_ms; /* milliseconds since 1970 */
    enum log_level level;
    const char *message;
    const struct log_field *fields; /* ends with LOG_END */
};

/* Appends the line with its newline. LOG_FORMAT_AUTO counts as text. */
void log_line_print(const struct log_line *line, enum log_format format, struct byte_buffer *out);

#endif
