--[[
check: judges a round by what the broker holds, what the members logged, and what was done to them. It knows no
more of the product than the words of three lines of its log: a partition is assigned, revoked, lost.

    luajit check.lua FOLDER     of a round, see chaos.lua; exit 1 when there is a fault

Kinds of fault:
  lost        an input without one of its outputs, or a poisonous one without its dead letter
  altered     an output that is not what its input makes of it
  stranger    an output of no input, or that its input does not make
  outside     an output whose attempt began while its member did not have the partition
  duplicate   an output that came twice without need, see below
  order       outputs of one epoch of one member that are not in the order of their inputs: of the same key, with
              emit=input of the whole partition
  early       a commit that the broker took before it had all outputs of the records below it
  fell        a commit below an earlier one
  uncommitted a partition that is not committed to its end when all is over
  exit        a process that ended by itself, with the wrong code, or later than it may

A duplicate has a need when the earlier copy's epoch ended before its record was committed. Two copies of one epoch
have none. Nor has a copy whose epoch began after the first commit above its record: that epoch began there or
above. All others have one: at most one epoch has made that first commit, since the group fences those before, and
none of the others did before it ended.

Early is seen twice: by the times at which the broker took commits and outputs, all of them; and by looks from
outside at the committed offsets first, the ends of the output after, which needs no clock.
]]
local here = arg and arg[0]:match("^(.*)/[^/]*%.lua$") or "."
package.path = here .. "/?.lua;" .. package.path
local run_data = require "run_data"

local check = {}

local KINDS = { "lost", "altered", "stranger", "outside", "duplicate", "order", "early", "fell", "uncommitted", "exit" }
local SAID_MAX = 5
local LATE_MS = 5000 -- beyond its bound, for a machine that has other things to do

local function start_report()
    local report = { counts = {}, texts = {}, total = 0, notes = {} }
    for _, kind in ipairs(KINDS) do
        report.counts[kind], report.texts[kind] = 0, {}
    end
    function report.fault(kind, ...)
        report.counts[kind] = report.counts[kind] + 1
        report.total = report.total + 1
        if #report.texts[kind] < SAID_MAX then
            table.insert(report.texts[kind], string.format(...))
        end
    end
    return report
end

local function name_of(run, p, offset)
    return run.parts[p][1] .. "/" .. run.parts[p][2] .. "/" .. offset
end

-- The parts that an input's value asks for.
local function parts_for(run, value)
    local kind = value:match("%a+$")
    if kind == "poison" and run.settings.retries == "true" then
        return { "dead" }
    end
    return kind == "two" and { "1", "2" } or { "1" }
end

-- copies[p][offset][part]: a list of outputs in the order of the time of their append. Outputs get their epochs.
local function sort_copies(run, report)
    local copies = {}
    for p = 1, #run.parts do
        copies[p] = {}
    end
    for _, output in ipairs(run.outputs) do
        local input = output.p and run.inputs[output.p][output.offset]
        if not input then
            report.fault("stranger", "%s/%d is from %s", output.place, output.offset_out, output.from)
        else
            output.epoch = run_data.epoch_of(run, output.by, output.p)
            if not output.epoch then
                report.fault("outside", "%s by %s", output.from, output.by)
            end
            local of = copies[output.p][output.offset] or {}
            copies[output.p][output.offset] = of
            of[output.part] = of[output.part] or {}
            table.insert(of[output.part], output)
            local dead = output.part == "dead"
            if output.key ~= input[1] or output.value ~= (dead and input[2] or "<" .. input[2] .. ">") then
                report.fault("altered", "%s is %q %q, made of %q %q", output.from, output.key, output.value, input[1],
                    input[2])
            end
        end
    end
    for p = 1, #run.parts do
        for _, of in pairs(copies[p]) do
            for _, list in pairs(of) do
                table.sort(list, function(a, b)
                    return a.at < b.at or a.at == b.at and a.offset_out < b.offset_out
                end)
            end
        end
    end
    return copies
end

local function find_lost(run, report, copies)
    for p = 1, #run.parts do
        for offset, input in pairs(run.inputs[p]) do
            local wanted = {}
            for _, part in ipairs(parts_for(run, input[2])) do
                wanted[part] = true
                if not (copies[p][offset] and copies[p][offset][part]) then
                    report.fault("lost", "%s (%s), output %s", name_of(run, p, offset), input[2], part)
                end
            end
            for part in pairs(copies[p][offset] or {}) do
                if not wanted[part] then
                    report.fault("stranger", "%s (%s) has an output %s", name_of(run, p, offset), input[2], part)
                end
            end
        end
    end
