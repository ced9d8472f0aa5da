#include "script/script_files.h"

#define XXH_INLINE_ALL
#include <ctype.h>
#include <string.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/file_bytes.h"
#include "base/memory.h"

struct module {
    struct module *next;
    char *name;
    char *path;
    struct byte_buffer source;
};

struct script_files {
    char *path;
    struct byte_buffer source;
    struct module *modules;
    struct byte_buffer looked_in;
};

static const char *const ENDINGS[] = {".lua", "/init.lua"};

static bool name_is_safe(const char *name);
static struct module *read_module(struct script_files *files, const char *name);

struct script_files *script_files_open(const char *path, struct error *err)
{
    CHECK(path != NULL);
    struct script_files *files = memory_alloc(sizeof *files);
    files->path = memory_copy_text(path);
    struct error cause = {0};
    if (!file_bytes_read(path, &files->source, &cause)) {
        error_set(err, E_SCRIPT, "%s", cause.text);
        script_files_close(files);
        return NULL;
    }
    return files;
}

void script_files_close(struct script_files *files)
{
    if (files == NULL) {
        return;
    }
    while (files->modules) {
        struct module *module = files->modules;
        files->modules = module->next;
        memory_free(module->name);
        memory_free(module->path);
        byte_buffer_fini(&module->source);
        memory_free(module);
    }
    byte_buffer_fini(&files->looked_in);
    byte_buffer_fini(&files->source);
    memory_free(files->path);
    memory_free(files);
}

uint64_t script_files_hash(const struct script_files *files)
{
    uint64_t hash = XXH3_64bits(files->source.data, files->source.size);
    for (const struct module *module = files->modules; module; module = module->next) {
        hash = XXH3_64bits_withSeed(module->name, strlen(module->name), hash);
        hash = XXH3_64bits_withSeed(module->source.data, module->source.size, hash);
    }
    return hash;
}

const struct byte_buffer *script_files_find(struct script_files *files, const char *name,
                                            const char **place)
{
    CHECK(files != NULL);
    struct module *module = files->modules;
    while (module && strcmp(module->name, name) != 0) {
        module = module->next;
    }
    if (module == NULL && name_is_safe(name)) {
        byte_buffer_clear(&files->looked_in);
        module = read_module(files, name);
    } else if (module == NULL) {
        byte_buffer_clear(&files->looked_in);
        byte_buffer_append_text(&files->looked_in,
                                "a module is named by letters, digits, '_', '-' and single dots");
    }
    *place = module ? module->path : byte_buffer_text(&files->looked_in);
    return module ? &module->source : NULL;
}

/* No way out of the script's folder: no slash, no empty part. */
static bool name_is_safe(const char *name)
{
    bool part_began = false;
    for (const char *at = name; *at; at++) {
        if (*at == '.') {
            if (!part_began) {
                return false;
            }
            part_began = false;
        } else if (isalnum((unsigned char)*at) || *at == '_' || *at == '-') {
            part_began = true;
        } else {
            return false;
        }
    }
    return part_began;
}

static struct module *read_module(struct script_files *files, const char *name)
{
    const char *slash = strrchr(files->path, '/');
    int folder_size = slash ? (int)(slash - files->path) + 1 : 0;
    char *below = memory_copy_text(name);
    for (char *at = below; *at; at++) {
        *at = *at == '.' ? '/' : *at;
    }
    struct module *module = memory_alloc(sizeof *module);
    struct byte_buffer path = {0};
    bool found = false;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0] && !found; i++) {
        struct error err = {0};
        byte_buffer_clear(&path);
        byte_buffer_printf(&path, "%.*s%s%s", folder_size, files->path, below, ENDINGS[i]);
        found = file_bytes_read(byte_buffer_text(&path), &module->source, &err);
        byte_buffer_printf(&files->looked_in, "%s%s", i ? "; " : "", err.text);
    }
    memory_free(below);
    if (!found) {
        byte_buffer_fini(&path);
        byte_buffer_fini(&module->source);
        memory_free(module);
        return NULL;
    }
    module->path = byte_buffer_take(&path);
    module->name = memory_copy_text(name);
    module->next = files->modules;
    files->modules = module;
    return module;
}

const char *script_files_path(const struct script_files *files)
{
    return files->path;
}

const struct byte_buffer *script_files_source(const struct script_files *files)
{
    return &files->source;
}
