--[[
layers: who may include whom. Fails on an include that the table below does not allow, on a cycle among
headers, on a library outside its folder, and on a source that does not include its own header first.

    luajit scripts/dev/layers.lua
]]
local ALLOWED = {
    base = "", stream = "base", config = "base", metrics = "base", commit = "base stream", state = "base stream",
    engine = "base stream metrics commit state", kafka = "base stream metrics", ["local"] = "base stream metrics",
    script = "base stream metrics", admin = "base metrics",
    cli = "base stream config metrics commit state engine kafka local script admin",
}

-- what only some folders may name
local ONLY = {
    ["pthread.h"] = "base", ["librdkafka/rdkafka.h"] = "kafka", ["librdkafka/rdkafka_mock.h"] = "kafka",
    ["lua.h"] = "script", ["lauxlib.h"] = "script", ["lualib.h"] = "script", ["luajit.h"] = "script",
    ["ini.h"] = "config", ["microhttpd.h"] = "admin",
}

local faults = 0

local function fault(...)
    faults = faults + 1
    print(string.format(...))
end

local function contains(words, word)
    return (" " .. words .. " "):find(" " .. word .. " ", 1, true) ~= nil
end

local function sources()
    local list = {}
    for path in io.popen("find src -name '*.[ch]' | sort"):lines() do
        list[#list + 1] = path
    end
    return list
end

local includes = {} -- of headers: path below src -> list of paths below src

local function check_file(path)
    local folder, name = path:match("^src/(%w+)/(.+)$")
    if not folder then
        return -- src/main.c
    elseif not ALLOWED[folder] then
        fault("%s: folder %s is not in the table of layers", path, folder)
        return
    end
    local own = folder .. "/" .. name:gsub("%.c$", ".h")
    local first, number = nil, 0
    includes[folder .. "/" .. name] = {}
    for line in io.lines(path) do
        number = number + 1
        local quoted = line:match('^%s*#%s*include%s*"([^"]+)"')
        local system = line:match("^%s*#%s*include%s*<([^>]+)>")
        first = first or quoted or system
        if quoted then
            local target = quoted:match("^(%w+)/")
            table.insert(includes[folder .. "/" .. name], quoted)
            if not target then
                fault("%s:%d: include \"%s\" with its folder", path, number, quoted)
            elseif target ~= folder and not contains(ALLOWED[folder], target) then
                fault("%s:%d: %s must not include %s", path, number, folder, target)
            end
        elseif system and ONLY[system] and not contains(ONLY[system], folder) then
            fault("%s:%d: <%s> belongs to %s", path, number, system, ONLY[system])
        end
    end
    local has_header = io.open("src/" .. own)
    if has_header then
        has_header:close()
        if name:match("%.c$") and first ~= own then
            fault("%s: includes its own header \"%s\" first", path, own)
        end
    end
end

local state = {} -- 1: being walked, 2: done

local function walk(header, trail)
    if state[header] == 2 or not includes[header] then
        return
    elseif state[header] == 1 then
        fault("cycle: %s -> %s", table.concat(trail, " -> "), header)
        return
    end
    state[header] = 1
    trail[#trail + 1] = header
    for _, target in ipairs(includes[header]) do
        walk(target, trail)
    end
    trail[#trail] = nil
    state[header] = 2
end

local all = sources()
for _, path in ipairs(all) do
    check_file(path)
end
for header in pairs(includes) do
    if header:match("%.h$") then
        walk(header, {})
    end
end
if faults > 0 then
    print(faults .. " faults in the layers")
    os.exit(1)
end
