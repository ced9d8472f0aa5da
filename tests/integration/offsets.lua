--[[
offsets: what a broker knows of a topic and a group, without the product's code and without joining the group.

    luajit offsets.lua BROKER TOPIC PARTITIONS           records in the topic, one number
    luajit offsets.lua BROKER TOPIC PARTITIONS GROUP     a line a partition: partition, committed (-: none), end
]]
local ffi = require "ffi"

ffi.cdef [[
typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct {
    char *topic; int32_t partition; int64_t offset; void *metadata; size_t metadata_size; void *opaque;
    int err; void *_private;
} rd_kafka_topic_partition_t;
typedef struct { int cnt; int size; rd_kafka_topic_partition_t *elems; } rd_kafka_topic_partition_list_t;
rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, char *text, size_t size);
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *conf, char *text, size_t size);
rd_kafka_topic_partition_list_t *rd_kafka_topic_partition_list_new(int size);
void rd_kafka_topic_partition_list_add(rd_kafka_topic_partition_list_t *list, const char *topic, int32_t partition);
int rd_kafka_committed(rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list, int timeout_ms);
int rd_kafka_query_watermark_offsets(rd_kafka_t *rk, const char *topic, int32_t partition, int64_t *low,
                                     int64_t *high, int timeout_ms);
const char *rd_kafka_err2str(int err);
]]
local rdkafka = ffi.load "rdkafka.so.1"
local CONSUMER, TIMEOUT_MS = 1, 10000

local broker, topic, partitions, group = arg[1], arg[2], tonumber(arg[3]), arg[4]

local function check(err)
    if err ~= 0 then
        io.stderr:write("offsets: ", topic, ": ", ffi.string(rdkafka.rd_kafka_err2str(err)), "\n")
        os.exit(1)
    end
end

local text = ffi.new "char[512]"
local conf = rdkafka.rd_kafka_conf_new()
rdkafka.rd_kafka_conf_set(conf, "bootstrap.servers", broker, text, 512)
rdkafka.rd_kafka_conf_set(conf, "group.id", group or "none", text, 512)
local client = rdkafka.rd_kafka_new(CONSUMER, conf, text, 512)
local low, high = ffi.new "int64_t[1]", ffi.new "int64_t[1]"

local function watermarks(partition)
    check(rdkafka.rd_kafka_query_watermark_offsets(client, topic, partition, low, high, TIMEOUT_MS))
    return tonumber(low[0]), tonumber(high[0])
end

if group then
    local list = rdkafka.rd_kafka_topic_partition_list_new(partitions)
    for partition = 0, partitions - 1 do
        rdkafka.rd_kafka_topic_partition_list_add(list, topic, partition)
    end
    check(rdkafka.rd_kafka_committed(client, list, TIMEOUT_MS))
    for i = 0, list.cnt - 1 do
        local offset = tonumber(list.elems[i].offset)
        local _, last = watermarks(i)
        print(i, offset < 0 and "-" or offset, last)
    end
else
    local sum = 0
    for partition = 0, partitions - 1 do
        local first, last = watermarks(partition)
        sum = sum + last - first
    end
    print(sum)
end
os.exit(0)
