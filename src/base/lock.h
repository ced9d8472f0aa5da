/*
 * lock: a mutex and a condition, known to clang's thread-safety analysis.
 *
 * Why: pthreads are named in base only; a lock that the analysis sees turns "needs the lock" into a
 * compile error.
 *
 * Thread: any.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>

#include "base/annotations.h"

struct LOCK_TYPE lock {
    pthread_mutex_t mutex;
};

struct condition {
    pthread_cond_t cond;
};

void lock_init(struct lock *lock);
void lock_fini(struct lock *lock);
void lock_acquire(struct lock *lock) ACQUIRES(*lock);
void lock_release(struct lock *lock) RELEASES(*lock);

void condition_init(struct condition *condition);
void condition_fini(struct condition *condition);
/* Gives the lock up, sleeps until signalled (or for no reason), takes the lock again. */
void condition_wait(struct condition *condition, struct lock *lock) REQUIRES(*lock);
void condition_signal(struct condition *condition);
void condition_broadcast(struct condition *condition);

#endif
