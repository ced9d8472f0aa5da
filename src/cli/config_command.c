#include <stdio.h>

#include "base/byte_buffer.h"
#include "cli/command.h"
#include "cli/run_arguments.h"
#include "config/config_print.h"

bool config_command(const struct arguments *args, struct error *err)
{
    (void)args;
    (void)err;
    struct byte_buffer out = {0};
    config_print_options(&out);
    fputs(byte_buffer_text(&out), stdout);
    byte_buffer_fini(&out);
    return true;
}

bool config_dump_command(const struct arguments *args, struct error *err)
{
    struct config cfg;
    bool ok = run_arguments_load(args, &cfg, err);
    if (ok) {
        struct byte_buffer out = {0};
        config_print_dump(&cfg, &out);
        fputs(byte_buffer_text(&out), stdout);
        byte_buffer_fini(&out);
    }
    config_fini(&cfg);
    return ok;
}
