/*
 * script: a script that was read, tried and found good.
 *
 * Why: what is wrong with a script is said before a thread starts or a broker is asked; what the
 * script demands of the configuration is known before the engine is built; and all workers run the
 * same bytes.
 *
 * Thread: main thread.
 * Owns: the text of the script and its modules, copies of the parameters.
 */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "script/lua_state.h"
#include "stream/processing.h"

struct script;

/* Borrowed for the call of script_load. */
struct script_options {
    const char *path;
    const struct script_param *params; /* the last value of a name counts */
    size_t param_count;
    bool has_output; /* there is a default output, where `return rec` goes */
};

/* Reads the script, loads it once in a state that is thrown away (its init does not run), checks
 * its members and parameters. NULL: E_SCRIPT, with file and line. */
struct script *script_load(const struct script_options *options, struct error *err);
/* After all states made of it. Accepts NULL. */
void script_destroy(struct script *script);

/* A state for one worker; runs the script's init. NULL: E_SCRIPT. */
struct lua_state *script_make_state(const struct script *script, unsigned worker,
                                    struct error *err);

/* The order that the script says it needs. */
enum script_order { SCRIPT_ORDER_ANY, SCRIPT_ORDER_KEY, SCRIPT_ORDER_PARTITION };
enum script_order script_requires_order(const struct script *script);
/* False: E_ORDER_CONFIG, when processing.order with num.threads.per.task threads cannot give it. */
bool script_check_order(const struct script *script, enum processing_order order,
                        unsigned threads_per_task, struct error *err);

/* The script's `version` as text; NULL: none. */
const char *script_version(const struct script *script);
const char *script_path(const struct script *script);
/* Names what was loaded: a hash, as text, of the script and of each module that it had loaded by
 * the end of script_load. */
const char *script_generation(const struct script *script);

#endif
