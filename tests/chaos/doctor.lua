--[[
doctor: spoils a run that is well, one fault at a time, and wants the checker to notice each.
]]
local run_data = require "run_data"
local check = require "check"

local doctor = {}

local function copy(output)
    local twin = {}
    for name, value in pairs(output) do
        twin[name] = value
    end
    return twin
end

-- The n-th output (from 0) that `fits`, and its place in the list.
local function pick(run, nth, fits)
    for i, output in ipairs(run.outputs) do
        if fits(output) then
            if nth == 0 then
                return output, i
            end
            nth = nth - 1
        end
    end
    error("the run has too little to be spoiled")
end

local function copies_of(run, wanted)
    local count = 0
    for _, output in ipairs(run.outputs) do
        if output.p == wanted.p and output.offset == wanted.offset and output.part == wanted.part then
            count = count + 1
        end
    end
    return count
end

local function is_single(run)
    return function(output)
        return output.part == "1" and copies_of(run, output) == 1
    end
end

-- kind of fault -> what makes one of it
local SPOIL = {
    { "lost", "an output is not there", function(run)
        local _, at = pick(run, 7, is_single(run))
        table.remove(run.outputs, at)
    end },
    { "order", "two outputs of a key and an epoch change places", function(run)
        local first
        for i, output in ipairs(run.outputs) do
            local fits = output.p and output.part == "1" and output.key ~= ""
            local epoch = fits and run_data.epoch_of(run, output.by, output.p)
            if first and first.place == output.place and first.key == output.key and first.p == output.p
                and epoch == first.epoch and first.offset < output.offset then
                run.outputs[i], run.outputs[first.i] = run.outputs[first.i], output
                run.outputs[i].offset_out, output.offset_out = output.offset_out, run.outputs[i].offset_out
                return
            elseif not first and epoch and i > 20 then
                first = { i = i, place = output.place, key = output.key, p = output.p, epoch = epoch,
                    offset = output.offset }
            end
        end
        error("no two outputs of a key")
    end },
    { "early", "a commit comes before the output, by the broker's clock", function(run)
        local output = pick(run, 30, is_single(run))
        for i, commit in ipairs(run.commits[output.p]) do
            if commit[2] > output.offset then
                table.insert(run.commits[output.p], i, { output.at - 1, output.offset + 1 })
                run.looks = {}
                return
            end
        end
        error("nothing is committed")
    end },
    { "early", "a look sees an offset committed before its output is there", function(run)
        local output = pick(run, 30, is_single(run))
        for _, look in ipairs(run.looks) do
            if look.committed[output.p] > output.offset then
                look.ends[output.place] = output.offset_out
                return
            end
        end
        error("nobody looked")
    end },
    { "duplicate", "one epoch writes a record twice", function(run)
        local output = pick(run, 11, is_single(run))
        local twin = copy(output)
        twin.offset_out, twin.at = 1e9, output.at + 1
        table.insert(run.outputs, twin)
    end },
    { "duplicate", "an epoch that began after the commit writes a record again", function(run)
        local output = pick(run, 5, is_single(run))
        local later
        for _, other in ipairs(run.outputs) do
            local epoch = other.p == output.p and run_data.epoch_of(run, other.by, other.p)
            if epoch and (not later or epoch.from_ms > later.from_ms) then
                later, output.other = epoch, other
            end
        end
        local twin = copy(output)
        twin.by, twin.at, twin.offset_out = output.other.by, output.other.at + 1, 1e9
        table.insert(run.outputs, twin)
    end },
    { "altered", "an output has another value", function(run)
        pick(run, 3, is_single(run)).value = "<other>"
    end },
    { "stranger", "an output of a record that is not there", function(run)
        local twin = copy(pick(run, 3, is_single(run)))
        twin.offset, twin.offset_out = 1e8, 1e9
        table.insert(run.outputs, twin)
    end },
    { "outside", "an attempt that began before the partition was assigned", function(run)
        local output = pick(run, 9, is_single(run))
        local name, worker, attempt = output.by:match("^(.-)/(%d+)/(%d+)$")
        run.members[name].ran[tonumber(worker)][tonumber(attempt)] = 0
    end },
    { "fell", "a commit goes back", function(run)
        for p = 1, #run.parts do
            local commits = run.commits[p]
            if #commits > 3 and commits[#commits][2] > 10 then
                table.insert(commits, #commits, { commits[#commits][1], commits[#commits][2] + 5 })
                return
            end
        end
        error("nothing is committed")
    end },
    { "uncommitted", "the last commit is missing", function(run)
        for p = 1, #run.parts do
            local commits = run.commits[p]
            while #commits > 0 and commits[#commits][2] == commits[#commits - 1][2] do
                table.remove(commits)
            end
            table.remove(commits)
        end
    end },
    { "exit", "a process ends by a fault of its own", function(run)
        for _, member in pairs(run.members) do
            for _, event in ipairs(member.events) do
                if event.what == "end" then
                    event.detail = "-11"
                    return
                end
            end
        end
    end },
}

-- Whether a run is large enough to be spoiled in each way.
function doctor.has_enough(report)
    local notes = report.notes
    return notes.outputs > 1000 and notes.commits > 50 and notes.looks > 10 and notes.epochs > 15
end

-- Spoils the run in the folder in each way. Returns how many ways were not noticed, and says which.
function doctor.test(folder)
    local missed = 0
    for _, way in ipairs(SPOIL) do
        local run = run_data.load(folder)
        way[3](run)
        local report = check.judge(run)
        if report.counts[way[1]] == 0 then
            missed = missed + 1
            print("  NOT NOTICED: " .. way[2] .. " (" .. way[1] .. ")")
        end
    end
    print(string.format("  checker: %d of %d faults put in on purpose were noticed", #SPOIL - missed, #SPOIL))
    return missed
end

return doctor
