--[[
soak: memory stays under its bound while scripts are slower than their input, on a real Kafka.

    SOAK_SECONDS=600 luajit tests/chaos/soak.lua [NAME...]

Each scenario is a process of its own; all run at the same time. Resident memory comes from /proc twice a second. The
bound is what the configuration allows: for each partition its window (task.window.bytes and one record more, and
SLOT_BYTES for each of task.window.records), its prefetch (queued.max.messages.kbytes and one fetch more), and 30 MB.
Exit 1 when a process was above it, or ended. Also read: MOONTIDE, KAFKA_DIR, KAFKA_PORT, KEEP, as chaos.lua.
]]
local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local posix, rdkafka, broker = require "posix", require "rdkafka", require "broker"

local root = here .. "/../.."
local moontide = os.getenv("MOONTIDE") or root .. "/build/moontide"
local seconds = tonumber(os.getenv("SOAK_SECONDS") or "") or 600

local MB = 1024 * 1024
local BASE = 30 * MB
local LARGEST, FETCH = 1 * MB, 1 * MB -- a record, and what fetch.message.max.bytes allows of a partition
local SLOT_BYTES = 1024
local SAMPLE_MS = 500
local PARTITIONS, PAGE = 4, 4096

-- rate: records a second that come in; ms: what each takes. What else a scenario sets overrides COMMON.
local COMMON = { threads = 2, window_records = 4096, window_mb = 16, prefetch_kb = 4096, options = {} }
local SCENARIOS = {
    { name = "mixed", shape = "mixed", rate = 60, ms = 50 },
    { name = "small", shape = "small", rate = 4000, ms = 1 },
    { name = "stuck", shape = "stuck", rate = 40, ms = 1 },
    { name = "failing", shape = "failing", rate = 100, ms = 5, options = { "error.policy=retry", "max.retries=-1",
        "retry.backoff.max.ms=1000" }, needs = "error.policy" },
}

local function output_of(command)
    local pipe = io.popen(command)
    local text = pipe:read("*a")
    pipe:close()
    return text
end

local function chosen(name)
    for _, wanted in ipairs(arg) do
        if name:find(wanted, 1, true) then
            return true
        end
    end
    return #arg == 0
end

local function bound_of(scenario)
    local window = math.min(scenario.window_mb * MB, scenario.window_records * LARGEST) + LARGEST
    return PARTITIONS * (window + scenario.window_records * SLOT_BYTES + scenario.prefetch_kb * 1024 + FETCH) + BASE
end

local function start(scenario, folder)
    local id = "soak-" .. scenario.name .. "-" .. posix.now_ms() % 1000000
    local kept = { ["retention.bytes"] = tostring(64 * MB), ["segment.bytes"] = tostring(16 * MB) }
    rdkafka.make_topics(broker.address, { { id .. ".in", PARTITIONS }, { id .. ".out", PARTITIONS, kept } })
    scenario.feeder = posix.spawn({ "luajit", here .. "/soak_feed.lua", broker.address, id .. ".in",
        tostring(scenario.rate), scenario.shape }, folder .. "/" .. scenario.name .. ".feed.log")
    local argv = { moontide, "run", here .. "/soak_work.lua", "-b", broker.address, "-g", id, "--in", id .. ".in",
        "--out", id .. ".out", "--set", "ms=" .. scenario.ms }
    local options = {
        "num.stream.threads=" .. scenario.threads, "num.threads.per.task=" .. scenario.threads,
        "task.window.records=" .. scenario.window_records, "task.window.bytes=" .. scenario.window_mb .. "MiB",
        "kafka.consumer.queued.max.messages.kbytes=" .. scenario.prefetch_kb, unpack(scenario.options),
    }
    for _, option in ipairs(options) do
        argv[#argv + 1] = "-X"
        argv[#argv + 1] = option
    end
    scenario.pid = posix.spawn(argv, folder .. "/" .. scenario.name .. ".log")
    scenario.bound, scenario.most, scenario.now = bound_of(scenario), 0, 0
end

local function sample(scenario)
    if scenario.code then
        return
    end
    scenario.code = posix.ended(scenario.pid)
    local file = io.open("/proc/" .. scenario.pid .. "/statm")
    local pages = file and tonumber(file:read("*a"):match("^%d+ (%d+)"))
    if file then
        file:close()
    end
    scenario.now = (pages or 0) * PAGE
    scenario.most = math.max(scenario.most, scenario.now)
end

local function print_row(label, scenarios, value)
    local row = { string.format("%8s", label) }
    for _, scenario in ipairs(scenarios) do
        row[#row + 1] = string.format("%10s", value(scenario))
    end
    print(table.concat(row))
    io.stdout:flush()
end

local function megabytes(field)
    return function(scenario)
        return scenario.code and "ended" or string.format("%.1f", scenario[field] / MB)
    end
end

local function watch(scenarios)
    print("resident memory in MB")
    print_row("s", scenarios, function(scenario)
        return scenario.name
    end)
    print_row("bound", scenarios, megabytes("bound"))
    local began = posix.now_ms()
    local shown = 0
    while posix.now_ms() - began < seconds * 1000 do
        posix.sleep_ms(SAMPLE_MS)
        for _, scenario in ipairs(scenarios) do
            sample(scenario)
        end
        if posix.now_ms() - began >= shown * seconds * 100 then
            shown = shown + 1
            print_row(math.floor((posix.now_ms() - began) / 1000), scenarios, megabytes("now"))
        end
    end
    print_row("most", scenarios, megabytes("most"))
end

local function judge(scenarios, folder)
    local faults = 0
    for _, scenario in ipairs(scenarios) do
        if scenario.code or scenario.most > scenario.bound then
            faults = faults + 1
            print(string.format("FAULT %s: %s, see %s", scenario.name, scenario.code and "ended with code "
                .. scenario.code or "above its bound", folder))
        end
    end
    return faults
end

local function main()
    local scenarios, options = {}, output_of(moontide .. " config")
    for _, scenario in ipairs(SCENARIOS) do
        if chosen(scenario.name) and (not scenario.needs or options:find(scenario.needs, 1, true)) then
            for name, value in pairs(COMMON) do
                scenario[name] = scenario[name] or value
            end
            scenarios[#scenarios + 1] = scenario
        end
    end
    local folder = root .. "/build/chaos/soak-" .. posix.now_ms() % 1000000
    assert(os.execute("mkdir -p " .. folder) == 0)
    broker.start()
    for _, scenario in ipairs(scenarios) do
        start(scenario, folder)
    end
    watch(scenarios)
    local faults = judge(scenarios, folder)
    for _, scenario in ipairs(scenarios) do
        posix.kill(scenario.feeder, posix.KILL)
        posix.kill(scenario.pid, posix.KILL)
    end
    if faults == 0 and not os.getenv("KEEP") then
        os.execute("rm -rf " .. folder)
    end
    print(string.format("soak: %d scenarios, %d s: %s", #scenarios, seconds, faults == 0 and "within their bounds"
        or faults .. " faults"))
    return faults
end

local ok, result = xpcall(main, debug.traceback)
if not ok then
    print("soak: " .. tostring(result))
end
broker.wipe()
os.exit(ok and result == 0 and 0 or 1)
