#include "base/log.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Everything that was written to the read end of the pipe, NUL-terminated. */
static size_t drain(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got = 0;
    while (used + 1 < size && (got = read(fd, text + used, size - used - 1)) > 0) {
        used += (size_t)got;
    }
    text[used] = 0;
    return used;
}

Test(log, lower_levels_are_filtered_and_their_fields_not_evaluated)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    log_open(ends[1], LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
    int evaluated = 0;
    log_info("not shown", LOG_INT("n", ++evaluated));
    log_debug("not shown");
    log_warn("shown", LOG_INT("n", ++evaluated));
    log_error("shown too");
    log_set_level(LOG_LEVEL_DEBUG);
    log_debug("shown now");
    close(ends[1]);
    char text[1024];
    drain(ends[0], text, sizeof text);
    cr_assert_eq(evaluated, 1);
    cr_assert_not(strstr(text, "not shown"));
    cr_assert(strstr(text, "level=warn msg=shown n=1\n"));
    cr_assert(strstr(text, "level=error msg=\"shown too\"\n"));
    cr_assert(strstr(text, "level=debug msg=\"shown now\"\n"));
}

Test(log, auto_is_logfmt_where_there_is_no_terminal)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    log_open(ends[1], LOG_LEVEL_INFO, LOG_FORMAT_AUTO);
    log_info("hello");
    close(ends[1]);
    char text[256];
    drain(ends[0], text, sizeof text);
    cr_assert_eq(strncmp(text, "time=", 5), 0);
}

Test(log, a_closed_descriptor_is_no_error)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    log_open(ends[1], LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    close(ends[1]);
    log_info("lost");
}

enum { THREADS = 4, LINES = 50 };

static void *write_lines(void *context)
{
    char filler[700];
    memset(filler, 'a' + *(const int *)context, sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    for (int i = 0; i < LINES; i++) {
        log_info("line", LOG_STR("filler", filler));
    }
    return NULL;
}

Test(log, lines_of_threads_never_mix)
{
    FILE *file = tmpfile();
    cr_assert(file);
    log_open(fileno(file), LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    rewind(file);
    char line[1024];
    int count = 0;
    for (; fgets(line, sizeof line, file); count++) {
        const char *filler = strstr(line, "filler=");
        cr_assert(filler);
        size_t same = strspn(filler + 7, (const char[]){filler[7], 0});
        cr_assert_eq(same, 699);
        cr_assert_eq(filler[7 + same], '\n');
    }
    cr_assert_eq(count, THREADS * LINES);
    fclose(file);
}

Test(log, a_footer_stays_below_the_lines)
{
    FILE *file = tmpfile();
    cr_assert(file);
    log_open(fileno(file), LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
    log_set_footer("");
    log_set_footer("half way");
    log_info("line");
    log_set_footer("");
    log_info("last");
    rewind(file);
    char all[1024];
    size_t size = fread(all, 1, sizeof all - 1, file);
    all[size] = 0;
    static const char begin[] = "\r\033[Khalf way\r\033[Ktime=";
    static const char middle[] = " level=info msg=line\nhalf way\r\033[Ktime=";
    cr_assert_eq(strncmp(all, begin, strlen(begin)), 0, "%s", all);
    cr_assert(strstr(all, middle));
    cr_assert(strstr(all, " level=info msg=last\n"));
    fclose(file);
}
