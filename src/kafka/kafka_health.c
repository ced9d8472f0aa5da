#include "kafka/kafka_health.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"

/* Broker objects are the only ones with a state in capitals; a broker that is not asked for
 * anything may be unconnected, so one that is up is enough. */
static const char BROKERS[] = "\"brokers\":";
static const char UP[] = "\"state\":\"UP\"";

void kafka_health_note(struct kafka_health *health, const char *statistics)
{
    const char *brokers = strstr(statistics, BROKERS);
    if (brokers == NULL) {
        return; /* nothing is said */
    }
    bool away = strstr(brokers, UP) == NULL;
    if (away && !health->away) {
        log_warn("no broker can be reached", LOG_STR("event", "broker_away"));
    } else if (!away && health->away) {
        log_info("a broker can be reached again", LOG_STR("event", "broker_back"));
    }
    health->away = away;
}
