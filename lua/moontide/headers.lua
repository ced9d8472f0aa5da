--[[
headers: the headers of a record, an ordered multimap from 8-bit strings to 8-bit strings or nil.

Why: Kafka keeps order and duplicates, and a value may be missing; a plain table keeps neither.

An object is attached to the record of a running process() and goes stale with it, or it is detached
(that of rec:copy()) and lives on. `_changed` is true when the array that C has differs or is not there.
The user's reference is in doc.lua.
]]
local host = require "moontide.host"
local names = require "moontide.names"
local C, call, ffi_string = host.C, host.call, host.ffi.string
local error, type, pairs, tostring = error, type, pairs, tostring
local setmetatable, getmetatable = setmetatable, getmetatable
local sort = table.sort

local STALE = "record used after process(); use rec:copy()"

local headers = {}
local methods = {}
local meta = {}

local function make()
    return setmetatable({ _names = {}, _values = {}, _count = 0, _stale = false, _changed = true }, meta)
end

local function check(self, name)
    if getmetatable(self) ~= meta then
        error("call it with a colon: rec.headers:get(name)", 3)
    elseif self._stale then
        error(STALE, 3)
    elseif type(name) ~= "string" then
        error("the name of a header must be a string, not " .. names.kind(name), 3)
    end
end

local function check_value(value)
    if value ~= nil and type(value) ~= "string" then
        error("the value of a header must be a string or nil, not " .. names.kind(value)
            .. "; use tostring()", 3)
    end
end

local function append(self, name, value)
    local count = self._count + 1
    self._count = count
    self._names[count] = name
    self._values[count] = value
end

function methods.get(self, name)
    check(self, name)
    for i = self._count, 1, -1 do
        if self._names[i] == name then
            return self._values[i]
        end
    end
    return nil
end

function methods.all(self, name)
    check(self, name)
    local found = { n = 0 }
    for i = 1, self._count do
        if self._names[i] == name then
            found.n = found.n + 1
            found[found.n] = self._values[i]
        end
    end
    return found
end

function methods.add(self, name, value)
    check(self, name)
    check_value(value)
    append(self, name, value)
    self._changed = true
end

-- Removes all headers of the name, from index `first` on; returns how many.
local function remove(self, name, first)
    local kept = first - 1
    for i = first, self._count do
        if self._names[i] ~= name then
            kept = kept + 1
            self._names[kept], self._values[kept] = self._names[i], self._values[i]
        end
    end
    local removed = self._count - kept
    for i = kept + 1, self._count do
        self._names[i], self._values[i] = nil, nil
    end
    self._count = kept
    return removed
end

function methods.set(self, name, value)
    check(self, name)
    check_value(value)
    self._changed = true
    for i = 1, self._count do
        if self._names[i] == name then
            self._values[i] = value
            remove(self, name, i + 1)
            return
        end
    end
    append(self, name, value)
end

function methods.del(self, name)
    check(self, name)
    local removed = remove(self, name, 1)
    self._changed = self._changed or removed > 0
    return removed
end

function methods.iter(self)
    check(self, "")
    local at = 0
    return function()
        at = at + 1
        if at <= self._count then
            return self._names[at], self._values[at]
        end
        return nil
    end
end

function meta.__index(_, name)
    local method = methods[name]
    if method == nil then
        error('headers have no "' .. tostring(name) .. '"' .. names.hint(name, names.of(methods))
            .. ' (to read a header: rec.headers:get("name"))', 2)
    end
    return method
end

function meta.__newindex()
    error('headers are not a table; use rec.headers:set("name", value)', 2)
end

function meta.__tostring(self)
    return "headers (" .. self._count .. ")"
end

-- An attached object with the headers that C has read into the view.
function headers.of_view(view)
    local self = make()
    local array = view._headers
    for i = 0, view._header_count - 1 do
        local header = array[i]
        local value
        if header.value ~= nil then
            value = ffi_string(header.value, header.value_size)
        end
        append(self, ffi_string(header.name, header.name_size), value)
    end
    self._changed = false
    return self
end

-- A detached copy.
function headers.copy(other)
    local self = make()
    for i = 1, other._count do
        append(self, other._names[i], other._values[i])
    end
    return self
end

-- From an array of { name, value } pairs.
local function of_pairs(list)
    local self = make()
    for i = 1, #list do
        local pair = list[i]
        if type(pair) ~= "table" or type(pair[1]) ~= "string"
            or (pair[2] ~= nil and type(pair[2]) ~= "string") then
            return nil, "headers[" .. i .. "] must be { name, value } with a string and a string or nil"
        end
        append(self, pair[1], pair[2])
    end
    return self
end

-- From a map; a map has no order, so the names are sorted.
local function of_map(map)
    for name, value in pairs(map) do
        if type(name) ~= "string" or type(value) ~= "string" then
            return nil, 'headers["' .. tostring(name) .. '"] must be a string with a string for its name, not '
                .. names.kind(value)
        end
    end
    local self = make()
    local list = names.of(map)
    sort(list)
    for i = 1, #list do
        append(self, list[i], map[list[i]])
    end
    return self
end

-- A headers object of what a script gives for headers; nil and a reason when it is none.
function headers.from(value)
    if type(value) ~= "table" then
        return nil, "headers must be rec.headers, an array of { name, value }, or a map, not "
            .. names.kind(value)
    elseif getmetatable(value) == meta then
        if value._stale then
            return nil, STALE
        end
        return value
    elseif value[1] ~= nil then
        return of_pairs(value)
    end
    return of_map(value)
end

-- Writes them as an array into the effects of the record that runs; returns array and count.
function headers.write(self)
    local array = C.tide_new_headers(call, self._count)
    for i = 1, self._count do
        local header, name, value = array[i - 1], self._names[i], self._values[i]
        header.name, header.name_size = C.tide_copy(call, name, #name), #name
        if value == nil then
            header.value, header.value_size = nil, 0
        else
            header.value, header.value_size = C.tide_copy(call, value, #value), #value
        end
    end
    return array, self._count
end

return headers
