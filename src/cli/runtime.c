#include "cli/runtime.h"

#include <assert.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/thread_groups.h"
#include "kafka/kafka_sink.h"
#include "kafka/kafka_source.h"
#include "local/local_address.h"
#include "local/local_sink.h"
#include "local/local_source.h"
#include "script/lua_processor.h"

static_assert((int)CONFIG_ACTION_STOP == (int)FAILURE_STOP, "error.policy");
static_assert((int)CONFIG_ACTION_RETRY == (int)FAILURE_RETRY, "error.policy");
static_assert((int)CONFIG_ACTION_SKIP == (int)FAILURE_SKIP, "error.policy");
static_assert((int)CONFIG_ACTION_DEAD_LETTER == (int)FAILURE_DEAD_LETTER, "error.policy");
static_assert((int)CONFIG_KIND_RAISED == (int)FAILURE_RAISED, "error.policy.raised");
static_assert((int)CONFIG_KIND_FAILED == (int)FAILURE_FAILED, "error.policy.failed");
static_assert((int)CONFIG_KIND_MEMORY == (int)FAILURE_MEMORY, "error.policy.memory");
static_assert((int)CONFIG_KIND_TIMEOUT == (int)FAILURE_TIMEOUT, "error.policy.timeout");
static_assert((int)CONFIG_KIND_COUNT == (int)FAILURE_KIND_COUNT, "error.policy.<kind>");
static_assert(LOCAL_LINES == 0, "local.framing");
static_assert(LOCAL_RECORDS == 1, "local.framing");

enum { TOPIC_MAX = 249 /* Kafka's */ };

static const char *const OFFSET_RESETS[] = {
    [CONFIG_RESET_EARLIEST] = "earliest",
    [CONFIG_RESET_LATEST] = "latest",
    [CONFIG_RESET_NONE] = "error",
};

/* Whose positions those of a run without application.id are. */
static const char NO_APPLICATION[] = "moontide";

static void fill_options(struct runtime *runtime);
static void fill_failure(struct runtime *runtime);
static void fill_kafka(struct runtime *runtime);
static bool check_inputs(const struct config *cfg, struct error *err);
static bool check_admin(struct runtime *runtime, struct error *err);
static bool check_topic(const struct config *cfg, size_t index, struct error *err);
static void warn_of_unused(const struct runtime *runtime);
static bool load_script(struct runtime *runtime, struct error *err);
static bool check_letter_route(const struct config *cfg, struct error *err);
static void list_outputs(struct runtime *runtime);
static bool open_cluster(struct runtime *runtime, struct error *err);
static struct source *open_source(void *context, unsigned pipeline, struct error *err);
static struct sink *open_sink(void *context, unsigned pipeline, struct error *err);

static bool is_local(const struct runtime *runtime)
{
    return runtime->cfg->input_topics.count > 0 &&
           config_is_local(runtime->cfg->input_topics.items[0]);
}

static bool writes_local(const struct config *cfg)
{
    return cfg->output_files.count > 0 ||
           (cfg->output_topic && local_routes_matches(cfg->output_topic));
}

/* --- check --------------------------------------------------------------------------------- */

bool runtime_check(struct runtime *runtime, const struct config *cfg, struct error *err)
{
    *runtime = (struct runtime){.cfg = cfg};
    if (!config_check_script(cfg, err) || !check_inputs(cfg, err) || !check_admin(runtime, err)) {
        return false;
    }
    fill_options(runtime);
    fill_kafka(runtime);
    if (!kafka_settings_check(&runtime->kafka, err)) {
        return false;
    }
    if (!thread_groups_check(runtime->options.num_stream_threads,
                             runtime->options.num_threads_per_task, err)) {
        return false;
    }
    if (!load_script(runtime, err)) {
        return false;
    }
    fill_failure(runtime);
    return script_check_order(runtime->script, runtime->options.order,
                              runtime->options.num_threads_per_task, err);
}

