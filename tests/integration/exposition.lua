--[[
exposition: judges a text in Prometheus' exposition format, and names by Prometheus' conventions, without the
product's code. Says what is wrong line by line; exit 1 when something is.

    luajit exposition.lua <metrics              prints "N families, N samples"
    luajit exposition.lua NAME [LABEL...] <...  prints the values of a family whose labels hold each LABEL='x="y"'
]]
local faults, number = 0, 0
local families, samples, series = 0, 0, {}
local seen = {} -- families, by name
local family -- the one at hand: name, type, last line kind
local buckets = {} -- of one histogram series: labels without le -> {last bound, last count}

local function fault(...)
    faults = faults + 1
    print(("line %d: %s"):format(number, (...):format(select(2, ...))))
end

local UNITS = { "milliseconds", "_ms", "_us", "_ns", "minutes", "hours", "kilobytes", "_kb", "_mb", "percent" }

local function check_name(name, kind)
    if not name:find("^moontide_[a-z][a-z0-9_]*$") then
        fault("%s: a name is moontide_ and small letters", name)
    end
    if (kind == "counter") ~= (name:find("_total$") ~= nil) then
        fault("%s: counters end in _total, and only they", name)
    end
    if name:find("_count$") or name:find("_sum$") or name:find("_bucket$") or name:find("_" .. kind) then
        fault("%s: the name has a suffix that means something else", name)
    end
    for _, unit in ipairs(UNITS) do
        if (name .. "_"):find(unit .. "_", 1, true) then
            fault("%s: %s is no base unit", name, unit)
        end
    end
    if kind == "histogram" and not name:find("_seconds$") and not name:find("_bytes$") then
        fault("%s: a histogram has a unit", name)
    end
end

-- The labels as a list of name="value", or nil.
local function read_labels(text)
    local list, at = {}, 1
    while at <= #text do
        local name, from = text:match('^([a-z_]+)="()', at)
        if not name then
            return nil
        end
        local stop = from
        while text:sub(stop, stop) ~= '"' do
            if stop > #text then
                return nil
            end
            if text:sub(stop, stop) == "\\" then
                if not text:sub(stop + 1, stop + 1):find('[\\"n]') then
                    return nil
                end
                stop = stop + 1
            end
            stop = stop + 1
        end
        list[#list + 1] = text:sub(at, stop)
        at = stop + 1
        if text:sub(at, at) == "," then
            at = at + 1
        elseif at <= #text then
            return nil
        end
    end
    return list
end

local function check_bucket(labels, value)
    local others, bound = {}, nil
    for _, label in ipairs(labels) do
        local le = label:match('^le="(.*)"$')
        bound = le and (le == "+Inf" and math.huge or tonumber(le)) or bound
        others[#others + 1] = not le and label or nil
    end
    local key = family.name .. table.concat(others, ",")
    local last = buckets[key] or { bound = -math.huge, count = 0 }
    if not bound then
        fault("a bucket without le")
    elseif bound <= last.bound or value < last.count then
        fault("buckets rise, and count all below")
    end
    buckets[key] = { bound = bound or 0, count = value }
end

local function check_histogram(name, labels, value)
    local part = name:sub(#family.name + 1)
    if part == "_bucket" then
        check_bucket(labels, value)
    elseif part == "_count" then
        local last = buckets[family.name .. table.concat(labels, ",")]
        if not last or last.bound ~= math.huge or last.count ~= value then
            fault("the last bucket is +Inf and equals the count")
        end
    elseif part ~= "_sum" then
        fault("%s is no part of a histogram", name)
    end
end

local function check_sample(line)
    local name, inside, text = line:match("^([%w_]+){(.*)} (%S+)$")
    local labels = inside and read_labels(inside)
    local value = tonumber(text)
    if not labels or not value then
        fault("no sample: %s", line)
        return
    end
    if series[name .. inside] then
        fault("the same series again")
    end
    series[name .. inside] = true
    samples = samples + 1
    if not family or name:sub(1, #family.name) ~= family.name or family.state == "help" then
        fault("%s stands in no family of its own", name)
    elseif family.type == "histogram" then
        check_histogram(name, labels, value)
    elseif name ~= family.name then
        fault("%s stands in the family %s", name, family.name)
    end
    if value < 0 then
        fault("%s is negative", name)
    end
    return name, labels, text
end

local function wanted(name, labels)
    local text = "," .. table.concat(labels, ",") .. ","
    for i = 2, #arg do
        if not text:find("," .. arg[i] .. ",", 1, true) then
            return false
        end
    end
    return name == arg[1]
end

local last = ""
for line in io.lines() do
    number = number + 1
    local name, text = line:match("^# HELP ([%w_]+) (.+)$")
    local typed, kind = line:match("^# TYPE ([%w_]+) (%a+)$")
    if name then
        if seen[name] then
            fault("the family %s again", name)
        end
        if not text:find("^[%u%d].*%.$") then
            fault("a help is a sentence: %s", text)
        end
        seen[name] = true
        families = families + 1
        family = { name = name, state = "help" }
    elseif typed then
        if not family or family.name ~= typed or family.state ~= "help" then
            fault("TYPE without its HELP")
            family = { name = typed }
        end
        family.state, family.type = "type", kind
        check_name(typed, kind)
        if kind ~= "counter" and kind ~= "gauge" and kind ~= "histogram" then
            fault("no type %s", kind)
        end
    else
        local sample, labels, value = check_sample(line)
        if sample and arg[1] and wanted(sample, labels) then
            print(value)
        end
    end
    last = line
end
if number == 0 or last == "" then
    fault("nothing, or an empty line at the end")
end
if not arg[1] then
    print(("%d families, %d samples"):format(families, samples))
end
os.exit(faults == 0 and 0 or 1)
