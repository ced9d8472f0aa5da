--[[
test_diff: what a test wanted and what came, as text that shows the difference.

Why: two long values that differ in one byte look the same; so bytes that are not printable are escaped and
the place of the first difference is told and marked.
]]
local format, byte, sub, rep, find = string.format, string.byte, string.sub, string.rep, string.find
local concat, tostring, type, max, min = table.concat, tostring, type, math.max, math.min

local diff = {}

local SHOWN_MAX = 160 -- bytes of a value that a line shows
local BEFORE = 40 -- bytes shown before the first difference of a longer one
local NAMED = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }

local function escaped(text)
    local parts = {}
    for i = 1, #text do
        local one = sub(text, i, i)
        local code = byte(one)
        parts[i] = NAMED[one] or ((code < 32 or code > 126) and format("\\x%02x", code)) or one
    end
    return concat(parts)
end

-- A value as a test's source would write it.
function diff.show(value)
    if value == nil then
        return "nil"
    elseif type(value) ~= "string" then
        return tostring(value)
    elseif #value > SHOWN_MAX then
        return '"' .. escaped(sub(value, 1, SHOWN_MAX)) .. '"... (' .. #value .. " bytes)"
    end
    return '"' .. escaped(value) .. '"'
end

-- Number of the first byte that differs, from 1.
local function first_difference(a, b)
    for i = 1, min(#a, #b) do
        if byte(a, i) ~= byte(b, i) then
            return i
        end
    end
    return min(#a, #b) + 1
end

-- A part of the text around `at`, and the column of `at` in it.
local function window(text, from)
    local part = sub(text, from, from + SHOWN_MAX - 1)
    return (from > 1 and "..." or "") .. '"' .. escaped(part) .. '"'
        .. (from + #part - 1 < #text and "..." or "")
end

-- Lines that say how two values of a field differ.
function diff.values(field, wanted, got)
    if type(wanted) ~= "string" or type(got) ~= "string" then
        return { field .. " differs", "  wanted " .. diff.show(wanted), "  got    " .. diff.show(got) }
    end
    local at = first_difference(wanted, got)
    local from = max(#wanted, #got) > SHOWN_MAX and max(1, at - BEFORE) or 1
    local column = #escaped(sub(wanted, from, at - 1)) + (from > 1 and 4 or 1)
    return {
        format("%s differs at byte %d (wanted %d bytes, got %d)", field, at, #wanted, #got),
        "  wanted " .. window(wanted, from),
        "  got    " .. window(got, from),
        "         " .. rep(" ", column) .. "^",
    }
end

-- A record in one line, with the fields it has.
function diff.record(record)
    local parts = {}
    for _, field in ipairs { "key", "value", "timestamp", "partition" } do
        if record[field] ~= nil and record[field] ~= -1 then
            parts[#parts + 1] = field .. " = " .. diff.show(record[field])
        end
    end
    if record.headers and #record.headers > 0 then
        local list = {}
        for i, pair in ipairs(record.headers) do
            list[i] = "{ " .. diff.show(pair[1]) .. ", " .. diff.show(pair[2]) .. " }"
        end
        parts[#parts + 1] = "headers = { " .. concat(list, ", ") .. " }"
    end
    return "{ " .. concat(parts, ", ") .. " }"
end

-- The line of a source, for a message that names it; nil when there is none.
function diff.source_line(source, number)
    local line, from = 1, 1
    while line < number do
        local stop = find(source, "\n", from, true)
        if stop == nil then
            return nil
        end
        line, from = line + 1, stop + 1
    end
    return sub(source, from, (find(source, "\n", from, true) or #source + 1) - 1)
end

return diff
