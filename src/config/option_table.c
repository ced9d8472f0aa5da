#include "config/option_table.h"

#include <assert.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

/* The order of each list is that of the enum which the field holds. */
static const char *const ORDERS[] = {"key", "partition", "none", NULL};
static const char *const EMITS[] = {"input", "completion", NULL};
static const char *const NULL_KEYS[] = {"parallel", "serial", NULL};
static const char *const ACTIONS[] = {"stop", "retry", "skip", "dlq", NULL};
static const char *const KIND_ACTIONS[] = {"inherit", "stop", "retry", "skip", "dlq", NULL};
static const char *const OUTPUT_ACTIONS[] = {"stop", "skip", "dlq", NULL};
static const char *const RESETS[] = {"earliest", "latest", "none", NULL};
static const char *const FRAMINGS[] = {"lines", "records", NULL};
static const char *const LEVELS[] = {"error", "warn", "info", "debug", NULL};
static const char *const PROGRESS[] = {"auto", "off", NULL};
static const char *const FORMATS[] = {"auto", "text", "logfmt", "json", NULL};

enum { HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS };

#define FIELD(name) .offset = offsetof(struct config, name)

static const struct option OPTIONS[] = {
    {"moontide", "application.id", OPTION_STRING, FIELD(application_id), .flag = "-g",
     .doc = "Consumer group; members of one group share the partitions. Required with Kafka."},
    {"moontide", "bootstrap.servers", OPTION_STRING, FIELD(bootstrap_servers), .flag = "-b",
     .doc = "Kafka brokers to start from: host:port,host:port."},
    {"moontide", "client.id", OPTION_STRING, FIELD(client_id), .fallback = "moontide",
     .doc = "Name that the brokers see in their logs and quotas."},
    {"moontide", "input.topics", OPTION_LIST, FIELD(input_topics), .flag = "--in",
     .doc = "What to read: topics, file:PATH, or - for stdin; separated by commas."},
    {"moontide", "output.topic", OPTION_STRING, FIELD(output_topic), .flag = "--out",
     .doc = "Where returned records go: a topic, file:PATH, or - for stdout."},
    {"moontide", "output.files", OPTION_LIST, FIELD(output_files), .flag = "--out",
     .doc = "Files for topics that a script emits to: TOPIC=file:PATH or TOPIC=-, with commas."},
    {"moontide", "num.stream.threads", OPTION_INT, FIELD(num_stream_threads), .fallback = "1",
     .min = 1, .max = 256, .doc = "Threads that run scripts in this process (N)."},
    {"moontide", "num.threads.per.task", OPTION_INT, FIELD(num_threads_per_task), .fallback = "1",
     .min = 1, .max = 256, .doc = "Threads that work on one partition at the same time (K <= N)."},
    {"moontide", "processing.order", OPTION_ENUM, FIELD(processing_order), .fallback = "key",
     .choices = ORDERS,
     .doc = "What must not run at the same time: one key, one partition, nothing."},
    {"moontide", "processing.emit", OPTION_ENUM, FIELD(processing_emit), .fallback = "input",
     .choices = EMITS,
     .doc = "When outputs leave: in input order, or as soon as a record is done."},
    {"moontide", "processing.null.key", OPTION_ENUM, FIELD(processing_null_key),
     .fallback = "parallel", .choices = NULL_KEYS,
     .doc = "Records without a key under order=key: independent, or as if they had one key."},
    {"moontide", "task.window.records", OPTION_POWER_OF_TWO, FIELD(task_window_records),
     .fallback = "16384", .min = 2, .max = 1 << 20,
     .doc = "Records of one partition in flight; rounded up to a power of two."},
    {"moontide", "task.window.bytes", OPTION_BYTES, FIELD(task_window_bytes), .fallback = "64MiB",
     .min = 1 << 10, .max = INT64_C(64) << 30,
     .doc = "Bytes of one partition in flight; the record that passes the bound is the last one."},
    {"moontide", "commit.interval.ms", OPTION_DURATION_MS, FIELD(commit_interval_ms),
     .fallback = "1000", .min = 1, .max = HOUR_MS, .doc = "Time between two commits of offsets."},
    {"moontide", "drain.timeout.ms", OPTION_DURATION_MS, FIELD(drain_timeout_ms),
     .fallback = "5000", .min = 0, .max = HOUR_MS,
     .doc = "How long a revoked partition may finish what runs before it is given away."},
    {"moontide", "shutdown.timeout.ms", OPTION_DURATION_MS, FIELD(shutdown_timeout_ms),
     .fallback = "30000", .min = 0, .max = HOUR_MS,
     .doc = "How long a stop may take to drain, flush and commit; then exit 7."},
    {"moontide", "slow.record.warn.ms", OPTION_DURATION_MS, FIELD(slow_record_warn_ms),
     .fallback = "5000", .min = 0, .max = HOUR_MS,
     .doc = "A record that runs longer is told in the log, once, while it runs; 0 tells of none."},
    {"moontide", "error.policy", OPTION_ENUM, FIELD(error_policy), .fallback = "stop",
     .choices = ACTIONS,
     .doc = "A record that failed: stop, run it again, pass it over, send it as a dead letter."},
    {"moontide", "error.policy.raised", OPTION_ENUM, FIELD(error_policies[CONFIG_KIND_RAISED]),
     .fallback = "inherit", .choices = KIND_ACTIONS,
     .doc = "The same when the script raised an error."},
    {"moontide", "error.policy.failed", OPTION_ENUM, FIELD(error_policies[CONFIG_KIND_FAILED]),
     .fallback = "inherit", .choices = KIND_ACTIONS,
     .doc = "The same when the script called ctx.fail."},
    {"moontide", "error.policy.memory", OPTION_ENUM, FIELD(error_policies[CONFIG_KIND_MEMORY]),
     .fallback = "inherit", .choices = KIND_ACTIONS,
     .doc = "The same when the script's Lua ran out of memory."},
    {"moontide", "error.policy.timeout", OPTION_ENUM, FIELD(error_policies[CONFIG_KIND_TIMEOUT]),
     .fallback = "inherit", .choices = KIND_ACTIONS,
     .doc = "The same when the script ran beyond its limit of time."},
    {"moontide", "max.retries", OPTION_INT, FIELD(max_retries), .fallback = "10", .min = -1,
     .max = INT32_MAX,
     .doc = "Retries of one record; then it is a dead letter, or the end. -1: without bound."},
    {"moontide", "retry.backoff.ms", OPTION_DURATION_MS, FIELD(retry_backoff_ms), .fallback = "100",
     .min = 0, .max = HOUR_MS,
     .doc = "Wait before the first retry; it doubles with each, give or take a fifth."},
    {"moontide", "retry.backoff.max.ms", OPTION_DURATION_MS, FIELD(retry_backoff_max_ms),
     .fallback = "10000", .min = 0, .max = DAY_MS, .doc = "The longest wait before a retry."},
    {"moontide", "errors.dead.letter.queue.topic.name", OPTION_STRING, FIELD(dead_letter_topic),
     .doc = "Topic for dead letters: records that failed for good, with the reason in headers."},
    {"moontide", "production.error.policy", OPTION_ENUM, FIELD(production_error_policy),
     .fallback = "stop", .choices = OUTPUT_ACTIONS,
     .doc = "An output that can never be delivered: stop, leave it out, send a dead letter."},
    {"moontide", "auto.offset.reset", OPTION_ENUM, FIELD(auto_offset_reset), .fallback = "earliest",
     .choices = RESETS, .doc = "Where to begin without a committed offset; none is an error."},
    {"moontide", "exit.at.end", OPTION_BOOL, FIELD(exit_at_end), .fallback = "false", .flag = "-e",
     .doc = "End with exit code 0 when the end of every partition was reached and committed."},
    {"moontide", "local.framing", OPTION_ENUM, FIELD(local_framing), .fallback = "lines",
     .choices = FRAMINGS, .flag = "--frame",
     .doc = "Files and pipes: values as lines, or whole records after their length."},
    {"moontide", "state.dir", OPTION_STRING, FIELD(state_dir),
     .doc = "Folder for positions in input files: a restart goes on, and output files are appended "
            "to."},
    {"moontide", "local.from.start", OPTION_BOOL, FIELD(local_from_start), .fallback = "false",
     .flag = "--from-start", .doc = "Begin input files at their start, whatever state.dir says."},
    {"moontide", "embedded", OPTION_BOOL, FIELD(embedded), .fallback = "false",
     .flag = "--embedded", .doc = "Run a Kafka inside the process, for demos and prototypes."},
    {"moontide", "embedded.partitions", OPTION_INT, FIELD(embedded_partitions), .fallback = "4",
     .min = 1, .max = 1000, .doc = "Partitions of each topic of the embedded Kafka."},
    {"script", "file", OPTION_STRING, FIELD(script_file), .flag = "SCRIPT",
     .doc = "The Lua script that processes the records."},
    {"admin", "listen", OPTION_STRING, FIELD(admin_listen), .fallback = "off", .flag = "--admin",
     .doc = "Where /metrics, /status, /livez, /readyz are served: HOST:PORT, unix:PATH, or off."},
    {"log", "level", OPTION_ENUM, FIELD(log_level), .fallback = "info", .choices = LEVELS,
     .doc = "Least severe level that is written."},
    {"log", "format", OPTION_ENUM, FIELD(log_format), .fallback = "auto", .choices = FORMATS,
     .doc = "Lines on stderr; auto is text on a terminal and logfmt elsewhere."},
    {"log", "progress", OPTION_ENUM, FIELD(log_progress), .fallback = "auto", .choices = PROGRESS,
     .flag = "--quiet", .doc = "A line of progress on stderr when it is a terminal, or none."},
};

