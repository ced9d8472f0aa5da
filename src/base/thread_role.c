#include "base/thread_role.h"

#include "base/check.h"

const struct thread_role poll_thread = {0};
const struct thread_role worker_thread = {0};

static _Thread_local enum thread_role_kind current;

void thread_role_set(enum thread_role_kind kind)
{
    current = kind;
}

enum thread_role_kind thread_role_get(void)
{
    return current;
}

void thread_assert_poll(void)
{
    CHECK(current == ROLE_POLL);
}

void thread_assert_worker(void)
{
    CHECK(current == ROLE_WORKER);
}
