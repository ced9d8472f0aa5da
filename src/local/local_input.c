#include "local/local_input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "local/local_address.h"
#include "local/local_chunk.h"
#include "local/local_starts.h"

enum { ROOM_MIN = 4096, JOIN_TIMEOUT_MS = 1000 };
static_assert(LOCAL_CHUNKS_AHEAD >= 2, "the reader waits with one unsealed chunk in the list");

struct local_input {
    const char *name IMMUTABLE;
    enum local_framing framing IMMUTABLE;
    int fd IMMUTABLE;
    bool is_file IMMUTABLE;          /* regular, and opened by its name */
    bool resumed IMMUTABLE;          /* by local_input_resume, from wherever */
    struct wakeup *wakeup IMMUTABLE; /* NULL until started; borrowed */
    struct wakeup stop;              /* ends the reader's sleep in poll(2) */
    struct thread thread;
    struct local_chunk_pool pool;

    /* the reader's */
    struct local_chunk *filling; /* last of the list below; NULL: none yet */
    size_t whole;                /* bytes of whole records in it */
    uint64_t read_bytes;
    struct error reader_err; /* valid for others when `failed` */

    struct lock lock;
    struct condition room;     /* the list has become shorter, or stopping */
    struct local_chunk *first; /* lock: chunks with something to parse, oldest first */
    struct local_chunk *last;  /* lock */
    size_t chunk_count;        /* lock */
    bool stopping;             /* lock */
    bool done;                 /* lock: the reader adds nothing more */
    bool failed;               /* lock: done because of reader_err */

    struct local_chunk *parsing OWNED_BY(poll_thread); /* first, while parsed < parse_end */
    size_t parse_end OWNED_BY(poll_thread);            /* its `ready` when last looked at */
    int64_t next_offset OWNED_BY(poll_thread);
    uint64_t next_byte OWNED_BY(poll_thread);         /* where the next record begins */
    struct local_starts starts OWNED_BY(poll_thread); /* filled when resumed */
    enum local_input_state state OWNED_BY(poll_thread);
    struct error failure OWNED_BY(poll_thread);
};

static bool open_descriptor(struct local_input *input, const char *path, struct error *err);
static void read_all(void *context);
static bool make_room(struct local_input *input);
static bool read_some(struct local_input *input);
static void publish(struct local_input *input, bool done);
static void advance(struct local_input *input) ON_THREAD(poll_thread);
static void mark_damaged(struct local_input *input, const struct local_fault *fault)
    ON_THREAD(poll_thread);

struct local_input *local_input_open(const char *name, enum local_framing framing,
                                     struct error *err)
{
    CHECK(name != NULL);
    const char *path;
    if (!local_address_parse(name, &path, err)) {
        return NULL;
    }
    struct local_input *input = memory_alloc_aligned(sizeof *input);
    input->name = name;
    input->framing = framing;
    if (!open_descriptor(input, path, err)) {
        memory_free(input);
        return NULL;
    }
    wakeup_init(&input->stop);
    local_chunk_pool_init(&input->pool);
    lock_init(&input->lock);
    condition_init(&input->room);
    return input;
}

static bool open_descriptor(struct local_input *input, const char *path, struct error *err)
{
    /* O_NONBLOCK: opening a FIFO does not wait for its writer; the open file is ours alone */
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        return error_set(err, E_IO, "reading %s: %s", input->name, strerrordesc_np(errno));
    }
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        return error_set(err, E_IO, "reading %s: standard input is closed, or open to write only",
                         input->name);
    }
    if (S_ISDIR(status.st_mode)) {
        if (path) {
            close(fd);
        }
        return error_set(err, E_IO, "reading %s: it is a directory", input->name);
    }
    input->fd = fd;
    input->is_file = path && S_ISREG(status.st_mode);
    return true;
}

bool local_input_can_resume(const struct local_input *input)
{
    return input->is_file;
}

int local_input_descriptor(const struct local_input *input)
{
    return input->fd;
}

bool local_input_resume(struct local_input *input, const struct local_mark *mark,
                        struct error *err) NO_THREAD_ANALYSIS
{
    CHECK(input->is_file);
    CHECK(input->wakeup == NULL);
    if (lseek(input->fd, (off_t)mark->byte, SEEK_SET) < 0) {
        return error_set(err, E_IO, "reading %s: %s", input->name, strerrordesc_np(errno));
    }
    input->read_bytes = mark->byte;
    input->next_byte = mark->byte;
    input->next_offset = mark->offset;
    input->resumed = true;
    local_starts_init(&input->starts, mark->offset);
    return true;
}

