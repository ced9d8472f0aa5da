-- What a failing test shows: bytes, the place of the first difference, the line of the source.
local diff = require "moontide.test_diff"

local tests = {}

tests["values show as a source would write them"] = function()
    assert(diff.show("a\0\n\"\\\255") == [["a\x00\n\"\\\xff"]])
    assert(diff.show(nil) == "nil" and diff.show(5) == "5" and diff.show("") == '""')
    assert(diff.show(("x"):rep(500)):find("%(500 bytes%)$"))
end

tests["the mark stands below the first byte that differs"] = function()
    local lines = diff.values("value", "ab\1d", "ab\2d")
    assert(lines[1] == "value differs at byte 3 (wanted 4 bytes, got 4)", lines[1])
    local at = lines[4]:find("^", 1, true)
    assert(lines[2]:sub(at, at + 3) == [[\x01]] and lines[3]:sub(at, at + 3) == [[\x02]])
end

tests["a difference far behind is shown with what is around it"] = function()
    local long = ("x"):rep(1000)
    local lines = diff.values("value", long .. "a" .. long, long .. "b" .. long)
    assert(lines[1]:find("at byte 1001 ", 1, true))
    local at = lines[4]:find("^", 1, true)
    assert(lines[2]:sub(at, at) == "a" and lines[3]:sub(at, at) == "b")
    assert(#lines[2] < 200)
end

tests["a value that is the beginning of the other differs behind its end"] = function()
    assert(diff.values("value", "abc", "ab")[1] == "value differs at byte 3 (wanted 3 bytes, got 2)")
    assert(diff.values("key", nil, "ab")[2] == "  wanted nil")
end

tests["lines of a source by number"] = function()
    assert(diff.source_line("a\nb\n\nd", 1) == "a" and diff.source_line("a\nb\n\nd", 3) == "")
    assert(diff.source_line("a\nb\n\nd", 4) == "d" and diff.source_line("a", 2) == nil)
end

return tests
