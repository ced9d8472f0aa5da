--[[
rdkafka: as much of librdkafka as these tests need, without the product's code.

Every call raises an error when it fails, but for those that say otherwise.
]]
local ffi = require "ffi"

ffi.cdef [[
typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_event_s rd_kafka_event_t;
typedef struct rd_kafka_headers_s rd_kafka_headers_t;
typedef struct rd_kafka_NewTopic_s rd_kafka_NewTopic_t;
typedef struct rd_kafka_topic_result_s rd_kafka_topic_result_t;
typedef struct {
    char *topic; int32_t partition; int64_t offset; void *metadata; size_t metadata_size; void *opaque;
    int err; void *_private;
} rd_kafka_topic_partition_t;
typedef struct { int cnt; int size; rd_kafka_topic_partition_t *elems; } rd_kafka_topic_partition_list_t;
typedef struct {
    int err; rd_kafka_topic_t *rkt; int32_t partition; void *payload; size_t len; void *key; size_t key_len;
    int64_t offset; void *_private;
} rd_kafka_message_t;
rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, char *text, size_t size);
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *conf, char *text, size_t size);
void rd_kafka_destroy(rd_kafka_t *rk);
int rd_kafka_poll(rd_kafka_t *rk, int timeout_ms);
int rd_kafka_flush(rd_kafka_t *rk, int timeout_ms);
int rd_kafka_outq_len(rd_kafka_t *rk);
const char *rd_kafka_err2str(int err);
int rd_kafka_last_error(void);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, void *conf);
int rd_kafka_produce(rd_kafka_topic_t *rkt, int32_t partition, int flags, const void *payload, size_t len,
                     const void *key, size_t key_len, void *opaque);
rd_kafka_topic_partition_list_t *rd_kafka_topic_partition_list_new(int size);
rd_kafka_topic_partition_t *rd_kafka_topic_partition_list_add(rd_kafka_topic_partition_list_t *list,
                                                              const char *topic, int32_t partition);
void rd_kafka_topic_partition_list_destroy(rd_kafka_topic_partition_list_t *list);
int rd_kafka_committed(rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int timeout_ms);
int rd_kafka_query_watermark_offsets(rd_kafka_t *rk, const char *topic, int32_t partition, int64_t *low,
                                     int64_t *high, int timeout_ms);
int rd_kafka_assign(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *list);
rd_kafka_message_t *rd_kafka_consumer_poll(rd_kafka_t *rk, int timeout_ms);
void rd_kafka_message_destroy(rd_kafka_message_t *message);
int64_t rd_kafka_message_timestamp(const rd_kafka_message_t *message, int *kind);
int rd_kafka_message_headers(const rd_kafka_message_t *message, rd_kafka_headers_t **headers);
int rd_kafka_header_get_all(const rd_kafka_headers_t *headers, size_t index, const char **name,
                            const void **value, size_t *size);
rd_kafka_NewTopic_t *rd_kafka_NewTopic_new(const char *topic, int partitions, int replicas, char *text,
                                           size_t size);
int rd_kafka_NewTopic_set_config(rd_kafka_NewTopic_t *topic, const char *name, const char *value);
void rd_kafka_CreateTopics(rd_kafka_t *rk, rd_kafka_NewTopic_t **topics, size_t count, const void *options,
                           rd_kafka_queue_t *queue);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *rk);
rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);
int rd_kafka_event_error(rd_kafka_event_t *event);
const rd_kafka_event_t *rd_kafka_event_CreateTopics_result(rd_kafka_event_t *event);
const rd_kafka_topic_result_t **rd_kafka_CreateTopics_result_topics(const rd_kafka_event_t *result, size_t *count);
int rd_kafka_topic_result_error(const rd_kafka_topic_result_t *result);
]]
local lib = ffi.load "rdkafka.so.1"
local PRODUCER, CONSUMER = 0, 1
local PARTITION_UA, COPY = -1, 2
local EOF, QUEUE_FULL = -191, -184
local TIMEOUT_MS = 20000

local rdkafka = {}

local function check(code, what)
    if code ~= 0 then
        error(what .. ": " .. ffi.string(lib.rd_kafka_err2str(code)), 0)
    end
end

local function open(kind, broker, options)
    local text = ffi.new "char[512]"
    local conf = lib.rd_kafka_conf_new()
    options["bootstrap.servers"] = broker
    options["log_level"] = "0"
    for name, value in pairs(options) do
        if lib.rd_kafka_conf_set(conf, name, value, text, 512) ~= 0 then
            error(ffi.string(text), 0)
        end
    end
    local client = lib.rd_kafka_new(kind, conf, text, 512)
    if client == nil then
        error(ffi.string(text), 0)
    end
    return client
end

