/*
 * ini_file: an INI text as a sequence of entries with their line numbers, and no surprises.
 *
 * Why: inih cuts lines that do not fit into 200 bytes, cuts values at " ;", joins indented lines to
 * the value above, and takes text after a section's "]" in silence. Each of these would be a
 * setting that is not what the file says, so a look at the raw text refuses them with file and line
 * before inih sees it.
 *
 * Thread: any.
 */
#ifndef CONFIG_INI_FILE_H
#define CONFIG_INI_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Borrowed for the call. */
struct ini_entry {
    const char *section;
    const char *name;
    const char *value;
    int line;
};

struct ini_visitor {
    /* False with err set ends the reading; "FILE:LINE: " is put in front. */
    bool (*visit)(void *context, const struct ini_entry *entry, struct error *err);
    void *context;
};

/* Bytes of a line without its end: with newline and NUL they fill the 200 bytes of inih's buffer,
 * and newer versions of inih drop the line behind one that fills it without a newline. Comments,
 * which inih does not see, may be longer. */
enum { INI_FILE_LINE_MAX = 198 };

/* Visits all entries in order. `name` is the name of the text in messages. */
bool ini_file_parse(const char *name, const char *text, size_t size,
                    const struct ini_visitor *visitor, struct error *err);
/* The same with the bytes of a file. */
bool ini_file_read(const char *path, const struct ini_visitor *visitor, struct error *err);

/* False when a line "name = value" would be refused, or read as something else: a line break, a
 * blank at an end, a " ;", a name with "=", too many bytes. The value is text before expansion. */
bool ini_file_can_hold(const char *name, const char *value);

#endif
