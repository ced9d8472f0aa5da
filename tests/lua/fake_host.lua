-- A stand-in for moontide.host without the binary around it: real FFI, and the few C functions that the
-- tested modules call, in Lua.
local ffi = require "ffi"

ffi.cdef [[
struct tide_header { const char *name; const char *value; uint32_t name_size; uint32_t value_size; };
]]

local anchors = {} -- what C would keep in an arena

local C = {}

function C.tide_new_headers(_, count)
    local array = ffi.new("struct tide_header[?]", count)
    anchors[#anchors + 1] = array
    return array
end

function C.tide_copy(_, text, size)
    local copy = ffi.new("char[?]", size + 1)
    ffi.copy(copy, text, size)
    anchors[#anchors + 1] = copy
    return copy
end

-- Nearest by the first three letters; the real one is tested in C.
function C.tide_nearest(name, names, count)
    for i = 0, count - 1 do
        if ffi.string(names[i]):sub(1, 3) == name:sub(1, 3) then
            return names[i]
        end
    end
    return nil
end

return { ffi = ffi, C = C, call = {}, NO_RECORD = -1 }
