#include "admin/admin_server.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

static struct error err;
static char folder[64];

static void begin(void)
{
    log_set_level(LOG_LEVEL_ERROR);
    strcpy(folder, "/tmp/moontide-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void end(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/a.sock", folder);
    unlink(path);
    rmdir(folder);
}

TestSuite(admin_server, .init = begin, .fini = end);

static unsigned answer_good(void *context, struct byte_buffer *out)
{
    byte_buffer_printf(out, "good %d\n", ++*(int *)context);
    return 200;
}

static unsigned answer_large(void *context, struct byte_buffer *out)
{
    (void)context;
    for (int i = 0; i < 100000; i++) {
        byte_buffer_append_text(out, "0123456789");
    }
    return 503;
}

static const struct admin_hook HOOKS[] = {{"/good", "text/plain", answer_good},
                                          {"/large", "text/x-large", answer_large}};
static int calls;
static struct admin_hooks hooks = {HOOKS, 2, &calls};

static struct admin_server *open_at(const char *listen)
{
    struct admin_address address;
    cr_assert(admin_address_parse(listen, &address, &err), "%s", err.text);
    return admin_server_open(&address, &hooks, &err);
}

/* Sends the text and returns all that comes, which ends with the connection. */
static char *ask(const struct admin_server *server, const char *request)
{
    const char *name = admin_server_name(server);
    int fd;
    if (strncmp(name, "unix:", 5) == 0) {
        struct sockaddr_un un = {.sun_family = AF_UNIX};
        strcpy(un.sun_path, name + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        cr_assert_eq(connect(fd, (struct sockaddr *)&un, sizeof un), 0);
    } else {
        struct sockaddr_in in = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)atoi(strrchr(name, ':') + 1)),
                                 .sin_addr = {htonl(INADDR_LOOPBACK)}};
        fd = socket(AF_INET, SOCK_STREAM, 0);
        cr_assert_eq(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
    }
    /* a server that has had enough may close before it has read all */
    cr_assert_gt(send(fd, request, strlen(request), MSG_NOSIGNAL), 0);
    struct byte_buffer out = {0};
    char part[4096];
    for (ssize_t got; (got = read(fd, part, sizeof part)) > 0;) {
        byte_buffer_append(&out, part, (size_t)got);
    }
    close(fd);
    return byte_buffer_take(&out);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static void expect(const struct admin_server *server, const char *request, const char *status,
                   const char *part)
{
    char *got = ask(server, request);
    cr_expect_eq(strncmp(got + strlen("HTTP/1.1 "), status, strlen(status)), 0, "%.200s", got);
    cr_expect(strstr(got, part), "no %s in %.400s", part, got);
    memory_free(got);
}

Test(admin_server, a_page_is_made_when_it_is_asked_for)
{
    struct admin_server *server = open_at("127.0.0.1:0");
    cr_assert_not_null(server, "%s", err.text);
    cr_assert_eq(strncmp(admin_server_name(server), "127.0.0.1:", 10), 0);
    expect(server, GET("/good"), "200 OK", "\r\n\r\ngood 1\n");
    expect(server, GET("/good?x=1"), "200 OK", "\r\n\r\ngood 2\n");
    expect(server, GET("/large"), "503 ", "Content-Type: text/x-large\r\n");
    expect(server, GET("/large"), "503 ", "Content-Length: 1000000\r\n");
    cr_assert_eq(calls, 2);
    admin_server_close(server);
}

Test(admin_server, only_get_and_only_what_is_there)
{
    struct admin_server *server = open_at("0");
    cr_assert_not_null(server, "%s", err.text);
    expect(server, GET("/"), "404 Not Found", "there are /good /large\n");
    expect(server, GET("/goo"), "404 Not Found", "no such page");
    expect(server, GET("/good/"), "404 Not Found", "no such page");
    expect(server, "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
           "405 Method Not Allowed", "Allow: GET\r\n");
    expect(server, "DELETE /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
           "405 Method Not Allowed", "only GET");
    expect(server, "PUT /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404 ",
           "no such page");
    cr_assert_eq(calls, 0);
    admin_server_close(server);
}

