/*
 * script_case: one case of a test of a script, on the engine's own pipeline, window and worker.
 *
 * Why: a test must show what a run would do, so nothing of the engine is rebuilt here: only source,
 * sink and clock are in memory, and one thread takes the turns of both sides. The functions
 * tide_case_* of script/tool_abi.h are implemented here; the test's Lua code calls them.
 *
 * Thread: one, which plays poll thread and worker.
 * Owns: configuration, script, engine parts and all records, until close.
 */
#ifndef CLI_SCRIPT_CASE_H
#define CLI_SCRIPT_CASE_H

#include "script/tool_abi.h"

/* The clock of a new case: milliseconds since 1970 at 2024-01-01T00:00:00Z. */
#define SCRIPT_CASE_EPOCH_MS INT64_C(1704067200000)

#endif
