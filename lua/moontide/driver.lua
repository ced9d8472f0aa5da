--[[
driver: the door through which C calls Lua.

Why: one lua_pcall a batch, and the loop is here, where it is compiled together with the script's
process. What a record raises is caught here, becomes the reason of its failure and ends its effects.
The loop ends there: the host decides what becomes of the record before the next one runs.

C has filled `call.items` before; the arguments are integers, since those keep the loop compilable also
when batches of one record come first.
]]
local bit = require "bit"
local host = require "moontide.host"
local context = require "moontide.context"
local emission = require "moontide.emission"
local loader = require "moontide.loader"
local names = require "moontide.names"
local record = require "moontide.record"
local sandbox = require "moontide.sandbox"
local source_lines = require "moontide.source_lines"
local verdict = require "moontide.verdict"
local C, call = host.C, host.call
local error, pcall, xpcall, rawequal, type, tostring = error, pcall, xpcall, rawequal, type, tostring
local find, sub, traceback = string.find, string.sub, debug.traceback
local band = bit.band
local forward, release = record.forward, record.release

local VIEWS = tonumber(C.TIDE_VIEWS)
local NO_RECORD = host.NO_RECORD
local NO_MEMORY = "not enough memory" -- LuaJIT's own text, raised without a place
local NO_REC = "process() returned the record without its _rec, which is not for scripts to assign"
local NO_OUTPUT = "process() returned the record, but " .. emission.NO_OUTPUT

local driver = { call = call }

-- A text for whatever was raised.
local function describe(raised)
    if type(raised) == "string" then
        return raised
    end
    local ok, text = pcall(tostring, raised)
    if not ok or type(text) ~= "string" then
        return "(raised " .. names.kind(raised) .. " whose __tostring fails)"
    elseif type(raised) == "table" and find(text, "^table: ") then
        return "(raised a table without __tostring)"
    end
    return "(raised " .. names.kind(raised) .. ") " .. text
end

-- The frames above the driver's own call, which is the last xpcall.
local function frames_of_script()
    local text = traceback("", 3)
    local from, cut = 1, nil
    while true do
        local at, stop = find(text, "\n\t[C]: in function 'xpcall'", from, true)
        if not at then
            break
        end
        cut, from = at, stop
    end
    return cut and sub(text, 1, cut - 1) or text
end

local failure -- set by the handler: what was raised, with its traceback

local function on_error(raised)
    if call.verdict ~= 0 then
        return raised -- the way out of a record that the script has ended
    end
    failure = describe(raised)
    failure = failure .. source_lines.of(failure) .. frames_of_script()
    return failure
end

-- The text of the failure that pcall reports; the handler may not have run, as after a stack overflow
-- or an error within compiled code.
local function take_failure(raised)
    local text = failure or describe(raised)
    failure = nil
    return text
end

local function fail(raised)
    local text = take_failure(raised)
    if raised == NO_MEMORY then
        call.verdict = C.TIDE_NO_MEMORY
    end
    C.tide_fail(call, text, #text)
end

-- The script has ended its record by name, whatever happened after it.
local function end_by_name()
    failure = nil
    local text = verdict.take_reason()
    C.tide_fail(call, text, #text)
end

-- What process() returned is neither nothing nor its record, or is more than that.
local function reject(result, extra)
    local text
    if extra ~= nil then
        text = "process() returned more than one value"
    elseif type(result) == "cdata" then
        text = "process() returned another record than its own"
    else
        text = "process() returned " .. names.kind(result)
            .. "; return rec, or nothing to drop the record"
    end
    C.tide_fail(call, text, #text)
end

-- The function that runs the records `first` to `count - 1` of the batch, up to the first that fails:
-- call.at stays at that one.
local function make_run(process, ctx, views, has_output)
    local turn = 0
    local items = call.items

    local function finish(view, result, extra)
        if not rawequal(result, view) or extra ~= nil then
            reject(result, extra)
        elseif view._rec == nil then -- no field of scripts, but nothing keeps them from it
            C.tide_fail(call, NO_REC, #NO_REC)
        elseif has_output then
            forward(view)
            return true
        else
            C.tide_fail(call, NO_OUTPUT, #NO_OUTPUT)
        end
        return false
    end

    return function(first, count)
        local view = views[turn]
        if view._rec ~= nil then -- the last run fell over in the middle
            release(view)
            view._rec = nil
        end
        for i = first, count - 1 do
            turn = band(turn + 1, VIEWS - 1)
            view = views[turn]
            view._rec = items[i]
            call.at = i
            local ok, result, extra = xpcall(process, on_error, view, ctx)
            if call.verdict ~= 0 then
                end_by_name()
                ok = false
            elseif not ok then
                fail(result)
            elseif result ~= nil or extra ~= nil then
                ok = finish(view, result, extra)
            end
            if view._flags ~= 0 then
                release(view)
            end
            view._rec = nil
            if not ok then
                return
            end
        end
        call.at = NO_RECORD
    end, function()
        return views[turn]
    end
end

-- Runs a function of the script outside of records; raises what it raised, as text.
local function guarded(what, fn, ...)
    local ok, result = xpcall(fn, on_error, ...)
    if not ok then
        error(what .. take_failure(result), 0)
    end
    return result
end

-- Loads the script, runs its init, and returns run, close, requires_order, version.
function driver.load(options)
    local env = sandbox.make(options.path)
    source_lines.keep(options.path, options.source)
    local chunk, wrong = sandbox.compile(env, options.source, options.path)
    if chunk == nil then
        error(wrong, 0)
    end
    setfenv(0, env) -- what the script compiles and the coroutines it makes see the same globals
    local script, params = loader.members(options, guarded("", chunk))
    sandbox.lock(env)

    local views = record.pool(VIEWS)
    local run, live
    local ctx = context.make(params, function()
        return live()
    end, options.has_output)
    run, live = make_run(script.process, ctx, views, options.has_output)
    if script.init and not options.trial then
        guarded("init() failed: ", script.init, ctx)
    end
    local function close()
        if script.close then
            guarded("", script.close, ctx)
        end
    end
    return run, close, script.requires_order, script.version and tostring(script.version)
end

return driver
