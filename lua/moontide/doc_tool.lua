--[[
doc_tool: moontide doc and moontide types: what doc.lua says, for a terminal and for editors.
]]
local host = require "moontide.host"
local doc = require "moontide.doc"
local names = require "moontide.names"
local ffi, C = host.ffi, host.C
local concat, gsub = table.concat, string.gsub
local write = io.write

local doc_tool = {}

local WIDTH = 78

-- The text in lines that begin with `by`; code in backticks stays as it is.
local function wrapped(text, by)
    local lines, line = {}, by
    for word in text:gmatch("%S+") do
        if #line + #word + 1 > WIDTH and line ~= by then
            lines[#lines + 1] = line
            line = by
        end
        line = line == by and by .. word or line .. " " .. word
    end
    lines[#lines + 1] = line
    return concat(lines, "\n") .. "\n"
end

local function show(section, entry)
    write(entry.use, "\n", wrapped(entry.what, "    "))
    if entry.types then
        write("\n    type: ", entry.types, "\n")
    end
    if entry.errors then
        write(wrapped("errors: " .. entry.errors, "    "))
    end
    if entry.cost then
        write("    cost: ", entry.cost, "\n")
    end
    if entry.example then
        write("\n    ", (gsub(entry.example, "\n", "\n    ")), "\n")
    end
    write("\n    of: ", section.title, "\n")
end

-- First sentence of a text.
local function first(text)
    return (text:match("^(.-%.)%s") or text)
end

local function list(section)
    write(section.title, "\n", wrapped(section.text, "  "), "\n")
    for _, entry in ipairs(section.entries) do
        write(("  %-20s %s\n"):format(entry[1], first(entry[3])))
    end
end

-- "rec:byte()" is rec.byte.
local function plain(name)
    return (gsub(gsub(name, "%s*%(.*$", ""), ":", "."))
end

local function last(name)
    return name:match("([%w_]+)$") or name
end

local function find_rows(wanted)
    local exact, by_last, all = {}, {}, {}
    doc.each(function(section, entry)
        all[#all + 1], all[#all + 2] = entry.name, last(entry.name)
        if entry.name == wanted then
            exact[#exact + 1] = { section, entry }
        elseif last(entry.name) == wanted or "moontide." .. entry.name == wanted then
            by_last[#by_last + 1] = { section, entry }
        end
    end)
    return #exact > 0 and exact or by_last, all
end

local function show_rows(rows)
    for i, row in ipairs(rows) do
        if i > 1 then
            write("\n")
        end
        show(row[1], row[2])
    end
end

local function explain(wanted)
    local rows, all = find_rows(plain(wanted))
    if #rows > 0 then
        return show_rows(rows)
    end
    for _, section in ipairs(doc.sections) do
        local prefix = section.entries[1][1]:match("^([%w_]+)%.")
        local module = doc.module_of(section)
        if wanted == module or wanted == section.class or wanted == prefix or wanted:lower() == section.title:lower()
            or (module and "moontide." .. wanted == module) then
            return list(section)
        end
        all[#all + 1], all[#all + 2] = module or section.title, prefix
    end
    local nearest = names.nearest(plain(wanted), all)
    return "usage", 'there is nothing called "' .. wanted .. '"'
        .. (nearest and '; did you mean "' .. nearest .. '"?' or "; `moontide doc` lists what there is")
end

local function list_all()
    for i, section in ipairs(doc.sections) do
        if i > 1 then
            write("\n")
        end
        list(section)
    end
end

local function write_stubs(tool, folder)
    local why = ffi.new("const char *[1]")
    if not C.tide_tool_make_folder(tool, folder, why) then
        return "io", ffi.string(why[0])
    end
    local stubs = doc.stubs()
    for _, name in ipairs(names.of(stubs)) do
        local path = folder .. "/" .. name .. ".lua"
        local old = io.open(path)
        if old then
            local head = old:read(12)
            old:close()
            if head ~= nil and head ~= "---@meta moo" then
                return "io", path .. ": is no file of `moontide types`; nothing was written over it"
            end
        end
        local file, wrong = io.open(path, "w")
        if file == nil then
            return "io", wrong
        end
        file:write(stubs[name])
        local ok, late = file:close()
        if not ok then
            return "io", path .. ": " .. tostring(late)
        end
        write(path, "\n")
    end
    return nil
end

-- words: name, to explain; or folder, for stubs; or nothing, to list.
function doc_tool.run(words, pointer)
    local word = words[1]
    if word == nil then
        return list_all()
    elseif word.name == "folder" then
        return write_stubs(ffi.cast("struct tide_tool *", pointer), word.value)
    end
    return explain(word.value)
end

return doc_tool
