local t = require "moontide.test"

t.case("the first of each passes", function(p)
    p:push("in", { key = "a", value = "1" })
    p:push("in", { key = "a", value = "1" })
    p:push("in", { key = "a", value = "2" })
    p:push("in", { key = "a1", value = "" })
    p:expect("output", { { key = "a", value = "1" }, { key = "a", value = "2" }, { key = "a1", value = "" } })
end)

t.case("what is long ago is forgotten", { params = { keep = 2 } }, function(p)
    for _, value in ipairs { "1", "2", "1", "3", "1" } do
        p:push("in", { key = "k", value = value })
    end
    p:expect("output", { { value = "1" }, { value = "2" }, { value = "3" }, { value = "1" } })
end)
