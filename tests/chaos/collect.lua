--[[
collect: what the broker holds of a round, as files that check.lua reads.

in.tsv: topic, partition, offset, key, value. out.tsv: topic, partition, offset, time of the append, key, value, from,
by. commits.tsv: time, topic, partition, offset: each commit that the broker took of the group, in their order.
]]
local rdkafka = require "rdkafka"

local collect = {}

local function write_rows(path, call)
    local file = assert(io.open(path, "w"))
    call(function(...)
        file:write(table.concat({ ... }, "\t"), "\n")
    end)
    file:close()
end

-- Whole numbers, big-endian, as Kafka writes them.
local function reader_of(data)
    local at = 1
    local read = {}
    function read.int(size)
        local value = 0
        for i = at, at + size - 1 do
            value = value * 256 + data:byte(i)
        end
        at = at + size
        return value
    end
    function read.varint()
        local value, scale = 0, 1
        repeat
            local byte = read.int(1)
            value = value + byte % 128 * scale
            scale = scale * 128
        until byte < 128
        return value
    end
    function read.text(size)
        at = at + size
        return data:sub(at - size, at - 1)
    end
    return read
end

local function commit_key(key)
    local read = reader_of(key)
    if read.int(2) > 1 then
        return nil -- of another kind
    end
    local group = read.text(read.int(2))
    local topic = read.text(read.int(2))
    return group, topic, read.int(4)
end

local function commit_value(value)
    local read = reader_of(value)
    local version = read.int(2)
    local offset = read.int(8)
    if version >= 3 then
        read.int(4) -- leader epoch
    end
    read.text(version >= 4 and read.varint() - 1 or read.int(2)) -- metadata
    return offset, read.int(8)
end

local function commits(reader, group, row)
    reader.each("__consumer_offsets", 2, function(_, _, _, key, value)
        local of, topic, partition = commit_key(key)
        if of == group and value then
            local offset, time = commit_value(value)
            row(time, topic, partition, offset)
        end
    end)
end

-- A dead letter says by itself where it is from; who made it is in the script's reason.
local function origin(headers)
    if headers["__streams.errors.topic"] then
        local from = headers["__streams.errors.topic"] .. "/" .. headers["__streams.errors.partition"] .. "/"
            .. headers["__streams.errors.offset"] .. "/dead"
        return from, (headers["__streams.errors.message"] or ""):match("by (%S+/%d+/%d+)")
    end
    return headers.from, headers.by
end

-- `round`: see chaos.lua.
function collect.round(round)
    local reader = rdkafka.reader(round.broker)
    write_rows(round.folder .. "/in.tsv", function(row)
        for _, input in ipairs(round.inputs) do
            reader.each(input[1], input[2], function(partition, offset, _, key, value)
                row(input[1], partition, offset, key, value)
            end)
        end
    end)
    write_rows(round.folder .. "/out.tsv", function(row)
        for _, output in ipairs(round.outputs) do
            reader.each(output[1], output[2], function(partition, offset, time, key, value, headers)
                local from, by = origin(headers)
                row(output[1], partition, offset, time, key or "", value or "", from or "", by or "")
            end)
        end
    end)
    write_rows(round.folder .. "/commits.tsv", function(row)
        commits(reader, round.group, row)
    end)
end

return collect
