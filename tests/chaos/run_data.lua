--[[
run_data: a round's files in memory, as check.lua judges them and doctor.lua spoils them.

run.settings            what chaos.lua wrote into round.tsv
run.parts               assigned partitions: { topic, partition }; everything below goes by their number, from 1
run.inputs[p][offset]   { key, value }
run.outputs             all outputs and dead letters: { place, p, offset, part, at, key, value, by, log, offset_out };
                        `place` is the topic/partition it is in, `part` the number of the output, or "dead"; p is nil
                        when it names no input
run.commits[p]          commits as the broker took them: { time, offset }
run.looks               what watch.lua saw: { time, committed = { by p }, ends = { by place } }
run.members[name]       { worker = { attempt = line of the log }, epochs = { ... }, see read_log, events = { ... } }
run.events              what chaos.lua did: { time, what, member, detail }
]]
local run_data = {}

-- librdkafka before 2.3 aborts when a member with cooperative-sticky leaves before its first assignment.
local CLIENT_ABORT = "rd_kafka_sticky_assignor_state_destroy: Assertion"

local function rows(path, call)
    for line in assert(io.open(path)):lines() do
        local fields, count = {}, 0
        for field in (line .. "\t"):gmatch("(.-)\t") do
            count = count + 1
            fields[count] = field
        end
        call(fields)
    end
end

local function parts_of(text)
    local parts, number_of = {}, {}
    for name, count in text:gmatch("([^,:]+):(%d+)") do
        for partition = 0, count - 1 do
            parts[#parts + 1] = { name, partition }
            number_of[name .. "/" .. partition] = #parts
        end
    end
    return parts, number_of
end

local function milliseconds(text)
    local year, month, day, hour, minute, second = text:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)Z")
    year, month, day = tonumber(year), tonumber(month), tonumber(day)
    -- days since 1970 of the civil calendar: March is its first month
    local shifted = month <= 2 and year - 1 or year
    local of_year = math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
    local days = 365 * shifted + math.floor(shifted / 4) - math.floor(shifted / 100) + math.floor(shifted / 400)
        + of_year - 719468
    return ((days * 24 + hour) * 60 + minute) * 60000 + math.floor(second * 1000 + 0.5)
end

