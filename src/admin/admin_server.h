/*
 * admin_server: pages over HTTP on an address of this machine.
 *
 * Why: who runs the process asks it what it is doing, by curl, by Prometheus, by an orchestrator.
 * The server knows paths and answers from a table, and nothing of what stands behind them; a page
 * is made when it is asked for, on the server's own thread, so that no other thread ever waits for
 * a client.
 *
 * Only GET is answered; there is no password, no TLS and no state that a request could change.
 *
 * Thread: open, close: main thread. The hooks are called on the thread "admin".
 * Owns: socket and thread. Borrows: the table.
 */
#ifndef ADMIN_ADMIN_SERVER_H
#define ADMIN_ADMIN_SERVER_H

#include <stddef.h>

#include "admin/admin_address.h"
#include "base/byte_buffer.h"
#include "base/error.h"

/* One page. */
struct admin_hook {
    const char *path; /* "/metrics" */
    const char *type; /* of the content */
    /* Appends the page and returns the HTTP status. Bounded time. */
    unsigned (*answer)(void *context, struct byte_buffer *out);
};

struct admin_hooks {
    const struct admin_hook *items;
    size_t count;
    void *context;
};

struct admin_server;

/* Listens and answers from now on. NULL: E_IO, with the address. The address is not OFF. */
struct admin_server *admin_server_open(const struct admin_address *address,
                                       const struct admin_hooks *hooks, struct error *err);
/* Accepts NULL. No hook is called any more; a socket file is gone. */
void admin_server_close(struct admin_server *server);

/* Where it listens, with the port that the system has chosen; borrowed. */
const char *admin_server_name(const struct admin_server *server);

#endif
