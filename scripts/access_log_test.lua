local t = require "moontide.test"

local HEAD = '192.0.2.7 - ann [10/Oct/2024:13:55:36 +0000] '

t.case("a request", function(p)
    p:push("access", { value = HEAD .. '"GET /cart?id=7 HTTP/1.1" 200 2326 "-" "curl/8"' })
    p:push("access", { value = HEAD .. '"HEAD / HTTP/1.1" 304 -' })
    p:expect("output", { { key = "192.0.2.7", value = "GET /cart 200 2326" }, { value = "HEAD / 304 0" } })
    p:expect_none("server-errors")
end)

t.case("a failed request", function(p)
    p:push("access", { value = HEAD .. '"POST /pay HTTP/1.1" 503 12' })
    p:expect("server-errors", { { key = "192.0.2.7", value = "POST /pay 503 12" } })
end)

t.case("another line is a dead letter as it came", { options = { ["errors.dead.letter.queue.topic.name"] = "bad" } },
    function(p)
        p:push("access", { key = "k", value = "starting up" })
        p:expect_dead_letter("no line of an access log", { key = "k", value = "starting up" })
    end)
