#include <stdio.h>

#include "cli/command.h"
#include "cli/version.h"
#include "kafka/kafka_version.h"
#include "script/luajit_version.h"

bool version_command(const struct arguments *args, struct error *err)
{
    (void)args;
    (void)err;
    char lua[64];
    luajit_version(lua, sizeof lua);
    printf("moontide %s\n%s\nlibrdkafka %s\n", version_text(), lua, kafka_version());
    return true;
}
