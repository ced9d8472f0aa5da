--[[
host: the C side as Lua sees it.

Why: the one place that names FFI. Everything declared comes from src/script/lua_abi.h, whose text C
hands over as moontide.abi. Scripts cannot require this module.

call: the way of a batch, shared with C and anchored here for the life of the state.
]]
local ffi = require "ffi"

assert(ffi.abi("gc64"), "moontide needs a LuaJIT that was built with GC64")
ffi.cdef(require "moontide.abi")

return {
    ffi = ffi,
    C = ffi.C,
    call = ffi.new("struct tide_call"),
    NO_RECORD = ffi.C.TIDE_NO_RECORD,
}
