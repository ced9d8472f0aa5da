/*
 * thread: starts and joins a thread with a name and a role.
 *
 * Why: pthreads are named in base only; every thread of the process blocks the signals that end it,
 * so that they reach the main thread (and a write to a closed pipe is an error value), and shows
 * its name in top and in debuggers.
 *
 * Thread: main thread.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/annotations.h"
#include "base/thread_role.h"

struct thread {
    pthread_t handle;
    bool running;
    enum thread_role_kind role;
    void (*body)(void *context);
    void *context;
    char name[16];
};

/* Runs body(context) in a new thread with the role; aborts when the system has no thread left. The
 * struct stays in place until joined. `name` is cut to 15 characters. */
void thread_start(struct thread *thread, const char *name, enum thread_role_kind role,
                  void (*body)(void *context), void *context);
/* Waits for the end; nothing to do when it was never started. */
void thread_join(struct thread *thread);
/* Waits for the end, at most timeout_ms. False: it is stuck, and is left to itself: what it uses,
 * the struct too, must stay for as long as the process. */
bool thread_join_within(struct thread *thread, int timeout_ms) MUST_USE;

#endif
