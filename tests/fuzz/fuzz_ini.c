/*
 * Fuzz target: a configuration file, from its bytes to the checks that a run makes.
 *
 * Checked beside memory: a refusal has a code of the configuration and names the place; what loads
 * can be dumped, and the dump loads to the same again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "config/config.h"
#include "config/config_print.h"
#include "fuzz/fuzz_target.h"
#include "support/fuzz_dump.h"

static void set_variables(void)
{
    setenv("MOON_TEXT", "text", 1);
    setenv("MOON_EMPTY", "", 1);
    unsetenv("MOON_UNSET");
}

static bool load(const char *path, struct byte_buffer *dump)
{
    struct config cfg;
    struct config_request request = {.file = path};
    struct error err = {.code = E_NONE};
    config_init(&cfg);
    bool ok = config_load(&cfg, &request, &err);
    if (ok) {
        CHECK(err.code == E_NONE);
        config_print_dump(&cfg, dump);
        ok = config_check_run(&cfg, &err);
        CHECK(ok || err.code == E_CONFIG);
        config_fini(&cfg);
        return true;
    }
    CHECK(error_exit_code(err.code) == 2);
    CHECK(err.code == E_CONFIG_THREADS || strncmp(err.text, path, strlen(path)) == 0);
    config_fini(&cfg);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    set_variables();
    struct byte_buffer dump = {0};
    struct byte_buffer again = {0};
    if (load(fuzz_file(data, size), &dump)) {
        bool ok = load(fuzz_file(byte_buffer_text(&dump), dump.size), &again);
        CHECK(ok);
        CHECK(fuzz_same_dump(byte_buffer_text(&dump), byte_buffer_text(&again)));
    }
    byte_buffer_fini(&dump);
    byte_buffer_fini(&again);
    return 0;
}