struct local_mark local_input_mark(struct local_input *input, int64_t offset)
{
    CHECK(input->resumed);
    CHECK(offset <= input->next_offset);
    uint64_t byte =
        offset == input->next_offset ? input->next_byte : local_starts_find(&input->starts, offset);
    local_starts_forget(&input->starts, offset);
    return (struct local_mark){.offset = offset, .byte = byte};
}

void local_input_start(struct local_input *input, struct wakeup *wakeup)
{
    CHECK(input->wakeup == NULL);
    CHECK(wakeup != NULL);
    input->wakeup = wakeup;
    thread_start(&input->thread, "tide-read", ROLE_NONE, read_all, input);
}

static void free_all(struct local_input *input) NO_THREAD_ANALYSIS
{
    local_starts_fini(&input->starts);
    while (input->first) {
        struct local_chunk *chunk = input->first;
        input->first = chunk->next;
        local_chunk_destroy(chunk);
    }
    if (input->fd != STDIN_FILENO) {
        close(input->fd);
    }
    condition_fini(&input->room);
    lock_fini(&input->lock);
    local_chunk_pool_fini(&input->pool);
    wakeup_fini(&input->stop);
    memory_free(input);
}

void local_input_close(struct local_input *input)
{
    if (input == NULL) {
        return;
    }
    lock_acquire(&input->lock);
    input->stopping = true;
    condition_broadcast(&input->room);
    lock_release(&input->lock);
    wakeup_post(&input->stop);
    if (thread_join_within(&input->thread, JOIN_TIMEOUT_MS)) {
        free_all(input);
    }
}

static void read_all(void *context)
{
    struct local_input *input = context;
    while (make_room(input) && read_some(input)) {
    }
}

/* A new chunk goes to the end of the list; the one before it is final. */
static void append_chunk(struct local_input *input, struct local_chunk *chunk)
{
    lock_acquire(&input->lock);
    if (input->last) {
        DCHECK(!input->last->sealed);
        input->last->sealed = true;
        input->last->next = chunk;
    } else {
        input->first = chunk;
    }
    input->last = chunk;
    input->chunk_count++;
    lock_release(&input->lock);
}

static bool wait_for_turn(struct local_input *input)
{
    lock_acquire(&input->lock);
    while (!input->stopping && input->chunk_count >= LOCAL_CHUNKS_AHEAD) {
        condition_wait(&input->room, &input->lock);
    }
    bool go = !input->stopping;
    lock_release(&input->lock);
    return go;
}

/* Gives the reader a chunk with room, and takes an unfinished record along. False: stopping. */
static bool make_room(struct local_input *input)
{
    struct local_chunk *old = input->filling;
    if (old && old->capacity - old->filled >= ROOM_MIN) {
        return true;
    }
    if (!wait_for_turn(input)) {
        return false;
    }
    size_t rest = old ? old->filled - input->whole : 0;
    struct local_chunk *chunk = local_chunk_take(&input->pool, 2 * rest + ROOM_MIN);
    if (rest) {
        memcpy(chunk->data, old->data + input->whole, rest);
    }
    chunk->filled = rest;
    chunk->base = input->read_bytes - rest;
    input->filling = chunk;
    input->whole = 0;
    append_chunk(input, chunk);
    return true;
}

/* Sleeps until a read would not. False: stopping. */
static bool wait_for_bytes(struct local_input *input)
{
    struct pollfd fds[2] = {
        {.fd = input->stop.fd, .events = POLLIN},
        {.fd = input->fd, .events = POLLIN},
    };
    int ready = poll(fds, 2, -1);
    CHECK(ready >= 0 || errno == EINTR);
    return !(ready > 0 && fds[0].revents);
}

/* Says where the damage is in the terms of the input. */
static void describe(const struct local_input *input, uint64_t at, const char *what,
                     struct error *err)
{
    error_set(err, E_IO, "reading %s: byte %" PRIu64 ": %s", input->name, at, what);
}

