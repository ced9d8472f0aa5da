#include "metrics/pipeline_metrics.h"

#include <criterion/criterion.h>

Test(pipeline_metrics, names_are_those_of_the_log_and_of_the_options)
{
    cr_assert_str_eq(pipeline_phase_name(PHASE_RUNNING), "running");
    cr_assert_str_eq(pipeline_phase_name(PHASE_CLOSED), "closed");
    cr_assert_str_eq(failure_cause_name(CAUSE_RAISED), "raised");
    cr_assert_str_eq(failure_cause_name(CAUSE_TIMEOUT), "timeout");
}