/* Names are those that Kafka takes, each once. */
static bool check_topic(const struct config *cfg, size_t index, struct error *err)
{
    static const char LEGAL[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *topic = cfg->input_topics.items[index];
    if (strlen(topic) > TOPIC_MAX || topic[strspn(topic, LEGAL)] != 0) {
        return error_set(
            err, E_CONFIG,
            "input.topics: \"%s\" is no name of a topic: letters, digits, dot, _ and - "
            "make one, %d at most; a file is file:PATH",
            topic, TOPIC_MAX);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(cfg->input_topics.items[i], topic) == 0) {
            return error_set(err, E_CONFIG, "input.topics names \"%s\" twice", topic);
        }
    }
    if (cfg->output_topic && strcmp(cfg->output_topic, topic) == 0) {
        log_warn("the output is an input as well: what is written is read again",
                 LOG_STR("topic", topic));
    }
    return true;
}

/* Inputs are all topics or all of this machine, and so are outputs: a pipeline has one source and
 * one sink. */
static bool check_inputs(const struct config *cfg, struct error *err)
{
    size_t local = 0;
    for (size_t i = 0; i < cfg->input_topics.count; i++) {
        const char *topic = cfg->input_topics.items[i];
        local += config_is_local(topic);
        if (!config_is_local(topic) && !check_topic(cfg, i, err)) {
            return false;
        }
    }
    if (local > 0 && local < cfg->input_topics.count) {
        return error_set(err, E_CONFIG,
                         "input.topics mixes topics with files or stdin: run one process for each");
    }
    if (cfg->output_files.count > 0 && cfg->output_topic &&
        !local_routes_matches(cfg->output_topic)) {
        return error_set(err, E_CONFIG,
                         "--out mixes the topic %s with the file of %s: a process writes to topics "
                         "or to files",
                         cfg->output_topic, cfg->output_files.items[0]);
    }
    return local == 0 ||
           local_address_check_inputs(cfg->input_topics.items, cfg->input_topics.count, err);
}

static bool check_admin(struct runtime *runtime, struct error *err)
{
    const char *listen = runtime->cfg->admin_listen;
    if (!admin_address_parse(listen ? listen : "off", &runtime->admin, err)) {
        return error_prefix(err, "admin.listen");
    }
    return true;
}

static void fill_options(struct runtime *runtime)
{
    const struct config *cfg = runtime->cfg;
    runtime->options = (struct engine_options){
        .num_stream_threads = (unsigned)cfg->num_stream_threads,
        .num_threads_per_task = (unsigned)cfg->num_threads_per_task,
        .order = (enum processing_order)cfg->processing_order,
        .emit = (enum processing_emit)cfg->processing_emit,
        .null_key = (enum processing_null_key)cfg->processing_null_key,
        .window_records = (uint32_t)cfg->task_window_records,
        .window_bytes = (size_t)cfg->task_window_bytes,
        .commit_interval_ms = cfg->commit_interval_ms,
        .drain_timeout_ms = cfg->drain_timeout_ms,
        .shutdown_timeout_ms = cfg->shutdown_timeout_ms,
        .slow_record_warn_ms = cfg->slow_record_warn_ms,
        /* a file that was read to its end does not grow for us */
        .exit_at_end = cfg->exit_at_end || is_local(runtime),
    };
}

static void fill_failure(struct runtime *runtime)
{
    static const enum failure_action OUTPUT_ACTIONS[] = {
        [CONFIG_OUTPUT_STOP] = FAILURE_STOP,
        [CONFIG_OUTPUT_SKIP] = FAILURE_SKIP,
        [CONFIG_OUTPUT_DEAD_LETTER] = FAILURE_DEAD_LETTER,
    };
    const struct config *cfg = runtime->cfg;
    struct failure_policy *policy = &runtime->options.failure;
    for (int i = 0; i < FAILURE_KIND_COUNT; i++) {
        int own = cfg->error_policies[i];
        policy->actions[i] = (enum failure_action)(own > 0 ? own - 1 : cfg->error_policy);
    }
    policy->production = OUTPUT_ACTIONS[cfg->production_error_policy];
    policy->max_retries = cfg->max_retries;
    policy->backoff_ms = cfg->retry_backoff_ms;
    policy->backoff_max_ms = cfg->retry_backoff_max_ms;
    policy->dead_letter_topic = cfg->dead_letter_topic;
    policy->script = script_path(runtime->script);
    policy->generation = script_generation(runtime->script);
}

static struct kafka_setting_list copy_pairs(struct kafka_setting *to,
                                            const struct config_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        to[i] = (struct kafka_setting){.name = pairs->items[i].name,
                                       .value = pairs->items[i].value,
                                       .origin = pairs->items[i].origin};
    }
    return (struct kafka_setting_list){.items = to, .count = pairs->count};
}

