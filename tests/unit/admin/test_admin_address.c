#include "admin/admin_address.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static struct admin_address address;
static struct error err;

static struct sockaddr_in parsed4(const char *text)
{
    struct sockaddr_in in;
    cr_assert(admin_address_parse(text, &address, &err), "%s: %s", text, err.text);
    cr_assert_eq(address.kind, ADMIN_TCP);
    cr_assert_eq(address.size, sizeof in);
    memcpy(&in, &address.socket, sizeof in);
    return in;
}

Test(admin_address, without_a_host_it_is_the_loopback_address)
{
    static const char *const texts[] = {"9404", ":9404", "localhost:9404", "127.0.0.1:9404"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sockaddr_in in = parsed4(texts[i]);
        cr_assert_eq(in.sin_port, htons(9404));
        cr_assert_eq(in.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
        cr_assert(admin_address_is_private(&address));
    }
}

Test(admin_address, others_are_taken_and_not_private)
{
    cr_assert_eq(parsed4("*:0").sin_addr.s_addr, htonl(INADDR_ANY));
    cr_assert_not(admin_address_is_private(&address));
    cr_assert_eq(parsed4("10.1.2.3:80").sin_addr.s_addr, htonl(0x0a010203));
    cr_assert_not(admin_address_is_private(&address));
    cr_assert(admin_address_parse("[::]:80", &address, &err));
    cr_assert_not(admin_address_is_private(&address));
    cr_assert(admin_address_parse("[::1]:80", &address, &err));
    cr_assert_eq(address.socket.ss_family, AF_INET6);
    cr_assert(admin_address_is_private(&address));
}

Test(admin_address, off_is_off)
{
    cr_assert(admin_address_parse("off", &address, &err));
    cr_assert_eq(address.kind, ADMIN_OFF);
}

Test(admin_address, a_socket_file_has_a_path)
{
    struct sockaddr_un un;
    cr_assert(admin_address_parse("unix:run/a.sock", &address, &err));
    cr_assert_eq(address.kind, ADMIN_UNIX);
    memcpy(&un, &address.socket, sizeof un);
    cr_assert_str_eq(un.sun_path, "run/a.sock");
    cr_assert(admin_address_is_private(&address));
}

Test(admin_address, what_is_none_is_refused_with_what_would_be_one)
{
    static const char *const texts[] = {
        "",      "on",        "65536",    "-1", "host:80", "1.2.3:80",     "::1:80",
        "[::1]", "127.0.0.1", "1.2.3.4:", ":",  "[]:80",   "[1.2.3.4]:80", "127.0.0.1:80x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        err.text[0] = 0;
        cr_assert_not(admin_address_parse(texts[i], &address, &err), "%s", texts[i]);
        cr_assert_eq(err.code, E_CONFIG);
        cr_assert(strstr(err.text, "HOST:PORT"), "%s", err.text);
    }
    char path[256] = "unix:";
    cr_assert_not(admin_address_parse(path, &address, &err));
    memset(path + 5, 'a', 108);
    cr_assert_not(admin_address_parse(path, &address, &err));
    cr_assert(strstr(err.text, "107"), "%s", err.text);
}
