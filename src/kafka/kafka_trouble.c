#include "kafka/kafka_trouble.h"

#include <assert.h>

#include "base/check.h"
#include "base/log.h"

enum { MISSING_MS = 5000 /* how long a topic is missing before that is believed */ };

static void doubt(struct kafka_trouble *trouble, const char *text);
static void note_fatal(struct kafka_trouble *trouble, rd_kafka_resp_err_t cause, const char *text);
static void end(struct kafka_trouble *trouble, enum source_event_kind kind);
static void look(struct kafka_trouble *trouble);

void kafka_trouble_note(struct kafka_trouble *trouble, rd_kafka_resp_err_t code, const char *where,
                        const char *text)
{
    /* a fatal error may come under its own name, as FENCED_INSTANCE_ID does */
    char fatal[512];
    rd_kafka_resp_err_t cause = rd_kafka_fatal_error(trouble->rk, fatal, sizeof fatal);
    if (cause != RD_KAFKA_RESP_ERR_NO_ERROR) {
        note_fatal(trouble, cause, fatal);
        return;
    }
    const char *colon = where ? ": " : "";
    where = where ? where : "";
    switch (code) {
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        error_set(&trouble->err, E_BROKER, "consumer of %s: %s: %s", trouble->brokers,
                  rd_kafka_err2name(code), text);
        end(trouble, SOURCE_FATAL);
        break;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        error_set(&trouble->err, E_BROKER, "consumer of %s: %s%s%s: %s", trouble->brokers, where,
                  colon, rd_kafka_err2name(code), text);
        end(trouble, SOURCE_FAILED);
        break;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        error_set(&trouble->err, E_BROKER,
                  "%s%s%s; auto.offset.reset = none makes that an error: choose earliest or "
                  "latest, or set the offset of the group",
                  where, colon, text);
        end(trouble, SOURCE_FAILED);
        break;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        doubt(trouble, text);
        break;
    default:
        log_warn("consumer", LOG_STR("code", rd_kafka_err2name(code)), LOG_STR("text", text));
    }
}

static void note_fatal(struct kafka_trouble *trouble, rd_kafka_resp_err_t cause, const char *text)
{
    if (trouble->told == SOURCE_FATAL) {
        return;
    }
    if (cause == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID) {
        error_set(&trouble->err, E_BROKER,
                  "another member of the group has the same group.instance.id: give each process "
                  "one of its own (%s: %s)",
                  rd_kafka_err2name(cause), text);
    } else {
        error_set(&trouble->err, E_BROKER, "consumer: %s: %s", rd_kafka_err2name(cause), text);
    }
    end(trouble, SOURCE_FATAL);
}

/* Worse replaces what was told or is due; the first of a kind stays. */
static void end(struct kafka_trouble *trouble, enum source_event_kind kind)
{
    static_assert((int)SOURCE_FAILED < (int)SOURCE_FATAL, "the order of severity");
    if (kind > trouble->told && kind > trouble->due) {
        trouble->due = kind;
    }
}

static void doubt(struct kafka_trouble *trouble, const char *text)
{
    if (trouble->doubting || trouble->missing) {
        return;
    }
    trouble->doubting = true;
    log_warn("an input topic may be gone, the brokers are asked", LOG_STR("text", text));
    for (int i = 0; i < trouble->topics->cnt; i++) {
        kafka_directory_doubt(trouble->directory, trouble->topics->elems[i].topic, MISSING_MS);
    }
}

/* Follows the answers until all are there, or one is known to be missing. */
static void look(struct kafka_trouble *trouble)
{
    bool all = true;
    for (int i = 0; i < trouble->topics->cnt; i++) {
        const char *topic = trouble->topics->elems[i].topic;
        rd_kafka_resp_err_t answer = kafka_directory_find(trouble->directory, topic, -1);
        if (answer == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
            error_set(&trouble->err, E_BROKER,
                      "topic \"%s\" is no longer on %s: it was deleted. Create it again, or take "
                      "it out of the inputs",
                      topic, trouble->brokers);
            trouble->doubting = false;
            trouble->missing = true;
            end(trouble, SOURCE_FAILED);
            return;
        }
        all = all && answer != RD_KAFKA_RESP_ERR__IN_PROGRESS;
    }
    trouble->doubting = !all;
}

struct source_event kafka_trouble_turn(struct kafka_trouble *trouble)
{
    if (trouble->doubting) {
        look(trouble);
    }
    struct source_event event = {.kind = trouble->due};
    if (trouble->due != SOURCE_NOTHING) {
        CHECK(trouble->err.code != E_NONE);
        event.err = &trouble->err;
        trouble->told = trouble->due;
        trouble->due = SOURCE_NOTHING;
    }
    return event;
}

bool kafka_trouble_is_missing(const struct kafka_trouble *trouble)
{
    return trouble->missing;
}
