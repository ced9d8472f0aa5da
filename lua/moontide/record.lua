--[[
record: what process() gets as `rec`.

Why: a record is handed to Lua as a view over C memory; nothing is copied until a field is read, and a
script that reads nothing costs nothing. Views come from a pool that rotates, so that one kept for too
long is found out: a view is live only during its own process().

One record runs at a time in a state, so the strings made of it are cached in locals of this module;
flags of the view say which of them are valid. The user's reference is in doc.lua.
]]
local bit = require "bit"
local host = require "moontide.host"
local headers = require "moontide.headers"
local names = require "moontide.names"
local ffi, C, call = host.ffi, host.C, host.call
local ffi_string = ffi.string
local band, bor = bit.band, bit.bor
local error, type, tonumber, tostring, floor = error, type, tonumber, tostring, math.floor

local HAS_KEY, HAS_VALUE = tonumber(C.TIDE_HAS_KEY), tonumber(C.TIDE_HAS_VALUE)
local HAS_TIMESTAMP, HAS_HEADERS = tonumber(C.TIDE_HAS_TIMESTAMP), tonumber(C.TIDE_HAS_HEADERS)
local HEADERS_OBJECT = tonumber(C.TIDE_HEADERS_OBJECT)
local CACHED_KEY, CACHED_VALUE = tonumber(C.TIDE_CACHED_KEY), tonumber(C.TIDE_CACHED_VALUE)

local STALE = "record used after process(); use rec:copy()"
local EXACT_MAX = 2 ^ 53

local record = {}

-- of the record that runs, valid by the flags of its view
local key_text, value_text, headers_object
-- topics are few and live long: one string for records in a row
local topic_pointer, topic_text = nil, ""

local getters, setters, methods = {}, {}, {}

function getters.topic(view)
    local pointer = view._rec.topic
    if pointer ~= topic_pointer then
        topic_pointer, topic_text = pointer, ffi_string(pointer)
    end
    return topic_text
end

function getters.partition(view)
    return view._rec.partition
end

function getters.offset(view)
    return tonumber(view._rec.offset)
end

function getters.timestamp(view)
    local ms = view._rec.timestamp_ms
    if band(view._flags, HAS_TIMESTAMP) ~= 0 then
        ms = view._timestamp_ms
    end
    if ms < 0 then
        return nil
    end
    return tonumber(ms)
end

function getters.key(view)
    local flags = view._flags
    if band(flags, CACHED_KEY) ~= 0 then
        return key_text
    end
    local rec = view._rec
    key_text = rec.key ~= nil and ffi_string(rec.key, rec.key_size) or nil
    view._flags = bor(flags, CACHED_KEY)
    return key_text
end

function getters.value(view)
    local flags = view._flags
    if band(flags, CACHED_VALUE) ~= 0 then
        return value_text
    end
    local rec = view._rec
    value_text = rec.value ~= nil and ffi_string(rec.value, rec.value_size) or nil
    view._flags = bor(flags, CACHED_VALUE)
    return value_text
end

function getters.headers(view)
    if band(view._flags, HEADERS_OBJECT) == 0 then
        if band(view._flags, HAS_HEADERS) == 0 then
            C.tide_read_headers(view)
        end
        headers_object = headers.of_view(view)
        view._flags = bor(view._flags, HEADERS_OBJECT)
    end
    return headers_object
end

