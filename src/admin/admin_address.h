/*
 * admin_address: what admin.listen says, read and checked.
 *
 *     off | PORT | HOST:PORT | [IPV6]:PORT | unix:PATH
 *
 * Why: what is wrong with an address is told before anything runs, also by `moontide check`.
 * Without a host it is the loopback address: what is served here says much about the work, and has
 * no password.
 *
 * Thread: any.
 */
#ifndef ADMIN_ADMIN_ADDRESS_H
#define ADMIN_ADMIN_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum admin_address_kind { ADMIN_OFF, ADMIN_TCP, ADMIN_UNIX };

struct admin_address {
    enum admin_address_kind kind;
    struct sockaddr_storage socket; /* TCP, UNIX */
    socklen_t size;                 /* of what is in it */
};

/* HOST is localhost, * or a number. False: E_CONFIG, a predicate: "must be ...". */
bool admin_address_parse(const char *text, struct admin_address *address, struct error *err);
/* Only this machine can reach it. */
bool admin_address_is_private(const struct admin_address *address);

#endif
