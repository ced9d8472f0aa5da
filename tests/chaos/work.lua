--[[
work: the script that runs in the members. What it writes says where it comes from and who made it, and each
attempt leaves a line in the log, before anything else of it: the place of that line among those of assignments
says in which epoch the attempt was.

An output has the headers `from` (topic/partition/offset/part) and `by` (member/worker/attempt). The value of an
input is a number and a kind: plain, two (two outputs), slow, poison (never comes to an end by itself).
]]
local tide = require "moontide"
local random = math.random

local M = {
    params = {
        member = { type = "string", required = true },
        failing = { type = "number", default = 0, min = 0, max = 1, doc = "share of the attempts that fail" },
        retries = { type = "boolean", default = false, doc = "what fails is run again; poison becomes a dead letter" },
    },
}

local attempt = 0

function M.init(ctx)
    local seed = ctx.worker
    for i = 1, #ctx.config.member do
        seed = (seed * 31 + ctx.config.member:byte(i)) % 1000003
    end
    math.randomseed(seed)
end

local function pause(kind)
    if kind == "slow" then
        tide.sleep(random(20, 150))
    elseif random() < 0.5 then
        tide.sleep(1)
    end
end

local function stumble(by, ctx)
    local way = ctx.config.retries and random(3) or 1
    if way == 1 then
        error("stumbled by " .. by)
    elseif way == 2 then
        ctx.fail("failed by " .. by)
    end
    ctx.retry(random(30), "again by " .. by)
end

function M.process(rec, ctx)
    attempt = attempt + 1
    ctx.log.info("ran", attempt)
    local by = ctx.config.member .. "/" .. ctx.worker .. "/" .. attempt
    local from = rec.topic .. "/" .. rec.partition .. "/" .. rec.offset
    local kind = rec.value:match("%a+$")
    pause(kind)
    if kind == "poison" and ctx.config.retries then
        ctx.fail("poison by " .. by)
    elseif kind == "two" then
        local headers = { { "from", from .. "/1" }, { "by", by } }
        ctx:forward { key = rec.key, value = "<" .. rec.value .. ">", headers = headers }
    end
    if random() < ctx.config.failing then
        stumble(by, ctx)
    end
    rec.value = "<" .. rec.value .. ">"
    rec.headers = { { "from", from .. (kind == "two" and "/2" or "/1") }, { "by", by } }
    return rec
end

return M
