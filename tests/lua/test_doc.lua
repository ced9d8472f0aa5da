-- The reference: lua/README.md holds what doc.lua says, and doc.lua says what there is.
local doc = require "moontide.doc"

local function read(path)
    local file = assert(io.open(path))
    local text = file:read("*a")
    file:close()
    return text
end

local function documented(prefix)
    local names = {}
    doc.each(function(_, entry)
        local name = entry.name:match("^" .. prefix .. "%.([%w_]+)$")
        if name then
            names[name] = true
        end
    end)
    return names
end

-- The names that `pattern` captures in a source, but for `except`.
local function defined(path, pattern, except)
    local names = {}
    for name in read(path):gmatch(pattern) do
        if name ~= except then
            names[name] = true
        end
    end
    assert(next(names), path .. " defines nothing like " .. pattern)
    return names
end

local function same(left, right, what)
    for name in pairs(left) do
        assert(right[name], what .. ": " .. name .. " is not documented")
    end
    for name in pairs(right) do
        assert(left[name], what .. ": " .. name .. " is documented but not there")
    end
end

local tests = {}

tests["README holds the reference; else run scripts/dev/lua-reference"] = function()
    assert(read("lua/README.md"):find(doc.markdown(), 1, true))
end

tests["every entry says how and what"] = function()
    doc.each(function(_, entry)
        assert(#entry.use > 0 and entry.what:match("%.$"), entry.name)
    end)
end

tests["fields and methods of records are those of record.lua"] = function()
    local there = defined("lua/moontide/record.lua", "\nfunction getters%.([%w_]+)")
    for name in pairs(defined("lua/moontide/record.lua", "\nfunction methods%.([%w_]+)")) do
        there[name] = true
    end
    same(there, documented("rec"), "record")
end

tests["methods of headers are those of headers.lua"] = function()
    same(defined("lua/moontide/headers.lua", "\nfunction methods%.([%w_]+)"), documented("headers"), "headers")
end

tests["members of ctx are those of context.lua"] = function()
    local known = read("lua/moontide/context.lua"):match("known = {(.-)}")
    local there = {}
    for name in known:gmatch('"([%w_]+)"') do
        there[name] = true
    end
    same(there, documented("ctx"), "ctx")
end

tests["members of moontide are those of init.lua"] = function()
    local there = defined("lua/moontide/init.lua", "\nfunction tide%.([%w_]+)")
    there.version = true
    same(there, documented("tide"), "tide")
end

tests["members of a script are those of loader.lua"] = function()
    local members = read("lua/moontide/loader.lua"):match("MEMBERS = {(.-)\n}")
    local entries = {}
    doc.each(function(section, entry)
        if section.title == "Loading" then
            entries[entry.name] = true
        end
    end)
    for name in members:gmatch("([%w_]+) =") do
        assert(entries[name], name .. " is not documented")
    end
end

tests["modules that scripts may require have a section, and each of their functions a row"] = function()
    local modules = { ["moontide.test"] = { "lua/moontide/test_tool.lua", "module" } }
    for name, file in read("lua/moontide/sandbox.lua"):match("PUBLIC = (%b{})"):gmatch(
        '([%w_%.]+)"?%]? = require "moontide%.([%w_]+)"') do
        modules[name] = { "lua/moontide/" .. file .. ".lua", file == "init" and "tide" or file }
    end
    assert(modules.moontide)
    local sections = {}
    for _, section in ipairs(doc.sections) do
        local module = doc.module_of(section)
        for _, entry in ipairs(section.entries) do
            if module then
                sections[module] = sections[module] or {}
                sections[module][entry[1]:match("([%w_]+)$")] = true
            end
        end
    end
    for module, source in pairs(modules) do
        assert(sections[module], module .. " has no section")
        for name in read(source[1]):gmatch("\n *function " .. source[2] .. "%.(%l[%w_]*)%(") do
            assert(sections[module][name], module .. "." .. name .. " has no row")
        end
    end
end

tests["methods of p are those of test_case.lua"] = function()
    local there = {}
    for name in read("lua/moontide/test_case.lua"):gmatch("\nfunction methods:(%l[%w_]*)") do
        there[name] = true
    end
    same(there, documented("p"), "p")
end

tests["stubs parse, and name each member of ctx and rec"] = function()
    local stubs = doc.stubs()
    for name, text in pairs(stubs) do
        assert(loadstring(text, name))
        assert(text:find("^%-%-%-@meta " .. name:gsub("%p", "%%%0") .. "\n"), name)
    end
    for _, prefix in ipairs { "ctx", "rec", "headers", "p" } do
        for name in pairs(documented(prefix)) do
            assert(stubs["moontide.types"]:find("---@field " .. name .. " ", 1, true), prefix .. "." .. name)
        end
    end
end

tests["what rows say of types and examples can be read"] = function()
    doc.each(function(_, entry)
        assert(entry.types == nil or #entry.types > 0, entry.name)
        assert(entry.errors == nil or entry.errors:find("%.$"), entry.name)
        assert(entry.example == nil or loadstring(entry.example) or loadstring("local _ = " .. entry.example),
            entry.name .. ": its example is no Lua")
    end)
end

return tests
