--[[
verdict: ctx.fail, ctx.skip, ctx.retry and ctx.dead_letter.

Why: a script ends its record by name. The verdict is written down before it is raised, so a pcall of
the script's own between here and the driver cannot undo it; what is raised only leaves process().

The user's reference is in doc.lua.
]]
local host = require "moontide.host"
local names = require "moontide.names"
local C, call = host.C, host.call
local error, type, tostring, tonumber = error, type, tostring, tonumber
local getinfo, floor = debug.getinfo, math.floor

local verdict = {}

local NO_RECORD = host.NO_RECORD
local NS_PER_MS = 1000000
local DELAY_MAX_MS = 2 ^ 31 -- some 24 days
local ENDED = "(the record has ended: the verdict was caught)"

local reason -- of the verdict in call.verdict

-- "file:line: reason" of the script that calls; a tail call has no line any more.
local function place(text)
    local info = getinfo(3, "Sl")
    if info and info.currentline > 0 then
        return info.short_src .. ":" .. info.currentline .. ": " .. text
    end
    return text
end

local function check(name, given)
    if call.at == NO_RECORD then
        error("ctx." .. name .. ": works only inside process()", 3)
    elseif given ~= nil and type(given) ~= "string" then
        error("ctx." .. name .. ": the reason must be a string or nil, not " .. names.kind(given)
            .. "; use tostring()", 3)
    end
end

local function delay_ms(delay)
    if delay == nil then
        return -1 -- by retry.backoff.ms
    end
    local ms
    if type(delay) == "string" then
        local ns = tonumber(C.tide_duration_ns(delay))
        ms = ns >= 0 and ns / NS_PER_MS or nil
    elseif type(delay) == "number" then
        ms = delay
    end
    if ms == nil or not (ms >= 0 and ms < DELAY_MAX_MS) then
        error("ctx.retry: the delay must be a duration such as \"5s\", a number of milliseconds, or nil, "
            .. "and below 24 days, not " .. tostring(delay), 3)
    end
    return floor(ms)
end

-- The functions as members of `ctx`, which may also be called with a colon.
function verdict.methods(ctx)
    local function plain(name, kind, default)
        return function(first, second)
            if first == ctx then
                first = second
            end
            check(name, first)
            reason = place(first or default)
            call.verdict = kind
            error(ENDED, 0)
        end
    end
    local function retry(first, second, third)
        if first == ctx then
            first, second = second, third
        end
        check("retry", second)
        call.retry_delay_ms = delay_ms(first)
        reason = place(second or "the script asks for a retry")
        call.verdict = C.TIDE_RETRY
        error(ENDED, 0)
    end
    return {
        fail = plain("fail", C.TIDE_FAIL, "the script failed the record"),
        skip = plain("skip", C.TIDE_SKIP, "the script skips the record"),
        dead_letter = plain("dead_letter", C.TIDE_DEAD_LETTER, "the script gives the record up"),
        retry = retry,
    }
end

-- The reason of the verdict that was given last.
function verdict.take_reason()
    local text = reason
    reason = nil
    return text
end

return verdict