/* False: the end, or no way to go on. */
static bool read_some(struct local_input *input)
{
    if (!wait_for_bytes(input)) {
        return false;
    }
    struct local_chunk *chunk = input->filling;
    ssize_t got = read(input->fd, chunk->data + chunk->filled, chunk->capacity - chunk->filled);
    if (got < 0) {
        if (errno == EINTR || errno == EAGAIN) {
            return true;
        }
        describe(input, input->read_bytes, strerrordesc_np(errno), &input->reader_err);
        publish(input, true);
        return false;
    }
    size_t seen = chunk->filled - input->whole;
    chunk->filled += (size_t)got;
    input->read_bytes += (uint64_t)got;
    struct local_fault fault;
    size_t added = local_framing_scan(input->framing, chunk->data + input->whole,
                                      chunk->filled - input->whole, seen, got == 0, &fault);
    if (fault.what) {
        uint64_t at = chunk->base + input->whole + fault.at;
        describe(input, at, fault.what, &input->reader_err);
    }
    input->whole += added;
    bool done = got == 0 || fault.what;
    publish(input, done);
    return !done;
}

static void publish(struct local_input *input, bool done)
{
    lock_acquire(&input->lock);
    DCHECK(input->filling == input->last);
    input->last->ready = input->whole;
    if (done) {
        input->last->sealed = true;
        input->done = true;
        input->failed = input->reader_err.code != E_NONE;
    }
    lock_release(&input->lock);
    wakeup_signal(input->wakeup);
}

size_t local_input_fetch(struct local_input *input, struct record *recs, size_t max)
{
    size_t count = 0;
    while (count < max) {
        if (input->parsing == NULL || input->parsing->parsed == input->parse_end) {
            advance(input);
            if (input->parsing == NULL || input->state != LOCAL_FLOWING) {
                break;
            }
        }
        struct local_chunk *chunk = input->parsing;
        struct record *rec = recs + count;
        struct local_fault fault;
        size_t took = local_framing_read(input->framing, chunk->data + chunk->parsed,
                                         input->parse_end - chunk->parsed, rec, &fault);
        if (took == 0) {
            mark_damaged(input, &fault);
            break;
        }
        if (input->resumed) {
            local_starts_push(&input->starts, chunk->base + chunk->parsed);
        }
        chunk->parsed += took;
        input->next_byte = chunk->base + chunk->parsed;
        local_chunk_hand_out(chunk);
        rec->origin = &chunk->origin;
        rec->offset = input->next_offset++;
        rec->topic = input->name;
        rec->partition = 0;
        rec->leader_epoch = -1;
        count++;
    }
    return count;
}

/* Finds the next bytes to parse: `parsing` is NULL when there are none now. */
static void advance(struct local_input *input)
{
    if (input->state != LOCAL_FLOWING) {
        return;
    }
    lock_acquire(&input->lock);
    struct local_chunk *chunk = input->first;
    while (chunk && chunk->sealed && chunk->parsed == chunk->ready) {
        input->first = chunk->next;
        input->chunk_count--;
        if (input->first == NULL) {
            input->last = NULL;
            CHECK(input->done); /* else the reader would have a chunk, and it would be the last */
        }
        local_chunk_leave(chunk);
        chunk = input->first;
        condition_signal(&input->room);
    }
    input->parsing = chunk && chunk->parsed < chunk->ready ? chunk : NULL;
    input->parse_end = input->parsing ? chunk->ready : 0;
    bool over = input->done && input->first == NULL;
    bool failed = input->failed;
    lock_release(&input->lock);
    if (over && failed) {
        input->state = LOCAL_FAILED;
        input->failure = input->reader_err; /* published under the lock with `done` */
    } else if (over) {
        input->state = LOCAL_ENDED;
    }
}

static void mark_damaged(struct local_input *input, const struct local_fault *fault)
{
    const struct local_chunk *chunk = input->parsing;
    describe(input, chunk->base + chunk->parsed + fault->at, fault->what, &input->failure);
    input->state = LOCAL_FAILED;
    input->parsing = NULL;
}

enum local_input_state local_input_state(struct local_input *input)
{
    if (input->parsing == NULL || input->parsing->parsed == input->parse_end) {
        advance(input);
    }
    return input->state;
}

bool local_input_has_records_out(const struct local_input *input)
{
    return input->pool.records_out > 0;
}

const struct error *local_input_failure(const struct local_input *input)
{
    CHECK(input->state == LOCAL_FAILED);
    return &input->failure;
}

const char *local_input_name(const struct local_input *input)
{
    return input->name;
}
