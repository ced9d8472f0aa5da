#include "config/reserved_keys.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"

struct reserved_key {
    const char *name;
    const char *reason;
};

#define COMMITS "offsets are committed when their records have retired; see commit.interval.ms"
#define SERVERS "set bootstrap.servers in [moontide], or -b"
#define REPORTS "the delivery report is the proof that a record has left"
#define EVENTS  "the engine serves librdkafka's events itself"

static const struct reserved_key RESERVED[] = {
    {"enable.auto.commit", COMMITS},
    {"auto.commit.enable", COMMITS},
    {"auto.commit.interval.ms", COMMITS},
    {"enable.auto.offset.store", COMMITS},
    {"offset.store.method", COMMITS},
    {"offset.store.path", COMMITS},
    {"offset.store.sync.interval.ms", COMMITS},
    {"group.id", "set application.id in [moontide], or -g"},
    {"bootstrap.servers", SERVERS},
    {"metadata.broker.list", SERVERS},
    {"client.id", "set client.id in [moontide]"},
    {"auto.offset.reset", "set auto.offset.reset in [moontide]"},
    {"enable.partition.eof", "the engine needs it to know the end of a partition; see exit.at.end"},
    {"enable.idempotence", "it is always on: a retry without it can change the order of outputs"},
    {"acks", "it is always all: less would acknowledge records that can be lost"},
    {"request.required.acks", "it is always all: less would acknowledge records that can be lost"},
    {"delivery.report.only.error", REPORTS},
    {"dr_cb", REPORTS},
    {"dr_msg_cb", REPORTS},
    {"transactional.id", "exactly-once is a choice of the engine, not of the client"},
    {"enabled_events", EVENTS},
    {"log.queue", EVENTS},
    {"test.mock.num.brokers", "use embedded = true in [moontide], or --embedded"},
};

bool reserved_keys_check(const char *name, struct error *err)
{
    CHECK(name != NULL);
    for (size_t i = 0; i < sizeof RESERVED / sizeof RESERVED[0]; i++) {
        if (strcmp(RESERVED[i].name, name) == 0) {
            return error_set(err, E_CONFIG_RESERVED, "%s is reserved: %s", name,
                             RESERVED[i].reason);
        }
    }
    return true;
}
