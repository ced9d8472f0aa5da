--[[
test_case: the `p` of a case: records in, time, and what is expected to come out.

Why: a test says everything that its script does: what comes out and is not expected fails the case, and so
does a failure that nobody expected, so that no test passes because it looked away.

The engine behind it is the real one (src/cli/script_case.c). Users' reference: doc.lua.
]]
local host = require "moontide.host"
local diff = require "moontide.test_diff"
local names = require "moontide.names"
local ffi, C = host.ffi, host.C
local error, type, tostring, tonumber, ipairs, pairs = error, type, tostring, tonumber, ipairs, pairs
local format, find, concat, sort, floor = string.format, string.find, table.concat, table.sort, math.floor
local setmetatable, getinfo = setmetatable, debug.getinfo

-- path: of the test file that runs, whose lines messages name
local test_case = { path = nil }

local FAILURE = { __tostring = function(self)
    return self.text
end }

local FIELDS = { "headers", "key", "offset", "partition", "timestamp", "value" }
local WANTED = { "headers", "key", "partition", "timestamp", "value" }
local FATES = {
    [tonumber(C.TIDE_CASE_STOPS)] = "stop", [tonumber(C.TIDE_CASE_RETRIES)] = "retry",
    [tonumber(C.TIDE_CASE_SKIPS)] = "skip", [tonumber(C.TIDE_CASE_LETTERS)] = "dead_letter",
}
local SAYS = { stop = "stopped the run", retry = "is tried again", skip = "is passed over",
    dead_letter = "becomes a dead letter" }

-- Raises what the test got wrong or did not get, with the line of the test file that asked for it.
local function fail(text)
    local level = 3
    local info = getinfo(level, "Sl")
    while info and info.source ~= "@" .. tostring(test_case.path) do
        level = level + 1
        info = getinfo(level, "Sl")
    end
    error(setmetatable({ text = text, line = info and info.currentline }, FAILURE), 0)
end
test_case.fail = fail

local function check_fields(what, record, known)
    if type(record) ~= "table" then
        fail(what .. " needs a record such as { key = \"k\", value = \"v\" }, not " .. names.kind(record))
    end
    for name in pairs(record) do
        local is_known = false
        for _, one in ipairs(known) do
            is_known = is_known or one == name
        end
        if not is_known then
            fail(what .. ': unknown field "' .. tostring(name) .. '"' .. names.hint(name, known))
        end
    end
    for _, name in ipairs { "key", "value" } do
        if record[name] ~= nil and type(record[name]) ~= "string" then
            fail(what .. ": " .. name .. " must be a string, not " .. names.kind(record[name]))
        end
    end
    for _, name in ipairs { "offset", "partition", "timestamp" } do
        local value = record[name]
        if value ~= nil and (type(value) ~= "number" or value < 0 or floor(value) ~= value) then
            fail(what .. ": " .. name .. " must be a whole number from 0, not " .. tostring(value))
        end
    end
end

