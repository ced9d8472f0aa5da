local t = require "moontide.test"

t.case("the header decides, and headers go along", function(p)
    p:push("events", { key = "1", value = "a", headers = { { "type", "order" }, { "by", "shop" } } })
    p:push("events", { key = "2", value = "b", headers = { { "type", "refund" } } })
    p:expect("orders", { { key = "1", value = "a", headers = { { "type", "order" }, { "by", "shop" } } } })
    p:expect("payments", { { key = "2", value = "b" } })
end)

t.case("without a known type it is other", function(p)
    p:push("events", { value = "c" })
    p:push("events", { value = "d", headers = { { "type", "gift" } } })
    p:expect("other", { { value = "c" }, { value = "d" } })
    p:expect_none("orders")
end)
