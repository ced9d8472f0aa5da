/*
 * fuzz_dump: a configuration's dump, loaded again.
 *
 * Why: `config dump` promises a file that loads to the same configuration; the fuzz targets of
 * files and of command lines both hold it to that.
 *
 * Thread: one.
 */
#ifndef SUPPORT_FUZZ_DUMP_H
#define SUPPORT_FUZZ_DUMP_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file with these bytes, in memory; valid until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* The two dumps say the same, but for where each value comes from. True as well when the first
 * holds what a file cannot say: a secret shown as ***, or a value as a comment. */
bool fuzz_same_dump(const char *dump, const char *again);

#endif
