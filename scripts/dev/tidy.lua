--[[
tidy: style that no compiler sees.

    luajit scripts/dev/tidy.lua BUILD_DIR

Banned calls, leftovers, long lines, tabs, names of files and guards, headers that nobody includes but their
own source, names that the READMEs cite, tables of READMEs that miss a file, long documents, and mutable
state outside of functions, which is found in the symbols of the objects below BUILD_DIR.
]]
local build = arg[1] or "build/release"
local faults = 0

local function fault(...)
    faults = faults + 1
    print(string.format(...))
end

local function lines_of(command)
    local list = {}
    for line in io.popen(command):lines() do
        list[#list + 1] = line
    end
    return list
end

local function read(path)
    local file = assert(io.open(path))
    local text = file:read("*a")
    file:close()
    return text
end

local function exists(path)
    local file = io.open(path)
    if file then
        file:close()
    end
    return file ~= nil
end

-- calls that src must not make, and who may: names of files, or folders with a slash
local BANNED = {
    sprintf = "", vsprintf = "", strcpy = "", strcat = "", strncpy = "", strncat = "", strtok = "", gets = "",
    sscanf = "", atoi = "", atol = "", atoll = "", atof = "", strerror = "", alloca = "", rand = "", srand = "",
    localtime = "", gmtime = "", ctime = "", asctime = "", tmpnam = "", mktemp = "", system = "", popen = "",
    signal = "", atexit = "", constructor = "", sleep = "", usleep = "kafka_topics.c", longjmp = "",
    setjmp = "", assert = "",
    malloc = "memory.c", calloc = "memory.c", realloc = "memory.c", strdup = "memory.c", strndup = "memory.c",
    exit = "", _exit = "cli/", abort = "check.c memory.c", pthread_create = "thread.c",
    printf = "cli/", puts = "cli/", putchar = "cli/", fprintf = "cli/ check.c memory.c",
    fputs = "cli/ check.c memory.c",
}
-- memory that a library hands out is freed as it says
local FREES = { ["memory.c"] = true, ["demo_command.c"] = true, ["log.c"] = true }

-- code without comments and texts; line breaks stay
local function strip(text)
    text = text:gsub("/%*.-%*/", function(comment)
        return (comment:gsub("[^\n]", " "))
    end)
    text = text:gsub("//[^\n]*", ""):gsub('\\"', "  "):gsub('"[^"\n]*"', '""')
    return text
end

local function each_line(text, call)
    local number = 0
    for line in (text .. "\n"):gmatch("(.-)\n") do
        number = number + 1
        call(line, number)
    end
end

local function check_text(path, width)
    local by_hand = false -- between the marks that turn clang-format off
    each_line(read(path), function(line, number)
        local _, wide = line:gsub("[%z\1-\127\194-\244]", "")
        if line:find("clang-format o", 1, true) then
            by_hand = line:find("clang-format off", 1, true) ~= nil
        end
        if wide > width and not by_hand then
            fault("%s:%d: %d columns, %d are the limit", path, number, wide, width)
        end
        if line:find("\t", 1, true) then
            fault("%s:%d: a tab", path, number)
        end
        if line:find(" $") then
            fault("%s:%d: blanks at the end", path, number)
        end
        if path ~= "scripts/dev/tidy.lua" and (line:find("TO" .. "DO") or line:find("FIX" .. "ME") or
            line:find("%f[%w]XX" .. "X%f[%W]")) then
            fault("%s:%d: a leftover", path, number)
        end
    end)
end

local function check_code(path)
    local folder, name = path:match("([^/]+/)([^/]+)$")
    each_line(strip(read(path)), function(line, number)
        for call, allowed in pairs(BANNED) do
            if line:find("%f[%w_]" .. call .. "%s*%(") and not line:find("[%.>]" .. call .. "%s*%(") and
                not (" " .. allowed .. " "):find(" " .. name .. " ", 1, true) and
                not (" " .. allowed .. " "):find(" " .. folder .. " ", 1, true) then
                fault("%s:%d: %s() is banned here", path, number, call)
            end
        end
        if line:find("%f[%w_]free%s*%(") and not FREES[name] then
            fault("%s:%d: free() is banned here; memory_free()", path, number)
        end
        if line:find("^typedef struct") then
            fault("%s:%d: a typedef of a struct", path, number)
        end
    end)
end

local stems, included = {}, {}
local sources = lines_of("find src tests/support -name '*.[ch]' | sort")
for _, path in ipairs(lines_of("find src tests -name '*.[ch]' | sort")) do
    check_text(path, 100)
    for target in read(path):gmatch('#%s*include%s*"([^"]+)"') do
        local own = path:gsub("^%w+/", ""):gsub("%.c$", ".h")
        included[target] = included[target] or target ~= own
    end
end
for _, path in ipairs(lines_of("find lua scripts tests -name '*.lua' | sort")) do
    check_text(path, 120)
end
for _, path in ipairs(sources) do
    local folder, stem, kind = path:match("([%w_]+)/([%w_]+)%.([ch])$")
    if path:find("^src/") then
        check_code(path)
    end
    if kind == "h" then
        if stems[stem] then
            fault("%s: %s has the same name", path, stems[stem])
        end
        stems[stem] = path
        local guard = (folder .. "_" .. stem .. "_H"):upper()
        if not read(path):find("#ifndef " .. guard .. "\n#define " .. guard, 1, true) then
            fault("%s: the include guard is %s", path, guard)
        end
        if not included[path:gsub("^src/", ""):gsub("^tests/", "")] then
            fault("%s: nobody includes it", path)
        end
    elseif path:find("^src/[%w_]+/") and not exists(path:gsub("%.c$", ".h")) and folder ~= "cli" then
        fault("%s: has no header of its name", path)
    end
end

-- READMEs: what they cite in backticks exists, and their tables name every pair of their folder
local words = {}
for _, path in ipairs(lines_of("find src lua scripts tests Makefile -type f -not -name '*.md' | sort")) do
    for word in read(path):gmatch("[%w_]+") do
        words[word] = true
    end
end
local files = {}
for _, path in ipairs(lines_of("find . -type f -not -path './build/*' -not -path './.git/*'")) do
    files[path:match("[^/]+$")] = true
end

local function check_readme(path)
    local text = read(path)
    local folder = path:match("^(.*)/[^/]+$") or "."
    each_line(text, function(line, number)
        for cited in line:gmatch("`([^`]+)`") do
            local call = cited:match("^([%w_]+)%(%)$")
            local file = cited:match("^[%w_/%.%-]+%.[chl][ua]?[a]?$") or cited:match("^[%w_/%.%-]+%.md$")
            if call and not words[call] then
                fault("%s:%d: there is no %s()", path, number, call)
            elseif file and not exists(file) and not exists(folder .. "/" .. file) and
                not files[file:match("[^/]+$")] then
                fault("%s:%d: there is no %s", path, number, file)
            elseif cited:find("^%l+/[%w_/%.%-]+$") and not cited:find("^build/") and
                exists((cited:match("^%l+"))) and not exists(cited) then
                fault("%s:%d: there is no %s", path, number, cited)
            end
        end
    end)
    if path:find("^src/") then
        for _, header in ipairs(lines_of("ls " .. folder .. "/*.h")) do
            local stem = header:match("([%w_]+)%.h$")
            if not text:find("%f[%w_]" .. stem .. "%f[^%w_]") then
                fault("%s: does not name %s", path, stem)
            end
        end
    end
end

for _, path in ipairs(lines_of("find . -name '*.md' -not -path './build/*' -not -path './.git/*' | sort")) do
    check_readme((path:gsub("^%./", "")))
end

local function check_length(path, most)
    if not exists(path) then
        fault("%s is missing", path)
        return
    end
    local _, count = read(path):gsub("\n", "")
    if count > most then
        fault("%s: %d lines, %d are the limit", path, count, most)
    end
end

for _, folder in ipairs(lines_of("find src -mindepth 1 -maxdepth 1 -type d | sort")) do
    check_length(folder .. "/README.md", 60)
end
check_length("scripts/README.md", 60)
check_length("scripts/dev/README.md", 60)
check_length("tests/README.md", 100)
check_length("ARCHITECTURE.md", 150)
check_length("Makefile", 200)

-- mutable state: symbols in .data, .bss and their thread-local forms; constant tables with pointers lie in
-- .data.rel.ro. ARCHITECTURE.md names the files that may have some
local STATE = {}
local absence = read("ARCHITECTURE.md"):match("%- No mutable file%-scope variables(.-)\n%- ") or ""
for file in absence:gmatch("`src/([%w_/]+)%.c`") do
    STATE[file .. ".o"] = true
end
local objects = lines_of("find " .. build .. "/src -name '*.o' 2>/dev/null | sort")
if #objects == 0 then
    fault("%s: no objects there; build first", build)
end
for _, object in ipairs(objects) do
    local short = object:match("/src/(.+)$")
    for _, line in ipairs(lines_of("objdump -t " .. object)) do
        local section, size, name = line:match("[ O] O? ?(%.[tdb][%w%.]*)%s+(%x+)%s+(.+)$")
        if not section then
            section, size, name = line:match("%sO%s(%S+)%s+(%x+)%s+(.+)$")
        end
        if section and tonumber(size, 16) > 0 and not STATE[short] and
            (section:find("^%.data") or section:find("^%.bss") or section:find("^%.tdata") or
                section:find("^%.tbss")) and not section:find("^%.data%.rel%.ro") then
            fault("%s: %s is mutable state outside of a function", short, name)
        end
    end
end

if faults > 0 then
    print(faults .. " faults")
    os.exit(1)
end
