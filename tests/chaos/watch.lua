--[[
watch: looks at what is committed, then at the ends of what was written, over and over until it is ended.

    luajit watch.lua BROKER GROUP FILE PERIOD_MS INPUT:PARTITIONS,... OUTPUT:PARTITIONS,...

A line a look: the time, then the committed offsets, then the ends, in the order of the arguments. The offsets
are there before the ends are asked for, so each record below an offset has to have its outputs below the ends.
]]
local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local rdkafka, posix = require "rdkafka", require "posix"

local broker, group, path, period_ms = arg[1], arg[2], arg[3], tonumber(arg[4])
local ANSWER_MS = 1500

local function parts_of(text)
    local parts = {}
    for name, count in text:gmatch("([^,:]+):(%d+)") do
        for partition = 0, count - 1 do
            parts[#parts + 1] = { name, partition }
        end
    end
    return parts
end

local inputs, outputs = parts_of(arg[5]), parts_of(arg[6])
local reader = rdkafka.reader(broker, group)
local file = assert(io.open(path, "a"))

local function look()
    local line = { posix.now_ms() }
    local committed = reader.find_committed(inputs, ANSWER_MS)
    for i = 1, #inputs do
        if not committed then
            return
        end
        line[#line + 1] = committed[i]
    end
    for _, part in ipairs(outputs) do
        local last = reader.find_end(part[1], part[2], ANSWER_MS)
        if not last then
            return
        end
        line[#line + 1] = last
    end
    file:write(table.concat(line, "\t"), "\n")
    file:flush()
end

while true do
    look()
    posix.sleep_ms(period_ms)
end
