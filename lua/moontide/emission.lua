--[[
emission: the functions ctx:emit and ctx:forward.

Why: what leaves a script is checked here, at the line that sends it, and not when the record retires;
a slip in a field's name would otherwise send a record without it. Everything is checked before C is
called, so a refused call leaves nothing behind even if the script catches the error.

The user's reference is in doc.lua.
]]
local host = require "moontide.host"
local headers = require "moontide.headers"
local names = require "moontide.names"
local record = require "moontide.record"
local C, call = host.C, host.call
local error, type, tostring, next = error, type, tostring, next
local find, floor = string.find, math.floor

local emission = {}

local NO_RECORD = host.NO_RECORD
local PARTITION_MAX = 2147483647
local FIELDS = { key = true, value = true, headers = true, timestamp = true, partition = true }
-- from here to the script: refuse, a check, send, the method
local SCRIPT = 5

emission.NO_OUTPUT = "there is no default output; give one with --out, or use ctx:emit(topic, ...)"

local function refuse(what, text)
    error("ctx:" .. what .. ": " .. text, SCRIPT)
end

-- A name in the table that is no field, or nil. There are five fields, so the walk is written out: a
-- loop in here would keep the driver's loop around it from being compiled.
local function unknown_field(fields)
    local name = next(fields)
    if not FIELDS[name] then
        return name
    end
    name = next(fields, name)
    if not FIELDS[name] then
        return name
    end
    name = next(fields, name)
    if not FIELDS[name] then
        return name
    end
    name = next(fields, name)
    if not FIELDS[name] then
        return name
    end
    name = next(fields, name)
    if not FIELDS[name] then
        return name
    end
    return next(fields, name)
end

local function check_fields(what, fields)
    if call.at == NO_RECORD then
        refuse(what, "works only inside process()")
    elseif type(fields) ~= "table" then
        refuse(what, "needs a table such as { key = ..., value = ... }, not " .. names.kind(fields))
    end
    local name = unknown_field(fields)
    if name ~= nil then
        refuse(what, 'unknown field "' .. tostring(name) .. '"'
            .. names.hint(name, names.of(FIELDS)))
    end
end

local function check_bytes(what, name, value)
    if value ~= nil and type(value) ~= "string" then
        refuse(what, name .. " must be a string or nil, not " .. names.kind(value)
            .. "; use tostring()")
    end
end

local function check_timestamp(what, timestamp)
    if timestamp ~= nil and not record.is_timestamp(timestamp) then
        refuse(what, "timestamp must be whole milliseconds since 1970, not " .. tostring(timestamp))
    end
end

local function check_partition(what, partition)
    if partition ~= nil and (type(partition) ~= "number" or partition < 0
        or partition > PARTITION_MAX or floor(partition) ~= partition) then
        refuse(what, "partition must be a whole number from 0, not " .. tostring(partition))
    end
end

local function set_headers(what, output, view, given)
    if given == nil then
        output.headers, output.header_count = nil, 0
        return
    end
    local object, why = headers.from(given)
    if object == nil then
        refuse(what, why)
    end
    output.headers, output.header_count = record.emitted_headers(view, object)
end

-- The methods emit and forward of `ctx`; live() gives the view of the record that runs.
function emission.methods(ctx, live, has_output)
    local output = host.ffi.new("struct tide_output")

    local function send(what, topic, fields)
        check_fields(what, fields)
        local key, value, timestamp = fields.key, fields.value, fields.timestamp
        check_bytes(what, "key", key)
        check_bytes(what, "value", value)
        check_timestamp(what, timestamp)
        check_partition(what, fields.partition)
        local view = live()
        set_headers(what, output, view, fields.headers)
        output.topic, output.topic_size = topic, topic and #topic or 0
        output.key, output.key_size = key, key and #key or 0
        output.value, output.value_size = value, value and #value or 0
        output.timestamp_ms = timestamp or view.timestamp or -1
        output.partition = fields.partition or -1
        C.tide_emit(call, output)
    end

    local function emit(self, topic, fields)
        if self ~= ctx then
            error("call it with a colon: ctx:emit(topic, { value = ... })", 2)
        elseif type(topic) ~= "string" then
            error("ctx:emit(topic, { value = ... }) needs a topic, a string, not "
                .. names.kind(topic) .. "; ctx:forward{ ... } sends to the default output", 2)
        elseif topic == "" or find(topic, "\0", 1, true) then
            error("ctx:emit: a topic must not be empty or hold a NUL byte", 2)
        end
        send("emit", topic, fields)
    end

    local function forward(self, fields)
        if self ~= ctx then
            error("call it with a colon: ctx:forward{ value = ... }", 2)
        elseif not has_output then
            error("ctx:forward: " .. emission.NO_OUTPUT, 2)
        end
        send("forward", nil, fields)
    end

    return emit, forward
end

return emission
