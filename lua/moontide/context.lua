--[[
context: what process(), init() and close() get as `ctx`.

Why: all that a script can do beside returning its record goes through one object, so that an editor, a
reader and an error message know where to look. One a state. The user's reference is in doc.lua.
]]
local host = require "moontide.host"
local emission = require "moontide.emission"
local names = require "moontide.names"
local verdict = require "moontide.verdict"
local C, call = host.C, host.call
local error, tostring, select, pairs = error, tostring, select, pairs
local setmetatable, getinfo = setmetatable, debug.getinfo
local gsub, find = string.gsub, string.find

local LEVELS = { error = 0, warn = 1, info = 2, debug = 3 }

local context = {}

-- The arguments as print writes them, separated by a space; NUL bytes become visible.
local function join(...)
    local text = ""
    for i = 1, select("#", ...) do
        text = text .. (i > 1 and " " or "") .. tostring((select(i, ...)))
    end
    if find(text, "\0", 1, true) then
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

-- The context of a state: the script's parameters; live() gives the view of the record that runs.
function context.make(params, live, has_output)
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
    local known = { "config", "dead_letter", "emit", "fail", "forward", "log", "retry", "skip", "worker" }
    local ctx = sealed(members, "ctx cannot be assigned; keep state in locals of the script",
        function(name)
            return 'ctx has no "' .. tostring(name) .. '"' .. names.hint(name, known)
        end)
    members.emit, members.forward = emission.methods(ctx, live, has_output)
    for name, method in pairs(verdict.methods(ctx)) do
        members[name] = method
    end
    return ctx
end

return context