--[[
What a member's log tells. member.ran[worker][attempt] is a line number; member.epochs[pipeline][p] a list of
{ from_line, to_line, from_ms, to_ms, how, committed, member }: `to_line` is infinite and `how` is "end" until the
log says otherwise.
]]
local function read_log(run, name, path)
    local member = { ran = {}, epochs = {}, events = {}, name = name }
    local per_task = tonumber(run.settings.per_task)
    local number = 0
    local function epochs(pipeline, p)
        member.epochs[pipeline] = member.epochs[pipeline] or {}
        member.epochs[pipeline][p] = member.epochs[pipeline][p] or {}
        return member.epochs[pipeline][p]
    end
    -- a line that ends an epoch does not name its pipeline: of two, the one that had it first
    local function end_epoch(p, line, how)
        local oldest
        for _, of in pairs(member.epochs) do
            local last = of[p] and of[p][#of[p]]
            if last and last.how == "end" and (not oldest or last.from_line < oldest.from_line) then
                oldest = last
            end
        end
        if oldest then
            oldest.to_line, oldest.to_ms, oldest.how = number, milliseconds(line:match("time=(%S+)")), how
            oldest.committed = tonumber(line:match("committed=(%-?%d+)"))
        end
    end
    local file = io.open(path) -- none: it was killed before it began
    for line in file and file:lines() or function() end do
        number = number + 1
        local attempt = line:match('msg="ran (%d+)"')
        if attempt then
            local worker = tonumber(line:match("worker=(%d+)$"))
            if worker then -- else the process was killed in the middle of the line
                member.ran[worker] = member.ran[worker] or {}
                member.ran[worker][tonumber(attempt)] = number
            end
        elseif line:find(CLIENT_ABORT, 1, true) then
            member.client_aborted = true
        elseif line:find('msg="partition ', 1, true) then
            local what = line:match('msg="partition (%a+)"')
            local topic, partition = line:match(" topic=(%S+)"), line:match(" partition=(%d+)")
            local p = topic and partition and run.number_of[topic .. "/" .. partition]
            if what == "assigned" and p and line:match("pipeline=(%d+)") then
                local list = epochs(tonumber(line:match("pipeline=(%d+)")), p)
                list[#list + 1] = { from_line = number, to_line = math.huge, to_ms = math.huge, how = "end",
                    from_ms = milliseconds(line:match("time=(%S+)")), member = name }
            elseif p and (what == "revoked" or what == "lost") then
                end_epoch(p, line, what)
            end
        end
    end
    member.pipeline_of = function(worker)
        return math.floor(worker / per_task)
    end
    return member
end

-- The epoch in which the attempt `by` began, of partition p; nil: in none.
function run_data.epoch_of(run, by, p)
    local name, worker, attempt = by:match("^(.-)/(%d+)/(%d+)$")
    local member = run.members[name]
    local line = member and member.ran[tonumber(worker)] and member.ran[tonumber(worker)][tonumber(attempt)]
    local of = line and member.epochs[member.pipeline_of(tonumber(worker))]
    for _, epoch in ipairs(of and of[p] or {}) do
        if line > epoch.from_line and line < epoch.to_line then
            return epoch
        end
    end
end

local function read_output(run, fields)
    local topic, partition, offset = fields[7]:match("^(.-)/(%d+)/(%d+)/")
    run.outputs[#run.outputs + 1] = {
        place = fields[1] .. "/" .. fields[2], offset_out = tonumber(fields[3]), at = tonumber(fields[4]),
        key = fields[5], value = fields[6], by = fields[8], from = fields[7],
        p = topic and run.number_of[topic .. "/" .. partition], offset = tonumber(offset),
        part = fields[7]:match("/([^/]*)$"),
    }
end

function run_data.load(folder)
    local run = { settings = {}, inputs = {}, outputs = {}, commits = {}, looks = {}, members = {}, events = {} }
    rows(folder .. "/round.tsv", function(fields)
        run.settings[fields[1]] = fields[2]
    end)
    run.parts, run.number_of = parts_of(run.settings.inputs)
    local places = parts_of(run.settings.outputs)
    for p = 1, #run.parts do
        run.inputs[p], run.commits[p] = {}, {}
    end
    rows(folder .. "/in.tsv", function(fields)
        run.inputs[run.number_of[fields[1] .. "/" .. fields[2]]][tonumber(fields[3])] = { fields[4], fields[5] }
    end)
    rows(folder .. "/out.tsv", function(fields)
        read_output(run, fields)
    end)
    rows(folder .. "/commits.tsv", function(fields)
        local list = run.commits[run.number_of[fields[2] .. "/" .. fields[3]]]
        list[#list + 1] = { tonumber(fields[1]), tonumber(fields[4]) }
    end)
    rows(folder .. "/looks.tsv", function(fields)
        if #fields == 1 + #run.parts + #places then
            local look = { time = tonumber(fields[1]), committed = {}, ends = {} }
            for p = 1, #run.parts do
                look.committed[p] = tonumber(fields[1 + p])
            end
            for i, place in ipairs(places) do
                look.ends[place[1] .. "/" .. place[2]] = tonumber(fields[1 + #run.parts + i])
            end
            run.looks[#run.looks + 1] = look
        end
    end)
    rows(folder .. "/events.tsv", function(fields)
        local event = { time = tonumber(fields[1]), what = fields[2], member = fields[3], detail = fields[4] }
        run.events[#run.events + 1] = event
        if event.what == "start" then
            run.members[event.member] = read_log(run, event.member, folder .. "/" .. event.member .. ".log")
        end
        if event.member ~= "" then
            local events = run.members[event.member].events
            events[#events + 1] = event
        end
    end)
    for _, member in pairs(run.members) do
        run_data.close_epochs(member)
    end
    return run
end

-- What the log left open ends with the process.
function run_data.close_epochs(member)
    for _, event in ipairs(member.events) do
        for _, of in pairs(event.what == "end" and member.epochs or {}) do
            for _, list in pairs(of) do
                for _, epoch in ipairs(list) do
                    epoch.to_ms = math.min(epoch.to_ms, event.time)
                end
            end
        end
    end
end

return run_data
