--[[
check_tool: moontide check: all that is wrong with scripts, found before the first record.

Why: who mends a script wants all of its faults at once, each with file, line, column and the line itself,
and an editor wants them as data. What a load finds is found here by the same modules that load scripts.

A fault: path, line and column (from 1; nil where there is none), severity, code, text.
]]
local host = require "moontide.host"
local diff = require "moontide.test_diff"
local check_globals = require "moontide.check_globals"
local loader = require "moontide.loader"
local names = require "moontide.names"
local sandbox = require "moontide.sandbox"
local ffi, C, call = host.ffi, host.C, host.call
local find, sub, format, rep, gsub = string.find, string.sub, string.format, string.rep, string.gsub
local tostring, tonumber, type, ipairs, pcall = tostring, tonumber, type, ipairs, pcall
local concat, sort = table.concat, table.sort

local check_tool = {}

local LOAD_MAX_S = 10 -- a chunk that runs longer than this does not come back
local COUNT = 1e6 -- instructions between two looks at the clock

-- Syntax of other Lua versions and of newer LuaJIT, by what stands in the line that does not compile.
local FOREIGN = {
    { "//", "there is no //; write math.floor(a / b)" },
    { "<const>", "there are no attributes of locals; leave <const> out" },
    { "<close>", "there are no attributes of locals; <close> has no counterpart" },
    { "!=", "not equal is ~=" },
    { "+=", "there is no +=; write a = a + b" }, { "-=", "there is no -=; write a = a - b" },
    { "*=", "there is no *=; write a = a * b" }, { "..=", "there is no ..=; write a = a .. b" },
    { "&&", "it is called and" }, { "||", "it is called or" }, { "??", "there is no ??; write a == nil and b or a" },
    { "?.", "there is no ?.; write a and a.b" },
    { "<<", "there is no <<; write bit.lshift(a, n)" }, { ">>", "there is no >>; write bit.rshift(a, n)" },
    { "&", "there is no &; write bit.band(a, b)" }, { "|", "there is no |; write bit.bor(a, b)" },
    { "~", "a unary or binary ~ is bit.bnot or bit.bxor" }, { "?", "there is no a ? b : c; write a and b or c" },
    { "continue", "there is no continue; write goto continue, and ::continue:: at the end of the loop" },
}

local function add(faults, path, line, column, code, text, severity)
    faults[#faults + 1] = { path = path, line = line, column = column, code = code, text = text,
        severity = severity or "error" }
end

-- Splits "PATH:LINE: text".
local function split(message)
    local path, line, text = message:match("^(.-):(%d+): (.*)$")
    if path == nil then
        return nil, nil, message
    end
    return path, tonumber(line), text
end

-- The column of a word in a line of the source; as a whole name, and not a field of something.
local function column_of(source, line, name)
    local text = line and diff.source_line(source, line)
    if text == nil then
        return nil
    end
    local from = 1
    while true do
        local at, stop = find(text, name, from, true)
        if at == nil then
            return (find(text, "%S")) or 1
        end
        local before, after = sub(text, at - 1, at - 1), sub(text, stop + 1, stop + 1)
        if not find(name, "^[%w_]+$") or not find(before .. after, "[%w_]") and before ~= "." and before ~= ":" then
            return at
        end
        from = stop + 1
    end
end

local function foreign_hint(source, line)
    local text = gsub(gsub(diff.source_line(source, line) or "", "%-%-.*$", ""), "~=", "  ")
    for _, one in ipairs(FOREIGN) do
        if find(text, one[1], 1, true) then
            return "; " .. one[2]
        end
    end
    return ""
end

local function check_syntax(faults, source, message)
    local path, line, text = split(message)
    local near = text:match("near '(.-)'$")
    local column = near and near ~= "<eof>" and column_of(source, line, near) or nil
    local hint = line and foreign_hint(source, line) or ""
    if hint == "" and line and line > 1 and near then
        hint = near == "<eof>" and "" or foreign_hint(source, line - 1)
    end
    add(faults, path, line, column, "syntax", text .. hint)
end

-- Undeclared globals: `env` has those that the script has declared by loading; nil: it did not load.
local function check_names(faults, path, source, chunk, env)
    local declared = {}
    check_globals.each(chunk, function(name, _, writes, is_main)
        declared[name] = declared[name] or (writes and is_main)
    end)
    local known = names.of(env)
    check_globals.each(chunk, function(name, line, writes)
        if rawget(env, name) ~= nil or declared[name] then
            return
        end
        local nearest = names.nearest(name, known)
        local text = writes and 'assignment to undeclared global "' .. name .. '"; declare it: local ' .. name
            or 'undeclared global "' .. name .. '"' .. (sandbox.gone(name) and ": " .. sandbox.gone(name)
                or nearest and '; did you mean "' .. nearest .. '"?' or "")
        add(faults, path, line, column_of(source, line, name), "global", text)
    end)
end

local function check_kept(faults, path, source, process)
    if type(process) ~= "function" or debug.getinfo(process, "S").source ~= "@" .. path then
        return
    end
    local name = debug.getlocal(process, 1) or "rec"
    for _, line in ipairs(check_globals.kept_records(process)) do
        add(faults, path, line, column_of(source, line, name), "record", "the record is kept, but is live only during "
            .. "its own process(); keep " .. name .. ":copy(), or the fields that you need")
    end
