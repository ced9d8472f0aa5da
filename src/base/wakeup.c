#include "base/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

void wakeup_init(struct wakeup *wakeup)
{
    wakeup->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CHECK(wakeup->fd >= 0);
    atomic_init(&wakeup->asleep, false);
}

void wakeup_fini(struct wakeup *wakeup)
{
    close(wakeup->fd);
    wakeup->fd = -1;
}

void wakeup_prepare(struct wakeup *wakeup)
{
    /* Both sides exchange the same flag: if this comes first, the signaller sees "asleep"; if the
     * signaller comes first, this acquires what it published, and the owner's second look finds it.
     */
    atomic_exchange_explicit(&wakeup->asleep, true, memory_order_acq_rel);
}

void wakeup_cancel(struct wakeup *wakeup)
{
    atomic_store_explicit(&wakeup->asleep, false, memory_order_relaxed);
}

void wakeup_wait(struct wakeup *wakeup, int timeout_ms)
{
    struct pollfd slot = {.fd = wakeup->fd, .events = POLLIN};
    int ready = poll(&slot, 1, timeout_ms);
    CHECK(ready >= 0 || errno == EINTR);
    wakeup_cancel(wakeup);
    if (ready > 0) {
        uint64_t count;
        ssize_t got = read(wakeup->fd, &count, sizeof count);
        CHECK(got == sizeof count || errno == EAGAIN);
    }
}

void wakeup_signal(struct wakeup *wakeup)
{
    if (atomic_exchange_explicit(&wakeup->asleep, false, memory_order_acq_rel)) {
        wakeup_post(wakeup);
    }
}

void wakeup_post(struct wakeup *wakeup)
{
    int saved = errno;
    uint64_t one = 1;
    ssize_t put = write(wakeup->fd, &one, sizeof one);
    (void)put; /* a full counter is a wake-up, too */
    errno = saved;
}
