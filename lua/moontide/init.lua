--[[
moontide: what a script gets from require "moontide".

Why: things that are not about one record or its context. The user's reference is in moontide/doc.lua.
]]
local host = require "moontide.host"
local names = require "moontide.names"
local C = host.C
local error, type, tonumber, tostring, setmetatable = error, type, tonumber, tostring, setmetatable

local tide = { version = "0.1.0" }

local MS = 1e6
local SLEEP_MAX_MS = 1e12
local durations = {} -- text -> nanoseconds; scripts use few

local function nanoseconds(text)
    local ns = tonumber(C.tide_duration_ns(text))
    if ns < 0 then
        error('tide.sleep: "' .. text .. '" is no duration such as 5ms, 1.5s or 1m', 3)
    end
    durations[text] = ns
    return ns
end

function tide.sleep(duration)
    local ns
    if type(duration) == "string" then
        ns = durations[duration] or nanoseconds(duration)
    elseif type(duration) == "number" and duration >= 0 and duration <= SLEEP_MAX_MS then
        ns = duration * MS
    else
        error("tide.sleep needs a duration such as \"5ms\", or milliseconds, not "
            .. (type(duration) == "number" and tostring(duration) or names.kind(duration)), 2)
    end
    C.tide_sleep_ns(ns)
end

-- An empty table in front, so that a script cannot replace what is there either.
return setmetatable({}, {
    __index = function(_, name)
        local member = tide[name]
        if member == nil then
            error('moontide has no "' .. tostring(name) .. '"' .. names.hint(name, names.of(tide)), 2)
        end
        return member
    end,
    __newindex = function(_, name)
        error('moontide cannot be changed: "' .. tostring(name) .. '"', 2)
    end,
})
