#include "metrics/pipeline_metrics.h"

#include <assert.h>

#include "base/check.h"

static const char *const PHASES[] = {
    [PHASE_RUNNING] = "running",
    [PHASE_DRAINING] = "draining",
    [PHASE_CLOSING] = "closing",
    [PHASE_CLOSED] = "closed",
};
static_assert(sizeof PHASES / sizeof PHASES[0] == PHASE_COUNT, "one for each");

static const char *const CAUSES[] = {
    [CAUSE_RAISED] = "raised",
    [CAUSE_FAILED] = "failed",
    [CAUSE_MEMORY] = "memory",
    [CAUSE_TIMEOUT] = "timeout",
};
static_assert(sizeof CAUSES / sizeof CAUSES[0] == CAUSE_COUNT, "one for each");

const char *pipeline_phase_name(enum pipeline_phase phase)
{
    CHECK(phase < PHASE_COUNT);
    return PHASES[phase];
}

const char *failure_cause_name(enum failure_cause cause)
{
    CHECK(cause < CAUSE_COUNT);
    return CAUSES[cause];
}
