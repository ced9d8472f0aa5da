#include "base/thread.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/check.h"

static void *run(void *argument)
{
    struct thread *thread = argument;
    pthread_setname_np(pthread_self(), thread->name);
    thread_role_set(thread->role);
    thread->body(thread->context);
    return NULL;
}

void thread_start(struct thread *thread, const char *name, enum thread_role_kind role,
                  void (*body)(void *context), void *context)
{
    CHECK(!thread->running);
    CHECK(body != NULL);
    thread->role = role;
    thread->body = body;
    thread->context = context;
    thread->running = true;
    snprintf(thread->name, sizeof thread->name, "%s", name);
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigaddset(&ending, SIGUSR1);
    sigaddset(&ending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    CHECK(pthread_create(&thread->handle, NULL, run, thread) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void thread_join(struct thread *thread)
{
    if (thread->running) {
        CHECK(pthread_join(thread->handle, NULL) == 0);
        thread->running = false;
    }
}

bool thread_join_within(struct thread *thread, int timeout_ms)
{
    CHECK(timeout_ms >= 0);
    if (!thread->running) {
        return true;
    }
    struct timespec deadline;
    CHECK(clock_gettime(CLOCK_REALTIME, &deadline) == 0);
    int64_t end_ns = deadline.tv_nsec + (int64_t)timeout_ms * 1000000;
    deadline.tv_sec += (time_t)(end_ns / 1000000000);
    deadline.tv_nsec = (long)(end_ns % 1000000000);
    /* on the wall clock, because ThreadSanitizer does not know pthread_clockjoin_np */
    if (pthread_timedjoin_np(thread->handle, NULL, &deadline) != 0) {
        CHECK(pthread_detach(thread->handle) == 0);
        return false;
    }
    thread->running = false;
    return true;
}