end

-- first[p](offset): the time of the first commit above the offset, or infinite. Sees what fell.
local function first_commits(run, report)
    local first = {}
    for p = 1, #run.parts do
        local rising, highest = {}, -1
        for _, commit in ipairs(run.commits[p]) do
            if commit[2] < highest then
                report.fault("fell", "%s after %d", name_of(run, p, commit[2]), highest)
            elseif commit[2] > highest then
                highest = commit[2]
                rising[#rising + 1] = commit
            end
        end
        first[p] = function(offset)
            local low, high = 1, #rising + 1
            while low < high do
                local middle = math.floor((low + high) / 2)
                if rising[middle][2] > offset then
                    high = middle
                else
                    low = middle + 1
                end
            end
            return rising[low] and rising[low][1] or math.huge
        end
    end
    return first
end

local function find_duplicates(run, report, copies, first)
    local why = {}
    local function judge(list, committed_ms)
        local seen = {}
        for i, output in ipairs(list) do
            local epoch = output.epoch
            if epoch and seen[epoch] then
                report.fault("duplicate", "%s twice by one epoch of %s", output.from, epoch.member)
            elseif epoch and #list > 1 and epoch.from_ms > committed_ms then
                report.fault("duplicate", "%s by %s, assigned %d ms after its commit", output.from, output.by,
                    epoch.from_ms - committed_ms)
            elseif i > 1 then
                local how = list[i - 1].epoch and list[i - 1].epoch.how or "?"
                why[how] = (why[how] or 0) + 1
            end
            if epoch then
                seen[epoch] = true
            end
        end
    end
    local count = 0
    for p = 1, #run.parts do
        for offset, of in pairs(copies[p]) do
            for _, list in pairs(of) do
                if #list > 1 then
                    count = count + #list - 1
                    judge(list, first[p](offset))
                end
            end
        end
    end
    report.notes.duplicates, report.notes.why = count, why
end

local function find_disorder(run, report)
    local last = {}
    local strict = run.settings.emit == "input"
    for _, output in ipairs(run.outputs) do -- each place in its order
        if output.epoch and output.part ~= "dead" and (strict or output.key ~= "") then
            local of = last[output.epoch] or {}
            last[output.epoch] = of
            local lane = output.place .. (strict and "" or "|" .. output.key)
            local position = output.offset * 2 + output.part
            if of[lane] and position <= of[lane].offset * 2 + of[lane].part then
                report.fault("order", "%s by %s after %s by %s", output.from, output.by, of[lane].from, of[lane].by)
            end
            of[lane] = output
        end
    end
end

local function find_early_by_time(run, report, copies)
    for p = 1, #run.parts do
        local done = 0
        for _, commit in ipairs(run.commits[p]) do
            for offset = done, commit[2] - 1 do
                local input = run.inputs[p][offset]
                for _, part in ipairs(input and parts_for(run, input[2]) or {}) do
                    local list = copies[p][offset] and copies[p][offset][part]
                    if list and list[1].at > commit[1] then
                        report.fault("early", "%s is below the commit %d, which is %d ms before its output %s",
                            name_of(run, p, offset), commit[2], list[1].at - commit[1], part)
                    end
                end
            end
            done = math.max(done, commit[2])
        end
    end
end

-- In each partition of the output a record must lie below its end of that time.
local function find_early_by_looks(run, report, copies)
    local done = {}
    for _, look in ipairs(run.looks) do
        for p = 1, #run.parts do
            for offset = done[p] or 0, look.committed[p] - 1 do
                for part, list in pairs(copies[p][offset] or {}) do
                    local there = false
                    for _, output in ipairs(list) do
                        there = there or output.offset_out < look.ends[output.place]
                    end
                    if not there then
                        report.fault("early", "%s is below %d, seen committed before its output %s was there",
                            name_of(run, p, offset), look.committed[p], part)
                    end
                end
            end
            done[p] = math.max(done[p] or 0, look.committed[p])
        end
    end
end

local function find_uncommitted(run, report)
    for p = 1, #run.parts do
        local last = -1
        for offset in pairs(run.inputs[p]) do
            last = math.max(last, offset)
        end
        local commit = run.commits[p][#run.commits[p]]
        if last >= 0 and (not commit or commit[2] ~= last + 1) then
            report.fault("uncommitted", "%s ends at %d, committed is %s", name_of(run, p, 0), last + 1,
                commit and commit[2] or "nothing")
        end
    end
end

-- True when the broker was away for some of that time.
local function broker_away(run, from_ms, to_ms)
    local away_since
    for _, event in ipairs(run.events) do
        if event.what == "broker-away" then
            away_since = away_since or event.time
        elseif event.what == "broker-back" then
            if away_since <= to_ms and event.time >= from_ms then
                return true
            end
            away_since = nil
        end
    end
    return away_since ~= nil and away_since <= to_ms
end

local function judge_exit(run, report, member)
    local started, killed, term
    for _, event in ipairs(member.events) do
        if event.what == "start" then
            started = event.time
        elseif event.what == "KILL" then
            killed = event.time
        elseif event.what == "TERM" then
            term = term or event.time
        elseif event.what == "end" then
            local code = tonumber(event.detail)
            local may = killed and code == -9 or term and code == 0
                or term and code == 7 and broker_away(run, term - 1000, event.time)
                or run.settings.retries == "false" and code == 4
                -- it was still on its way to the broker: there was nothing to drain
                or term and code == -15 and next(member.epochs) == nil
                -- the library's fault, see run_data.lua
                or code == -6 and member.client_aborted
                -- it could not start without the broker
                or code == 5 and next(member.epochs) == nil and broker_away(run, started - 1000, event.time)
            if not may then
                report.fault("exit", "%s ended with code %d, started %d ms before", member.name, code,
                    event.time - started)
            end
            local bound = term and term + tonumber(run.settings.stop_ms) + LATE_MS
            if bound and not killed and event.time > bound then
                report.fault("exit", "%s ended %d ms after SIGTERM", member.name, event.time - term)
            end
        end
    end
end

-- The faults of a run (run_data.lua), and figures.
function check.judge(run)
    local report = start_report()
    local copies = sort_copies(run, report)
    local first = first_commits(run, report)
    find_lost(run, report, copies)
    find_duplicates(run, report, copies, first)
    find_disorder(run, report)
    find_early_by_time(run, report, copies)
    find_early_by_looks(run, report, copies)
    find_uncommitted(run, report)
    for _, member in pairs(run.members) do
        judge_exit(run, report, member)
    end
    local inputs, dead, commits, epochs = 0, 0, 0, 0
    for p = 1, #run.parts do
        for _ in pairs(run.inputs[p]) do
            inputs = inputs + 1
        end
        commits = commits + #run.commits[p]
    end
    for _, output in ipairs(run.outputs) do
        dead = dead + (output.part == "dead" and 1 or 0)
    end
    for _, member in pairs(run.members) do
        for _, of in pairs(member.epochs) do
            for _, list in pairs(of) do
                epochs = epochs + #list
            end
        end
    end
    report.notes.inputs, report.notes.outputs, report.notes.dead = inputs, #run.outputs - dead, dead
    report.notes.commits, report.notes.looks, report.notes.epochs = commits, #run.looks, epochs
    return report
end

function check.print(report)
    local notes, why = report.notes, {}
    for how, count in pairs(notes.why) do
        why[#why + 1] = how .. " " .. count
    end
    table.sort(why)
    print(string.format("  %d records, %d outputs, %d dead letters, %d epochs, %d commits, %d looks", notes.inputs,
        notes.outputs, notes.dead, notes.epochs, notes.commits, notes.looks))
    print(string.format("  %d duplicates; the copy before was of an epoch that ended so: %s", notes.duplicates,
        #why > 0 and table.concat(why, ", ") or "-"))
    for _, kind in ipairs(KINDS) do
        if report.counts[kind] > 0 then
            print(string.format("  FAULT %s: %d", kind, report.counts[kind]))
            for _, text in ipairs(report.texts[kind]) do
                print("    " .. text)
            end
        end
    end
end

if arg and arg[0]:find("check%.lua$") then
    local report = check.judge(run_data.load(arg[1]))
    check.print(report)
    print(report.total == 0 and "  no fault" or "  " .. report.total .. " faults")
    os.exit(report.total == 0 and 0 or 1)
end

return check
