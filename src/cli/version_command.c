#include <stdio.h>

#include "cli/command.h"
#include "kafka/kafka_version.h"
#include "script/luajit_version.h"

static const char MOONTIDE_VERSION[] = "0.1.0";

bool version_command(const struct arguments *args, struct error *err)
{
    (void)args;
    (void)err;
    char lua[64];
    luajit_version(lua, sizeof lua);
    printf("moontide %s\n%s\nlibrdkafka %s\n", MOONTIDE_VERSION, lua, kafka_version());
    return true;
}