static void fill_kafka(struct runtime *runtime)
{
    const struct config *cfg = runtime->cfg;
    size_t total = cfg->kafka.count + cfg->kafka_consumer.count + cfg->kafka_producer.count;
    runtime->settings = memory_alloc_array(total + 1, sizeof *runtime->settings);
    struct kafka_setting *consumer = runtime->settings + cfg->kafka.count;
    struct kafka_setting *producer = consumer + cfg->kafka_consumer.count;
    runtime->kafka = (struct kafka_settings){
        .brokers = cfg->bootstrap_servers,
        .group = cfg->application_id,
        .client_id = cfg->client_id,
        .offset_reset = OFFSET_RESETS[cfg->auto_offset_reset],
        .common = copy_pairs(runtime->settings, &cfg->kafka),
        .consumer = copy_pairs(consumer, &cfg->kafka_consumer),
        .producer = copy_pairs(producer, &cfg->kafka_producer),
    };
}

static bool load_script(struct runtime *runtime, struct error *err)
{
    const struct config_pairs *pairs = &runtime->cfg->params;
    struct script_param *params = memory_alloc_array(pairs->count + 1, sizeof *params);
    for (size_t i = 0; i < pairs->count; i++) {
        params[i] = (struct script_param){pairs->items[i].name, pairs->items[i].value};
    }
    runtime->script =
        script_load(&(struct script_options){.path = runtime->cfg->script_file,
                                             .params = params,
                                             .param_count = pairs->count,
                                             .has_output = runtime->cfg->output_topic != NULL},
                    err);
    memory_free(params);
    return runtime->script != NULL;
}

/* What was asked for and has no effect. */
static void warn_of_unused(const struct runtime *runtime)
{
    const struct config *cfg = runtime->cfg;
    bool topics = !is_local(runtime) || !writes_local(cfg);
    if (cfg->bootstrap_servers && cfg->embedded) {
        log_warn("an embedded Kafka runs, these brokers are not used",
                 LOG_STR("bootstrap.servers", cfg->bootstrap_servers));
    } else if (cfg->bootstrap_servers && !topics) {
        log_warn("no topic is read or written, these brokers are not used",
                 LOG_STR("bootstrap.servers", cfg->bootstrap_servers));
    } else if (cfg->embedded && !topics) {
        log_warn("no topic is read or written, the embedded Kafka is not used");
    }
}

/* --- open ---------------------------------------------------------------------------------- */

bool runtime_open(struct runtime *runtime, struct error *err)
{
    const struct config *cfg = runtime->cfg;
    CHECK(runtime->script != NULL);
    runtime->inputs = memory_alloc_array(cfg->input_topics.count, sizeof *runtime->inputs);
    runtime->ports = (struct engine_ports){
        .open_source = open_source,
        .open_sink = open_sink,
        .context = runtime,
        .processors = lua_processor_factory(runtime->script),
    };
    warn_of_unused(runtime);
    if (cfg->embedded && !open_cluster(runtime, err)) {
        return false;
    }
    if (writes_local(cfg) || runtime->kafka.brokers == NULL) {
        if (!check_letter_route(cfg, err)) {
            return false;
        }
        list_outputs(runtime);
        runtime->routes = local_routes_open(
            &(struct local_routes_options){
                .outputs = runtime->outputs,
                .output_count = runtime->output_count,
                .inputs = cfg->input_topics.items,
                .input_count = is_local(runtime) ? cfg->input_topics.count : 0,
                .framing = (enum local_framing)cfg->local_framing,
                .append = cfg->state_dir && !cfg->local_from_start && is_local(runtime)},
            err);
        return runtime->routes != NULL;
    }
    return true;
}

/* Dead letters need an output like any other topic. */
static bool check_letter_route(const struct config *cfg, struct error *err)
{
    const char *topic = cfg->dead_letter_topic;
    if (topic == NULL) {
        return true;
    }
    size_t size = strlen(topic);
    for (size_t i = 0; i < cfg->output_files.count; i++) {
        const char *output = cfg->output_files.items[i];
        if (strncmp(output, topic, size) == 0 && output[size] == '=') {
            return true;
        }
    }
    return error_set(err, E_CONFIG,
                     "errors.dead.letter.queue.topic.name = %s has no output here; give one with "
                     "--out %s=file:PATH",
                     topic, topic);
}