Test(admin_server, noise_does_not_end_it)
{
    struct admin_server *server = open_at("0");
    cr_assert_not_null(server, "%s", err.text);
    memory_free(ask(server, "no HTTP at all\r\n\r\n"));
    char *long_line = memory_alloc(100000);
    memset(long_line, 'x', 99000);
    memcpy(long_line, "GET /", 5);
    memcpy(long_line + 99000, " HTTP/1.1\r\n\r\n", 14);
    memory_free(ask(server, long_line));
    memory_free(ask(server, "GET /good HTTP/9.9\r\n\r\n"));
    expect(server, GET("/good"), "200 OK", "good 1\n");
    memory_free(long_line);
    admin_server_close(server);
}

Test(admin_server, a_port_that_is_taken_is_an_error_with_its_name)
{
    struct admin_server *first = open_at("0");
    cr_assert_not_null(first);
    cr_assert_null(open_at(admin_server_name(first)));
    cr_assert_eq(err.code, E_IO);
    cr_assert(strstr(err.text, admin_server_name(first)), "%s", err.text);
    cr_assert(strstr(err.text, "Address already in use"), "%s", err.text);
    admin_server_close(first);
}

static const char *socket_path(char *listen, size_t size)
{
    snprintf(listen, size, "unix:%s/a.sock", folder);
    return listen + 5;
}

Test(admin_server, a_socket_file_is_its_owners_and_goes_with_the_server)
{
    char listen[128];
    const char *path = socket_path(listen, sizeof listen);
    struct stat file;
    umask(0);
    struct admin_server *server = open_at(listen);
    cr_assert_not_null(server, "%s", err.text);
    cr_assert_eq(stat(path, &file), 0);
    cr_assert_eq(file.st_mode & 07777, 0600);
    expect(server, GET("/good"), "200 OK", "good 1\n");
    admin_server_close(server);
    cr_assert_neq(stat(path, &file), 0);
}

Test(admin_server, the_socket_of_a_dead_process_is_replaced_and_of_a_living_one_not)
{
    char listen[128];
    const char *path = socket_path(listen, sizeof listen);
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    strcpy(un.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    close(fd);
    struct admin_server *server = open_at(listen);
    cr_assert_not_null(server, "%s", err.text);
    cr_assert_null(open_at(listen));
    cr_assert(strstr(err.text, "another process listens"), "%s", err.text);
    expect(server, GET("/good"), "200 OK", "good 1\n");
    admin_server_close(server);
}

Test(admin_server, a_file_that_is_no_socket_stays)
{
    char listen[128];
    const char *path = socket_path(listen, sizeof listen);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("mine", file);
    fclose(file);
    cr_assert_null(open_at(listen));
    cr_assert_eq(err.code, E_IO);
    cr_assert(strstr(err.text, "no socket"), "%s", err.text);
    cr_assert_eq(access(path, F_OK), 0);
}

Test(admin_server, a_socket_file_of_somebody_else_is_left_alone_at_the_end)
{
    char listen[128];
    const char *path = socket_path(listen, sizeof listen);
    struct admin_server *server = open_at(listen);
    cr_assert_not_null(server, "%s", err.text);
    cr_assert_eq(unlink(path), 0);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fclose(file);
    admin_server_close(server);
    cr_assert_eq(access(path, F_OK), 0);
}

Test(admin_server, a_folder_that_is_not_there_is_named)
{
    cr_assert_null(open_at("unix:/nowhere/at/all.sock"));
    cr_assert_eq(err.code, E_IO);
    cr_assert(strstr(err.text, "/nowhere/at/all.sock: No such file"), "%s", err.text);
}
