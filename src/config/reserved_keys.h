/*
 * reserved_keys: the options of librdkafka that belong to the engine.
 *
 * Why: all others pass through, but these would break a promise (a commit that the engine did not
 * decide, a delivery without proof, outputs out of order), or say twice what has one name here.
 *
 * Thread: any; the table is constant.
 */
#ifndef CONFIG_RESERVED_KEYS_H
#define CONFIG_RESERVED_KEYS_H

#include <stdbool.h>

#include "base/error.h"

/* True when the key may pass. Else E_CONFIG_RESERVED, with the reason and what to do instead. */
bool reserved_keys_check(const char *name, struct error *err);

#endif
