#include "script/script_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/script_rig.h"

static void write_text(struct script_rig *rig, const char *name, const char *text)
{
    script_rig_write(rig, name, text, strlen(text));
}

static struct script_files *open_script(struct script_rig *rig, const char *text)
{
    struct error err = {0};
    write_text(rig, "script.lua", text);
    struct script_files *files = script_files_open(rig->path, &err);
    cr_assert_not_null(files, "%s", err.text);
    return files;
}

Test(script_files, text_is_read_once)
{
    struct script_rig rig;
    script_rig_init(&rig);
    struct script_files *files = open_script(&rig, "return 1");
    write_text(&rig, "script.lua", "return 2");
    write_text(&rig, "module.lua", "first");
    const char *place = NULL;
    const struct byte_buffer *module = script_files_find(files, "module", &place);
    cr_assert_not_null(module);
    cr_assert(strstr(place, "/module.lua"));
    write_text(&rig, "module.lua", "second");
    cr_assert_eq(script_files_find(files, "module", &place), module);
    cr_assert_str_eq(byte_buffer_text(module), "first");
    cr_assert_str_eq(byte_buffer_text(script_files_source(files)), "return 1");
    cr_assert_str_eq(script_files_path(files), rig.path);
    script_files_close(files);
    script_rig_fini(&rig);
}

Test(script_files, dots_are_folders_and_init_is_the_folder_itself)
{
    struct script_rig rig;
    script_rig_init(&rig);
    struct script_files *files = open_script(&rig, "");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/lib", rig.folder);
    cr_assert_eq(mkdir(folder, 0700), 0);
    write_text(&rig, "lib/init.lua", "all");
    write_text(&rig, "lib/part.lua", "part");
    const char *place = NULL;
    const struct byte_buffer *all = script_files_find(files, "lib", &place);
    cr_assert(strstr(place, "/lib/init.lua"));
    const struct byte_buffer *part = script_files_find(files, "lib.part", &place);
    cr_assert_str_eq(byte_buffer_text(all), "all");
    cr_assert_str_eq(byte_buffer_text(part), "part");
    char path[512];
    snprintf(path, sizeof path, "%s/init.lua", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/part.lua", folder);
    unlink(path);
    rmdir(folder);
    script_files_close(files);
    script_rig_fini(&rig);
}

Test(script_files, no_name_leads_out_of_the_folder)
{
    static const char *const NAMES[] = {"",   ".",   "..",       "../x", "/etc/passwd", "a/b",
                                        "a.", ".a",  "a..b",     "a b",  "a\\b",        "~",
                                        "a%", "a:b", "\xc3\xa4", "a\n"};
    struct script_rig rig;
    script_rig_init(&rig);
    struct script_files *files = open_script(&rig, "");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *place = NULL;
        cr_assert_null(script_files_find(files, NAMES[i], &place), "%s", NAMES[i]);
        cr_assert(strstr(place, "a module is named by letters"), "%s", place);
    }
    script_files_close(files);
    script_rig_fini(&rig);
}

Test(script_files, a_missing_module_says_where_it_was_looked_for)
{
    struct script_rig rig;
    script_rig_init(&rig);
    struct script_files *files = open_script(&rig, "");
    const char *place = NULL;
    cr_assert_null(script_files_find(files, "a.b", &place));
    cr_assert(strstr(place, "/a/b.lua: No such file"), "%s", place);
    cr_assert(strstr(place, "; cannot open "), "%s", place);
    cr_assert(strstr(place, "/a/b/init.lua: No such file"), "%s", place);
    script_files_close(files);
    script_rig_fini(&rig);
}
