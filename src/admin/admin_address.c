#include "admin/admin_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include "base/check.h"
#include "base/text.h"

enum { HOST_MAX = 64 };

static bool parse_unix(const char *path, struct admin_address *address, struct error *err);
static bool parse_tcp(const char *text, struct admin_address *address, struct error *err);
static bool set_host(const char *host, uint16_t port, struct admin_address *address);

bool admin_address_parse(const char *text, struct admin_address *address, struct error *err)
{
    CHECK(text != NULL);
    *address = (struct admin_address){.kind = ADMIN_OFF};
    if (strcmp(text, "off") == 0) {
        return true;
    }
    return strncmp(text, "unix:", 5) == 0 ? parse_unix(text + 5, address, err)
                                          : parse_tcp(text, address, err);
}

static bool parse_unix(const char *path, struct admin_address *address, struct error *err)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof un.sun_path) {
        return error_set(err, E_CONFIG, "must be unix:PATH with 1 to %zu bytes of path, not %zu",
                         sizeof un.sun_path - 1, size);
    }
    memcpy(un.sun_path, path, size);
    memcpy(&address->socket, &un, sizeof un);
    address->size = sizeof un;
    address->kind = ADMIN_UNIX;
    return true;
}

static bool parse_tcp(const char *text, struct admin_address *address, struct error *err)
{
    const char *colon = strrchr(text, ':');
    const char *port_text = colon ? colon + 1 : text;
    size_t size = colon ? (size_t)(colon - text) : 0;
    bool bracketed = size >= 2 && text[0] == '[' && text[size - 1] == ']';
    char host[HOST_MAX] = "";
    int64_t port = 0;
    struct error ignored;
    bool good = size < sizeof host && text_parse_int(port_text, 0, UINT16_MAX, &port, &ignored);
    if (good) {
        memcpy(host, bracketed ? text + 1 : text, bracketed ? size - 2 : size);
        /* an IPv6 address without brackets would lose its last part to the port */
        good = bracketed == (strchr(host, ':') != NULL) && set_host(host, (uint16_t)port, address);
    }
    if (!good) {
        return error_set(err, E_CONFIG,
                         "must be off, PORT, HOST:PORT with localhost, * or an IP address, or "
                         "unix:PATH; not \"%s\"",
                         text);
    }
    address->kind = ADMIN_TCP;
    return true;
}

static bool set_host(const char *host, uint16_t port, struct admin_address *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool loopback = host[0] == 0 || strcmp(host, "localhost") == 0;
    if (loopback || strcmp(host, "*") == 0) {
        in.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    } else if (inet_pton(AF_INET6, host, &in6.sin6_addr) == 1) {
        memcpy(&address->socket, &in6, sizeof in6);
        address->size = sizeof in6;
        return true;
    } else if (inet_pton(AF_INET, host, &in.sin_addr) != 1) {
        return false;
    }
    memcpy(&address->socket, &in, sizeof in);
    address->size = sizeof in;
    return true;
}

bool admin_address_is_private(const struct admin_address *address)
{
    if (address->socket.ss_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, &address->socket, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->socket.ss_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, &address->socket, sizeof in6);
        return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
    }
    return true;
}
