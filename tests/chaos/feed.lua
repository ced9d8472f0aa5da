--[[
feed: writes records to topics, each in turn, until it is ended.

    luajit feed.lua BROKER TOPIC,TOPIC... RATE SEED      RATE: records a second in all
]]
local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local rdkafka, posix = require "rdkafka", require "posix"

local broker, names, rate, seed = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])
local KEYS = 60
math.randomseed(seed)

local producers = {}
for name in names:gmatch("[^,]+") do
    producers[#producers + 1] = rdkafka.producer(broker, name, { ["linger.ms"] = "20", acks = "1",
        ["reconnect.backoff.max.ms"] = "500" })
end

local function kind()
    local dice = math.random(1000)
    return dice <= 3 and "poison" or dice <= 8 and "slow" or dice <= 108 and "two" or "plain"
end

local last_ms, sent, due = posix.now_ms(), 0, 0
while true do
    local now_ms = posix.now_ms()
    -- what a broker missed is not made up for: the round would end late
    due = math.min(due + (now_ms - last_ms) * rate / 1000, sent + rate)
    last_ms = now_ms
    while sent < due do
        sent = sent + 1
        local which = sent % #producers + 1
        local key = "key-" .. which .. "-" .. math.random(KEYS)
        producers[which].send(key, sent .. " " .. kind())
    end
    for _, producer in ipairs(producers) do
        producer.poll(5)
    end
    posix.sleep_ms(10)
end
