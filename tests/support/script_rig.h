/*
 * script_rig: a script behind the processor port, fed with records from memory.
 *
 * Why: tests of scripts say in three lines what goes in and what must come out; benchmarks run the
 * same way without an engine.
 *
 * Thread: one; the rig takes the worker's role for run and close.
 * Owns: a temporary folder with the script, the loaded script, one processor, the records.
 */
#ifndef SUPPORT_SCRIPT_RIG_H
#define SUPPORT_SCRIPT_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "script/lua_processor.h"
#include "script/script.h"

enum { RIG_RECORDS_MAX = 256, RIG_PATH_MAX = 128 };

struct script_rig {
    char folder[RIG_PATH_MAX];
    char path[RIG_PATH_MAX]; /* of the script: FOLDER/script.lua */
    struct script *script;
    struct processor *processor;
    struct work works[RIG_RECORDS_MAX];
    size_t count;
};

/* Makes the folder; add modules with script_rig_write before the load. */
void script_rig_init(struct script_rig *rig);
void script_rig_write(struct script_rig *rig, const char *name, const char *text, size_t size);
/* Loads the text with a default output and makes worker 3 of it. False: err. */
bool script_rig_load(struct script_rig *rig, const char *text, struct error *err);
/* The same with options; their path is set by the rig. */
bool script_rig_load_with(struct script_rig *rig, const char *text, struct script_options *options,
                          struct error *err);
void script_rig_fini(struct script_rig *rig);

/* Adds a record of topic "input", partition 7, offsets from 100; texts are borrowed, NULL is none.
 */
struct work *script_rig_add(struct script_rig *rig, const char *key, const char *value);
/* Gives the record headers, borrowed. */
struct rig_headers {
    const struct header *items;
    uint32_t count;
    uint32_t reads; /* how often they were read */
};
void script_rig_set_headers(struct work *work, struct rig_headers *headers);
/* Runs all records that were added, as one batch. */
void script_rig_run(struct script_rig *rig);
/* Forgets the records and their effects. */
void script_rig_clear(struct script_rig *rig);
/* Ends the script, as a worker does before it ends. */
void script_rig_end(struct script_rig *rig);

#endif
