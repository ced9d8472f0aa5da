local t = require "moontide.test"

t.case("values in capital letters, a tombstone stays one", function(p)
    p:push("in", { key = "k", value = "one Two" })
    p:push("in", { key = "k" })
    p:expect("output", { { key = "k", value = "ONE TWO" }, { key = "k", value = false } })
end)
