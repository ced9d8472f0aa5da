#include "admin/admin_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

enum { BACKLOG = 16, OWNER_ONLY = 0600 };

static bool make_way(const struct admin_address *address, const char *path, struct error *err);
static void set_name(struct admin_socket *self, const struct sockaddr_storage *at);

static const char *path_of(const struct admin_address *address)
{
    return address->kind == ADMIN_UNIX
               ? (const char *)&address->socket + offsetof(struct sockaddr_un, sun_path)
               : NULL;
}

static bool fail(struct admin_socket *self, struct error *err, const char *how)
{
    int number = errno;
    admin_socket_close(self);
    return error_set(err, E_IO, "admin.listen: %s: %s%s", self->name, strerrordesc_np(number),
                     number == EADDRINUSE ? how : "");
}

bool admin_socket_open(struct admin_socket *self, const struct admin_address *address,
                       struct error *err)
{
    CHECK(address->kind != ADMIN_OFF);
    *self = (struct admin_socket){.fd = -1};
    const char *path = path_of(address);
    set_name(self, &address->socket);
    if (path) {
        snprintf(self->name, sizeof self->name, "unix:%s", path);
        if (!make_way(address, path, err)) {
            return false;
        }
    }
    self->fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const struct sockaddr *at = (const struct sockaddr *)&address->socket;
    const int yes = 1;
    if (self->fd < 0) {
        return fail(self, err, "");
    }
    if (path) {
        (void)fchmod(self->fd, OWNER_ONLY); /* before bind: the file never has another mode */
    } else {
        (void)setsockopt(self->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    }
    if (bind(self->fd, at, address->size) != 0) {
        return fail(self, err, "; choose another port, or 0 for any that is free");
    }
    self->has_file = path && stat(path, &self->file) == 0;
    if (listen(self->fd, BACKLOG) != 0) {
        return fail(self, err, "; choose another port, or 0 for any that is free");
    }
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof bound;
    if (!path && getsockname(self->fd, (struct sockaddr *)&bound, &size) == 0) {
        set_name(self, &bound); /* with port 0 the system has chosen */
    }
    return true;
}

/* Removes the socket file of a process that has ended. */
static bool make_way(const struct admin_address *address, const char *path, struct error *err)
{
    struct stat file;
    if (lstat(path, &file) != 0) {
        return true; /* bind says what else may be wrong */
    }
    if (!S_ISSOCK(file.st_mode)) {
        return error_set(err, E_IO,
                         "admin.listen: unix:%s: there is a file that is no socket; name another "
                         "path, or remove it",
                         path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return error_set(err, E_IO, "admin.listen: unix:%s: %s", path, strerrordesc_np(errno));
    }
    bool alive = connect(fd, (const struct sockaddr *)&address->socket, address->size) == 0;
    bool gone = !alive && errno == ECONNREFUSED;
    int number = errno;
    close(fd);
    if (alive) {
        return error_set(err, E_IO,
                         "admin.listen: unix:%s: another process listens there; name another path",
                         path);
    }
    if (!gone || unlink(path) != 0) {
        return error_set(err, E_IO, "admin.listen: unix:%s: %s", path,
                         strerrordesc_np(gone ? errno : number));
    }
    return true;
}

static void set_name(struct admin_socket *self, const struct sockaddr_storage *at)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (at->ss_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, at, sizeof in);
        (void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
        snprintf(self->name, sizeof self->name, "%s:%u", host, (unsigned)ntohs(in.sin_port));
    } else if (at->ss_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, at, sizeof in6);
        (void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof host);
        snprintf(self->name, sizeof self->name, "[%s]:%u", host, (unsigned)ntohs(in6.sin6_port));
    }
}

void admin_socket_close(struct admin_socket *self)
{
    if (self->fd >= 0) {
        close(self->fd);
        self->fd = -1;
    }
    const char *path = self->name + strlen("unix:");
    struct stat file;
    if (self->has_file && lstat(path, &file) == 0 && file.st_ino == self->file.st_ino &&
        file.st_dev == self->file.st_dev) {
        unlink(path);
    }
    self->has_file = false;
}
