/*
 * case_sink: the output of a test of a script: keeps what leaves, in order.
 *
 * Thread: poll thread, as the port says; queries between two turns.
 * Owns: copies of the emissions, until destroy.
 */
#ifndef CLI_CASE_SINK_H
#define CLI_CASE_SINK_H

#include <stddef.h>

#include "base/clock.h"
#include "stream/sink.h"

/* `topic` is that of the default output, NULL: none. Borrows both. */
struct sink *case_sink_create(const char *topic, const struct clock_source *clock);
/* The emission at an index, its topic and timestamp filled in; NULL: there are fewer. */
const struct emission *case_sink_output(const struct sink *sink, size_t index);

#endif
