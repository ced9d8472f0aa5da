#include "base/lock.h"

#include <stddef.h>

#include "base/check.h"

void lock_init(struct lock *lock)
{
    CHECK(pthread_mutex_init(&lock->mutex, NULL) == 0);
}

void lock_fini(struct lock *lock)
{
    CHECK(pthread_mutex_destroy(&lock->mutex) == 0);
}

void lock_acquire(struct lock *lock) NO_THREAD_ANALYSIS
{
    CHECK(pthread_mutex_lock(&lock->mutex) == 0);
}

void lock_release(struct lock *lock) NO_THREAD_ANALYSIS
{
    CHECK(pthread_mutex_unlock(&lock->mutex) == 0);
}

void condition_init(struct condition *condition)
{
    CHECK(pthread_cond_init(&condition->cond, NULL) == 0);
}

void condition_fini(struct condition *condition)
{
    CHECK(pthread_cond_destroy(&condition->cond) == 0);
}

void condition_wait(struct condition *condition, struct lock *lock)
{
    CHECK(pthread_cond_wait(&condition->cond, &lock->mutex) == 0);
}

void condition_signal(struct condition *condition)
{
    CHECK(pthread_cond_signal(&condition->cond) == 0);
}

void condition_broadcast(struct condition *condition)
{
    CHECK(pthread_cond_broadcast(&condition->cond) == 0);
}