static void list_outputs(struct runtime *runtime)
{
    const struct config *cfg = runtime->cfg;
    runtime->outputs = memory_alloc_array(cfg->output_files.count + 1, sizeof *runtime->outputs);
    if (cfg->output_topic) {
        runtime->outputs[runtime->output_count++] = cfg->output_topic;
    }
    for (size_t i = 0; i < cfg->output_files.count; i++) {
        runtime->outputs[runtime->output_count++] = cfg->output_files.items[i];
    }
}

static bool open_cluster(struct runtime *runtime, struct error *err)
{
    const struct config *cfg = runtime->cfg;
    runtime->cluster = embedded_cluster_create(err);
    if (runtime->cluster == NULL) {
        return false;
    }
    runtime->kafka.brokers = embedded_cluster_brokers(runtime->cluster);
    int32_t partitions = (int32_t)cfg->embedded_partitions;
    for (size_t i = 0; i < cfg->input_topics.count; i++) {
        if (!is_local(runtime) &&
            !embedded_cluster_add_topic(runtime->cluster, cfg->input_topics.items[i], partitions,
                                        err)) {
            return false;
        }
    }
    log_info("embedded Kafka", LOG_STR("bootstrap.servers", runtime->kafka.brokers));
    if (writes_local(cfg)) {
        return true;
    }
    const char *outputs[] = {cfg->output_topic, cfg->dead_letter_topic};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i] &&
            !embedded_cluster_add_topic(runtime->cluster, outputs[i], partitions, err)) {
            return false;
        }
    }
    return true;
}

void runtime_close(struct runtime *runtime)
{
    local_routes_close(runtime->routes);
    embedded_cluster_destroy(runtime->cluster);
    script_destroy(runtime->script);
    memory_free(runtime->settings);
    memory_free(runtime->inputs);
    memory_free(runtime->outputs);
    *runtime = (struct runtime){0};
}

/* --- the ports ----------------------------------------------------------------------------- */

static unsigned pipelines(const struct runtime *runtime)
{
    return thread_groups_count(runtime->options.num_stream_threads,
                               runtime->options.num_threads_per_task);
}

/* Local inputs are dealt out to the pipelines like partitions. */
static struct source *open_local(struct runtime *runtime, unsigned pipeline, struct error *err)
{
    const struct config_list *all = &runtime->cfg->input_topics;
    size_t count = 0;
    for (size_t i = pipeline; i < all->count; i += pipelines(runtime)) {
        runtime->inputs[count++] = all->items[i];
    }
    struct source *source = local_source_create(
        runtime->inputs, count, (enum local_framing)runtime->cfg->local_framing, err);
    if (source == NULL || runtime->cfg->state_dir == NULL) {
        return source;
    }
    struct byte_buffer folder = {0};
    byte_buffer_printf(&folder, "%s/%s/inputs", runtime->cfg->state_dir,
                       runtime->cfg->application_id ? runtime->cfg->application_id
                                                    : NO_APPLICATION);
    bool kept =
        local_source_keep(source, byte_buffer_text(&folder), runtime->cfg->local_from_start, err);
    byte_buffer_fini(&folder);
    if (!kept) {
        source->ops->destroy(source);
        return NULL;
    }
    return source;
}

static struct source *open_source(void *context, unsigned pipeline, struct error *err)
{
    struct runtime *runtime = context;
    if (is_local(runtime)) {
        return open_local(runtime, pipeline, err);
    }
    return kafka_source_open(
        &(struct kafka_source_options){.settings = runtime->kafka,
                                       .topics = runtime->cfg->input_topics.items,
                                       .topic_count = runtime->cfg->input_topics.count,
                                       .member = pipeline,
                                       .fixed_members = runtime->cluster ? pipelines(runtime) : 0},
        err);
}

static struct sink *open_sink(void *context, unsigned pipeline, struct error *err)
{
    struct runtime *runtime = context;
    (void)pipeline;
    if (runtime->routes) {
        return local_sink_create(runtime->routes);
    }
    return kafka_sink_open(
        &(struct kafka_sink_options){.settings = runtime->kafka,
                                     .topic = runtime->cfg->output_topic,
                                     .dead_letter_topic = runtime->cfg->dead_letter_topic},
        err);
}
