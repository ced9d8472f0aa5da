--[[
context: what process(), init() and close() get as `ctx`.

Why: all that a script can do beside returning its record goes through one object, so that an editor, a
reader and an error message know where to look. One a state. The user's reference is in doc.lua.
]]
local host = require "moontide.host"
local headers = require "moontide.headers"
local names = require "moontide.names"
local record = require "moontide.record"
local C, call = host.C, host.call
local error, type, tostring, select, pairs = error, type, tostring, select, pairs
local setmetatable, getinfo, floor = setmetatable, debug.getinfo, math.floor
local gsub, find = string.gsub, string.find

local NO_RECORD = host.NO_RECORD
local FIELDS = { key = true, value = true, headers = true, timestamp = true, partition = true }
local LEVELS = { error = 0, warn = 1, info = 2, debug = 3 }

local context = {}

-- The arguments as print writes them, separated by a space; NUL bytes become visible.
local function join(...)
    local text = ""
    for i = 1, select("#", ...) do
        text = text .. (i > 1 and " " or "") .. tostring((select(i, ...)))
    end
    if find(text, "%z") then
        text = gsub(text, "%z", "\\0")
    end
    return text
end

-- A function that logs its arguments with the file and line of its caller.
function context.logger(level)
    return function(...)
        if C.tide_log_enabled(call, level) then
            local info = getinfo(2, "Sl")
            C.tide_log(call, level, join(...), info.short_src .. ":" .. info.currentline)
        end
    end
end

-- A table that can be read only; `missing(name)` gives the text for a name that it lacks.
local function sealed(values, refusal, missing)
    return setmetatable({}, {
        __index = setmetatable(values, {
            __index = function(_, name)
                local text = missing(name)
                if text then
                    error(text, 2)
                end
            end,
        }),
        __newindex = function()
            error(refusal, 2)
        end,
    })
end

local function check_bytes(name, value)
    if value ~= nil and type(value) ~= "string" then
        error("ctx:emit: " .. name .. " must be a string or nil, not " .. names.kind(value)
            .. "; use tostring()", 3)
    end
end

local function check_call(self, ctx, topic, fields)
    if self ~= ctx then
        error("call it with a colon: ctx:emit(topic, { value = ... })", 3)
    elseif call.at == NO_RECORD then
        error("ctx:emit() works only inside process()", 3)
    elseif type(topic) ~= "string" then
        error("ctx:emit(topic, { value = ... }) needs a topic, a string, not " .. names.kind(topic)
            .. "; the default output gets what process() returns", 3)
    elseif topic == "" or find(topic, "%z") then
        error("ctx:emit: a topic must not be empty or hold a NUL byte", 3)
    elseif type(fields) ~= "table" then
        error("ctx:emit(topic, { value = ... }) needs a table as second argument, not "
            .. names.kind(fields), 3)
    end
    for name in pairs(fields) do
        if not FIELDS[name] then
            error('ctx:emit: unknown field "' .. tostring(name) .. '"'
                .. names.hint(name, names.of(FIELDS)), 3)
        end
    end
end

local function check_fields(fields)
    check_bytes("key", fields.key)
    check_bytes("value", fields.value)
    local timestamp, partition = fields.timestamp, fields.partition
    if timestamp ~= nil and not record.is_timestamp(timestamp) then
        error("ctx:emit: timestamp must be whole milliseconds since 1970, not "
            .. tostring(timestamp), 3)
    end
    if partition ~= nil and (type(partition) ~= "number" or partition < 0 or partition > 2147483647
        or floor(partition) ~= partition) then
        error("ctx:emit: partition must be a whole number from 0, not " .. tostring(partition), 3)
    end
end

local function set_headers(output, view, given)
    if given == nil then
        output.headers, output.header_count = nil, 0
        return
    end
    local object, why = headers.from(given)
    if object == nil then
        error("ctx:emit: " .. why, 3)
    end
    output.headers, output.header_count = record.emitted_headers(view, object)
end

-- The function ctx.emit; `live()` gives the view of the record that runs.
local function emitter(ctx, live)
    local output = host.ffi.new("struct tide_output")
    return function(self, topic, fields)
        check_call(self, ctx, topic, fields)
        check_fields(fields)
        local view = live()
        set_headers(output, view, fields.headers)
        local key, value, timestamp = fields.key, fields.value, fields.timestamp
        if timestamp == nil then
            timestamp = view.timestamp or -1
        end
        output.topic, output.topic_size = topic, #topic
        output.key, output.key_size = key, key and #key or 0
        output.value, output.value_size = value, value and #value or 0
        output.timestamp_ms = timestamp
        output.partition = fields.partition or -1
        C.tide_emit(call, output)
    end
end

-- The context of a state: the script's parameters, and the way to the view that runs.
function context.make(params, live)
    local log = {}
    for name, level in pairs(LEVELS) do
        log[name] = context.logger(level)
    end
    local members = {
        worker = call.worker,
        log = sealed(log, "ctx.log cannot be assigned", function(name)
            return 'ctx.log has no "' .. tostring(name) .. '"' .. names.hint(name, names.of(LEVELS))
        end),
        config = sealed(params.values, "ctx.config is read-only", function(name)
            if params.declared[name] then
                return nil
            end
            return 'ctx.config has no "' .. tostring(name) .. '"'
                .. names.hint(name, names.of(params.declared)) .. "; params declares them"
        end),
    }
    local known = { "config", "emit", "log", "worker" }
    local ctx = sealed(members, "ctx cannot be assigned; keep state in locals of the script",
        function(name)
            return 'ctx has no "' .. tostring(name) .. '"' .. names.hint(name, known)
        end)
    members.emit = emitter(ctx, live)
    return ctx
end

return context
