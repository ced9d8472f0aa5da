local t = require "moontide.test"

t.case("a record a line", function(p)
    p:push("batches", { key = "k", value = "one\r\n\ntwo\n", timestamp = 9 })
    p:expect("output", {
        { key = "k", value = "one", headers = { { "line", "1" } }, timestamp = 9 },
        { key = "k", value = "two", headers = { { "line", "2" } } },
    })
end)

t.case("nothing of nothing", function(p)
    p:push("batches", { key = "k", value = "" })
    p:push("batches", { key = "k" })
    p:expect_none("output")
end)
