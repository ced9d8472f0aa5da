/*
 * local_address: what people write for an input or output of this machine: `file:PATH` or `-`.
 *
 * Why: inputs, outputs and the command line must agree on which words name files, so that
 * everything else can be a topic. A topic of Kafka has no colon and is never "-" alone.
 *
 * Thread: any, pure functions.
 */
#ifndef LOCAL_LOCAL_ADDRESS_H
#define LOCAL_LOCAL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* True for `file:...` and `-`, well-formed or not. */
bool local_address_matches(const char *text);

/* The path within `file:PATH`, borrowed from text; NULL for `-`. E_USAGE for anything else. */
bool local_address_parse(const char *text, const char **path, struct error *err);

/* All are well-formed and none is there twice: two readers of one stream would tear it apart. */
bool local_address_check_inputs(const char *const *inputs, size_t count, struct error *err);

#endif
