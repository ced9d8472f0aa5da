local t = require "moontide.test"

t.case("keeps what contains the text, unchanged", { params = { contains = "ERROR" } }, function(p)
    p:push("log", { key = "a", value = "fine" })
    p:push("log", { key = "a", value = "ERROR one", headers = { { "host", "h1" } }, timestamp = 5 })
    p:expect("output", { { key = "a", value = "ERROR one", headers = { { "host", "h1" } }, timestamp = 5 } })
end)

t.case("inverted it keeps the others, a tombstone too", { params = { contains = "ERROR", invert = true } }, function(p)
    p:push("log", { key = "a", value = "ERROR one" })
    p:push("log", { key = "b" })
    p:expect("output", { { key = "b", value = false } })
end)
