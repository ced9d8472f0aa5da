/*
 * clock: where the engine gets the time from.
 *
 * Why: time is an argument, never a global; the simulator and the tests of scripts bring their own.
 *
 * Thread: any; implementations are read-only or belong to a single-threaded test.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

struct clock_source {
    /* Nanoseconds on a clock that never goes back; the origin is arbitrary. */
    int64_t (*monotonic_ns)(void *context);
    /* Milliseconds since 1970 on the wall clock. */
    int64_t (*wall_ms)(void *context);
    void *context;
};

/* The machine's clocks. */
struct clock_source clock_system(void);

static inline int64_t clock_ns(const struct clock_source *clock)
{
    return clock->monotonic_ns(clock->context);
}

/* Milliseconds on the monotonic clock. */
static inline int64_t clock_ms(const struct clock_source *clock)
{
    return clock->monotonic_ns(clock->context) / 1000000;
}

static inline int64_t clock_wall_ms(const struct clock_source *clock)
{
    return clock->wall_ms(clock->context);
}

#endif
