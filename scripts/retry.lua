-- retry: what may heal by itself is tried again, what never will is a dead letter. A price that has not come yet is
-- waited for: the record runs again after `wait`, while later records of other keys run. Prices are in the memory of
-- the worker: run it with one thread, the default.
--
--   moontide run scripts/retry.lua --in prices --in orders --out priced -b localhost:9092 -g retry \
--       -X errors.dead.letter.queue.topic.name=orders-bad
local M = {}

M.params = { wait = { type = "string", default = "5s", doc = "Until the price is looked for again." } }

local prices = {} -- by product, from the topic of prices

function M.process(rec, ctx)
    if rec.topic == "prices" then
        prices[rec.key or ""] = tonumber(rec.value)
        return
    end
    local product, count = (rec.value or ""):match("^(%w+) (%d+)$")
    if product == nil then
        ctx.dead_letter("an order is PRODUCT COUNT")
    elseif prices[product] == nil then
        ctx.retry(ctx.config.wait, "no price of " .. product .. " yet")
    end
    ctx:forward { key = rec.key, value = product .. " " .. count * prices[product] }
end

return M
