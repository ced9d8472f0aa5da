--[[
chaos: members of one application on a real Kafka, while they, and the broker, are killed, stopped and restarted.

    KILLS=100 SEED=1 luajit tests/chaos/chaos.lua

KILLS counts kill -9 and SIGTERM of members. Prints the seed first, and after each round what check.lua says; exit 1
when there was a fault: then the round's folder below build/chaos is kept. A seed repeats every decision; what the
processes make of it in time may differ. Also read: MOONTIDE (build/moontide), KAFKA_DIR, KAFKA_PORT (as
scripts/dev/kafka; a free port by default), KEEP=1 (keeps all folders).
]]
local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local posix, rdkafka, broker = require "posix", require "rdkafka", require "broker"
local collect, check, run_data, doctor = require "collect", require "check", require "run_data", require "doctor"

local root = here .. "/../.."
local moontide = os.getenv("MOONTIDE") or root .. "/build/moontide"
local kills_wanted = tonumber(os.getenv("KILLS") or "") or 100
local seed = tonumber(os.getenv("SEED") or "") or posix.now_ms() % 1000000

local KILLS_A_ROUND = 15
local RATE = 500 -- records a second, all topics together
local MEMBERS_MIN, MEMBERS_MAX = 2, 4
local KILLS_WITHOUT_BROKER = 3 -- while it is away; a machine with much to do takes long to start it
local TICK_MS = 20
local STOP_MS = 10000 -- shutdown.timeout.ms
local CALM_MS = 60000 -- how long the commits of a round may stand still at its end
local HUNG_MS = 10000 -- beyond shutdown.timeout.ms

-- What the rounds take in turn; a seed says where they begin.
local GRID = {
    { threads = 4, per_task = 2, emit = "input", protocol = "range,roundrobin" },
    { threads = 4, per_task = 4, emit = "completion", protocol = "cooperative-sticky" },
    { threads = 1, per_task = 1, emit = "input", protocol = "range,roundrobin" },
    { threads = 3, per_task = 2, emit = "completion", protocol = "range,roundrobin" },
    { threads = 4, per_task = 2, emit = "input", protocol = "cooperative-sticky" },
    { threads = 6, per_task = 3, emit = "completion", protocol = "range,roundrobin" },
}

local random = math.random

local function one_of(...)
    return (select(random(select("#", ...)), ...))
end

local function lines_of(command)
    local pipe = io.popen(command)
    local text = pipe:read("*a")
    pipe:close()
    return text
end

-- Begins a fault of the broker.
local function disturb(round)
    local how, ms = one_of("STOP", "STOP", "STOP", "KILL", "TERM"), random(500, 7000)
    round.event("broker-away", "", how)
    broker.fault(how, ms, round.folder .. "/broker.log")
    round.broker_faults = round.broker_faults + 1
end

-- --- members --------------------------------------------------------------------------------------

