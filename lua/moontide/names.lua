--[[
names: what to say about a name that does not exist.

Why: whoever misspells a member, field or parameter is told the name that was meant, or all there are.
]]
local host = require "moontide.host"
local ffi, C = host.ffi, host.C
local concat, sort, type, tostring, pairs = table.concat, table.sort, type, tostring, pairs

local names = {}

-- The keys of a table that are strings, sorted.
function names.of(map)
    local list = {}
    for name in pairs(map) do
        if type(name) == "string" then
            list[#list + 1] = name
        end
    end
    sort(list)
    return list
end

-- The one of `list` that was meant by `name`, or nil.
function names.nearest(name, list)
    local array = ffi.new("const char *[?]", #list + 1)
    for i = 1, #list do
        array[i - 1] = list[i]
    end
    local found = C.tide_nearest(tostring(name), array, #list)
    return found ~= nil and ffi.string(found) or nil
end

-- The end of a sentence: `; did you mean "process"?` or `; there are a, b, c`.
function names.hint(name, list)
    local nearest = names.nearest(name, list)
    if nearest then
        return '; did you mean "' .. nearest .. '"?'
    elseif #list == 0 then
        return "; there are none"
    end
    return "; there are " .. concat(list, ", ")
end

-- What a value is, for "must be a string, not ...".
function names.kind(value)
    local kind = type(value)
    if kind == "nil" or kind == "boolean" then
        return tostring(value)
    elseif kind == "cdata" then
        return "a cdata value"
    end
    return "a " .. kind
end

return names
