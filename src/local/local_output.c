#include "local/local_output.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/thread.h"
#include "local/local_address.h"

enum { JOIN_TIMEOUT_MS = 1000 };

struct local_output {
    char *name IMMUTABLE;
    enum local_framing framing IMMUTABLE;
    int fd IMMUTABLE;
    bool is_file IMMUTABLE; /* a regular file: write(2) does not wait for anybody */
    struct wakeup stop;     /* ends the writer's sleep in poll(2) */
    struct thread thread;

    atomic_bool broken ATOMIC(writer, any);
    struct error failure; /* the writer's until broken, then immutable */

    struct lock lock;
    struct condition work;       /* a batch has come, or stopping */
    struct local_batch *first;   /* lock: to be written, oldest first */
    struct local_batch *last;    /* lock */
    struct local_batch *writing; /* lock: in the writer's hands */
    bool stopping;               /* lock */
};

static bool open_descriptor(struct local_output *output, const char *path, bool append,
                            struct error *err);
static bool end_tail(const struct local_output *output, const char *path, off_t size,
                     struct error *err);
static void write_all(void *context);
static struct local_batch *next_batch(struct local_output *output);
static void write_batch(struct local_output *output, struct local_batch *batch);
static void finish_batch(struct local_output *output, struct local_batch *batch);

struct local_output *local_output_open(const char *name, enum local_framing framing, bool append,
                                       struct error *err)
{
    CHECK(name != NULL);
    const char *path;
    if (!local_address_parse(name, &path, err)) {
        error_prefix(err, "output");
        return NULL;
    }
    struct local_output *output = memory_alloc_aligned(sizeof *output);
    output->name = memory_copy_text(name);
    output->framing = framing;
    if (!open_descriptor(output, path, append, err)) {
        memory_free(output->name);
        memory_free(output);
        return NULL;
    }
    wakeup_init(&output->stop);
    atomic_init(&output->broken, false);
    lock_init(&output->lock);
    condition_init(&output->work);
    thread_start(&output->thread, "tide-write", ROLE_NONE, write_all, output);
    return output;
}

static bool open_descriptor(struct local_output *output, const char *path, bool append,
                            struct error *err)
{
    int how = append ? O_APPEND : O_TRUNC;
    int fd = path ? open(path, O_WRONLY | O_CREAT | how | O_CLOEXEC, 0666) : STDOUT_FILENO;
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        return error_set(err, E_IO, "writing %s: %s", output->name, strerrordesc_np(errno));
    }
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        return error_set(err, E_IO, "writing %s: standard output is closed, or open to read only",
                         output->name);
    }
    output->fd = fd;
    output->is_file = S_ISREG(status.st_mode);
    return !append || path == NULL || !output->is_file || status.st_size == 0 ||
           end_tail(output, path, status.st_size, err);
}

/* How many bytes of the file are whole records; -1: it cannot be read or is not framed. */
static off_t whole_frames(int fd, off_t size)
{
    off_t at = 0;
    uint32_t body;
    while (at < size) {
        if (pread(fd, &body, sizeof body, at) != (ssize_t)sizeof body) {
            return size - at < (off_t)sizeof body ? at : -1;
        }
        off_t next = at + (off_t)sizeof body + (off_t)be32toh(body);
        if (be32toh(body) > LOCAL_RECORD_MAX) {
            return -1;
        }
        if (next > size) {
            return at;
        }
        at = next;
    }
    return at;
}

/* A process that was killed may have left a piece of a record. */
static bool end_tail(const struct local_output *output, const char *path, off_t size,
                     struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char last = 0;
    bool good = fd >= 0 && pread(fd, &last, 1, size - 1) == 1;
    if (good && output->framing == LOCAL_LINES) {
        good = last == '\n' || write(output->fd, "\n", 1) == 1;
    } else if (good) {
        off_t whole = whole_frames(fd, size);
        if (whole < 0) {
            close(fd);
            return error_set(err, E_IO, "writing %s: it has no framed records to append to",
                             output->name);
        }
        good = ftruncate(output->fd, whole) == 0;
    }
    int code = errno;
    if (fd >= 0) {
        close(fd);
    }
    return good || error_set(err, E_IO, "appending to %s: %s", output->name, strerrordesc_np(code));
}

static void free_all(struct local_output *output)
{
    CHECK(output->first == NULL); /* each pipeline forgot its own */
    CHECK(output->writing == NULL);
    if (output->fd != STDOUT_FILENO) {
        close(output->fd);
    }
    condition_fini(&output->work);
    lock_fini(&output->lock);
    wakeup_fini(&output->stop);
    memory_free(output->name);
    memory_free(output);
}

void local_output_close(struct local_output *output)
{
    if (output == NULL) {
        return;
    }
    lock_acquire(&output->lock);
    output->stopping = true;
    condition_broadcast(&output->work);
    lock_release(&output->lock);
    wakeup_post(&output->stop);
    if (thread_join_within(&output->thread, JOIN_TIMEOUT_MS)) {
        free_all(output);
    } /* else it hangs in a write that others keep full, and is left behind with its memory */
}

