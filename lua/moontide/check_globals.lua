--[[
check_globals: what a compiled function says of itself: globals it reads and writes, and records it keeps.

Why: a misspelled name in a branch that no test takes is found before the first record, at its line. The
bytecode is exact about what is a global, where a scan of the text is not.

The numbers of the instructions differ between versions of LuaJIT, so they are learned from small chunks.
]]
local util = require "jit.util"
local bit = require "bit"
local band, shr = bit.band, bit.rshift

local check_globals = {}

local function op_at(source, pc)
    return band(util.funcbc(loadstring(source), pc), 0xff)
end

-- The function that the chunk returns, and the instruction of it.
local function op_within(source, pc)
    return band(util.funcbc(loadstring(source)(), pc), 0xff)
end

local GGET = op_at("return x", 1)
local GSET = op_at("x = ...", 2)
local UGET = op_within("local u = {} u = 1 return function() return u end", 1)
local USETV = op_within("local u u = 1 return function(r) u = r end", 1)
local MOV = op_within("return function(r) local a = r return a, r end", 1)
local TSETV = op_within("local u = {} return function(r, k) u[k] = r end", 2)
local TSETS = op_within("local u = {} return function(r) u.k = r end", 2)
local TSETB = op_within("local u = {} return function(r) u[1] = r end", 2)
local LEN = op_within("local u = {} return function(r) local n = #r return n, r end", 1)
local TGETS = op_within("return function(r) local n = r.k return n, r end", 1)
local TGETV = op_within("return function(r, k) local n = r[k] return n, r end", 1)
local TNEW = op_within("return function(r) local n = {} return n, r end", 1)
local KSTR = op_within("return function(r) local n = 'x' return n, r end", 1)
local KSHORT = op_within("return function(r) local n = 1 return n, r end", 1)
local CALL = op_within("return function(r) f(r) return r end", 3)
-- instructions that put something else into their first register
local WRITERS = { [LEN] = true, [TGETS] = true, [TGETV] = true, [TNEW] = true, [KSTR] = true,
    [KSHORT] = true }

local function parts(ins)
    return band(ins, 0xff), band(shr(ins, 8), 0xff), shr(ins, 24), band(shr(ins, 16), 0xff), shr(ins, 16)
end

-- Calls fn(proto) for the function and all that are defined in it.
local function each_proto(proto, fn)
    fn(proto)
    local info = util.funcinfo(proto)
    for i = 1, info.gcconsts do
        local const = util.funck(proto, -i)
        if type(const) == "proto" then
            each_proto(const, fn)
        end
    end
end

-- Calls fn(name, line, writes, is_main) for each global that the chunk uses.
function check_globals.each(chunk, fn)
    each_proto(chunk, function(proto)
        local info = util.funcinfo(proto)
        for pc = 1, info.bytecodes - 1 do
            local op, _, _, _, d = parts(util.funcbc(proto, pc))
            if op == GGET or op == GSET then
                fn(util.funck(proto, -d - 1), util.funcinfo(proto, pc).currentline, op == GSET, proto == chunk)
            end
        end
    end)
end

-- The lines at which a function puts its first parameter, or what comes of assigning it to another local,
-- into a variable or a table from outside, also by table.insert. Follows the instructions in their order,
-- not the branches.
function check_globals.kept_records(process)
    local holds, outside, inserts, lines = { [0] = true }, {}, {}, {}
    local info = util.funcinfo(process)
    for pc = 1, info.bytecodes - 1 do
        local op, a, b, c, d = parts(util.funcbc(process, pc))
        local keeps = false
        if op == USETV then
            keeps = holds[d]
        elseif op == TSETV or op == TSETS or op == TSETB then
            keeps = holds[a] and outside[b]
        elseif op == GSET then
            keeps = holds[a]
        elseif op == CALL then -- arguments begin two registers behind the function
            keeps = inserts[a] and outside[a + 2] and (holds[a + 3] or holds[a + 4])
            holds[a + 3], holds[a + 4] = nil, nil
        elseif op == MOV then
            holds[a], outside[a] = holds[d], outside[d]
        elseif op == UGET or op == GGET then
            holds[a], outside[a] = nil, true
        elseif WRITERS[op] then
            holds[a], outside[a] = nil, nil
            inserts[a] = op == TGETS and util.funck(process, -c - 1) == "insert"
        end
        if keeps then
            lines[#lines + 1] = util.funcinfo(process, pc).currentline
        end
    end
    return lines
end

return check_globals