-- Makes topics: an array of { name, partitions, { option = value } }.
function rdkafka.make_topics(broker, topics)
    local client = open(PRODUCER, broker, {})
    local text = ffi.new "char[512]"
    local list = ffi.new("rd_kafka_NewTopic_t *[?]", #topics)
    for i, topic in ipairs(topics) do
        list[i - 1] = lib.rd_kafka_NewTopic_new(topic[1], topic[2], 1, text, 512)
        for name, value in pairs(topic[3] or {}) do
            check(lib.rd_kafka_NewTopic_set_config(list[i - 1], name, value), name)
        end
    end
    local queue = lib.rd_kafka_queue_new(client)
    lib.rd_kafka_CreateTopics(client, list, #topics, nil, queue)
    local event = lib.rd_kafka_queue_poll(queue, TIMEOUT_MS)
    if event == nil then
        error("the topics were not made in time", 0)
    end
    check(lib.rd_kafka_event_error(event), "topics")
    local count = ffi.new "size_t[1]"
    local results = lib.rd_kafka_CreateTopics_result_topics(lib.rd_kafka_event_CreateTopics_result(event), count)
    for i = 0, tonumber(count[0]) - 1 do
        check(lib.rd_kafka_topic_result_error(results[i]), topics[i + 1][1])
    end
end

-- A producer of one topic: send(key, value, partition or nil) waits while the queue is full, poll() serves it.
function rdkafka.producer(broker, topic, options)
    local client = open(PRODUCER, broker, options or {})
    local handle = lib.rd_kafka_topic_new(client, topic, nil)
    local producer = {}
    function producer.send(key, value, partition)
        local where = partition or PARTITION_UA
        while lib.rd_kafka_produce(handle, where, COPY, value, #value, key, #key, nil) ~= 0 do
            local code = lib.rd_kafka_last_error()
            if code ~= QUEUE_FULL then
                check(code, topic)
            end
            lib.rd_kafka_poll(client, 100)
        end
    end
    function producer.poll(timeout_ms)
        lib.rd_kafka_poll(client, timeout_ms)
    end
    function producer.flush(timeout_ms)
        check(lib.rd_kafka_flush(client, timeout_ms), topic)
    end
    return producer
end

-- A client that reads; `group` matters to committed() alone, it never joins.
function rdkafka.reader(broker, group)
    local client = open(CONSUMER, broker, {
        ["group.id"] = group or "none", ["enable.partition.eof"] = "true", ["enable.auto.commit"] = "false",
        ["fetch.wait.max.ms"] = "10", ["check.crcs"] = "true",
    })
    local reader = {}
    local low, high = ffi.new "int64_t[1]", ffi.new "int64_t[1]"

    -- The end of a partition, as the broker says; nil when it does not answer in time.
    function reader.find_end(topic, partition, timeout_ms)
        if lib.rd_kafka_query_watermark_offsets(client, topic, partition, low, high, timeout_ms) == 0 then
            return tonumber(high[0])
        end
    end

    -- The committed offsets of parts ({ topic, partition }), -1 for none; nil when there is no answer in time.
    function reader.find_committed(parts, timeout_ms)
        local list = lib.rd_kafka_topic_partition_list_new(#parts)
        for _, part in ipairs(parts) do
            lib.rd_kafka_topic_partition_list_add(list, part[1], part[2])
        end
        local offsets = lib.rd_kafka_committed(client, list, timeout_ms) == 0 and {} or nil
        for i = 0, list.cnt - 1 do
            if offsets and list.elems[i].err == 0 then
                offsets[i + 1] = math.max(-1, tonumber(list.elems[i].offset))
            else
                offsets = nil
            end
        end
        lib.rd_kafka_topic_partition_list_destroy(list)
        return offsets
    end

    local function bytes(data, size)
        return data ~= nil and ffi.string(data, size) or nil
    end

    local names, values, sizes = ffi.new "const char *[1]", ffi.new "const void *[1]", ffi.new "size_t[1]"
    local function headers_of(message)
        local all, found = ffi.new "rd_kafka_headers_t *[1]", {}
        if lib.rd_kafka_message_headers(message, all) == 0 then
            local i = 0
            while lib.rd_kafka_header_get_all(all[0], i, names, values, sizes) == 0 do
                found[ffi.string(names[0])] = bytes(values[0], sizes[0])
                i = i + 1
            end
        end
        return found
    end

    -- Calls with partition, offset, timestamp, key, value, headers: all records, each partition in its order.
    function reader.each(topic, partitions, call)
        local list = lib.rd_kafka_topic_partition_list_new(partitions)
        for partition = 0, partitions - 1 do
            lib.rd_kafka_topic_partition_list_add(list, topic, partition).offset = 0
        end
        check(lib.rd_kafka_assign(client, list), topic)
        local open_parts = partitions
        local kind = ffi.new "int[1]"
        while open_parts > 0 do
            local message = lib.rd_kafka_consumer_poll(client, TIMEOUT_MS)
            if message == nil then
                error(topic .. ": the broker says nothing more", 0)
            elseif message.err == 0 then
                call(message.partition, tonumber(message.offset),
                    tonumber(lib.rd_kafka_message_timestamp(message, kind)), bytes(message.key, message.key_len),
                    bytes(message.payload, message.len), headers_of(message))
            elseif message.err == EOF then
                open_parts = open_parts - 1
            else
                check(message.err, topic)
            end
            lib.rd_kafka_message_destroy(message)
        end
        check(lib.rd_kafka_assign(client, nil), topic)
        lib.rd_kafka_topic_partition_list_destroy(list)
    end

    return reader
end

return rdkafka
