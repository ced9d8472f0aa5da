local t = require "moontide.test"

t.case("a known shop, other headers stay", function(p)
    p:push("sales", { key = "s1", value = "9", headers = { { "city", "?" }, { "till", "4" } } })
    p:expect("output", { { key = "s1", value = "9",
        headers = { { "city", "Lyon" }, { "till", "4" }, { "region", "south" } } } })
end)

t.case("an unknown one", function(p)
    p:push("sales", { key = "s9", value = "9" })
    p:push("sales", { value = "8" })
    p:expect("unknown", { { key = "s9", value = "9" }, { key = false, value = "8" } })
    p:expect_none("output")
end)