enum { OPTION_COUNT = sizeof OPTIONS / sizeof OPTIONS[0] };
static_assert((int)OPTION_COUNT <= (int)CONFIG_OPTION_MAX, "room for the origin of each option");

static const char *const SECTIONS[] = {
    "moontide",       "script", "params", "kafka", "kafka.consumer",
    "kafka.producer", "admin",  "log",    NULL};

const struct option *option_table(size_t *count)
{
    *count = OPTION_COUNT;
    return OPTIONS;
}

const struct option *option_table_find(const char *section, const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(OPTIONS[i].section, section) == 0 && strcmp(OPTIONS[i].name, name) == 0) {
            return &OPTIONS[i];
        }
    }
    return NULL;
}

size_t option_table_index(const struct option *option)
{
    CHECK(option >= OPTIONS);
    CHECK(option < OPTIONS + OPTION_COUNT);
    return (size_t)(option - OPTIONS);
}

bool option_table_has_section(const char *section)
{
    for (size_t i = 0; SECTIONS[i]; i++) {
        if (strcmp(SECTIONS[i], section) == 0) {
            return true;
        }
    }
    return false;
}

bool option_table_unknown(const char *section, const char *name, struct error *err)
{
    const char *names[OPTION_COUNT];
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        bool same = strcmp(OPTIONS[i].section, section) == 0;
        names[i] = same ? OPTIONS[i].name : NULL;
        if (!same && strcmp(OPTIONS[i].name, name) == 0) {
            return error_set(err, E_CONFIG_UNKNOWN, "[%s] has no option \"%s\"; it belongs to [%s]",
                             section, name, OPTIONS[i].section);
        }
    }
    const char *nearest = text_nearest(name, names, OPTION_COUNT);
    if (nearest) {
        return error_set(err, E_CONFIG_UNKNOWN, "[%s] has no option \"%s\"; did you mean %s?",
                         section, name, nearest);
    }
    return error_set(err, E_CONFIG_UNKNOWN,
                     "[%s] has no option \"%s\"; `moontide config` lists them, and options of "
                     "librdkafka belong to [kafka]",
                     section, name);
}

bool option_table_unknown_section(const char *section, struct error *err)
{
    size_t count = sizeof SECTIONS / sizeof SECTIONS[0] - 1;
    const char *nearest = text_nearest(section, SECTIONS, count);
    if (nearest) {
        return error_set(err, E_CONFIG_UNKNOWN, "no section [%s]; did you mean [%s]?", section,
                         nearest);
    }
    return error_set(err, E_CONFIG_UNKNOWN,
                     "no section [%s]; there are [moontide], [script], [params], [kafka], "
                     "[kafka.consumer], [kafka.producer], [admin] and [log]",
                     section);
}
