/*
 * text: reading what people write: numbers, durations, sizes, booleans, and names with a slip.
 *
 * Why: the command line, the configuration and scripts take the same words, and a refusal always
 * says what would have been accepted. The error text completes a sentence about the value's name,
 * which the caller puts in front: "num.stream.threads: must be between 1 and 256, not 300".
 *
 * Thread: any.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Each parses the whole string (blanks around are refused) and leaves *value alone when it fails
 * with E_CONFIG. */

/* Decimal, with an optional sign. */
bool text_parse_int(const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
/* "5ms", "1.5s", "10m": a number and one of ns us ms s m h d. A number alone counts in units of
 * plain_unit_ns, or is refused when that is 0 (but for "0"). Never negative. */
bool text_parse_duration_ns(const char *text, int64_t plain_unit_ns, int64_t *ns,
                            struct error *err);
/* The same in whole milliseconds, which a number alone counts. */
bool text_parse_duration_ms(const char *text, int64_t *ms, struct error *err);
/* "64MiB", "10kB", "512": KiB MiB GiB TiB are powers of 1024, kB MB GB TB of 1000; B or nothing is
 * bytes. Never negative. */
bool text_parse_bytes(const char *text, int64_t *bytes, struct error *err);
/* true false, yes no, on off, 1 0. */
bool text_parse_bool(const char *text, bool *value, struct error *err);

/* Number of edits (insert, delete, replace, swap of neighbours) between two names; upper and lower
 * case are the same, and so are '.', '-' and '_'. Names over TEXT_NAME_MAX bytes are infinitely
 * far. */
size_t text_distance(const char *a, const char *b);
/* The name closest to a misspelled one, the first of equals; NULL when none is close enough to be
 * what was meant. NULL entries are skipped. */
const char *text_nearest(const char *name, const char *const *names, size_t count);

enum { TEXT_NAME_MAX = 96 };

/* True for names of values that nobody may read in a log or a dump: passwords, tokens, private
 * keys. */
bool text_names_a_secret(const char *name);

#endif
