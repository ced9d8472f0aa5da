--[[
source_lines: the line of a script that a message names, for whoever reads the message in a log.

Why: "pay.lua:12: attempt to index a nil value" sends its reader to a file that may be on another machine, or
another version by now; the line itself says most of it. Only failures pay for the search.
]]
local find, match, sub, tonumber, pairs = string.find, string.match, string.sub, tonumber, pairs

local source_lines = {}

local SHOWN_MAX = 120

local texts = {} -- path -> text of a script or module of this state

function source_lines.keep(path, text)
    texts[path] = text
end

-- The text of a file as messages name it; Lua cuts long paths to "..." and their end.
local function text_of(path)
    if texts[path] or sub(path, 1, 3) ~= "..." then
        return texts[path]
    end
    local ending = sub(path, 4)
    for name, text in pairs(texts) do
        if sub(name, -#ending) == ending then
            return text
        end
    end
    return nil
end

-- "\n    CODE" for a message that begins with a file's path and line, else "".
function source_lines.of(message)
    local path, number = match(message, "^([^\n]-):(%d+): ")
    local text = path and text_of(path)
    local from = 1
    for _ = 2, text and tonumber(number) or 0 do
        local stop = find(text, "\n", from, true)
        if stop == nil then
            return ""
        end
        from = stop + 1
    end
    local line = text and match(text, "^[ \t]*([^\r\n]*)", from) or ""
    if line == "" then
        return ""
    elseif #line > SHOWN_MAX then
        line = sub(line, 1, SHOWN_MAX) .. "..."
    end
    return "\n    " .. line
end

return source_lines