local function option(argv, name, value)
    argv[#argv + 1] = "-X"
    argv[#argv + 1] = name .. "=" .. value
end

local function start_member(round)
    round.started = round.started + 1
    local member = { name = "m" .. round.started }
    local argv = { moontide, "run", here .. "/work.lua", "-b", broker.address, "-g", round.group }
    for _, input in ipairs(round.inputs) do
        argv[#argv + 1] = "--in"
        argv[#argv + 1] = input[1]
    end
    argv[#argv + 1] = "--out"
    argv[#argv + 1] = round.outputs[1][1]
    option(argv, "num.stream.threads", round.threads)
    option(argv, "num.threads.per.task", round.per_task)
    option(argv, "processing.emit", round.emit)
    option(argv, "commit.interval.ms", one_of(50, 200, 1000))
    option(argv, "task.window.records", one_of(64, 512, 16384))
    option(argv, "drain.timeout.ms", one_of(100, 2000, 2000))
    option(argv, "shutdown.timeout.ms", STOP_MS)
    option(argv, "log.format", "logfmt")
    option(argv, "kafka.reconnect.backoff.max.ms", "500")
    option(argv, "kafka.consumer.session.timeout.ms", "3000")
    option(argv, "kafka.consumer.heartbeat.interval.ms", "500")
    option(argv, "kafka.consumer.partition.assignment.strategy", round.protocol)
    for name, value in pairs { member = member.name, failing = round.failing, retries = tostring(round.retries) } do
        argv[#argv + 1] = "--set"
        argv[#argv + 1] = name .. "=" .. value
    end
    if round.retries then
        option(argv, "error.policy", "retry")
        option(argv, "max.retries", 8)
        option(argv, "retry.backoff.ms", 10)
        option(argv, "retry.backoff.max.ms", 200)
        option(argv, "errors.dead.letter.queue.topic.name", round.outputs[2][1])
    end
    member.pid = posix.spawn(argv, round.folder .. "/" .. member.name .. ".log")
    round.event("start", member.name, tostring(member.pid))
    table.insert(round.members, member)
end

-- Sees who ended; the rest are the members.
local function reap(round)
    local left = {}
    for _, member in ipairs(round.members) do
        local code = posix.ended(member.pid)
        if code then
            round.event("end", member.name, tostring(code))
        else
            left[#left + 1] = member
        end
    end
    round.members = left
end

-- Those that were not told to go.
local function at_work(round)
    local list = {}
    for _, member in ipairs(round.members) do
        if not member.told then
            list[#list + 1] = member
        end
    end
    return list
end

local function tell(round, member, signal)
    round.event(signal, member.name, "")
    member.told = posix.now_ms()
    posix.kill(member.pid, posix[signal])
end

-- A member that does not end is ended; the checker finds that it was not asked for.
local function end_hung(round)
    for _, member in ipairs(round.members) do
        if member.told and posix.now_ms() - member.told > STOP_MS + HUNG_MS then
            round.event("hung", member.name, "")
            posix.kill(member.pid, posix.KILL)
        end
    end
end

local function tick(round)
    posix.sleep_ms(TICK_MS)
    reap(round)
    end_hung(round)
    if broker.tick() then
        round.event("broker-back", "", "")
    end
    if #at_work(round) < round.members_wanted and posix.now_ms() >= round.join_at then
        round.join_at = posix.now_ms() + random(100, 1500)
        start_member(round)
    end
end

-- --- a round --------------------------------------------------------------------------------------

local function write_settings(round)
    local file = assert(io.open(round.folder .. "/round.tsv", "w"))
    local function names(topics)
        local list = {}
        for i, topic in ipairs(topics) do
            list[i] = topic[1] .. ":" .. topic[2]
        end
        return table.concat(list, ",")
    end
    for name, value in pairs {
        group = round.group, threads = round.threads, per_task = round.per_task, emit = round.emit,
        retries = tostring(round.retries), stop_ms = STOP_MS, inputs = names(round.inputs),
        outputs = names(round.outputs),
    } do
        file:write(name, "\t", value, "\n")
    end
    file:close()
    return names(round.inputs), names(round.outputs)
end

local function open_round(number, cell, kills, retries)
    local id = string.format("chaos-%d-%d-%d", seed, number, posix.now_ms() % 1000000)
    local round = {
        folder = root .. "/build/chaos/" .. id, group = id, broker = broker.address, kills = kills,
        inputs = { { id .. ".in4", 4 }, { id .. ".in1", 1 } }, outputs = { { id .. ".out", 4 }, { id .. ".dead", 1 } },
        threads = cell.threads, per_task = cell.per_task, emit = cell.emit, protocol = cell.protocol,
        retries = retries, failing = retries and 0.05 or 0.0004,
        members = {}, started = 0, members_wanted = MEMBERS_MIN, join_at = 0, broker_faults = 0,
    }
    assert(os.execute("mkdir -p " .. round.folder) == 0)
    local events = assert(io.open(round.folder .. "/events.tsv", "w"))
    function round.event(what, member, detail)
        events:write(table.concat({ posix.now_ms(), what, member, detail }, "\t"), "\n")
        events:flush()
    end
    -- the broker's clock says when an output was there
    local appended = { ["message.timestamp.type"] = "LogAppendTime" }
    rdkafka.make_topics(broker.address, {
        round.inputs[1], round.inputs[2], { round.outputs[1][1], 4, appended }, { round.outputs[2][1], 1, appended },
    })
    local inputs, outputs = write_settings(round)
    local names = round.inputs[1][1] .. "," .. round.inputs[2][1]
    round.feeder = posix.spawn({ "luajit", here .. "/feed.lua", broker.address, names, tostring(RATE),
        tostring(random(1000000)) }, round.folder .. "/feed.log")
    round.watcher = posix.spawn({ "luajit", here .. "/watch.lua", broker.address, round.group,
        round.folder .. "/looks.tsv", "150", inputs, outputs }, round.folder .. "/watch.log")
    return round
end

local function stop_child(pid)
    posix.kill(pid, posix.KILL)
    while not posix.ended(pid) do
        posix.sleep_ms(TICK_MS)
    end
end

local function do_harm(round)
    local killed, kills_left = 0, 0
    local act_at = posix.now_ms() + 4000 -- the first members join
    while killed < round.kills do
        tick(round)
        if posix.now_ms() >= act_at then
            act_at = posix.now_ms() + random(200, 3000)
            local dice, which, signal = random(), random(1000), one_of("KILL", "KILL", "KILL", "TERM", "TERM")
            round.members_wanted = random(MEMBERS_MIN, MEMBERS_MAX)
            local candidates = at_work(round)
            if dice < 0.2 and not broker.away then
                disturb(round)
                kills_left = KILLS_WITHOUT_BROKER
            elseif #candidates > 0 and (not broker.away or kills_left > 0) then
                killed = killed + 1
                kills_left = kills_left - 1
                tell(round, candidates[which % #candidates + 1], signal)
            end
        end
    end
end

-- True when all gets committed.
local function come_to_rest(round)
    stop_child(round.feeder)
    local reader = rdkafka.reader(broker.address, round.group)
    local parts = {}
    for _, input in ipairs(round.inputs) do
        for partition = 0, input[2] - 1 do
            parts[#parts + 1] = { input[1], partition }
        end
    end
    local until_ms, before = posix.now_ms() + CALM_MS, -1
    local missing
    repeat
        for _ = 1, 15 do
            tick(round)
        end
        missing = nil
        if not broker.away then
            local committed, sum = reader.find_committed(parts, 2000), 0
            for i, part in ipairs(committed and parts or {}) do
                local last = reader.find_end(part[1], part[2], 2000)
                sum = sum + committed[i]
                if not last or last > 0 and committed[i] ~= last then
                    missing = string.format("%s/%d: committed %d, end %s", part[1], part[2], committed[i],
                        tostring(last))
                end
            end
            if committed and not missing then
                return true
            elseif sum > before then
                before, until_ms = sum, posix.now_ms() + CALM_MS
            end
        end
    until posix.now_ms() > until_ms
    print("  STUCK: " .. (missing or "the broker does not answer"))
    return false
end

local function close_round(round)
    round.members_wanted = 0
    for _, member in ipairs(round.members) do
        if not member.told then
            tell(round, member, "TERM")
        end
    end
    while #round.members > 0 do
        tick(round)
    end
    posix.sleep_ms(500) -- a last look
    stop_child(round.watcher)
end

local checker_tried = false

-- Returns the number of faults.
local function run_round(number, cell, kills, retries)
    local began = posix.now_ms()
    local round = open_round(number, cell, kills, retries)
    do_harm(round)
    local harmed_ms = posix.now_ms() - began
    local rested = come_to_rest(round)
    close_round(round)
    collect.round(round)
    print(string.format("round %d: N=%d K=%d emit=%s %s %s", number, cell.threads, cell.per_task, cell.emit,
        cell.protocol, retries and "retries" or "stops"))
    print(string.format("  %d kills, %d members, %d broker faults, %.0f + %.0f s", kills, round.started,
        round.broker_faults, harmed_ms / 1000, (posix.now_ms() - began - harmed_ms) / 1000))
    local report = check.judge(run_data.load(round.folder))
    check.print(report)
    local faults = report.total + (rested and 0 or 1)
    if faults == 0 and not checker_tried and doctor.has_enough(report) then
        checker_tried = true
        faults = faults + doctor.test(round.folder)
    end
    if faults == 0 and not os.getenv("KEEP") then
        os.execute("rm -rf " .. round.folder)
    else
        print("  kept: " .. round.folder)
    end
    io.stdout:flush()
    return faults
end

local function main()
    print(string.format("chaos: KILLS=%d SEED=%d", kills_wanted, seed))
    io.stdout:flush()
    math.randomseed(seed)
    broker.start()
    local can_retry = lines_of(moontide .. " config"):find("error.policy", 1, true) ~= nil
    local began, faults, done, number = posix.now_ms(), 0, 0, 0
    local first = random(#GRID)
    while done < kills_wanted do
        local kills = math.min(KILLS_A_ROUND, kills_wanted - done)
        local cell = GRID[(first + number) % #GRID + 1]
        number = number + 1
        faults = faults + run_round(number, cell, kills, can_retry and number % 4 ~= 0)
        done = done + kills
    end
    if not checker_tried then
        print("  the checker was not tried: no round without a fault had enough in it")
    end
    print(string.format("chaos: %d kills in %d rounds, %.0f s, SEED=%d: %s", done, number,
        (posix.now_ms() - began) / 1000, seed, faults == 0 and "no fault" or faults .. " faults"))
    return faults
end

local ok, result = xpcall(main, debug.traceback)
if not ok then
    print("chaos: " .. tostring(result))
end
broker.wipe()
os.exit(ok and result == 0 and 0 or 1)
