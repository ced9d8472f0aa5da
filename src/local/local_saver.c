#include "local/local_saver.h"

#include <string.h>

#include "base/check.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/thread.h"

enum saver_state { IDLE, GIVEN, DONE };

struct local_saver {
    struct wakeup *wakeup IMMUTABLE;
    struct thread thread;
    struct local_save *saves; /* the thread's while GIVEN, else the poll thread's */
    size_t count;
    size_t capacity;
    struct error err; /* of the batch; as the saves */
    struct lock lock;
    struct condition work;
    enum saver_state state; /* lock */
    bool stopping;          /* lock */
};

static void save_all(void *context);

struct local_saver *local_saver_create(struct wakeup *wakeup)
{
    CHECK(wakeup != NULL);
    struct local_saver *saver = memory_alloc(sizeof *saver);
    saver->wakeup = wakeup;
    lock_init(&saver->lock);
    condition_init(&saver->work);
    return saver;
}

void local_saver_destroy(struct local_saver *saver)
{
    if (saver == NULL) {
        return;
    }
    lock_acquire(&saver->lock);
    saver->stopping = true;
    condition_signal(&saver->work);
    lock_release(&saver->lock);
    thread_join(&saver->thread);
    condition_fini(&saver->work);
    lock_fini(&saver->lock);
    memory_free(saver->saves);
    memory_free(saver);
}

void local_saver_give(struct local_saver *saver, const struct local_save *saves, size_t count)
{
    lock_acquire(&saver->lock);
    CHECK(saver->state == IDLE);
    if (saver->capacity < count) {
        saver->capacity = count;
        saver->saves = memory_resize(saver->saves, count * sizeof *saver->saves);
    }
    memcpy(saver->saves, saves, count * sizeof *saves);
    saver->count = count;
    saver->err.code = E_NONE;
    saver->state = GIVEN;
    condition_signal(&saver->work);
    lock_release(&saver->lock);
    if (!saver->thread.running) {
        thread_start(&saver->thread, "positions", ROLE_NONE, save_all, saver);
    }
}

bool local_saver_take(struct local_saver *saver, const struct local_save **saves, struct error *err)
{
    lock_acquire(&saver->lock);
    bool done = saver->state == DONE;
    if (done) {
        saver->state = IDLE;
    }
    lock_release(&saver->lock);
    if (done) {
        *saves = saver->saves;
        *err = saver->err;
    }
    return done;
}

static void save_all(void *context)
{
    struct local_saver *saver = context;
    lock_acquire(&saver->lock);
    while (saver->state == GIVEN || !saver->stopping) {
        if (saver->state != GIVEN) {
            condition_wait(&saver->work, &saver->lock);
            continue;
        }
        lock_release(&saver->lock);
        for (size_t i = 0; i < saver->count; i++) {
            struct local_save *save = &saver->saves[i];
            save->saved = local_position_save(save->position, save->fd, &save->mark, &saver->err);
        }
        lock_acquire(&saver->lock);
        saver->state = DONE;
        wakeup_signal(saver->wakeup);
    }
    lock_release(&saver->lock);
}
