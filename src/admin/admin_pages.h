/*
 * admin_pages: the pages that the server has, made from the metrics.
 *
 *     /metrics   for Prometheus            /livez    503: a restart would help
 *     /status    JSON, for people          /readyz   503: it does not do its work now, and why
 *
 * Why: all that is shown is read from the metrics, which any thread may read at any time; no page
 * stops a worker, and the engine knows nothing of pages.
 *
 * Thread: the server's.
 * Borrows: registry, clock, version, for as long as the server runs.
 */
#ifndef ADMIN_ADMIN_PAGES_H
#define ADMIN_ADMIN_PAGES_H

#include <stdint.h>

#include "admin/admin_server.h"
#include "base/clock.h"
#include "metrics/metrics_registry.h"

/* Embedded; filled by the caller. */
struct admin_pages {
    struct metrics_registry *registry;
    const struct clock_source *clock; /* of the engine */
    const char *version;              /* of the program */
    int64_t begin_ns;                 /* start of the process, on the clock */
};

/* The table for admin_server_open; borrows `pages`. */
struct admin_hooks admin_pages_hooks(struct admin_pages *pages);

#endif
