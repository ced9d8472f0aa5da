#include "admin/admin_server.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "admin/admin_socket.h"
#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wakeup.h"

enum {
    CONNECTIONS_MAX = 32,
    IDLE_SECONDS = 10,      /* a client that says nothing is sent away */
    WAIT_MS = 10000,        /* the longest wait for news of a connection */
    MEMORY_MAX = 16 * 1024, /* of one connection, for its headers */
};

struct admin_server {
    struct admin_hooks hooks; /* constant */
    struct admin_socket socket;
    struct MHD_Daemon *daemon;
    struct wakeup wakeup; /* of the thread, at the end only */
    struct thread thread;
    ATOMIC(main, admin) atomic_bool stopping;
};

static void loop(void *context);
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state);
static void forward_log(void *context, const char *format, va_list args) PRINTF_LIKE(2, 0);

struct admin_server *admin_server_open(const struct admin_address *address,
                                       const struct admin_hooks *hooks, struct error *err)
{
    struct admin_socket listening;
    if (!admin_socket_open(&listening, address, err)) {
        return NULL;
    }
    struct admin_server *server = memory_alloc_aligned(sizeof *server);
    server->hooks = *hooks;
    server->socket = listening;
    server->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, server,
                         MHD_OPTION_EXTERNAL_LOGGER, forward_log, server, MHD_OPTION_LISTEN_SOCKET,
                         listening.fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MAX, MHD_OPTION_END);
    if (server->daemon == NULL) {
        error_set(err, E_IO, "admin.listen: %s: the HTTP server does not start", listening.name);
        admin_socket_close(&server->socket);
        memory_free(server);
        return NULL;
    }
    server->socket.fd = -1; /* closed with the daemon */
    wakeup_init(&server->wakeup);
    thread_start(&server->thread, "admin", ROLE_NONE, loop, server);
    log_info("admin pages are served", LOG_STR("event", "admin"),
             LOG_STR("address", server->socket.name));
    if (!admin_address_is_private(address)) {
        log_warn("other machines may read the admin pages, which have no password",
                 LOG_STR("address", server->socket.name));
    }
    return server;
}

void admin_server_close(struct admin_server *server)
{
    if (server == NULL) {
        return;
    }
    atomic_store_explicit(&server->stopping, true, memory_order_release);
    wakeup_post(&server->wakeup);
    thread_join(&server->thread);
    MHD_stop_daemon(server->daemon);
    admin_socket_close(&server->socket);
    wakeup_fini(&server->wakeup);
    memory_free(server);
}

const char *admin_server_name(const struct admin_server *server)
{
    return server->socket.name;
}

/* A thread of ours rather than of the library: it has a name and blocks signals. */
static void loop(void *context)
{
    struct admin_server *server = context;
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    CHECK(info != NULL);
    struct pollfd fds[] = {{.fd = info->epoll_fd, .events = POLLIN},
                           {.fd = server->wakeup.fd, .events = POLLIN}};
    while (!atomic_load_explicit(&server->stopping, memory_order_acquire)) {
        MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
        bool bounded = MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES;
        int wait_ms = timeout_ms < WAIT_MS ? (int)timeout_ms : WAIT_MS;
        (void)poll(fds, 2, bounded ? wait_ms : -1);
        MHD_run(server->daemon);
    }
}

/* --- answers ------------------------------------------------------------------------------- */

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *type,
                             const struct byte_buffer *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->size, (void *)(uintptr_t)byte_buffer_text(body), MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
    }
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static const struct admin_hook *find_hook(const struct admin_server *server, const char *url)
{
    for (size_t i = 0; i < server->hooks.count; i++) {
        if (strcmp(server->hooks.items[i].path, url) == 0) {
            return server->hooks.items + i;
        }
    }
    return NULL;
}

static unsigned explain(const struct admin_server *server, bool known, struct byte_buffer *out)
{
    if (known) {
        byte_buffer_append_text(out, "only GET is answered here\n");
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    byte_buffer_append_text(out, "no such page; there are");
    for (size_t i = 0; i < server->hooks.count; i++) {
        byte_buffer_printf(out, " %s", server->hooks.items[i].path);
    }
    byte_buffer_append_char(out, '\n');
    return MHD_HTTP_NOT_FOUND;
}

/* The library calls this with the headers first, and then once more: an answer at the first call
 * ends the connection, which is right for what is refused, whatever body it brings. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    (void)version;
    (void)upload;
    const struct admin_server *server = context;
    const struct admin_hook *hook = find_hook(server, url);
    bool good = hook && strcmp(method, MHD_HTTP_METHOD_GET) == 0;
    if (good && *state == NULL) {
        *state = context;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0; /* the body of a GET is of no interest */
        return MHD_YES;
    }
    struct byte_buffer body;
    byte_buffer_init(&body);
    unsigned status =
        good ? hook->answer(server->hooks.context, &body) : explain(server, hook != NULL, &body);
    const char *type = good ? hook->type : "text/plain; charset=utf-8";
    enum MHD_Result result = reply(connection, status, type, &body);
    byte_buffer_fini(&body);
    return result;
}

static void forward_log(void *context, const char *format, va_list args)
{
    (void)context;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = 0;
    log_debug("admin", LOG_STR("text", text));
}
