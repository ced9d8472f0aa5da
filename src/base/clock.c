#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t system_monotonic_ns(void *context)
{
    (void)context;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t system_wall_ms(void *context)
{
    (void)context;
    return read_clock(CLOCK_REALTIME) / 1000000;
}

struct clock_source clock_system(void)
{
    return (struct clock_source){system_monotonic_ns, system_wall_ms, NULL};
}