-- Headers as an array of { name, value }, from that or from a map.
local function list_headers(what, headers)
    if type(headers) ~= "table" then
        fail(what .. ": headers must be a table, not " .. names.kind(headers))
    end
    local list = {}
    if headers[1] == nil then
        for _, name in ipairs(names.of(headers)) do
            list[#list + 1] = { name, headers[name] }
        end
    else
        for i, pair in ipairs(headers) do
            list[i] = { pair[1], pair[2] }
        end
    end
    for _, pair in ipairs(list) do
        if type(pair[1]) ~= "string" or (pair[2] ~= nil and type(pair[2]) ~= "string") then
            fail(what .. ": a header is { name, value } of strings")
        end
    end
    return list
end

local function to_array(headers)
    local array = ffi.new("struct tide_header[?]", #headers + 1)
    for i, pair in ipairs(headers) do
        local one = array[i - 1]
        one.name, one.name_size = pair[1], #pair[1]
        one.value, one.value_size = pair[2], pair[2] and #pair[2] or 0
    end
    return array
end

local function text_or_nil(bytes, size)
    return bytes ~= nil and ffi.string(bytes, size) or nil
end

local methods = {}

function methods:push(topic, record)
    if type(topic) ~= "string" or topic == "" then
        fail("push needs the name of a topic, not " .. names.kind(topic))
    end
    check_fields("push", record, FIELDS)
    local headers = record.headers and list_headers("push", record.headers) or {}
    local array = to_array(headers)
    local input = ffi.new("struct tide_case_record")
    input.topic, input.key, input.value = topic, record.key, record.value
    input.key_size, input.value_size = record.key and #record.key or 0, record.value and #record.value or 0
    input.timestamp_ms, input.offset = record.timestamp or -1, record.offset or -1
    input.partition, input.header_count, input.headers = record.partition or 0, #headers, array
    local why = C.tide_case_stopped(self.run)
    if why ~= nil then
        fail("push: the run has stopped: " .. ffi.string(why))
    elseif not C.tide_case_push(self.run, input) then
        fail("push: offset " .. tostring(record.offset) .. " is not behind the last one of its partition")
    end
    self.topics[topic] = true
    self:_collect()
end

function methods:advance(duration)
    local ms = duration
    if type(duration) == "string" then
        local ns = tonumber(C.tide_duration_ns(duration))
        ms = ns >= 0 and floor(ns / 1e6) or nil
    end
    if type(ms) ~= "number" or not (ms >= 0 and ms <= 1e12) then
        fail("advance needs a duration such as \"10s\", or milliseconds, not " .. tostring(duration))
    end
    C.tide_case_advance(self.run, ms)
    self:_collect()
end

function methods:fail_at(offset, times)
    if type(offset) ~= "number" or offset < 0 or floor(offset) ~= offset then
        fail("fail_at needs an offset, not " .. tostring(offset))
    elseif times ~= nil and (type(times) ~= "number" or times < 1 or floor(times) ~= times) then
        fail("fail_at: the number of attempts that fail must be 1 or more, not " .. tostring(times))
    end
    C.tide_case_fail_at(self.run, offset, times or 1)
end

function methods:now()
    return tonumber(C.tide_case_now_ms(self.run))
end

-- Takes over what has come out and what has failed since.
function methods:_collect()
    local out, failure = ffi.new("struct tide_case_record"), ffi.new("struct tide_case_failure")
    while C.tide_case_output(self.run, self.output_count, out) do
        self.output_count = self.output_count + 1
        local headers = {}
        for i = 0, out.header_count - 1 do
            local one = out.headers[i]
            headers[i + 1] = { ffi.string(one.name, one.name_size), text_or_nil(one.value, one.value_size) }
        end
        local topic = ffi.string(out.topic)
        local list = self.outputs[topic] or { next = 1 }
        self.outputs[topic], self.topics[topic] = list, true
        list[#list + 1] = { key = text_or_nil(out.key, out.key_size), value = text_or_nil(out.value, out.value_size),
            timestamp = tonumber(out.timestamp_ms), partition = out.partition, headers = headers }
    end
    while C.tide_case_failure(self.run, #self.failures, failure) do
        self.failures[#self.failures + 1] = { topic = ffi.string(failure.topic), partition = failure.partition,
            offset = tonumber(failure.offset), attempt = failure.attempt, fate = FATES[failure.outcome],
            reason = ffi.string(failure.reason) }
    end
end

-- The topic is one that something went to or came from, or that the script names.
function methods:_check_topic(what, topic)
    if type(topic) ~= "string" then
        fail(what .. " needs the name of a topic, not " .. names.kind(topic))
    elseif self.topics[topic] or self.mentions(topic) then
        return
    end
    fail(what .. ': unknown topic "' .. topic .. '": nothing went there and the script does not name it'
        .. names.hint(topic, names.of(self.topics)))
end

local function same_headers(wanted, got)
    if #wanted ~= #got then
        return false
    end
    for i = 1, #wanted do
        if wanted[i][1] ~= got[i][1] or wanted[i][2] ~= got[i][2] then
            return false
        end
    end
    return true
end

-- Lines that say how a record differs from what was wanted, nil when it does not. `nil` cannot be a
-- field of a Lua table: a key or value that must be none is false.
local function compare(what, wanted, got)
    for _, field in ipairs(WANTED) do
        local want = wanted[field]
        if field == "headers" and want ~= nil then
            local list = list_headers(what, want)
            if not same_headers(list, got.headers) then
                return { "headers differ", "  wanted " .. diff.record { headers = list },
                    "  got    " .. diff.record { headers = got.headers } }
            end
        elseif want == false and got[field] ~= nil then
            return diff.values(field, nil, got[field])
        elseif want and want ~= got[field] then
            return diff.values(field, want, got[field])
        end
    end
    return nil
end

local function check_wanted(what, wanted)
    if type(wanted) ~= "table" then
        fail(what .. " needs an array of records such as { { key = \"k\", value = \"v\" } }")
    end
    for name in pairs(wanted) do
        if type(name) ~= "number" then
            fail(what .. " needs an array: { { " .. tostring(name) .. " = ... } }, with one more pair of braces")
        end
    end
    for i, record in ipairs(wanted) do
        local plain = {}
        for name, value in pairs(type(record) == "table" and record or {}) do
            if value ~= false or (name ~= "key" and name ~= "value") then
                plain[name] = value
            end
        end
        check_fields(what .. ", record " .. i, type(record) == "table" and plain or record, WANTED)
    end
end

local function listing(list, from)
    local lines = {}
    for i = from, #list do
        lines[#lines + 1] = "  got    " .. diff.record(list[i])
    end
    return lines
end

function methods:expect(topic, wanted)
    check_wanted("expect", wanted)
    self:_check_topic("expect", topic)
    local list = self.outputs[topic] or { next = 1 }
    for i, want in ipairs(wanted) do
        local got = list[list.next]
        if got == nil then
            fail(format('topic "%s": record %d of %d did not come\n  wanted %s', topic, i, #wanted, diff.record(want)))
        end
        local lines = compare("expect, record " .. i, want, got)
        if lines then
            fail(format('topic "%s", record %d of %d: ', topic, i, #wanted) .. concat(lines, "\n"))
        end
        list.next = list.next + 1
    end
    if #wanted == 0 then
        return self:expect_none(topic)
    end
end

function methods:expect_none(topic)
    self:_check_topic("expect_none", topic)
    local list = self.outputs[topic]
    if list and list.next <= #list then
        fail(format('topic "%s": nothing was wanted, %d came\n', topic, #list - list.next + 1)
            .. concat(listing(list, list.next), "\n"))
    end
end

function methods:ignore(topic)
    self:_check_topic("ignore", topic)
    self.ignored[topic] = true
end

local function describe(failure)
    return format("%s[%d]@%d, attempt %d, %s: %s", failure.topic, failure.partition, failure.offset, failure.attempt,
        SAYS[failure.fate], failure.reason)
end

local function expect_fate(self, what, fate, text)
    if text ~= nil and type(text) ~= "string" then
        fail(what .. " needs a part of the reason as a string, not " .. names.kind(text))
    end
    local failure = self.failures[self.next_failure]
    if failure == nil then
        fail(what .. ": no record failed" .. (#self.failures > 0 and " beyond those that were expected" or ""))
    elseif failure.fate ~= fate then
        fail(what .. ": the record " .. SAYS[failure.fate] .. "\n  got    " .. describe(failure))
    elseif text and not find(failure.reason, text, 1, true) then
        fail(what .. ": another reason\n  wanted " .. diff.show(text) .. "\n  got    " .. describe(failure))
    end
    self.next_failure = self.next_failure + 1
end

function methods:expect_failed(text)
    expect_fate(self, "expect_failed", "stop", text)
end

function methods:expect_retry(text)
    expect_fate(self, "expect_retry", "retry", text)
end

function methods:expect_skipped(text)
    expect_fate(self, "expect_skipped", "skip", text)
end

function methods:expect_dead_letter(text, record)
    expect_fate(self, "expect_dead_letter", "dead_letter", text)
    local topic = ffi.string(C.tide_case_letter_topic(self.run))
    self:expect(topic, { record or {} })
end

-- What is left over at the end of a case; nil: nothing is.
function test_case.leftovers(case)
    case:_collect()
    local lines = {}
    local failure = case.failures[case.next_failure]
    if failure then
        lines[#lines + 1] = "a record failed and the test does not expect it; see expect_failed, expect_retry, "
            .. "expect_skipped, expect_dead_letter\n  got    " .. describe(failure)
    end
    local why = C.tide_case_stopped(case.run)
    if why ~= nil and #case.failures == 0 then
        lines[#lines + 1] = "the run has stopped: " .. ffi.string(why)
    end
    local topics = names.of(case.outputs)
    sort(topics)
    for _, topic in ipairs(topics) do
        local list = case.outputs[topic]
        if not case.ignored[topic] and list.next <= #list then
            lines[#lines + 1] = format('topic "%s": %d came that the test does not expect; expect them, or '
                .. 'p:ignore("%s")', topic, #list - list.next + 1, topic)
            lines[#lines + 1] = concat(listing(list, list.next), "\n")
        end
    end
    return #lines > 0 and concat(lines, "\n") or nil
end

local function public_methods()
    local list = {}
    for _, name in ipairs(names.of(methods)) do
        if name:sub(1, 1) ~= "_" then
            list[#list + 1] = name
        end
    end
    return list
end

local META = {
    __index = function(_, name)
        local method = methods[name]
        if method == nil then
            fail('p has no "' .. tostring(name) .. '"' .. names.hint(tostring(name), public_methods()))
        end
        return method
    end,
}

-- The `p` of a case that runs; mentions(topic) says whether the script names a topic.
function test_case.make(run, mentions)
    local topics = {}
    local output = C.tide_case_output_topic(run)
    if output ~= nil then
        topics[ffi.string(output)] = true
    end
    local letters = C.tide_case_letter_topic(run)
    if letters ~= nil then
        topics[ffi.string(letters)] = true
    end
    return setmetatable({ run = run, mentions = mentions, topics = topics, outputs = {}, output_count = 0,
        failures = {}, next_failure = 1, ignored = {} }, META)
end

return test_case
