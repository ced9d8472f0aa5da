-- headers against a naive list of pairs, by random operations; and through the array that C gets.
local ffi = require "ffi"
local headers = require "moontide.headers"

local NAMES = { "a", "b", "", "n\0l" }
local VALUES = { "1", "", "v\0\255", false } -- false: none

local function pick(list)
    return list[math.random(#list)]
end

local function value_or_nil(value)
    return value or nil
end

local model = {}

function model.get(list, name)
    local found
    for _, pair in ipairs(list) do
        if pair[1] == name then
            found = pair
        end
    end
    return found and value_or_nil(found[2])
end

function model.del(list, name)
    local count = 0
    for i = #list, 1, -1 do
        if list[i][1] == name then
            table.remove(list, i)
            count = count + 1
        end
    end
    return count
end

function model.set(list, name, value)
    for i, pair in ipairs(list) do
        if pair[1] == name then
            local rest = {}
            for j = #list, i + 1, -1 do
                table.insert(rest, 1, table.remove(list, j))
            end
            model.del(rest, name)
            pair[2] = value
            for _, other in ipairs(rest) do
                list[#list + 1] = other
            end
            return
        end
    end
    list[#list + 1] = { name, value }
end

local function compare(self, list)
    local i = 0
    for name, value in self:iter() do
        i = i + 1
        assert(name == list[i][1] and value == value_or_nil(list[i][2]), "header " .. i)
    end
    assert(i == #list)
end

local function compare_array(self, list)
    local array, count = headers.write(self)
    assert(count == #list)
    for i = 1, count do
        local header = array[i - 1]
        assert(ffi.string(header.name, header.name_size) == list[i][1])
        assert((header.value ~= nil) == (list[i][2] ~= false))
        assert(header.value == nil or ffi.string(header.value, header.value_size) == list[i][2])
    end
    local again = headers.of_view { _headers = array, _header_count = count }
    assert(not again._changed)
    compare(again, list)
end

local function step(self, list)
    local name, value = pick(NAMES), pick(VALUES)
    local operation = math.random(5)
    if operation <= 2 then
        self:add(name, value_or_nil(value))
        list[#list + 1] = { name, value }
    elseif operation == 3 then
        self:set(name, value_or_nil(value))
        model.set(list, name, value)
    elseif operation == 4 then
        assert(self:del(name) == model.del(list, name))
    end
    assert(self:get(name) == model.get(list, name))
    local all, n = self:all(name), 0
    for _, pair in ipairs(list) do
        if pair[1] == name then
            n = n + 1
            assert(all[n] == value_or_nil(pair[2]))
        end
    end
    assert(all.n == n)
end

local tests = {}

tests["random operations agree with a list of pairs"] = function()
    local seed = os.time()
    math.randomseed(seed)
    for round = 1, 200 do
        local self, list = assert(headers.from {}), {}
        for _ = 1, 40 do
            local ok, why = pcall(step, self, list)
            assert(ok, "seed " .. seed .. " round " .. round .. ": " .. tostring(why))
        end
        compare(self, list)
        compare_array(self, list)
        compare(headers.copy(self), list)
    end
end

tests["a map is written in the order of its names"] = function()
    compare(assert(headers.from { c = "3", a = "1", b = "2" }), { { "a", "1" }, { "b", "2" }, { "c", "3" } })
end

tests["what is no header is refused with its place"] = function()
    local _, why = headers.from { { "a", "1" }, { "b", 2 } }
    assert(why:find("headers[2] must be { name, value }", 1, true))
    _, why = headers.from { a = 1 }
    assert(why:find('headers["a"] must be a string', 1, true))
    _, why = headers.from(7)
    assert(why:find("not a number", 1, true))
end

return tests