-- A copy of the bytes that lives as long as the record's effects; nil is nil.
local function keep(name, text)
    if text == nil then
        return nil, 0
    elseif type(text) ~= "string" then
        error("rec." .. name .. " must be a string or nil, not " .. names.kind(text)
            .. "; use tostring()", 4)
    end
    return C.tide_copy(call, text, #text), #text
end

function setters.key(view, text)
    view._key, view._key_size = keep("key", text)
    view._flags = bor(view._flags, HAS_KEY, CACHED_KEY)
    key_text = text
end

function setters.value(view, text)
    view._value, view._value_size = keep("value", text)
    view._flags = bor(view._flags, HAS_VALUE, CACHED_VALUE)
    value_text = text
end

function setters.timestamp(view, ms)
    if ms == nil then
        ms = -1
    elseif not record.is_timestamp(ms) then
        error("rec.timestamp must be whole milliseconds since 1970 or nil, not " .. tostring(ms), 3)
    end
    view._timestamp_ms = ms
    view._flags = bor(view._flags, HAS_TIMESTAMP)
end

function setters.headers(view, value)
    local given, why = headers.from(value == nil and {} or value)
    if given == nil then
        error("rec." .. why, 3)
    elseif band(view._flags, HEADERS_OBJECT) ~= 0 then
        if given == headers_object then
            return
        end
        headers_object._stale = true
    end
    headers_object = headers.copy(given)
    view._flags = bor(view._flags, HEADERS_OBJECT)
end

-- A method may have been fetched while the record was live.
local function check(view)
    if not ffi.istype("struct tide_view", view) then
        error("call it with a colon, as in rec:copy()", 3)
    elseif view._rec == nil then
        error(STALE, 3)
    end
end

function methods.copy(view)
    check(view)
    return {
        topic = getters.topic(view),
        partition = getters.partition(view),
        offset = getters.offset(view),
        timestamp = getters.timestamp(view),
        key = getters.key(view),
        value = getters.value(view),
        headers = headers.copy(getters.headers(view)),
    }
end

function methods.byte(view, at)
    check(view)
    if type(at) ~= "number" then
        error("rec:byte(at) needs a number, not " .. names.kind(at), 2)
    end
    local pointer, size = view._rec.value, view._rec.value_size
    if band(view._flags, HAS_VALUE) ~= 0 then
        pointer, size = view._value, view._value_size
    end
    if at < 0 then
        at = size + at + 1
    end
    if pointer == nil or not (at >= 1 and at <= size) then -- also for NaN
        return nil
    end
    return band(pointer[at - 1], 255)
end

local function unknown(name)
    local list = names.of(getters)
    list[#list + 1] = "copy"
    list[#list + 1] = "byte"
    return 'a record has no "' .. tostring(name) .. '"' .. names.hint(name, list)
end

local function index(view, name)
    local getter = getters[name]
    if getter then
        if view._rec == nil then
            error(STALE, 2)
        end
        return getter(view)
    end
    local method = methods[name]
    if method == nil then
        error(unknown(name), 2)
    elseif view._rec == nil then
        error(STALE, 2)
    end
    return method
end

local function newindex(view, name, value)
    local setter = setters[name]
    if view._rec == nil then
        error(STALE, 2)
    elseif setter == nil then
        if getters[name] then
            error("rec." .. name .. " cannot be assigned; use ctx:emit(topic, { partition = ... })", 2)
        end
        error(unknown(name), 2)
    end
    setter(view, value)
end

ffi.metatype("struct tide_view", {
    __index = index,
    __newindex = newindex,
    __tostring = function(view)
        if view._rec == nil then
            return "record (used after process())"
        end
        return "record " .. getters.topic(view) .. "[" .. getters.partition(view) .. "]@"
            .. getters.offset(view)
    end,
})

function record.is_timestamp(ms)
    return type(ms) == "number" and ms >= 0 and ms <= EXACT_MAX and floor(ms) == ms
end

-- All views of the state, numbered from 0.
function record.pool(count)
    local array = ffi.new("struct tide_view[?]", count)
    local views = { array = array }
    for i = 0, count - 1 do
        views[i] = array[i]
    end
    return views
end

-- The emission of `return rec`.
function record.forward(view)
    if band(view._flags, HEADERS_OBJECT) ~= 0 and headers_object._changed then
        view._headers, view._header_count = headers.write(headers_object)
        view._flags = bor(view._flags, HAS_HEADERS)
    end
    C.tide_forward(view)
end

-- The headers of what ctx:emit got: array and count, written once for rec.headers as it came.
function record.emitted_headers(view, given)
    if given == headers_object and not given._changed then
        return view._headers, view._header_count
    end
    return headers.write(given)
end

-- Ends what was made of a view with flags.
function record.release(view)
    if band(view._flags, HEADERS_OBJECT) ~= 0 then
        headers_object._stale = true
        headers_object = nil
    end
    key_text, value_text = nil, nil
    view._flags = 0
end

return record
