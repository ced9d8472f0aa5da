/*
 * file_bytes: a whole small file in memory.
 *
 * Why: configuration, secrets and scripts are read once and as they are, NUL bytes included; the
 * size is bounded so that a wrong path to a device or a log does not fill the memory.
 *
 * Thread: any.
 */
#ifndef BASE_FILE_BYTES_H
#define BASE_FILE_BYTES_H

#include <stdbool.h>

#include "base/byte_buffer.h"
#include "base/error.h"

enum { FILE_BYTES_MAX = 16 << 20 };

/* Appends the bytes of the file. False (E_IO) names the path and the reason. */
bool file_bytes_read(const char *path, struct byte_buffer *out, struct error *err);

#endif
