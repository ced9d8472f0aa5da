local t = require "moontide.test"

t.case("a key passes whole or not at all", { params = { n = 2 } }, function(p)
    for _, key in ipairs { "a", "b", "a", "b" } do
        p:push("events", { key = key, value = key })
    end
    p:expect("output", { { key = "a" }, { key = "a" } })
end)

t.case("without keys one in n records", { params = { n = 3 } }, function(p)
    for i = 0, 6 do
        p:push("events", { value = tostring(i) })
    end
    p:expect("output", { { value = "0" }, { value = "3" }, { value = "6" } })
end)
