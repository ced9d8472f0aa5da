/*
 * config_print: the options and their effective values as text.
 *
 * Why: what `moontide config` and `moontide config dump` show comes from the same table that reads
 * the values, so it cannot be out of date. A dump is a file that can be loaded again, but for
 * secrets; a value that a file cannot hold (a line break from the command line) is a comment in it.
 *
 * Thread: any.
 */
#ifndef CONFIG_CONFIG_PRINT_H
#define CONFIG_CONFIG_PRINT_H

#include "base/byte_buffer.h"
#include "config/config.h"

/* Appends each option with its default, type, bounds, and what it is for. */
void config_print_options(struct byte_buffer *out);
/* Appends each effective value below its origin; secrets are shown as ***. */
void config_print_dump(const struct config *cfg, struct byte_buffer *out);

#endif
