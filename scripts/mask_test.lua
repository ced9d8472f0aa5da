local t = require "moontide.test"

local function becomes(from, to)
    t.case(from, function(p)
        p:push("tickets", { value = from })
        p:expect("output", { { value = to } })
    end)
end

becomes("write to ann.lee+shop@mail.example.org, please", "write to ***@***, please")
becomes("card 4111 1111 1111 1234 is lost", "card ************1234 is lost")
becomes("order 12345 of 2024-03-01", "order 12345 of 2024-03-01")
becomes("nothing here", "nothing here")

t.case("fewer digits by a parameter", { params = { digits = 5 } }, function(p)
    p:push("tickets", { value = "order 12345" })
    p:expect("output", { { value = "order *2345" } })
end)

t.case("a tombstone stays one", function(p)
    p:push("tickets", { key = "k" })
    p:expect("output", { { key = "k", value = false } })
end)
