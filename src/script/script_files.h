/*
 * script_files: the text of a script and of the modules beside it, each read once.
 *
 * Why: all workers must run the same text, also when a file is saved while they start; and one
 * place decides which paths a script may read at all.
 *
 * A module `a.b` of the script DIR/x.lua is DIR/a/b.lua or DIR/a/b/init.lua, nothing else.
 *
 * Thread: main thread.
 * Owns: paths and texts.
 */
#ifndef SCRIPT_SCRIPT_FILES_H
#define SCRIPT_SCRIPT_FILES_H

#include <stdint.h>

#include "base/byte_buffer.h"
#include "base/error.h"

struct script_files;

/* Reads the script itself. NULL: E_SCRIPT, err names the file. */
struct script_files *script_files_open(const char *path, struct error *err);
void script_files_close(struct script_files *files);

/* The text of a module, read at the first call; `place` gets its path. NULL: there is none; `place`
 * gets where it was looked for, or what is wrong with the name, valid until the next call. */
const struct byte_buffer *script_files_find(struct script_files *files, const char *name,
                                            const char **place);

/* A hash over names and bytes of all files that were read so far. */
uint64_t script_files_hash(const struct script_files *files);

/* As given. */
const char *script_files_path(const struct script_files *files);
const struct byte_buffer *script_files_source(const struct script_files *files);

#endif
