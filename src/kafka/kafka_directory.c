#include "kafka/kafka_directory.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "kafka/kafka_topics.h"

enum {
    ANSWER_MS = 1000, /* for one question */
    PAUSE_MS = 50,    /* before the next look at a topic that is missing */
    PATIENCE_MS = 2000,
    REFUSED_MS = 10000, /* how long a refusal is remembered, */
    COUNT_MS = 1000     /* and the number of partitions, when one beyond it is asked for */
};

struct entry {
    struct entry *next;
    rd_kafka_resp_err_t answer; /* IN_PROGRESS: asked */
    int32_t partitions;
    int patience_ms;
    int64_t since_ms;  /* asked, or answered */
    int64_t looked_ms; /* of the last look, answer or not */
    char topic[];
};

struct kafka_directory {
    rd_kafka_t *rk IMMUTABLE;
    struct clock_source clock IMMUTABLE;
    struct wakeup *wakeup IMMUTABLE;
    struct thread thread;
    struct lock lock;
    struct condition work;
    struct wakeup pause;   /* ends the thread's sleep before the next look */
    struct entry *entries; /* lock; an entry stays, so that the thread may read its name without */
    bool stopping;         /* lock */
};

static void answer_all(void *context);
static struct entry *next_asked(struct kafka_directory *directory) REQUIRES(directory->lock);
static bool settle(struct kafka_directory *directory, struct entry *entry,
                   rd_kafka_resp_err_t answer, int32_t partitions) REQUIRES(directory->lock);

struct kafka_directory *kafka_directory_create(rd_kafka_t *rk)
{
    CHECK(rk != NULL);
    struct kafka_directory *directory = memory_alloc(sizeof *directory);
    directory->rk = rk;
    directory->clock = clock_system();
    lock_init(&directory->lock);
    condition_init(&directory->work);
    wakeup_init(&directory->pause);
    return directory;
}

void kafka_directory_destroy(struct kafka_directory *directory) NO_THREAD_ANALYSIS
{
    if (directory == NULL) {
        return;
    }
    lock_acquire(&directory->lock);
    directory->stopping = true;
    condition_signal(&directory->work);
    lock_release(&directory->lock);
    wakeup_post(&directory->pause);
    thread_join(&directory->thread);
    while (directory->entries) {
        struct entry *entry = directory->entries;
        directory->entries = entry->next;
        memory_free(entry);
    }
    wakeup_fini(&directory->pause);
    condition_fini(&directory->work);
    lock_fini(&directory->lock);
    memory_free(directory);
}

void kafka_directory_attach(struct kafka_directory *directory, struct wakeup *wakeup)
{
    CHECK(!directory->thread.running);
    directory->wakeup = wakeup;
}

/* --- questions ----------------------------------------------------------------------------- */

static void ask(struct kafka_directory *directory, struct entry *entry, int patience_ms)
    REQUIRES(directory->lock)
{
    entry->answer = RD_KAFKA_RESP_ERR__IN_PROGRESS;
    entry->patience_ms = patience_ms;
    entry->since_ms = clock_ms(&directory->clock);
    if (!directory->thread.running) {
        thread_start(&directory->thread, "topics", ROLE_NONE, answer_all, directory);
    }
    condition_signal(&directory->work);
}

static struct entry *find_entry(struct kafka_directory *directory, const char *topic)
    REQUIRES(directory->lock)
{
    struct entry *entry = directory->entries;
    while (entry && strcmp(entry->topic, topic) != 0) {
        entry = entry->next;
    }
    if (entry == NULL) {
        size_t size = strlen(topic) + 1;
        entry = memory_alloc(sizeof *entry + size);
        memcpy(entry->topic, topic, size);
        entry->next = directory->entries;
        directory->entries = entry;
        ask(directory, entry, PATIENCE_MS);
    }
    return entry;
}

static rd_kafka_resp_err_t look_up(struct kafka_directory *directory, struct entry *entry,
                                   int32_t partition) REQUIRES(directory->lock)
{
    int64_t age_ms = clock_ms(&directory->clock) - entry->since_ms;
    bool there = entry->answer == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (entry->answer == RD_KAFKA_RESP_ERR__IN_PROGRESS ||
        (there && partition < entry->partitions)) {
        return entry->answer;
    }
    if (age_ms > (there ? COUNT_MS : REFUSED_MS)) {
        ask(directory, entry, PATIENCE_MS);
        return RD_KAFKA_RESP_ERR__IN_PROGRESS;
    }
    return there ? RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION : entry->answer;
}

rd_kafka_resp_err_t kafka_directory_find(struct kafka_directory *directory, const char *topic,
                                         int32_t partition)
{
    CHECK(topic != NULL);
    lock_acquire(&directory->lock);
    rd_kafka_resp_err_t answer = look_up(directory, find_entry(directory, topic), partition);
    lock_release(&directory->lock);
    return answer;
}

void kafka_directory_doubt(struct kafka_directory *directory, const char *topic, int patience_ms)
{
    lock_acquire(&directory->lock);
    struct entry *entry = find_entry(directory, topic);
    if (entry->answer != RD_KAFKA_RESP_ERR__IN_PROGRESS) {
        ask(directory, entry, patience_ms);
    }
    entry->patience_ms = patience_ms;
    lock_release(&directory->lock);
}

/* --- answers ------------------------------------------------------------------------------- */

static void answer_all(void *context)
{
    struct kafka_directory *directory = context;
    lock_acquire(&directory->lock);
    while (!directory->stopping) {
        struct entry *entry = next_asked(directory);
        if (entry == NULL) {
            condition_wait(&directory->work, &directory->lock);
            continue;
        }
        lock_release(&directory->lock);
        int32_t partitions = 0;
        rd_kafka_resp_err_t answer =
            kafka_topics_look(directory->rk, entry->topic, ANSWER_MS, &partitions);
        lock_acquire(&directory->lock);
        bool settled = settle(directory, entry, answer, partitions);
        lock_release(&directory->lock);
        if (!settled) {
            wakeup_prepare(&directory->pause);
            wakeup_wait(&directory->pause, PAUSE_MS);
        } else if (directory->wakeup) {
            wakeup_signal(directory->wakeup);
        }
        lock_acquire(&directory->lock);
    }
    lock_release(&directory->lock);
}

/* The one that was not looked at for the longest time: none stands before the others. */
static struct entry *next_asked(struct kafka_directory *directory)
{
    struct entry *next = NULL;
    for (struct entry *entry = directory->entries; entry; entry = entry->next) {
        if (entry->answer == RD_KAFKA_RESP_ERR__IN_PROGRESS &&
            (next == NULL || entry->looked_ms < next->looked_ms)) {
            next = entry;
        }
    }
    if (next) {
        next->looked_ms = clock_ms(&directory->clock);
    }
    return next;
}

static bool settle(struct kafka_directory *directory, struct entry *entry,
                   rd_kafka_resp_err_t answer, int32_t partitions)
{
    int64_t now_ms = clock_ms(&directory->clock);
    switch (answer) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        if (now_ms - entry->since_ms < entry->patience_ms) {
            return false;
        }
        break;
    case RD_KAFKA_RESP_ERR_NO_ERROR:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        break;
    default:
        return false; /* no broker answers, or no leader is there yet */
    }
    entry->answer = answer;
    entry->partitions = partitions;
    entry->since_ms = now_ms;
    return true;
}
