--[[
frames: records as --frame has them, made and read without the product's code.

    luajit frames.lua make N [plain]    N records of all kinds on stdout; plain: each has a timestamp, no
                                       header is named x or has NUL in its name
    luajit frames.lua list             what kcat prints with -f '%T|%K|%k|%S|%s|%h\n', from frames on stdin; it
                                       cuts values of headers at NUL
]]
local bit = require "bit"

local function u32(n)
    return string.char(bit.band(bit.rshift(n, 24), 255), bit.band(bit.rshift(n, 16), 255),
        bit.band(bit.rshift(n, 8), 255), bit.band(n, 255))
end

local function i64(n)
    if n < 0 then
        return ("\255"):rep(8)
    end
    return u32(math.floor(n / 2 ^ 32)) .. u32(n % 2 ^ 32)
end

local function sized(bytes)
    return bytes and u32(#bytes) .. bytes or u32(-1)
end

local function make(count, plain)
    math.randomseed(7)
    local keys = { false, "", "k", "k\0k", "\0", ("\255\254"):rep(40) }
    local values = { false, "", "v", "NULL", "\0\0", "line\nline", ("x"):rep(3000), "\195\40" }
    local names = { "a", "a", "", "b", plain and "c" or "x", plain and "d" or "a\0" }
    local list = {}
    for i = 1, count do
        local headers = { u32(0) }
        local n = math.random(0, 4)
        headers[1] = u32(n)
        for _ = 1, n do
            headers[#headers + 1] = sized(names[math.random(#names)]) .. sized(values[math.random(#values)] or nil)
        end
        local stamp = i % 7 == 0 and not plain and -1 or 1500000000000 + i * 1001
        local body = i64(stamp) .. sized(keys[i % #keys + 1] or nil) .. sized(values[i % #values + 1] or nil)
            .. table.concat(headers)
        list[i] = u32(#body) .. body
    end
    io.write(table.concat(list))
end

local function read_i32(bytes, at)
    local a, b, c, d = bytes:byte(at, at + 3)
    return bit.bor(bit.lshift(a, 24), bit.lshift(b, 16), bit.lshift(c, 8), d), at + 4
end

local function read_sized(bytes, at)
    local size
    size, at = read_i32(bytes, at)
    if size < 0 then
        return nil, at
    end
    return bytes:sub(at, at + size - 1), at + size
end

local function list()
    local bytes, at = io.read("*a"), 1
    while at <= #bytes do
        local high, low, key, value, count
        at = at + 4
        high, at = read_i32(bytes, at)
        low, at = read_i32(bytes, at)
        key, at = read_sized(bytes, at)
        value, at = read_sized(bytes, at)
        count, at = read_i32(bytes, at)
        local headers = {}
        for i = 1, count do
            local name, text
            name, at = read_sized(bytes, at)
            text, at = read_sized(bytes, at)
            headers[i] = name .. "=" .. (text or "NULL"):match "^%Z*"
        end
        local stamp = high < 0 and -1 or high * 2 ^ 32 + low % 2 ^ 32
        io.write(("%.0f|%d|"):format(stamp, key and #key or -1), key or "", "|", value and #value or -1, "|",
            value or "", "|", table.concat(headers, ","), "\n")
    end
end

if arg[1] == "make" then
    make(tonumber(arg[2]), arg[3] == "plain")
else
    list()
end
