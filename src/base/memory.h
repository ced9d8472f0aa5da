/*
 * memory: allocation that succeeds or ends the process in one place.
 *
 * Why: out of memory in the host is not recoverable in order; every caller that tests for it would
 * be code that is never run. Limits for scripts are enforced in their own arenas, not here.
 *
 * Thread: any.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

#include "base/annotations.h"

/* Zeroed memory; never NULL. The caller owns it, frees with memory_free. */
void *memory_alloc(size_t size) MUST_USE;
/* Zeroed array of count items; never NULL; a product that overflows aborts. */
void *memory_alloc_array(size_t count, size_t size) MUST_USE;
/* Zeroed, aligned to a cache line; never NULL. */
void *memory_alloc_aligned(size_t size) MUST_USE;
/* Grows or shrinks; the new part is not zeroed; never NULL. */
void *memory_resize(void *old, size_t size) MUST_USE;
/* A NUL-terminated copy of the string, or of its first `size` bytes; never NULL. */
char *memory_copy_text(const char *text) MUST_USE;
char *memory_copy_bytes(const void *data, size_t size) MUST_USE;
/* Accepts NULL. */
void memory_free(void *memory);

#endif
