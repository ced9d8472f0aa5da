/*
 * local_sink: the sink port on files and standard output, one for each pipeline.
 *
 * Why: emissions leave in the order of the calls, whole, and are reported when write(2) took them.
 * The pipelines of a process share the outputs of local_routes; their records interleave but never
 * mix.
 *
 * An emission's partition is ignored. Lines carry the value only: key, headers and timestamp are
 * left out; a value with a line break and a record without a value are refused with the hint
 * --frame.
 *
 * Thread: create and destroy: main thread. The port: poll thread.
 * Owns: an outbox for each output. Borrows: routes until destroy.
 */
#ifndef LOCAL_LOCAL_SINK_H
#define LOCAL_LOCAL_SINK_H

#include "local/local_routes.h"
#include "stream/sink.h"

struct sink *local_sink_create(const struct local_routes *routes);

#endif
