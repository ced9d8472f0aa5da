#include "base/thread.h"

#include <signal.h>
#include <stdio.h>

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
