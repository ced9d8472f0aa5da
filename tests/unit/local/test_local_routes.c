#include "local/local_routes.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[32];
static struct error err;

static void begin(void)
{
    strcpy(directory, "/tmp/tide-routes-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(local_routes, .init = begin, .fini = end);

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

static struct local_routes *open_routes(const char *const *outputs, size_t count)
{
    return local_routes_open(
        &(struct local_routes_options){.outputs = outputs, .output_count = count}, &err);
}

Test(local_routes, topics_find_their_outputs_and_share_files)
{
    const char *const outputs[] = {"file:all", "alerts=file:al=erts", "audit=file:all"};
    struct local_routes *routes = open_routes(outputs, 3);
    cr_assert_not_null(routes, "%s", err.text);
    cr_assert_eq(local_routes_output_count(routes), 2);
    size_t index;
    cr_assert(local_routes_find(routes, NULL, &index, &err));
    cr_assert_eq(index, 0);
    cr_assert(local_routes_find(routes, "alerts", &index, &err));
    cr_assert_eq(index, 1);
    cr_assert(local_routes_find(routes, "audit", &index, &err));
    cr_assert_eq(index, 0);
    cr_assert_eq(size_of("al=erts"), 0);
    local_routes_close(routes);
}

Test(local_routes, a_topic_without_an_output_is_refused_with_the_option_to_add)
{
    const char *const outputs[] = {"file:all"};
    struct local_routes *routes = open_routes(outputs, 1);
    size_t index;
    cr_assert_not(local_routes_find(routes, "alerts", &index, &err));
    cr_assert_str_eq(err.text, "topic alerts has no output: add --out alerts=file:PATH");
    local_routes_close(routes);
    const char *const named[] = {"alerts=file:a"};
    routes = open_routes(named, 1);
    cr_assert_not(local_routes_find(routes, NULL, &index, &err));
    cr_assert_str_eq(err.text, "no default output: add --out - or --out file:PATH");
    local_routes_close(routes);
}

Test(local_routes, what_is_not_local_is_told_apart)
{
    cr_assert(local_routes_matches("-"));
    cr_assert(local_routes_matches("a=-"));
    cr_assert(local_routes_matches("a=file:x"));
    cr_assert_not(local_routes_matches("counts"));
    cr_assert_not(local_routes_matches("a=b"));
    cr_assert_not(local_routes_matches("=file:x"));
}

Test(local_routes, a_topic_has_one_output)
{
    const char *const defaults[] = {"file:a", "-"};
    cr_assert_null(open_routes(defaults, 2));
    cr_assert_eq(err.code, E_USAGE);
    cr_assert_str_eq(err.text, "two default outputs: file:a and -; write TOPIC=- for one");
    const char *const topics[] = {"t=file:a", "t=file:b"};
    cr_assert_null(open_routes(topics, 2));
    cr_assert_str_eq(err.text, "topic t has two outputs: file:a and file:b");
    cr_assert_eq(size_of("a"), -1, "nothing is opened before all is checked");
}

Test(local_routes, a_file_is_emptied_as_by_a_shell)
{
    make_file("old", "something");
    const char *const outputs[] = {"file:old"};
    struct local_routes *routes = open_routes(outputs, 1);
    cr_assert_eq(size_of("old"), 0);
    local_routes_close(routes);
}

Test(local_routes, an_output_never_empties_an_input)
{
    make_file("data", "something");
    cr_assert_eq(symlink("data", "alias"), 0);
    const char *const outputs[] = {"file:alias"};
    const char *const inputs[] = {"-", "file:data"};
    struct local_routes_options options = {
        .outputs = outputs, .output_count = 1, .inputs = inputs, .input_count = 2};
    cr_assert_null(local_routes_open(&options, &err));
    cr_assert_eq(err.code, E_USAGE);
    cr_assert_str_eq(err.text,
                     "output file:alias would empty input file:data: they are the same file");
    cr_assert_eq(size_of("data"), 9);
}

/* Two writers with a place of their own in one file would overwrite each other. */
Test(local_routes, one_file_by_two_names_has_one_writer)
{
    const char *const outputs[] = {"file:out", "a=file:./out", "b=file:other", "c=file:/dev/null",
                                   "d=file:/dev/./null"};
    struct local_routes *routes = open_routes(outputs, 5);
    cr_assert_not_null(routes, "%s", err.text);
    cr_assert_eq(local_routes_output_count(routes), 3);
    static const char *const TOPICS[] = {NULL, "a", "b", "c", "d"};
    static const size_t WANTED[] = {0, 0, 1, 2, 2};
    for (size_t i = 0; i < 5; i++) {
        size_t index;
        cr_assert(local_routes_find(routes, TOPICS[i], &index, &err));
        cr_expect_eq(index, WANTED[i], "output %zu", i);
    }
    local_routes_close(routes);
}

Test(local_routes, standard_streams_are_known_by_their_files)
{
    make_file("data", "something");
    int file = open("data", O_RDWR | O_APPEND);
    cr_assert(file > 2);
    cr_assert_eq(dup2(file, STDIN_FILENO), STDIN_FILENO);
    const char *const outputs[] = {"file:data"};
    const char *const inputs[] = {"-"};
    struct local_routes_options options = {
        .outputs = outputs, .output_count = 1, .inputs = inputs, .input_count = 1};
    cr_assert_null(local_routes_open(&options, &err));
    cr_assert_str_eq(err.text, "output file:data would empty input -: they are the same file");
    int old = dup(STDOUT_FILENO);
    cr_assert_eq(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
    const char *const to_stdout[] = {"-"};
    const char *const from_file[] = {"file:data"};
    options.outputs = to_stdout;
    options.inputs = from_file;
    struct local_routes *routes = local_routes_open(&options, &err);
    cr_assert_eq(dup2(old, STDOUT_FILENO), STDOUT_FILENO);
    cr_assert_null(routes);
    cr_assert_str_eq(err.text, "output - would write into input file:data: they are the same file");
    cr_assert_eq(size_of("data"), 9);
}

Test(local_routes, an_output_that_cannot_be_written_is_an_error_at_open)
{
    const char *const outputs[] = {"file:no/such/folder"};
    cr_assert_null(open_routes(outputs, 1));
    cr_assert_eq(err.code, E_IO);
    cr_assert_str_eq(err.text, "writing file:no/such/folder: No such file or directory");
}
