#include "local/local_position.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[32];
static char input[64];
static char folder[80];
static int fd;
static struct error err;

static void write_input(const char *text)
{
    int out = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_geq(out, 0);
    cr_assert_eq(write(out, text, strlen(text)), (ssize_t)strlen(text));
    close(out);
}

static void begin(void)
{
    strcpy(directory, "/tmp/tide-position-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(input, sizeof input, "%s/in", directory);
    snprintf(folder, sizeof folder, "%s/state/app/inputs", directory);
    write_input("one\ntwo\nthree\n");
    fd = open(input, O_RDONLY);
}

static void end(void)
{
    close(fd);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(local_position, .init = begin, .fini = end);

static struct local_position *open_it(enum local_framing framing)
{
    struct local_position *position = local_position_open(folder, input, framing, &err);
    cr_assert_not_null(position, "%s", err.text);
    return position;
}

static void save_two(void)
{
    struct local_position *position = open_it(LOCAL_LINES);
    struct local_mark mark = {.offset = 2, .byte = 8};
    cr_assert(local_position_save(position, fd, &mark, &err), "%s", err.text);
    local_position_close(position);
}

static void refuses(enum local_framing framing, const char *reason)
{
    struct local_position *position = open_it(framing);
    struct local_mark mark;
    cr_assert_not(local_position_load(position, fd, &mark, &err));
    cr_assert_eq(err.code, E_IO);
    cr_assert_not_null(strstr(err.text, reason), "%s", err.text);
    cr_assert_not_null(strstr(err.text, "--from-start"), "%s", err.text);
    local_position_close(position);
}

Test(local_position, nothing_saved_is_the_start)
{
    struct local_position *position = open_it(LOCAL_LINES);
    struct local_mark mark = {.offset = 7, .byte = 7};
    cr_assert(local_position_load(position, fd, &mark, &err));
    cr_assert_eq(mark.offset, 0);
    cr_assert_eq(mark.byte, 0);
    local_position_close(position);
}

Test(local_position, what_was_saved_is_loaded_and_the_last_one_counts)
{
    struct local_position *position = open_it(LOCAL_LINES);
    struct local_mark mark = {.offset = 1, .byte = 4};
    cr_assert(local_position_save(position, fd, &mark, &err), "%s", err.text);
    local_position_close(position);
    save_two();
    position = open_it(LOCAL_LINES);
    cr_assert(local_position_load(position, fd, &mark, &err), "%s", err.text);
    cr_assert_eq(mark.offset, 2);
    cr_assert_eq(mark.byte, 8);
    local_position_close(position);
}

Test(local_position, a_file_that_grew_is_the_same_file)
{
    save_two();
    write_input("one\ntwo\nthree\nfour\n");
    struct local_position *position = open_it(LOCAL_LINES);
    struct local_mark mark;
    cr_assert(local_position_load(position, fd, &mark, &err), "%s", err.text);
    cr_assert_eq(mark.byte, 8);
    local_position_close(position);
}

Test(local_position, a_file_that_was_cut_is_refused)
{
    save_two();
    write_input("one\n");
    refuses(LOCAL_LINES, "it was cut");
}

Test(local_position, another_file_of_that_name_is_refused)
{
    save_two();
    write_input("one\ntwi\nthree\n");
    refuses(LOCAL_LINES, "another file");
}

Test(local_position, another_framing_is_refused)
{
    save_two();
    refuses(LOCAL_RECORDS, "local.framing = lines");
}

Test(local_position, damage_is_refused)
{
    save_two();
    char command[200];
    snprintf(command, sizeof command, "sed -i 's/^byte .*/byte x/' %s/*.position", folder);
    cr_assert_eq(system(command), 0);
    refuses(LOCAL_LINES, "is damaged");
}

Test(local_position, one_process_at_a_time_has_it)
{
    struct local_position *position = open_it(LOCAL_LINES);
    cr_assert_null(local_position_open(folder, input, LOCAL_LINES, &err));
    cr_assert_not_null(strstr(err.text, "another process"), "%s", err.text);
    local_position_close(position);
    local_position_close(open_it(LOCAL_LINES));
}

Test(local_position, a_place_that_cannot_be_written_is_told)
{
    struct local_position *position = open_it(LOCAL_LINES);
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
    struct local_mark mark = {.offset = 2, .byte = 8};
    cr_assert_not(local_position_save(position, fd, &mark, &err));
    cr_assert_not_null(strstr(err.text, "No such file"), "%s", err.text);
    local_position_close(position);
}
