local t = require "moontide.test"

local DEAD = { ["errors.dead.letter.queue.topic.name"] = "orders-bad", ["max.retries"] = 2 }

t.case("a price that comes late", { options = DEAD }, function(p)
    p:push("orders", { key = "u1", value = "tea 3" })
    p:expect_retry("no price of tea yet")
    p:push("prices", { key = "tea", value = "4" })
    p:advance("4s")
    p:expect_none("output")
    p:advance("2s")
    p:expect("output", { { key = "u1", value = "tea 12" } })
end)

t.case("a price that never comes", { options = DEAD, params = { wait = "1s" } }, function(p)
    p:push("orders", { key = "u1", value = "tea 3" })
    p:advance("10s")
    p:expect_retry("no price")
    p:expect_retry("no price")
    p:expect_dead_letter("no price", { key = "u1", value = "tea 3" })
end)

t.case("what is no order", { options = DEAD }, function(p)
    p:push("orders", { key = "u2", value = "tea" })
    p:expect_dead_letter("an order is PRODUCT COUNT", { key = "u2", value = "tea" })
end)
