/*
 * C11's threads, mutexes and conditions by those of POSIX, for ThreadSanitizer alone.
 *
 * Why: librdkafka uses thrd_create, mtx_lock and the like of libc, which ThreadSanitizer does not
 * know: a thread that it has not seen begin crashes it at its first malloc, and a lock that it has
 * not seen orders nothing. These come before libc's when the program is linked, and lead to what it
 * does know. glibc lays both kinds out alike (its own C11 functions are the POSIX ones).
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "base/annotations.h"

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a mutex is a mutex");
static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a condition is a condition");
static_assert(sizeof(thrd_t) == sizeof(pthread_t), "a thread is a thread");

struct beginning {
    thrd_start_t run;
    void *argument;
};

static int result_of(int code)
{
    switch (code) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)(void *)mutex;
}

static pthread_cond_t *condition_of(cnd_t *condition)
{
    return (pthread_cond_t *)(void *)condition;
}

static void *begin(void *argument)
{
    struct beginning beginning = *(struct beginning *)argument;
    free(argument);
    return (void *)(intptr_t)beginning.run(beginning.argument);
}

EXPORTED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    struct beginning *beginning = malloc(sizeof *beginning);
    if (beginning == NULL) {
        return thrd_nomem;
    }
    *beginning = (struct beginning){run, argument};
    int code = pthread_create(thread, NULL, begin, beginning);
    if (code != 0) {
        free(beginning);
    }
    return result_of(code);
}

EXPORTED int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    int code = pthread_join(thread, &value);
    if (result) {
        *result = (int)(intptr_t)value;
    }
    return result_of(code);
}

EXPORTED int thrd_detach(thrd_t thread)
{
    return result_of(pthread_detach(thread));
}

EXPORTED int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (type & mtx_recursive) {
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    }
    int code = pthread_mutex_init(mutex_of(mutex), &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result_of(code);
}

EXPORTED void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy(mutex_of(mutex));
}

EXPORTED int mtx_lock(mtx_t *mutex)
{
    return result_of(pthread_mutex_lock(mutex_of(mutex)));
}

EXPORTED int mtx_trylock(mtx_t *mutex)
{
    return result_of(pthread_mutex_trylock(mutex_of(mutex)));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
    return result_of(pthread_mutex_unlock(mutex_of(mutex)));
}

EXPORTED int cnd_init(cnd_t *condition)
{
    return result_of(pthread_cond_init(condition_of(condition), NULL));
}

EXPORTED void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

EXPORTED int cnd_signal(cnd_t *condition)
{
    return result_of(pthread_cond_signal(condition_of(condition)));
}

EXPORTED int cnd_broadcast(cnd_t *condition)
{
    return result_of(pthread_cond_broadcast(condition_of(condition)));
}

EXPORTED int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return result_of(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}

EXPORTED int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    return result_of(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), until));
}
