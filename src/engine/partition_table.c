#include "engine/partition_table.h"

#include "base/check.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 16 };

static void grow(struct partition_table *table);
static uint32_t free_id(const struct partition_table *table);
static size_t active_index(const struct partition_table *table, const struct partition *part);

void partition_table_init(struct partition_table *table)
{
    *table = (struct partition_table){0};
}

void partition_table_fini(struct partition_table *table)
{
    for (size_t i = 0; i < table->active_count; i++) {
        partition_destroy(table->active[i], true);
    }
    for (size_t i = 0; i < table->dead_count; i++) {
        partition_destroy(table->dead[i], true);
    }
    memory_free(table->active);
    memory_free(table->dead);
    memory_free(table->by_id);
    partition_table_init(table);
}

struct partition *partition_table_add(struct partition_table *table,
                                      const struct partition_options *options)
{
    if (table->active_count + table->dead_count == table->capacity) {
        grow(table);
    }
    struct partition_options with_id = *options;
    with_id.id = free_id(table);
    with_id.epoch = ++table->epoch;
    struct partition *part = partition_create(&with_id);
    table->by_id[with_id.id] = part;
    table->active[table->active_count++] = part;
    return part;
}

void partition_table_kill(struct partition_table *table, struct partition *part)
{
    size_t index = active_index(table, part);
    partition_kill(part);
    table->active_count--;
    for (size_t i = index; i < table->active_count; i++) {
        table->active[i] = table->active[i + 1];
    }
    table->dead[table->dead_count++] = part;
}

struct partition *partition_table_rebuild(struct partition_table *table, struct partition *part,
                                          const struct partition_options *options)
{
    partition_hide(part);
    struct partition *heir = partition_table_add(table, options);
    partition_give_stash(part, heir);
    partition_table_kill(table, part);
    return heir;
}

bool partition_table_reap(struct partition_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->dead_count; i++) {
        struct partition *part = table->dead[i];
        if (partition_is_gone(part)) {
            table->by_id[partition_id(part)] = NULL;
            partition_destroy(part, false);
        } else {
            table->dead[kept++] = part;
        }
    }
    bool some = kept < table->dead_count;
    table->dead_count = kept;
    return some;
}

struct partition *partition_table_find(const struct partition_table *table, uint32_t id)
{
    return id < table->capacity ? table->by_id[id] : NULL;
}

struct partition *partition_table_find_handle(const struct partition_table *table,
                                              const void *handle)
{
    for (size_t i = 0; i < table->active_count; i++) {
        if (partition_where(table->active[i])->handle == handle) {
            return table->active[i];
        }
    }
    return NULL;
}

static void grow(struct partition_table *table)
{
    size_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
    CHECK(capacity <= PARTITION_ID_MAX);
    table->active = memory_resize(table->active, capacity * sizeof(struct partition *));
    table->dead = memory_resize(table->dead, capacity * sizeof(struct partition *));
    table->by_id = memory_resize(table->by_id, capacity * sizeof(struct partition *));
    for (size_t i = table->capacity; i < capacity; i++) {
        table->by_id[i] = NULL;
    }
    table->capacity = capacity;
}

static uint32_t free_id(const struct partition_table *table)
{
    size_t id = 0;
    while (table->by_id[id] != NULL) {
        id++;
        CHECK(id < table->capacity);
    }
    return (uint32_t)id;
}

static size_t active_index(const struct partition_table *table, const struct partition *part)
{
    size_t index = 0;
    while (table->active[index] != part) {
        index++;
        CHECK(index < table->active_count);
    }
    return index;
}
