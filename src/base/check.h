/*
 * check: assertions. CHECK is on in every build, DCHECK in debug, test and sanitizer builds only.
 *
 * Why: a broken invariant is a bug; going on would turn it into lost or doubled records.
 * Split compound conditions: the text of the failed one is all that a report says.
 *
 * Thread: any.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include "base/annotations.h"

/* Prints the place and the condition to stderr and aborts. */
NORETURN void check_failed(const char *file, int line, const char *condition);

#define CHECK(condition)                                                                           \
    (LIKELY(condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#ifdef TIDE_DEBUG
#define DCHECK(condition) CHECK(condition)
#else
#define DCHECK(condition) ((void)sizeof(condition))
#endif

#endif
