/*
 * option_table: the one table of engine options, from which they are read, checked, printed and
 * documented.
 *
 * Why: an option that is parsed in one place, checked in a second and documented in a third drifts.
 * Names are those of Kafka Streams where it has the concept. A new option is one field of struct
 * config and one row of the table.
 *
 * Thread: any; the table is constant.
 */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/option.h"

/* All options, sections together. */
const struct option *option_table(size_t *count);
/* NULL: no such option. */
const struct option *option_table_find(const char *section, const char *name);
/* Place of the option in the table: index of config.origins and config.secrets. */
size_t option_table_index(const struct option *option);

/* True for the sections that exist, the free ones included. */
bool option_table_has_section(const char *section);

/* Error for a key that is not in its section, with the nearest name. Returns false. */
bool option_table_unknown(const char *section, const char *name, struct error *err);
/* Error for a section that does not exist, with the nearest name. Returns false. */
bool option_table_unknown_section(const char *section, struct error *err);

#endif
