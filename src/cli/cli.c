#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/signals.h"

static bool run_words(int argc, char **argv, struct error *err);
static bool asks_for_help(int argc, char *const *argv);
static bool end_output(struct error *err);
static void show_error(const struct error *err);

/* A standard stream that is closed would be the next file or socket that is opened, and records or
 * log lines would go there. Its place is taken by something that can only be used the wrong way. */
static void occupy_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int taken = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            CHECK(taken == fd || taken < 0);
        }
    }
}

int cli_main(int argc, char **argv)
{
    CHECK(argc >= 0);
    occupy_closed_streams();
    signals_ignore();
    int words = argc > 0 ? argc - 1 : 0;
    struct error err = {.code = E_NONE};
    bool ok = run_words(words, argv + argc - words, &err);
    ok = end_output(&err) && ok;
    if (ok || err.code == E_CLOSED) { /* whose reader went away is done */
        return 0;
    }
    show_error(&err);
    return error_exit_code(err.code);
}

static bool reader_has_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

/* What was printed has arrived. The error that a command had before stays. */
static bool end_output(struct error *err)
{
    int why = fflush(stdout) == 0 ? 0 : errno;
    bool lost = ferror(stdout) && !reader_has_gone();
    if (lost && err->code == E_NONE) {
        /* what was lost with an earlier part has left no reason */
        error_set(err, E_IO, "writing standard output: %s",
                  why ? strerrordesc_np(why) : "not all of it could be written");
    }
    return !lost;
}

/* The text may hold bytes of records and files: none of them speaks to the terminal. */
static void show_error(const struct error *err)
{
    struct byte_buffer shown = {0};
    for (const char *at = err->text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        bool c1 = byte == 0xc2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xa0;
        bool control = (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f;
        if (control || c1) {
            byte_buffer_printf(&shown, "\\x%02x", byte);
        } else {
            byte_buffer_append_char(&shown, *at);
        }
    }
    fprintf(stderr, "moontide: %s: %s\n", error_code_name(err->code), byte_buffer_text(&shown));
    byte_buffer_fini(&shown);
    if (err->code == E_USAGE) {
        fprintf(stderr, "`moontide help` shows how it is used\n");
    }
}

static bool run_words(int argc, char **argv, struct error *err)
{
    char version_word[] = "version"; /* lives as long as argv is read */
    if (argc == 0) {
        return error_set(err, E_USAGE, "which command?");
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        return help_print(NULL);
    }
    if (strcmp(argv[0], "--version") == 0) {
        argv[0] = version_word;
    }
    int words = 0;
    const struct command *command = command_find(argc, argv, &words);
    if (command == NULL) {
        return command_unknown(argv[0], err);
    }
    if (asks_for_help(argc - words, argv + words)) {
        return help_print(command);
    }
    struct arguments args;
    if (!arguments_parse(&args, command->arguments, command->operand_max, argc - words,
                         argv + words, err)) {
        return error_prefix(err, "%s", command->name);
    }
    bool ok = command->run(&args, err);
    arguments_fini(&args);
    return ok;
}

static bool asks_for_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}
