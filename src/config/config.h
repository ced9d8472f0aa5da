/*
 * config: what a run is told to do, as plain values, each with the place it comes from.
 *
 * Why: defaults, file and command line are merged once, checked once, and read by everybody as
 * fields of a struct. The table of options (option_table.h) says what exists; this struct is where
 * the values land. Later places win: default, file, command line.
 *
 * Thread: filled on the main thread; read-only afterwards.
 * Owns: all strings, in its arena; they are valid until config_fini.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct config_list {
    const char **items;
    size_t count;
};

/* A key that this program does not know: a script's parameter or an option of librdkafka. */
struct config_pair {
    const char *name;
    const char *value;
    const char *origin; /* "app.ini:12" or "command line" */
    bool secret;        /* never to be shown */
};

struct config_pairs {
    struct config_pair *items;
    size_t count;
    size_t capacity; /* private */
};

/* auto.offset.reset */
enum config_offset_reset { CONFIG_RESET_EARLIEST, CONFIG_RESET_LATEST, CONFIG_RESET_NONE };

/* error.policy; of a kind: 0 inherits it, else 1 + the action */
enum config_action {
    CONFIG_ACTION_STOP,
    CONFIG_ACTION_RETRY,
    CONFIG_ACTION_SKIP,
    CONFIG_ACTION_DEAD_LETTER,
};

/* error.policy.<kind> */
enum config_kind {
    CONFIG_KIND_RAISED,
    CONFIG_KIND_FAILED,
    CONFIG_KIND_MEMORY,
    CONFIG_KIND_TIMEOUT,
    CONFIG_KIND_COUNT
};

/* production.error.policy */
enum config_output_action { CONFIG_OUTPUT_STOP, CONFIG_OUTPUT_SKIP, CONFIG_OUTPUT_DEAD_LETTER };

/* log.progress */
enum config_progress { CONFIG_PROGRESS_AUTO, CONFIG_PROGRESS_OFF };

enum { CONFIG_OPTION_MAX = 64 };

/* Strings are NULL when not set. */
struct config {
    /* [moontide] */
    const char *application_id;
    const char *bootstrap_servers;
    const char *client_id;
    struct config_list input_topics;
    const char *output_topic;
    struct config_list output_files; /* TOPIC=TARGET */
    int64_t num_stream_threads;      /* N */
    int64_t num_threads_per_task;    /* K */
    int processing_order;            /* enum processing_order of stream/processing.h */
    int processing_emit;             /* enum processing_emit */
    int processing_null_key;         /* enum processing_null_key */
    int64_t task_window_records;     /* a power of two */
    int64_t task_window_bytes;
    int64_t commit_interval_ms;
    int64_t drain_timeout_ms;
    int64_t shutdown_timeout_ms;
    int64_t slow_record_warn_ms;
    int error_policy;                      /* enum config_action */
    int error_policies[CONFIG_KIND_COUNT]; /* 0: error_policy; else 1 + enum config_action */
    int64_t max_retries;                   /* -1: unbounded */
    int64_t retry_backoff_ms;
    int64_t retry_backoff_max_ms;
    const char *dead_letter_topic;
    int production_error_policy; /* enum config_output_action */
    int auto_offset_reset;       /* enum config_offset_reset */
    bool exit_at_end;
    int local_framing; /* enum local_framing of local/local_framing.h */
    const char *state_dir;
    bool local_from_start;
    bool embedded;
    int64_t embedded_partitions;
    /* [script] */
    const char *script_file;
    /* [admin] */
    const char *admin_listen; /* "off", an address or unix:PATH */
    /* [log] */
    int log_level;    /* enum log_level */
    int log_format;   /* enum log_format */
    int log_progress; /* enum config_progress */
    /* Free sections. Those of librdkafka are checked by name where it is called. */
    struct config_pairs params;
    struct config_pairs kafka; /* for consumer and producer */
    struct config_pairs kafka_consumer;
    struct config_pairs kafka_producer;

    /* Of each option, by its index in the table. */
    const char *origins[CONFIG_OPTION_MAX]; /* "default", "app.ini:12", "command line" */
    bool secrets[CONFIG_OPTION_MAX];        /* came out of a ${file:...} */

    struct arena arena; /* private */
};

/* One value from the command line. */
struct config_setting {
    const char *flag;    /* as it was spelled: "-X", "--in"; begins the error text */
    const char *section; /* "moontide", "params", "kafka.consumer", ... */
    const char *name;
    const char *value;
};

struct config_request {
    const char *file;                      /* NULL: none */
    const struct config_setting *settings; /* in their order; lists grow, others are replaced */
    size_t setting_count;
};

/* All defaults. */
void config_init(struct config *cfg);
void config_fini(struct config *cfg);

/* Reads the file, then the settings, into a config with defaults, and checks what belongs together.
 * False: cfg holds a part of it and is only good for config_fini. */
bool config_load(struct config *cfg, const struct config_request *request, struct error *err);

/* A check needs a script and nothing else; E_CONFIG. */
bool config_check_script(const struct config *cfg, struct error *err);
/* Checks that there is all that a run needs: a script, inputs, and for Kafka servers and a group.
 */
bool config_check_run(const struct config *cfg, struct error *err);

/* Where `-X key=value` goes: "kafka.consumer.x" is x of [kafka.consumer], "log.level" is level of
 * [log], a key without a section's name is one of [moontide]. Both results are borrowed: a literal,
 * and a part of `key`. */
void config_split_key(const char *key, const char **section, const char **name);

/* True for "-" and "file:PATH", which are no topics of Kafka. */
bool config_is_local(const char *topic);

#endif
