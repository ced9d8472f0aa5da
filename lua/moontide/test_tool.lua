--[[
test_tool: moontide test: runs the cases of *_test.lua files and says what came of them.

Why: each case has a fresh script, engine and clock, so that none can lean on another. The test file itself
runs in this state behind the same sandbox as scripts, with moontide.test beside their modules.
]]
local host = require "moontide.host"
local diff = require "moontide.test_diff"
local names = require "moontide.names"
local report = require "moontide.test_report"
local sandbox = require "moontide.sandbox"
local test_case = require "moontide.test_case"
local ffi, C, call = host.ffi, host.C, host.call
local error, type, pairs, ipairs, tostring, xpcall = error, type, pairs, ipairs, tostring, xpcall
local find, gsub, sub, format, concat = string.find, string.gsub, string.sub, string.format, table.concat

local test_tool = {}

local OPTIONS = { "options", "params", "script" }

local function read(path)
    local file, why = io.open(path, "rb")
    if file == nil then
        return nil, why
    end
    local text = file:read("*a")
    file:close()
    return text
end

-- The script that a test file tests when it does not say.
local function script_beside(path)
    return (gsub(path, "_test%.lua$", ".lua"))
end

local function folder_of(path)
    return path:match("^(.*/)[^/]*$") or ""
end

local function check_options(name, options)
    if type(options) ~= "table" then
        error("case \"" .. name .. '": options must be a table, not ' .. names.kind(options), 3)
    end
    for key, value in pairs(options) do
        if key ~= "script" and key ~= "params" and key ~= "options" then
            error('case "' .. name .. '": unknown option "' .. tostring(key) .. '"'
                .. names.hint(tostring(key), OPTIONS), 3)
        elseif type(value) ~= (key == "script" and "string" or "table") then
            error('case "' .. name .. '": ' .. key .. " must be a " .. (key == "script" and "string" or "table"), 3)
        end
    end
end

