-- The line of code below the message of an error.
local source_lines = require "moontide.source_lines"

local tests = {}

source_lines.keep("a/pay.lua", "local x\n\tx.y = 1\r\n\n  last")
source_lines.keep("/a/very/long/way/to/one.lua", ("-"):rep(500))

tests["the line that the message names, without its indent"] = function()
    assert(source_lines.of("a/pay.lua:2: attempt") == "\n    x.y = 1")
    assert(source_lines.of("a/pay.lua:4: attempt") == "\n    last")
end

tests["nothing for lines, files and messages that are not known"] = function()
    for _, message in ipairs { "a/pay.lua:3: blank", "a/pay.lua:5: beyond", "a/pay.lua:99: beyond", "b.lua:1: other",
        "not enough memory", "", "text\na/pay.lua:2: below", "a/pay.lua:0: none" } do
        assert(source_lines.of(message) == (message:find(":0:") and "\n    local x" or ""), message)
    end
end

tests["a path that Lua has cut is found by its end, and long lines are cut"] = function()
    local shown = source_lines.of("...way/to/one.lua:1: x")
    assert(shown == "\n    " .. ("-"):rep(120) .. "...")
end

return tests
