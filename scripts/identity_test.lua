local t = require "moontide.test"

t.case("a record comes out as it went in", function(p)
    p:push("orders", { key = "k\0", value = "\255", headers = { { "a", "1" }, { "a", nil } }, timestamp = 3 })
    p:push("orders", {})
    p:expect("output", {
        { key = "k\0", value = "\255", headers = { { "a", "1" }, { "a", nil } }, timestamp = 3 },
        { key = false, value = false, headers = {} },
    })
end)
