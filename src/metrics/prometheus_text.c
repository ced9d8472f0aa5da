#include "metrics/prometheus_text.h"

#include <inttypes.h>

#include "base/check.h"

enum { NS_PER_SECOND = 1000000000, MS_PER_SECOND = 1000 };

void prometheus_text_family(struct byte_buffer *out, const char *name, const char *type,
                            const char *help)
{
    byte_buffer_printf(out, "# HELP moontide_%s %s\n# TYPE moontide_%s %s\n", name, help, name,
                       type);
}

/* Backslash, quote and line break are escaped within labels. */
void prometheus_text_label(struct byte_buffer *out, const char *text)
{
    CHECK(text != NULL);
    for (; *text; text++) {
        if (*text == '\n') {
            byte_buffer_append_text(out, "\\n");
            continue;
        }
        if (*text == '\\' || *text == '"') {
            byte_buffer_append_char(out, '\\');
        }
        byte_buffer_append_char(out, *text);
    }
}

void prometheus_text_value(struct byte_buffer *out, int64_t value, enum unit unit)
{
    if (unit == UNIT_NONE) {
        byte_buffer_printf(out, "} %" PRId64 "\n", value);
        return;
    }
    value = value < 0 ? 0 : value; /* the writer's clock was read after the reader's */
    if (unit == UNIT_NS) {
        byte_buffer_printf(out, "} %" PRId64 ".%09" PRId64 "\n", value / NS_PER_SECOND,
                           value % NS_PER_SECOND);
    } else {
        byte_buffer_printf(out, "} %" PRId64 ".%03" PRId64 "\n", value / MS_PER_SECOND,
                           value % MS_PER_SECOND);
    }
}

void prometheus_text_histogram(struct byte_buffer *out, const char *name, const char *labels,
                               const struct histogram_scale *scale,
                               const struct histogram_reading *reading)
{
    CHECK(scale->units_per_second == NS_PER_SECOND || scale->units_per_second == MS_PER_SECOND);
    int64_t below = 0;
    for (int i = 0; i < HISTOGRAM_BOUNDS; i++) {
        below += reading->counts[i];
        double bound = (double)scale->bounds[i] / (double)scale->units_per_second;
        byte_buffer_printf(out, "moontide_%s_bucket{%s,le=\"%g\"", name, labels, bound);
        prometheus_text_value(out, below, UNIT_NONE);
    }
    byte_buffer_printf(out, "moontide_%s_bucket{%s,le=\"+Inf\"", name, labels);
    prometheus_text_value(out, reading->count, UNIT_NONE);
    byte_buffer_printf(out, "moontide_%s_sum{%s", name, labels);
    prometheus_text_value(out, reading->sum,
                          scale->units_per_second == NS_PER_SECOND ? UNIT_NS : UNIT_MS);
    byte_buffer_printf(out, "moontide_%s_count{%s", name, labels);
    prometheus_text_value(out, reading->count, UNIT_NONE);
}
