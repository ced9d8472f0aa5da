/*
 * dead_letter: the emission that stands for a record which failed for good.
 *
 * Why: nothing of the record is lost: key, value, headers and timestamp go to the topic for dead
 * letters as they came, with headers after them that say where it came from and why it failed. The
 * names are those of KIP-1034, so that tools for Kafka Streams read them; what that proposal does
 * not know is named __moontide.errors.*.
 *
 *   __streams.errors.exception   kind of the failure: raised, failed, memory, production
 *   __streams.errors.message     its first line
 *   __streams.errors.stacktrace  the rest, when there is one
 *   __streams.errors.topic, .partition, .offset
 *   __moontide.errors.attempts   how often it ran
 *   __moontide.errors.script     file of the script, and
 *   __moontide.errors.generation its generation
 *
 * Thread: the holder of the work.
 */
#ifndef ENGINE_DEAD_LETTER_H
#define ENGINE_DEAD_LETTER_H

#include <stdint.h>

#include "engine/failure_policy.h"
#include "stream/work.h"

/* Appends the letter to the effects of the work. `reason` may lie in their arena. */
void dead_letter_emit(const struct failure_policy *policy, struct work *work, uint32_t attempt,
                      const char *kind, const char *reason);

#endif
