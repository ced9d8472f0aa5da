--[[
loader: from the text of a script to its members, checked.

Why: whatever is wrong with the shape of a script is found before the first record, with file, line and
the name that was meant.
]]
local names = require "moontide.names"
local params = require "moontide.params"
local error, type, pairs, tostring, pcall, select = error, type, pairs, tostring, pcall, select
local find, gsub, sub = string.find, string.gsub, string.sub

local loader = {}

local MEMBERS = {
    process = "function", init = "function", close = "function", params = "table",
    version = "string", requires_order = "string",
}
-- Names that later versions give a meaning.
local RESERVED = { stores = true, timers = true, state_version = true, migrate = true, on_error = true,
    tables = true }
local ORDERS = { none = true, key = true, partition = true }

-- "PATH:LINE" of the first line that assigns or defines the member, else "PATH".
local function place_of(options, name)
    local escaped = gsub(tostring(name), "%W", "%%%0")
    local line, from = 1, 1
    while true do
        local stop = find(options.source, "\n", from, true)
        local text = sub(options.source, from, (stop or #options.source + 1) - 1)
        if find(text, "%f[%w_]" .. escaped .. "%s*[=(]") then
            return options.path .. ":" .. line
        elseif not stop then
            return options.path
        end
        line, from = line + 1, stop + 1
    end
end

-- Says what is wrong; options.found takes all of it, without it the first ends the load.
local function refuse(options, name, text)
    text = place_of(options, name) .. ": " .. text
    if options.found == nil then
        error(text, 0)
    end
    options.found(text)
end

local function check_members(options, script)
    for name, value in pairs(script) do
        local wanted = MEMBERS[name]
        if RESERVED[name] then
            refuse(options, name, '"' .. name .. '" is not available in this version')
        elseif wanted == nil then
            refuse(options, name, 'unknown member "' .. tostring(name) .. '"'
                .. names.hint(name, names.of(MEMBERS)))
        elseif type(value) ~= wanted and not (name == "version" and type(value) == "number") then
            refuse(options, name, name .. " must be a " .. wanted .. ", not " .. names.kind(value))
        end
    end
    if script.process == nil then
        local text = options.path .. ": the script has no process; add function M.process(rec, ctx)"
        if options.found == nil then
            error(text, 0)
        end
        options.found(text)
    end
    if type(script.requires_order) == "string" and not ORDERS[script.requires_order] then
        refuse(options, "requires_order", 'requires_order must be "key", "partition" or "none", not "'
            .. script.requires_order .. '"')
    end
end

-- The members of what the script's chunk returned, with `values` of its parameters.
function loader.members(options, result)
    local script = result
    if type(result) == "function" then
        script = { process = result }
    elseif type(result) ~= "table" then
        error(options.path .. ": the script must return its process function or a table with it, not "
            .. names.kind(result) .. "; end it with: return M", 0)
    end
    check_members(options, script)
    local ok, resolved = pcall(params.resolve, script.params, options.params)
    if not ok then
        local _, _, name = find(resolved, "^params%.([%w_]+)")
        refuse(options, name or "params", resolved)
    end
    return script, resolved
end

-- Calls found(text) for all that is wrong with what the script's chunk returned, each with its place as
-- far as it is known; options as for members.
function loader.inspect(options, result, found)
    local script = result
    if type(result) == "function" then
        script = { process = result }
    elseif type(result) ~= "table" then
        found(select(2, pcall(loader.members, options, result)))
        return
    end
    options.found = found
    check_members(options, script)
    if script.params ~= nil and type(script.params) ~= "table" then
        return -- its type was told
    end
    local declared = script.params or {}
    for name, value in pairs(options.params) do -- those that nothing declares
        if declared[name] == nil then
            local _, text = pcall(params.resolve, declared, { [name] = value })
            refuse(options, "params", text)
        end
    end
    for name, schema in pairs(declared) do
        local ok, text = pcall(params.resolve, { [name] = schema }, { [name] = options.params[name] })
        if not ok then
            refuse(options, name, text)
        end
    end
end

return loader