static void write_all(void *context)
{
    struct local_output *output = context;
    struct local_batch *batch;
    while ((batch = next_batch(output)) != NULL) {
        if (!atomic_load_explicit(&output->broken, memory_order_relaxed)) { /* written here only */
            write_batch(output, batch);
        }
        finish_batch(output, batch);
    }
}

static struct local_batch *next_batch(struct local_output *output)
{
    lock_acquire(&output->lock);
    while (output->first == NULL && !output->stopping) {
        condition_wait(&output->work, &output->lock);
    }
    struct local_batch *batch = output->stopping ? NULL : output->first;
    if (batch) {
        output->first = batch->next;
        output->last = output->first ? output->last : NULL;
        output->writing = batch;
        batch->next = NULL;
    }
    lock_release(&output->lock);
    return batch;
}

/* Sleeps until the descriptor takes PIPE_BUF bytes, or is broken. False: stopping. */
static bool wait_for_room(struct local_output *output)
{
    struct pollfd fds[2] = {
        {.fd = output->stop.fd, .events = POLLIN},
        {.fd = output->fd, .events = POLLOUT},
    };
    int ready = poll(fds, 2, -1);
    CHECK(ready >= 0 || errno == EINTR);
    return !(ready > 0 && fds[0].revents);
}

static void mark_broken(struct local_output *output, int reason)
{
    if (reason == EPIPE) {
        error_set(&output->failure, E_CLOSED, "writing %s: its reader has gone", output->name);
    } else {
        error_set(&output->failure, E_IO, "writing %s: %s", output->name, strerrordesc_np(reason));
    }
    /* B1: publishes the failure */
    atomic_store_explicit(&output->broken, true, memory_order_release);
}

static void write_batch(struct local_output *output, struct local_batch *batch)
{
    size_t done = 0;
    while (done < batch->bytes.size) {
        if (!wait_for_room(output)) {
            batch->failed = true;
            return;
        }
        /* a pipe that is ready takes PIPE_BUF bytes without a wait; a larger write would wait for
         * its reader, and closing for both */
        size_t rest = batch->bytes.size - done;
        size_t piece = output->is_file || rest < PIPE_BUF ? rest : PIPE_BUF;
        ssize_t put = write(output->fd, batch->bytes.data + done, piece);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno != EINTR && errno != EAGAIN) {
            mark_broken(output, errno);
            return;
        }
    }
}

static void finish_batch(struct local_output *output, struct local_batch *batch)
{
    batch->failed |= atomic_load_explicit(&output->broken, memory_order_relaxed);
    lock_acquire(&output->lock);
    CHECK(output->writing == batch);
    output->writing = NULL;
    struct local_return *home = batch->home;
    if (home) {
        if (home->last) {
            home->last->next = batch;
        } else {
            home->first = batch;
        }
        home->last = batch;
        /* under the lock, because home may be forgotten as soon as that is free */
        wakeup_signal(home->wakeup);
    }
    lock_release(&output->lock);
    if (home == NULL) {
        local_batch_destroy(batch);
    }
}

void local_output_give(struct local_output *output, struct local_batch *batch)
{
    CHECK(batch->home != NULL);
    CHECK(batch->next == NULL);
    lock_acquire(&output->lock);
    if (output->last) {
        output->last->next = batch;
    } else {
        output->first = batch;
    }
    output->last = batch;
    condition_signal(&output->work);
    lock_release(&output->lock);
}

struct local_batch *local_output_take_back(struct local_output *output, struct local_return *home)
{
    lock_acquire(&output->lock);
    struct local_batch *first = home->first;
    home->first = NULL;
    home->last = NULL;
    lock_release(&output->lock);
    return first;
}

void local_output_forget(struct local_output *output, struct local_return *home)
{
    lock_acquire(&output->lock);
    struct local_batch **link = &output->first;
    output->last = NULL;
    while (*link) {
        struct local_batch *batch = *link;
        if (batch->home == home) {
            *link = batch->next;
            local_batch_destroy(batch);
        } else {
            output->last = batch;
            link = &batch->next;
        }
    }
    if (output->writing && output->writing->home == home) {
        output->writing->home = NULL;
    }
    lock_release(&output->lock);
}

bool local_output_is_broken(const struct local_output *output, struct error *err)
{
    /* pairs with B1 in mark_broken */
    if (!atomic_load_explicit(&output->broken, memory_order_acquire)) {
        return false;
    }
    *err = output->failure;
    return true;
}

enum local_framing local_output_framing(const struct local_output *output)
{
    return output->framing;
}

const char *local_output_name(const struct local_output *output)
{
    return output->name;
}

void local_batch_destroy(struct local_batch *batch)
{
    byte_buffer_fini(&batch->bytes);
    memory_free(batch->tags);
    memory_free(batch);
}
