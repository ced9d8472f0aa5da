#include "support/script_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/thread_role.h"

void script_rig_init(struct script_rig *rig)
{
    memset(rig, 0, sizeof *rig);
    snprintf(rig->folder, sizeof rig->folder, "/tmp/tide-script-XXXXXX");
    CHECK(mkdtemp(rig->folder) != NULL);
    CHECK(snprintf(rig->path, sizeof rig->path, "%.64s/script.lua", rig->folder) > 0);
}

void script_rig_write(struct script_rig *rig, const char *name, const char *text, size_t size)
{
    char path[2 * RIG_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", rig->folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fwrite(text, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

bool script_rig_load(struct script_rig *rig, const char *text, struct error *err)
{
    struct script_options options = {.has_output = true};
    return script_rig_load_with(rig, text, &options, err);
}

bool script_rig_load_with(struct script_rig *rig, const char *text, struct script_options *options,
                          struct error *err)
{
    CHECK(rig->script == NULL);
    script_rig_write(rig, "script.lua", text, strlen(text));
    options->path = rig->path;
    rig->script = script_load(options, err);
    if (rig->script == NULL) {
        return false;
    }
    struct processor_factory factory = lua_processor_factory(rig->script);
    rig->processor = factory.create(factory.context, 3, err);
    return rig->processor != NULL;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

void script_rig_fini(struct script_rig *rig)
{
    script_rig_clear(rig);
    if (rig->processor) {
        rig->processor->ops->destroy(rig->processor);
    }
    script_destroy(rig->script);
    remove_folder(rig->folder);
}

struct work *script_rig_add(struct script_rig *rig, const char *key, const char *value)
{
    CHECK(rig->count < RIG_RECORDS_MAX);
    struct work *work = &rig->works[rig->count];
    memset(work, 0, sizeof *work);
    effects_init(&work->effects);
    work->rec = (struct record){.key = key,
                                .value = value,
                                .key_size = key ? (uint32_t)strlen(key) : 0,
                                .value_size = value ? (uint32_t)strlen(value) : 0,
                                .offset = 100 + (int64_t)rig->count,
                                .timestamp_ms = 1700000000000 + (int64_t)rig->count,
                                .topic = "input",
                                .partition = 7,
                                .leader_epoch = -1};
    rig->count++;
    return work;
}

static uint32_t read_headers(struct record *rec, struct arena *arena, struct header **headers)
{
    struct rig_headers *kept = rec->message;
    kept->reads++;
    *headers = arena_alloc(arena, kept->count * sizeof **headers);
    if (kept->count) {
        memcpy(*headers, kept->items, kept->count * sizeof **headers);
    }
    return kept->count;
}

static const struct record_origin ORIGIN = {read_headers};

void script_rig_set_headers(struct work *work, struct rig_headers *headers)
{
    work->rec.origin = &ORIGIN;
    work->rec.message = headers;
}

void script_rig_run(struct script_rig *rig)
{
    struct work *batch[RIG_RECORDS_MAX];
    for (size_t i = 0; i < rig->count; i++) {
        batch[i] = &rig->works[i];
    }
    thread_role_set(ROLE_WORKER);
    for (size_t ran = 0; ran < rig->count;) {
        size_t part = rig->processor->ops->run(rig->processor, batch + ran, rig->count - ran);
        CHECK(part >= 1 && part <= rig->count - ran);
        ran += part;
    }
    thread_role_set(ROLE_NONE);
}

void script_rig_clear(struct script_rig *rig)
{
    for (size_t i = 0; i < rig->count; i++) {
        effects_fini(&rig->works[i].effects);
    }
    rig->count = 0;
}

void script_rig_end(struct script_rig *rig)
{
    thread_role_set(ROLE_WORKER);
    rig->processor->ops->close(rig->processor);
    thread_role_set(ROLE_NONE);
}