-- What a test file gets from require "moontide.test".
local function make_module(file)
    local module = {}
    function module.script(path)
        if type(path) ~= "string" then
            error("t.script needs the path of a script, not " .. names.kind(path), 2)
        end
        file.script = folder_of(file.path) .. path
    end
    function module.case(name, options, fn)
        if fn == nil then
            options, fn = {}, options
        end
        if type(name) ~= "string" or type(fn) ~= "function" then
            error("t.case needs a name, options or none, and a function(p)", 2)
        end
        check_options(name, options)
        local info = debug.getinfo(2, "l")
        file.cases[#file.cases + 1] = { name = name, options = options, fn = fn, line = info.currentline }
    end
    return setmetatable({}, { __index = function(_, name)
        if module[name] == nil then
            error('moontide.test has no "' .. tostring(name) .. '"'
                .. names.hint(tostring(name), names.of(module)), 2)
        end
        return module[name]
    end, __newindex = function()
        error("moontide.test cannot be changed", 2)
    end })
end

-- Runs the test file, which declares its cases. False and a text when it does not load.
local function load_file(tool, file)
    local why = ffi.new("const char *[1]")
    call.files = C.tide_tool_open(tool, file.path, why)
    if call.files == nil then
        return false, ffi.string(why[0])
    end
    file.source = read(file.path) or ""
    local env = sandbox.make(file.path)
    local module, inner = make_module(file), env.require
    env.require = function(name)
        if name == "moontide.test" then
            return module
        end
        return inner(name)
    end
    env.print = function(...)
        local parts = { ... }
        for i = 1, select("#", ...) do
            parts[i] = tostring(parts[i])
        end
        report.note(concat(parts, " "))
    end
    local chunk, wrong = sandbox.compile(env, file.source, file.path)
    if chunk == nil then
        return false, wrong
    end
    local ok, result = xpcall(chunk, function(raised)
        return tostring(raised)
    end)
    sandbox.lock(env)
    call.files = nil
    if not ok then
        return false, result
    elseif #file.cases == 0 then
        return false, file.path .. ': declares no case; write t.case("what it shows", function(p) ... end)'
    end
    return true
end

-- "key" -> { "moontide", "key" } and so on, as C wants it. Anchors keep the strings.
local function settings_of(case)
    local list = {}
    for name, value in pairs(case.options.params or {}) do
        list[#list + 1] = { "params", tostring(name), tostring(value) }
    end
    for name, value in pairs(case.options.options or {}) do
        list[#list + 1] = { nil, tostring(name), tostring(value) }
    end
    local array = ffi.new("struct tide_setting[?]", #list + 1)
    for i, one in ipairs(list) do
        array[i - 1].section, array[i - 1].name, array[i - 1].value = one[1], one[2], one[3]
    end
    return array, #list, list
end

-- Whether the script's text holds the name as a string.
local function mentions(path)
    local source = read(path) or ""
    return function(topic)
        return find(source, '"' .. topic .. '"', 1, true) ~= nil or find(source, "'" .. topic .. "'", 1, true) ~= nil
    end
end

local function traced(raised)
    if type(raised) == "table" and raised.text then
        return raised
    end
    local text = tostring(raised)
    local line = tonumber(text:match("^" .. gsub(test_case.path, "%W", "%%%0") .. ":(%d+): "))
    return { text = line and gsub(text, "^.-:%d+: ", "", 1) or text, line = line }
end

-- Runs a case. Returns nil, or { text =, line = }; and whether the script loaded.
local function run_case(tool, file, case)
    local script = case.options.script and folder_of(file.path) .. case.options.script or file.script
    local settings, count, anchor = settings_of(case)
    local why, loads = ffi.new("const char *[1]"), ffi.new("bool[1]")
    local run = C.tide_case_open(tool, script, settings, count, loads, why)
    if run == nil then
        return { text = ffi.string(why[0]), line = nil, anchor = anchor }, loads[0]
    end
    local p = test_case.make(run, mentions(script))
    local ok, failure = xpcall(case.fn, traced, p)
    if ok then
        local text = test_case.leftovers(p)
        failure = text and { text = text, line = case.line } or nil
    end
    C.tide_case_close(tool)
    return failure, true
end

local function place(file, failure)
    if failure.line == nil then
        return failure.text
    end
    local line = diff.source_line(file.source, failure.line)
    return format("%s:%d: %s%s", file.path, failure.line, failure.text,
        line and "\n  at     " .. line:match("^%s*(.-)%s*$") or "")
end

local function read_words(words)
    local given = { files = {} }
    for _, word in ipairs(words) do
        if word.name == "file" then
            given.files[#given.files + 1] = word.value
        else
            given[word.name] = word.value
        end
    end
    return given
end

local function run_file(tool, given, path, totals)
    local file = { path = path, script = script_beside(path), cases = {} }
    test_case.path = path
    local loaded, why = load_file(tool, file)
    if not loaded then
        totals.unloaded = totals.unloaded + 1
        report.add { file = path, name = "loads", failure = why, seconds = 0 }
        return
    end
    for _, case in ipairs(file.cases) do
        if given.pattern == nil or find(case.name, given.pattern, 1, true) then
            local began = os.clock()
            local failure, loads = run_case(tool, file, case)
            totals.unloaded = totals.unloaded + (loads and 0 or 1)
            report.add { file = path, name = case.name, failure = failure and place(file, failure),
                seconds = os.clock() - began }
        end
    end
end

-- words: file, pattern, junit, format. Returns nil, or a code and a sentence.
function test_tool.run(words, pointer)
    local tool = ffi.cast("struct tide_tool *", pointer)
    local given = read_words(words)
    local totals = { unloaded = 0 }
    report.begin(given.format)
    for _, path in ipairs(given.files) do
        run_file(tool, given, path, totals)
    end
    local passed, failed = report.finish()
    if given.junit then
        local ok, why = report.write_junit(given.junit)
        if not ok then
            return "io", why
        end
    end
    if failed > 0 then
        return totals.unloaded > 0 and "script" or "tests", format("%d of %d cases failed%s", failed, passed + failed,
            totals.unloaded > 0 and "; " .. totals.unloaded .. " of them because a file does not load" or "")
    elseif passed == 0 then
        return "usage", given.pattern and 'no case\'s name holds "' .. sub(given.pattern, 1, 80) .. '"' or "no cases"
    end
    return nil
end

return test_tool
