local t = require "moontide.test"

t.case("a record a word of the line, with how often it stands there", function(p)
    p:push("lines", { value = "The cat and the dog" })
    p:push("lines", { value = "" })
    p:expect("output", {
        { key = "the", value = "2" }, { key = "cat", value = "1" }, { key = "and", value = "1" },
        { key = "dog", value = "1" },
    })
end)
