/*
 * thread_role: what the current thread is, checked by the compiler and at run time.
 *
 * Why: fields and functions are annotated with a role (annotations.h); clang rejects a call from
 * elsewhere. Calls through ports are not followed by the analysis, so each port function begins
 * with thread_assert_poll() or thread_assert_worker(), which compares a thread-local. The
 * simulator, being all threads, switches the role before each turn.
 *
 * Thread: any; the current role is a thread-local.
 */
#ifndef BASE_THREAD_ROLE_H
#define BASE_THREAD_ROLE_H

#include "base/annotations.h"

struct ROLE_TYPE thread_role {
    char unused;
};

extern const struct thread_role poll_thread;   /* owns consumer, producer, windows, retirement */
extern const struct thread_role worker_thread; /* owns one processor state, runs user code */

enum thread_role_kind { ROLE_NONE, ROLE_POLL, ROLE_WORKER };

/* Sets the role of the current thread. */
void thread_role_set(enum thread_role_kind kind);
/* The role of the current thread. */
enum thread_role_kind thread_role_get(void);

/* Abort when the current thread has another role. */
void thread_assert_poll(void) ASSERTS_ROLE(poll_thread);
void thread_assert_worker(void) ASSERTS_ROLE(worker_thread);

#endif
