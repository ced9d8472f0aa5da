/*
 * admin_socket: a listening socket at an admin address, from its birth to its end.
 *
 * Why: a socket file stays behind when a process is killed, must not be taken from a process that
 * lives, and belongs to its owner alone: mode 0600.
 *
 * Thread: main thread.
 * Owns: the socket file. The descriptor is given to the server that accepts on it.
 */
#ifndef ADMIN_ADMIN_SOCKET_H
#define ADMIN_ADMIN_SOCKET_H

#include <stdbool.h>
#include <sys/stat.h>

#include "admin/admin_address.h"
#include "base/error.h"

enum { ADMIN_SOCKET_NAME_MAX = 128 };

/* Embedded; the fields are read-only outside admin_socket.c. */
struct admin_socket {
    int fd;                           /* -1 after it was given away */
    char name[ADMIN_SOCKET_NAME_MAX]; /* where it listens: "127.0.0.1:9404", "unix:/run/a.sock" */
    struct stat file;                 /* of a socket file, to know it again */
    bool has_file;
};

/* Listens. False: E_IO, with the address and what to do. */
bool admin_socket_open(struct admin_socket *socket, const struct admin_address *address,
                       struct error *err);
/* Closes the descriptor if it is still here, and removes the file if it is still ours. */
void admin_socket_close(struct admin_socket *socket);

#endif
