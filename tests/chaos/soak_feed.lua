--[[
soak_feed: writes to a topic until it is ended.

    luajit soak_feed.lua BROKER TOPIC RATE SHAPE     RATE: records a second

Shapes: small (100 B), mixed (one in ten of 1 MB), beside (partition 0: small, begun by one of the key `bad`; others:
1 MB), failing (small, one in ten of the key `failing`). `stuck` is `beside` with the key `stuck`.
]]
local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local rdkafka, posix = require "rdkafka", require "posix"

local broker, topic, rate, shape = arg[1], arg[2], tonumber(arg[3]), arg[4]
local SMALL, LARGE = ("s"):rep(100), ("l"):rep(990000)
local KEYS, PARTITIONS = 100, 4

-- key, value, partition of the n-th record
local SHAPES = {
    small = function(n)
        return "key-" .. n % KEYS, SMALL
    end,
    mixed = function(n)
        return "key-" .. n % KEYS, n % 10 == 0 and LARGE or SMALL
    end,
    stuck = function(n)
        local partition = n % PARTITIONS
        if partition ~= 0 then
            return "key-" .. n % KEYS, LARGE, partition
        end
        return n == PARTITIONS and "stuck" or "key-" .. n % KEYS, SMALL, 0
    end,
    failing = function(n)
        return n % 10 == 0 and "failing" or "key-" .. n % KEYS, SMALL
    end,
}

-- each record in a request of its own, so that fetches hold what came lately
local producer = rdkafka.producer(broker, topic, { ["linger.ms"] = "0", acks = "1", ["message.max.bytes"] = "1048000" })
local began, sent = posix.now_ms(), 0
while true do
    local due = (posix.now_ms() - began) * rate / 1000
    while sent < due do
        sent = sent + 1
        producer.send(SHAPES[shape](sent))
    end
    producer.poll(5)
    posix.sleep_ms(5)
end
