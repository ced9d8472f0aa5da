#include "metrics/process_metrics.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 64 << 20 };

Test(process_metrics, memory_that_is_touched_is_resident)
{
    struct process_metrics before;
    struct process_metrics after;
    process_metrics_read(&before);
    cr_assert_gt(before.resident_bytes, 1 << 20);
    char *block = memory_alloc(BLOCK);
    memset(block, 1, BLOCK);
    process_metrics_read(&after);
    memory_free(block);
    cr_assert_gt(after.resident_bytes, before.resident_bytes + BLOCK / 2);
    cr_assert_gt(after.cpu_ns, before.cpu_ns);
    cr_assert_geq(after.open_files, 3);
}
