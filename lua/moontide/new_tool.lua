--[[
new_tool: moontide new: a script, its test and its configuration, which run as they stand.
]]
local host = require "moontide.host"
local ffi, C = host.ffi, host.C

local new_tool = {}

local SCRIPT = [[
-- NAME: says what it does with a record, in one sentence.
--
--   moontide test NAME_test.lua
--   printf 'one\ntwo\n' | moontide run NAME.lua --in - --out -
--   moontide run -c NAME.ini --embedded
local M = { version = "1" }

M.params = {
    suffix = { type = "string", default = "!", doc = "Text behind each value." },
}

function M.process(rec, ctx)
    if rec.value == nil then
        return -- a tombstone: nothing returned drops the record
    end
    rec.value = rec.value .. ctx.config.suffix
    return rec -- to the default output
end

return M
]]

local TEST = [[
local t = require "moontide.test"

t.case("puts the suffix behind each value", { params = { suffix = "?" } }, function(p)
    p:push("in", { key = "k", value = "one" })
    p:expect("output", { { key = "k", value = "one?" } })
end)

t.case("drops tombstones", function(p)
    p:push("in", { key = "k" })
    p:expect_none("output")
end)
]]

local INI = [[
; moontide run -c NAME.ini
; `moontide config` lists every option with its type, default and bounds.
[moontide]
application.id = NAME
bootstrap.servers = localhost:9092
input.topics = in
output.topic = out
num.stream.threads = 1

[script]
file = FILE

[params]
suffix = !
]]

-- A text as a replacement of gsub.
local function escape(text)
    return (text:gsub("%%", "%%%%"))
end

local function exists(path)
    local file = io.open(path)
    if file then
        file:close()
    end
    return file ~= nil
end

-- words: name, the path of the script without ".lua".
function new_tool.run(words, pointer)
    local tool = ffi.cast("struct tide_tool *", pointer)
    local base = words[1].value:gsub("%.lua$", "")
    local name = base:match("([^/]+)$")
    if name == nil or name:find("[^%w_%-]") or name:find("_test$") then
        return "usage", '"' .. words[1].value .. '" is no name for a script: letters, digits, _ and - make one'
    end
    local files = { { base .. ".lua", SCRIPT }, { base .. "_test.lua", TEST }, { base .. ".ini", INI } }
    for _, file in ipairs(files) do
        if exists(file[1]) then
            return "io", file[1] .. " is there already; nothing was written"
        end
    end
    local why = ffi.new("const char *[1]")
    for _, file in ipairs(files) do
        local text = file[2]:gsub("NAME", escape(name)):gsub("FILE", (escape(base .. ".lua")))
        if not C.tide_tool_create(tool, file[1], text, #text, why) then
            return "io", ffi.string(why[0])
        end
        io.write(file[1], "\n")
    end
    io.write("\nmoontide test ", base, "_test.lua\n")
    return nil
end

return new_tool