end

-- Runs the chunk, and ends it when it does not come back.
local function run_chunk(chunk)
    local until_s = os.clock() + LOAD_MAX_S
    jit.off(true, true)
    jit.off()
    debug.sethook(function()
        if os.clock() > until_s then
            error("does not end: the script still runs after " .. LOAD_MAX_S .. " s of loading", 0)
        end
    end, "", COUNT)
    local ok, result = pcall(chunk)
    debug.sethook()
    jit.on()
    return ok, result
end

local function read_chunk(tool, path)
    local why = ffi.new("const char *[1]")
    call.files = C.tide_tool_open(tool, path, why)
    if call.files == nil then
        return nil, ffi.string(why[0])
    end
    local file, wrong = io.open(path, "rb")
    if file == nil then
        return nil, wrong
    end
    local source = file:read("*a")
    file:close()
    return source
end

local function check_file(tool, path, params)
    local faults = {}
    local source, why = read_chunk(tool, path)
    if source == nil then
        add(faults, path, nil, nil, "file", (gsub(why, "^" .. gsub(path, "%W", "%%%0") .. ": ", "")))
        return faults
    end
    local env = sandbox.make(path)
    env.print = function() end
    local chunk, wrong = sandbox.compile(env, source, path)
    if chunk == nil then
        check_syntax(faults, source, wrong)
        return faults, source
    end
    local ok, result = run_chunk(chunk)
    call.files = nil
    if ok then
        loader.inspect({ path = path, source = source, params = params }, result, function(text)
            local _, line, rest = split(text)
            local name = rest:match('"([%w_]+)"') or rest:match("^parameter ([%w_]+)")
                or rest:match("^params%.([%w_]+)")
            add(faults, path, line, name and column_of(source, line, name), "member",
                line and rest or gsub(text, "^" .. gsub(path, "%W", "%%%0") .. ": ", ""))
        end)
        check_kept(faults, path, source, type(result) == "table" and result.process or result)
    else
        local text = tostring(result)
        local where, line, rest = split(text)
        local name = rest:match('global "([%w_]+)"')
        if not (where == path and name) then -- else the scan below says the same
            add(faults, where or path, line, where == path and column_of(source, line, "") or nil, "load", rest)
        end
    end
    check_names(faults, path, source, chunk, env)
    sort(faults, function(a, b)
        if (a.line or 0) ~= (b.line or 0) then
            return (a.line or 0) < (b.line or 0)
        elseif (a.column or 0) ~= (b.column or 0) then
            return (a.column or 0) < (b.column or 0)
        end
        return a.text < b.text
    end)
    return faults, source
end

-- Whether the bytes are UTF-8, as JSON wants it.
local function is_utf8(text)
    local rest = gsub(text, "[\194-\223][\128-\191]", "")
    rest = gsub(rest, "[\224-\239][\128-\191][\128-\191]", "")
    rest = gsub(rest, "[\240-\244][\128-\191][\128-\191][\128-\191]", "")
    return not find(rest, "[\128-\255]")
end

-- Bytes of a text that is no UTF-8 are written as the characters of their numbers.
local function json_text(text)
    local plain = is_utf8(text)
    return '"' .. gsub(text, '[%c"\\\127-\255]', function(one)
        return one == '"' and '\\"' or one == "\\" and "\\\\" or one:byte() > 127 and plain and one
            or format("\\u%04x", one:byte())
    end) .. '"'
end

local function print_json(fault)
    io.write('{"path":', json_text(fault.path), ',"line":', fault.line or "null", ',"column":', fault.column or "null",
        ',"severity":', json_text(fault.severity), ',"code":', json_text(fault.code), ',"message":',
        json_text(fault.text), "}\n")
end

local function print_plain(fault, source)
    local place = fault.path .. (fault.line and ":" .. fault.line or "")
        .. (fault.column and ":" .. fault.column or "")
    io.write(place, ": ", fault.severity, ": ", fault.text, "\n")
    local text = fault.line and source and diff.source_line(source, fault.line)
    if text then
        io.write("    ", (gsub(text, "\t", " ")), "\n")
        if fault.column then
            io.write("    ", rep(" ", fault.column - 1), "^\n")
        end
    end
end

-- words: file, set (NAME=VALUE), json. Returns nil, or a code and a sentence.
function check_tool.run(words, pointer)
    local tool = ffi.cast("struct tide_tool *", pointer)
    local files, params, json = {}, {}, false
    for _, word in ipairs(words) do
        if word.name == "file" then
            files[#files + 1] = word.value
        elseif word.name == "json" then
            json = true
        else
            params[word.name:match("^set:(.*)$")] = word.value
        end
    end
    local count, bad, first = 0, {}, nil
    for _, path in ipairs(files) do
        local faults, source = check_file(tool, path, params)
        for _, fault in ipairs(faults) do
            count = count + 1
            bad[path] = true
            first = first or (fault.path .. (fault.line and ":" .. fault.line or "") .. ": " .. fault.text)
            if json then
                print_json(fault)
            else
                print_plain(fault, fault.path == path and source or nil)
            end
        end
    end
    if count == 0 then
        return nil
    end
    if count == 1 then
        return "script", first
    end
    return "script", format("%d faults in %s; the first: %s", count, concat(names.of(bad), ", "), first)
end

return check_tool
