/*
 * local_routes: which topic is written where, for all pipelines of a process.
 *
 * Why: `return rec` goes to the default output, `ctx:emit("alerts", ...)` to a name; the user maps
 * names to files: `--out file:all.txt --out alerts=file:alerts.txt`. Two names may share one file.
 * A name that is not mapped is refused with the option that maps it: nothing is dropped and nothing
 * invented.
 *
 * Thread: open, close: main thread; find: any.
 * Owns: the outputs.
 */
#ifndef LOCAL_LOCAL_ROUTES_H
#define LOCAL_LOCAL_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "local/local_framing.h"
#include "local/local_output.h"

struct local_routes;

struct local_routes_options {
    const char *const *outputs; /* `TARGET` or `TOPIC=TARGET`, TARGET being `file:PATH` or `-` */
    size_t output_count;
    const char *const *inputs; /* of all pipelines: no output may empty one of these files */
    size_t input_count;
    enum local_framing framing;
    bool append; /* files are written on, not emptied */
};

/* True when the text of an --out option means a local output. */
bool local_routes_matches(const char *output);

/* Opens all outputs, or none: NULL and err. A file is emptied when it is opened, unless it is
 * appended to, so do it last. */
struct local_routes *local_routes_open(const struct local_routes_options *options,
                                       struct error *err);
/* Accepts NULL. All sinks are destroyed. */
void local_routes_close(struct local_routes *routes);

size_t local_routes_output_count(const struct local_routes *routes);
/* Borrowed until close. */
struct local_output *local_routes_output(const struct local_routes *routes, size_t index);

/* Index of the output for the topic (NULL: the default); false and err when there is none. */
bool local_routes_find(const struct local_routes *routes, const char *topic, size_t *index,
                       struct error *err);

#endif
