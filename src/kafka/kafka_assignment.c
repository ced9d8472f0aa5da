#include "kafka/kafka_assignment.h"

#include <string.h>

#include "base/check.h"
#include "base/memory.h"

static const uint64_t WAKE = 1; /* what an eventfd takes */

static struct kafka_topic *intern(struct kafka_assignment *assignment, const char *name);
static void free_part(struct kafka_partition *part);

void kafka_assignment_init(struct kafka_assignment *assignment, rd_kafka_t *rk)
{
    CHECK(rk != NULL);
    *assignment = (struct kafka_assignment){.rk = rk};
}

void kafka_assignment_fini(struct kafka_assignment *assignment)
{
    while (assignment->parts) {
        struct kafka_partition *part = assignment->parts;
        assignment->parts = part->next;
        free_part(part);
    }
    while (assignment->topics) {
        struct kafka_topic *topic = assignment->topics;
        assignment->topics = topic->next;
        memory_free(topic);
    }
}

static void free_part(struct kafka_partition *part)
{
    rd_kafka_queue_destroy(part->queue);
    memory_free(part);
}

static bool is_of(const struct kafka_partition *part, const char *topic, int32_t partition)
{
    return part->partition == partition && strcmp(part->topic->name, topic) == 0;
}

struct kafka_partition *kafka_assignment_find(const struct kafka_assignment *assignment,
                                              const char *topic, int32_t partition)
{
    struct kafka_partition *part = assignment->parts;
    while (part && !is_of(part, topic, partition)) {
        part = part->next;
    }
    return part;
}

struct kafka_partition *kafka_assignment_add(struct kafka_assignment *assignment, const char *topic,
                                             int32_t partition)
{
    CHECK(kafka_assignment_find(assignment, topic, partition) == NULL);
    CHECK(assignment->wakeup != NULL);
    struct kafka_partition *part = memory_alloc(sizeof *part);
    part->topic = intern(assignment, topic);
    part->partition = partition;
    part->queue = rd_kafka_queue_get_partition(assignment->rk, topic, partition);
    CHECK(part->queue != NULL);
    rd_kafka_queue_forward(part->queue, NULL);
    rd_kafka_queue_io_event_enable(part->queue, assignment->wakeup->fd, &WAKE, sizeof WAKE);
    struct kafka_partition **last = &assignment->parts;
    while (*last) {
        last = &(*last)->next;
    }
    *last = part;
    return part;
}

static struct kafka_topic *intern(struct kafka_assignment *assignment, const char *name)
{
    struct kafka_topic *topic = assignment->topics;
    while (topic && strcmp(topic->name, name) != 0) {
        topic = topic->next;
    }
    if (topic == NULL) {
        size_t size = strlen(name) + 1;
        topic = memory_alloc(sizeof *topic + size);
        memcpy(topic->name, name, size);
        topic->next = assignment->topics;
        assignment->topics = topic;
    }
    return topic;
}

void kafka_assignment_drop(struct kafka_assignment *assignment,
                           const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        struct kafka_partition **at = &assignment->parts;
        while (*at && !is_of(*at, list->elems[i].topic, list->elems[i].partition)) {
            at = &(*at)->next;
        }
        if (*at) {
            struct kafka_partition *part = *at;
            *at = part->next;
            free_part(part);
        }
    }
}
