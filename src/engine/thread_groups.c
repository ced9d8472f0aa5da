#include "engine/thread_groups.h"

#include "base/check.h"

bool thread_groups_check(unsigned num_stream_threads, unsigned num_threads_per_task,
                         struct error *err)
{
    if (num_threads_per_task == 0) {
        return error_set(err, E_CONFIG_THREADS, "num.threads.per.task must be at least 1");
    }
    if (num_stream_threads < num_threads_per_task) {
        return error_set(err, E_CONFIG_THREADS,
                         "num.stream.threads = %u is less than num.threads.per.task = %u: a task "
                         "needs a whole group of threads; raise the first or lower the second",
                         num_stream_threads, num_threads_per_task);
    }
    return true;
}

unsigned thread_groups_count(unsigned num_stream_threads, unsigned num_threads_per_task)
{
    CHECK(num_threads_per_task > 0);
    CHECK(num_stream_threads >= num_threads_per_task);
    unsigned whole = num_stream_threads / num_threads_per_task;
    return whole + (num_stream_threads % num_threads_per_task != 0);
}

unsigned thread_groups_size(unsigned num_stream_threads, unsigned num_threads_per_task,
                            unsigned index)
{
    CHECK(index < thread_groups_count(num_stream_threads, num_threads_per_task));
    unsigned before = index * num_threads_per_task;
    unsigned left = num_stream_threads - before;
    return left < num_threads_per_task ? left : num_threads_per_task;
}
