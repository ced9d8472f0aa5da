--[[
test_report: what came of each case: TAP for programs, lines for people, JUnit for servers of builds.
]]
local format, gsub, concat = string.format, string.gsub, table.concat
local write = io.write

local report = {}

local results, style

function report.begin(wanted)
    results, style = {}, wanted
    if style == "tap" then
        write("TAP version 13\n")
    end
end

local function indented(text, by)
    return by .. gsub(text, "\n", "\n" .. by) .. "\n"
end

-- What a test file prints.
function report.note(text)
    write(indented(text, "# "))
end

-- A case: file, name, failure (a text, or nil) and seconds.
function report.add(result)
    results[#results + 1] = result
    local word = result.failure and "not ok" or "ok"
    local name = result.file .. ": " .. gsub(result.name, "[\r\n]", " ")
    if style == "tap" then
        write(format("%s %d - %s\n", word, #results, (gsub(name, "#", "\\#"))))
        if result.failure then
            write(indented(result.failure, "  # "))
        end
    else
        write(format("%-7s%s\n", result.failure and "FAILED" or "ok", name))
        if result.failure then
            write(indented(result.failure, "    "))
        end
    end
end

-- Ends the list. Returns how many passed and failed.
function report.finish()
    local failed = 0
    for _, result in ipairs(results) do
        failed = failed + (result.failure and 1 or 0)
    end
    local passed = #results - failed
    if style == "tap" then
        write(format("1..%d\n# %d passed, %d failed\n", #results, passed, failed))
    else
        write(format("\n%d passed, %d failed\n", passed, failed))
    end
    return passed, failed
end

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

-- XML 1.0 has no place for control characters, and wants UTF-8: other bytes are escaped.
local function xml(text)
    text = gsub(text, '[&<>"]', ENTITIES)
    return (gsub(text, "[%z\1-\8\11-\31\127-\255]", function(byte)
        return format("\\x%02x", byte:byte())
    end))
end

-- True, or false and why.
function report.write_junit(path)
    local files, order = {}, {}
    for _, result in ipairs(results) do
        if not files[result.file] then
            files[result.file] = { failed = 0 }
            order[#order + 1] = result.file
        end
        local list = files[result.file]
        list[#list + 1] = result
        list.failed = list.failed + (result.failure and 1 or 0)
    end
    local lines = { '<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>" }
    for _, name in ipairs(order) do
        local list = files[name]
        lines[#lines + 1] = format('  <testsuite name="%s" tests="%d" failures="%d">', xml(name), #list, list.failed)
        for _, result in ipairs(list) do
            local head = format('    <testcase classname="%s" name="%s" time="%.3f"', xml(name), xml(result.name),
                result.seconds)
            if result.failure then
                lines[#lines + 1] = head .. ">"
                lines[#lines + 1] = format('      <failure message="%s">%s</failure>',
                    xml(result.failure:match("^[^\n]*")), xml(result.failure))
                lines[#lines + 1] = "    </testcase>"
            else
                lines[#lines + 1] = head .. "/>"
            end
        end
        lines[#lines + 1] = "  </testsuite>"
    end
    lines[#lines + 1] = "</testsuites>\n"
    local file, why = io.open(path, "w")
    if file == nil then
        return false, why
    end
    local ok, wrong = file:write(concat(lines, "\n"))
    local closed, late = file:close()
    return ok and closed and true or false, wrong or late
end

return report
