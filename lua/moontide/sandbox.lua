--[[
sandbox: the globals that scripts see.

Why: accidents, not attacks: a script cannot read files, end the process or reach C by mistake, and a
misspelled or forgotten `local` is an error with file and line instead of a nil that travels.

While the script loads it may declare globals by assigning them; then they are locked. Modules load with
the script and with init(), never later, so that every worker runs the same files.
]]
local host = require "moontide.host"
local names = require "moontide.names"
local source_lines = require "moontide.source_lines"
local context = require "moontide.context"
local ffi, C, call = host.ffi, host.C, host.call
local error, type, tostring, pcall = error, type, tostring, pcall
local load, setmetatable, rawget, rawset = load, setmetatable, rawget, rawset
local concat, find, collect = table.concat, string.find, collectgarbage

local sandbox = {}

-- Modules of the binary that scripts may require; the others are ours.
local PUBLIC = { moontide = require "moontide.init" }

local BASE = {
    "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
    "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall", "_VERSION",
    "string", "table", "math", "bit", "coroutine",
}
local GONE = {
    io = "scripts do no I/O; records are the way in and out",
    ffi = "scripts have no FFI", jit = "scripts have no jit library",
    newproxy = "it is not there for scripts",
    loadfile = "use require", dofile = "use require", module = "return a table instead",
    setfenv = "it is not there for scripts", getfenv = "it is not there for scripts",
}

-- Why scripts have no global of this name; nil: no reason but that there is none.
function sandbox.gone(name)
    return GONE[name]
end

local function loader_of_text(env)
    return function(chunk, name, mode, given)
        if mode ~= nil and mode ~= "t" then
            error("load: bytecode is refused; mode must be \"t\"", 2)
        elseif type(chunk) == "function" then
            local parts = {}
            for part in chunk do
                if part == "" then
                    break
                end
                parts[#parts + 1] = part
            end
            chunk = concat(parts)
        end
        return load(chunk, name, "t", given or env)
    end
end

-- collectgarbage without the options that would turn the collector off.
local function collectgarbage_of_scripts(option)
    if option == nil or option == "collect" or option == "count" or option == "step" then
        return collect(option or "collect")
    end
    error('collectgarbage: scripts may use "collect", "count" and "step"', 2)
end

local function read_module(name, path)
    local size, place = ffi.new("size_t[1]"), ffi.new("const char *[1]")
    local text = C.tide_module(call.files, name, size, place)
    if text == nil then
        return nil, "module '" .. name .. "' not found: " .. ffi.string(place[0])
            .. " (scripts may require moontide and modules beside " .. path .. ")"
    end
    local source, found = ffi.string(text, size[0]), ffi.string(place[0])
    source_lines.keep(found, source)
    return source, found
end

-- require: our own public modules, then files beside the script.
local function requirer(env, loaded, path)
    local LOADING = {}
    return function(name)
        if type(name) ~= "string" then
            error("require needs the name of a module, not " .. names.kind(name), 2)
        elseif PUBLIC[name] then
            return PUBLIC[name]
        elseif loaded[name] == LOADING then
            error("module '" .. name .. "' requires itself", 2)
        elseif loaded[name] ~= nil then
            return loaded[name]
        elseif call.files == nil then
            error("require '" .. name .. "' comes too late; require modules at the top of the script", 2)
        end
        local source, place = read_module(name, path)
        if source == nil then
            error(place, 2)
        end
        local chunk, wrong = load(source, "@" .. place, "t", env)
        if chunk == nil then
            error(wrong, 0)
        end
        loaded[name] = LOADING
        local ok, result = pcall(chunk, name)
        loaded[name] = nil
        if not ok then
            error(result, 0)
        end
        loaded[name] = result == nil and true or result
        return loaded[name]
    end
end

local function lock_reads(env)
    return function(_, name)
        local text = 'undeclared global "' .. tostring(name) .. '"'
        if GONE[name] then
            error(text .. ": " .. GONE[name], 2)
        end
        local nearest = names.nearest(name, names.of(env))
        error(text .. (nearest and '; did you mean "' .. nearest .. '"?' or ""), 2)
    end
end

local function refuse_write(_, name)
    error('assignment to undeclared global "' .. tostring(name) .. '"; declare it: local '
        .. tostring(name), 2)
end

-- The globals for the script at `path`.
function sandbox.make(path)
    local env, loaded = {}, {}
    for i = 1, #BASE do
        env[BASE[i]] = rawget(_G, BASE[i])
    end
    env._G = env
    env.os = { time = os.time, date = os.date, clock = os.clock }
    env.debug = { traceback = debug.traceback }
    env.package = { loaded = loaded }
    env.print = context.logger(2)
    env.load = loader_of_text(env)
    env.loadstring = env.load
    env.collectgarbage = collectgarbage_of_scripts
    env.require = requirer(env, loaded, path)
    return setmetatable(env, { __index = lock_reads(env), __newindex = rawset })
end

-- No globals are declared from here on.
function sandbox.lock(env)
    getmetatable(env).__newindex = refuse_write
end

-- The chunk of a script's text, or nil and a reason with file and line.
function sandbox.compile(env, source, path)
    if find(source, "^\27") then
        return nil, path .. ": is bytecode; give the source"
    end
    return load(source, "@" .. path, "t", env)
end

return sandbox
