-- params: schemas and values, beyond what the tests in C try one by one.
local params = require "moontide.params"

local function resolve(schema, text)
    local ok, result = pcall(params.resolve, { p = schema }, text and { p = text } or {})
    return ok and result.values.p, not ok and result or nil
end

local tests = {}

tests["texts become values of the type"] = function()
    assert(resolve({ type = "number" }, "1e3") == 1000)
    assert(resolve({ type = "number" }, "-.5") == -0.5)
    assert(resolve({ type = "integer" }, "+7") == 7)
    assert(resolve({ type = "integer" }, "9007199254740992") == 2 ^ 53)
    assert(resolve({ type = "string" }, "7") == "7")
    assert(resolve({ type = "string" }, "") == "")
    for text, value in pairs { yes = true, on = true, ["1"] = true, no = false, off = false, ["0"] = false } do
        assert(resolve({ type = "boolean" }, text) == value)
    end
end

tests["texts that only look like numbers are refused"] = function()
    for _, text in ipairs { "", " 1", "inf", "nan", "1x", "0x", "--1", "1,5" } do
        local value, why = resolve({ type = "number" }, text)
        assert(not value and why:find("parameter p must be a number", 1, true), text)
    end
    local value, why = resolve({ type = "integer" }, "9007199254740994")
    assert(not value and why:find("must be a whole number", 1, true))
end

tests["a value given goes before the default, also false"] = function()
    assert(resolve({ type = "boolean", default = true }, "no") == false)
    assert(resolve({ type = "number", default = 3 }, "4") == 4)
    assert(resolve({ type = "number", default = 3 }) == 3)
end

return tests
