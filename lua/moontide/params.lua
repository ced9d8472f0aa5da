--[[
params: the parameters that a script declares, checked against what the configuration gives.

Why: a slip in a name or a value is found before the first record, and the message says which parameter
and what would have been accepted.
]]
local names = require "moontide.names"
local error, type, pairs, tostring, tonumber = error, type, pairs, tostring, tonumber
local floor, concat, find = math.floor, table.concat, string.find

local params = {}

local EXACT_MAX = 2 ^ 53
local TYPES = { "boolean", "integer", "number", "string" }
local FIELDS = { "type", "default", "min", "max", "choices", "required", "doc" }
local BOOLEANS = {
    ["true"] = true, yes = true, on = true, ["1"] = true,
    ["false"] = false, no = false, off = false, ["0"] = false,
}

local function contains(list, wanted)
    for i = 1, #list do
        if list[i] == wanted then
            return true
        end
    end
    return false
end

local function is_number(value)
    return type(value) == "number" and value == value and value ~= 1 / 0 and value ~= -1 / 0
end

-- nil, or what is wrong with a value of the right type.
local function out_of_range(schema, value)
    if schema.min and value < schema.min then
        return "must be at least " .. schema.min .. ", not " .. value
    elseif schema.max and value > schema.max then
        return "must be at most " .. schema.max .. ", not " .. value
    elseif schema.choices and not contains(schema.choices, value) then
        return "must be one of " .. concat(schema.choices, ", ") .. ", not " .. value
    end
    return nil
end

-- nil, or what is wrong with a value for this schema.
local function refusal(schema, value)
    local kind = schema.type
    if kind == "integer" then
        if not is_number(value) or floor(value) ~= value or value > EXACT_MAX or value < -EXACT_MAX then
            return "must be a whole number, not " .. tostring(value)
        end
    elseif kind == "number" then
        if not is_number(value) then
            return "must be a number, not " .. tostring(value)
        end
    elseif type(value) ~= kind then
        return "must be a " .. kind .. ", not " .. tostring(value)
    end
    return out_of_range(schema, value)
end

-- The value that a text of the configuration stands for; the text itself where it stands for none.
local function parse(schema, text)
    if schema.type == "boolean" then
        local value = BOOLEANS[text]
        if value == nil then
            return text
        end
        return value
    elseif schema.type == "string" then
        return text
    end
    if find(text, "^[+-]?[%d.]") then
        return tonumber(text) or text
    end
    return text
end

local function check_schema(name, schema)
    local where = "params." .. tostring(name)
    if type(name) ~= "string" then
        error(where .. ": a parameter's name must be a string", 0)
    elseif type(schema) ~= "table" then
        error(where .. ' must be a table such as { type = "number", default = 1 }, not '
            .. names.kind(schema), 0)
    end
    for field in pairs(schema) do
        if not contains(FIELDS, field) then
            error(where .. ': unknown field "' .. tostring(field) .. '"' .. names.hint(field, FIELDS), 0)
        end
    end
    if not contains(TYPES, schema.type) then
        error(where .. ".type must be one of " .. concat(TYPES, ", ") .. ", not "
            .. tostring(schema.type), 0)
    end
    local numeric = schema.type == "number" or schema.type == "integer"
    if (schema.min ~= nil or schema.max ~= nil) and not numeric then
        error(where .. ": min and max are for numbers", 0)
    elseif (schema.min ~= nil and not is_number(schema.min))
        or (schema.max ~= nil and not is_number(schema.max)) then
        error(where .. ": min and max must be numbers", 0)
    elseif schema.choices ~= nil and (type(schema.choices) ~= "table" or schema.type == "boolean") then
        error(where .. ".choices must be an array of strings or numbers", 0)
    end
    local wrong = schema.default ~= nil and refusal(schema, schema.default)
    if wrong then
        error(where .. ".default " .. wrong, 0)
    end
end

-- The values of all parameters. Raises a text without a place; the loader knows the place.
function params.resolve(declared, given)
    if declared == nil then
        declared = {}
    elseif type(declared) ~= "table" then
        error("params must be a table, not " .. names.kind(declared), 0)
    end
    local list = names.of(declared)
    for name in pairs(given) do
        if declared[name] == nil then
            error('unknown parameter "' .. name .. '"' .. names.hint(name, list), 0)
        end
    end
    local values = {}
    for name, schema in pairs(declared) do
        check_schema(name, schema)
        local value = schema.default
        if given[name] ~= nil then
            value = parse(schema, given[name])
            local wrong = refusal(schema, value)
            if wrong then
                error("parameter " .. name .. " " .. wrong, 0)
            end
        elseif schema.required and value == nil then
            error("parameter " .. name .. " is required; give it with --set " .. name
                .. "=VALUE or in section [params]", 0)
        end
        values[name] = value
    end
    return { values = values, declared = declared }
end

return params
