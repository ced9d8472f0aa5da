--[[
doc: the reference of what scripts can use, as data, in the order in which phases happen.

Why: one source for the reference in lua/README.md (scripts/dev/lua-reference writes it, a test compares)
and for whatever shows a name's description later. A name here is what a script writes; tests check that
each exists and that nothing that exists is missing.

Section: title, text, entries; `class`: the rows are members of this class of the stubs for editors, and
`module`: what a script requires to get it.

Entry: name, how it is used, what it does, and what it costs where that is not nothing; then by name,
each optional: `types` as LuaLS writes them, "number?" for a field and "(name: type, ...): result" for a function;
`errors`, what it raises and when; `example`, lines of code.
]]
local doc = {}

doc.sections = {
    {
        title = "Loading",
        class = "moontide.Script",
        text = "The script's file runs once in each worker, from top to bottom, and returns its process function, "
            .. "or a table with these members. Any other member is an error with the nearest name.",
        entries = {
            { "process", "process(rec, ctx)", "Called for each record. The only member that must be there.",
                types = "(rec: moontide.Record, ctx: moontide.Context): moontide.Record?" },
            { "init", "init(ctx)", "Called once in each worker before its first record. What it raises ends the "
                .. "start with exit code 3. Runs on the main thread.",
                types = "(ctx: moontide.Context)" },
            { "close", "close(ctx)", "Called once in each worker after its last record, on the worker's thread. What "
                .. "it raises is logged.",
                types = "(ctx: moontide.Context)" },
            { "params", "params = { rate = { type = \"number\", default = 1, min = 0 } }", "The parameters that "
                .. "`--set` and `[params]` may give. `type`: number, integer, string or boolean; then `default`, "
                .. "`min`, `max`, `choices`, `required`, `doc`. A wrong name, type or range is an error.",
                types = "table<string, moontide.Param>?",
                example = "M.params = { rate = { type = \"number\", default = 1, min = 0 } }" },
            { "version", "version = \"1.4\"", "Shown in the log.",
                types = "(string|number)?" },
            { "requires_order", "requires_order = \"key\"", "`key`: records of one key in sequence; `partition`: all "
                .. "records of one; `none`. A configuration that cannot give it is refused (E_ORDER_CONFIG).",
                types = "('key'|'partition'|'none')?" },
            { "require", "require \"name\"", "A module beside the script (`a.b` is a/b.lua or a/b/init.lua), or "
                .. "`moontide`. Modules load with the script and with init, not later." },
            { "print", "print(...)", "Logs the arguments at level info with file and line.", "3 us" },
        },
    },
    {
        title = "The context",
        class = "moontide.Context",
        text = "One a worker, handed to init, process and close. It cannot be changed: keep state in locals.",
        entries = {
            { "ctx.config", "ctx.config.rate", "The value of a parameter; nil when it has none. Read-only.",
                types = "table<string, any>" },
            { "ctx.worker", "ctx.worker", "The worker's number, from 0.",
                types = "integer" },
            { "ctx.log", "ctx.log.info(...)", "`error`, `warn`, `info`, `debug`: logs the arguments with file and "
                .. "line. A level that is off costs next to nothing.", "3 us",
                types = "moontide.Log",
                example = "ctx.log.warn(\"no amount in\", rec.offset)" },
            { "ctx.emit", "ctx:emit(topic, { key =, value =, headers =, timestamp =, partition = })", "A record for a "
                .. "topic. key and value: strings or nil. headers: `rec.headers`, an array of `{ name, value }`, or a "
                .. "map (its names are sorted). timestamp: that of the record by default. partition: by key by "
                .. "default. Another field, type or nil topic is an error at this line. It leaves when the record "
                .. "retires, and never if the record fails. Only inside process.", "250 ns",
                types = "(topic: string, fields: moontide.Fields)",
                example = "ctx:emit(\"alerts\", { key = rec.key, value = \"big\" })" },
            { "ctx.forward", "ctx:forward { key =, value =, ... }", "The same to the default output (`--out`).",
                "250 ns",
                types = "(fields: moontide.Fields)",
                example = "ctx:forward { key = rec.key, value = \"one of two\" }" },
            { "ctx.fail", "ctx.fail(reason)", "Ends the record here: it has failed, nothing of it leaves, and "
                .. "`error.policy.failed` says what becomes of it. A pcall around it does not undo it; so with the "
                .. "next three. All work only inside process; reason: a string or nil.", "3 us",
                types = "(reason: string?)",
                example = "ctx.fail(\"no amount\")" },
            { "ctx.skip", "ctx.skip(reason)", "Ends the record: it is passed over, nothing of it leaves, and that is "
                .. "counted and logged, whatever the policy is.", "3 us",
                types = "(reason: string?)",
                example = "ctx.skip(\"a heartbeat\")" },
            { "ctx.retry", "ctx.retry(\"5s\", reason)", "Ends this attempt: the record runs again after the delay, a "
                .. "duration or a number of milliseconds (nil: `retry.backoff.ms`, doubled with each attempt). Later "
                .. "records of its key wait, others go on. After `max.retries` attempts it is a dead letter, or "
                .. "stops the pipeline.", "3 us",
                types = "(delay: (string|number)?, reason: string?)",
                example = "ctx.retry(\"5s\", \"the service is away\")" },
            { "ctx.dead_letter", "ctx.dead_letter(reason)", "Ends the record: it goes to the topic for dead letters "
                .. "as it came, with headers that say why. Stops the pipeline when there is no such topic.", "3 us",
                types = "(reason: string?)",
                example = "ctx.dead_letter(\"no number\")" },
        },
    },
    {
        title = "The record",
        class = "moontide.Record",
        text = "A view, live only during its own process: used later it raises \"record used after process(); use "
            .. "rec:copy()\". Nothing is copied until it is read. nil is none (a tombstone), \"\" is empty.",
        entries = {
            { "rec.topic", "rec.topic", "Where it came from.",
                types = "string" },
            { "rec.partition", "rec.partition", "A number.",
                types = "integer" },
            { "rec.offset", "rec.offset", "A number, exact to 2^53.",
                types = "integer" },
            { "rec.timestamp", "rec.timestamp", "Milliseconds since 1970, exact; nil when it has none. Can be "
                .. "assigned.",
                types = "integer?" },
            { "rec.key", "rec.key", "A string of any bytes, or nil. Can be assigned; nil removes it.",
                "35 ns for 17 bytes, once a record",
                types = "string?" },
            { "rec.value", "rec.value", "A string of any bytes, or nil. Can be assigned; nil makes a tombstone.",
                "200 ns for 400 bytes, once a record",
                types = "string?" },
            { "rec.headers", "rec.headers", "The headers, see below. Can be assigned: an array of `{ name, value }`, a "
                .. "map, other headers, or nil for none.", "200 ns and more, once a record",
                types = "moontide.Headers" },
            { "rec.byte", "rec:byte(at)", "The byte of the value at 1, 2, ... or -1, -2, ... from its end, without "
                .. "making a string; nil outside.", "3 ns",
                types = "(at: integer): integer?" },
            { "rec.copy", "rec:copy()", "A table of all fields that lives on; its headers are a copy too.", "1 us",
                types = "(): moontide.Copy" },
        },
    },
    {
        title = "Headers",
        class = "moontide.Headers",
        text = "An ordered multimap: names repeat, order is kept, names and values are strings of any bytes, a value "
            .. "may be nil. Untouched, they pass byte for byte.",
        entries = {
            { "headers.get", "rec.headers:get(name)", "The last value of the name; nil when there is none.",
                types = "(name: string): string?" },
            { "headers.all", "rec.headers:all(name)", "All its values in order, as an array; `n` is their number.",
                types = "(name: string): string[]" },
            { "headers.add", "rec.headers:add(name, value)", "One more at the end.",
                types = "(name: string, value: string?)" },
            { "headers.set", "rec.headers:set(name, value)", "This value alone, in the place of the first.",
                types = "(name: string, value: string?)" },
            { "headers.del", "rec.headers:del(name)", "Removes all of the name; returns how many.",
                types = "(name: string): integer" },
            { "headers.iter", "for name, value in rec.headers:iter() do", "All in order.",
                types = "(): fun(): string?, string?" },
        },
    },
    {
        title = "What process returns",
        text = "The record ends with the call; what it emitted leaves in offset order with it.",
        entries = {
            { "return rec", "return rec", "The record goes to the default output with the key, value, timestamp and "
                .. "headers that it has now, partitioned by key. Unchanged bytes are not copied.", "10 ns" },
            { "return", "return", "Nothing more: the record is done, and counts as dropped if it emitted nothing." },
            { "error", "error(reason)", "The record has failed: nothing of it leaves, and `error.policy.raised` says "
                .. "what becomes of it. So does any other result than the record or nothing, with a message that names "
                .. "it.", "3 us" },
        },
    },
    {
        title = "The module moontide",
        class = "moontide", module = "moontide",
        text = "`local tide = require \"moontide\"`",
        entries = {
            { "tide.sleep", "tide.sleep(\"5ms\")", "Waits: \"5ms\", \"1.5s\", \"1m\", or a number of milliseconds. For "
                .. "prototypes and tests; other workers go on.",
                types = "(duration: string|number)",
                errors = "No duration.",
                example = "tide.sleep(\"5ms\")" },
            { "tide.version", "tide.version", "Moontide's version.",
                types = "string" },
        },
    },
    {
        title = "Tests of scripts",
        module = "moontide.test",
        class = "moontide.test",
        text = "`local t = require \"moontide.test\"` in NAME_test.lua, which `moontide test` runs. It tests NAME.lua "
            .. "beside it, on the engine's own code.",
        entries = {
            { "t.case", "t.case(name, { params =, options =, script = }, function(p) ... end)", "A case: a "
                .. "fresh script, "
                .. "engine and clock. params: as `--set`; options: keys of the configuration as `-X`; script: another "
                .. "file. Default output: topic `output`. What comes out, or fails, and is not expected "
                .. "fails the case.",
                types = "(name: string, options: moontide.CaseOptions, run: fun(p: moontide.Case))",
                example = "t.case(\"drops what is small\", { params = { limit = 9 } }, function(p)\n"
                    .. "    p:push(\"in\", { value = \"3\" })\n    p:expect_none(\"output\")\nend)" },
            { "t.script", "t.script(path)", "The script of the cases that follow, when it is not NAME.lua; from the "
                .. "folder of the test.", types = "(path: string)" },
        },
    },
    {
        title = "A case of a test",
        class = "moontide.Case",
        text = "`p`, handed to the function of `t.case`. Expectations are in order; a field that is not given is not "
            .. "compared, `key = false` and `value = false` want none. A topic that nothing went to and the "
                .. "script does "
            .. "not name is an error.",
        entries = {
            { "p.push", "p:push(topic, { key =, value =, headers =, timestamp =, partition =, offset = })", "A record "
                .. "comes in, and everything runs that can run now.",
                types = "(topic: string, record: moontide.Input)",
                errors = "The run has stopped; the offset is not behind the last one." },
            { "p.advance", "p:advance(\"10s\")", "Time passes: a duration or milliseconds. Retries that are due run in "
                .. "their turn. A case begins at 2024-01-01T00:00:00Z.", types = "(duration: string|number)" },
            { "p.now", "p:now()", "The time of the case, in milliseconds since 1970.", types = "(): integer" },
            { "p.fail_at", "p:fail_at(offset, times)", "The next attempts (1) at this offset fail before "
                .. "the script sees "
                .. "the record.", types = "(offset: integer, times: integer?)" },
            { "p.expect", "p:expect(topic, { { key =, value =, headers =, timestamp =, partition = }, ... })", "These "
                .. "records came out next on the topic.", types = "(topic: string, records: moontide.Wanted[])" },
            { "p.expect_none", "p:expect_none(topic)", "Nothing (more) came out on the topic.",
                types = "(topic: string)" },
            { "p.ignore", "p:ignore(topic)", "What comes out on the topic need not be expected.",
                types = "(topic: string)" },
            { "p.expect_failed", "p:expect_failed(text)", "The next failed attempt stopped the run; `text` "
                .. "is a part of "
                .. "the reason. So with the next three, by what became of the record.", types = "(text: string?)" },
            { "p.expect_retry", "p:expect_retry(text)", "It will be tried again.", types = "(text: string?)" },
            { "p.expect_skipped", "p:expect_skipped(text)", "The record is passed over.", types = "(text: string?)" },
            { "p.expect_dead_letter", "p:expect_dead_letter(text, record)", "The record became a dead letter, which "
                .. "takes the next record on that topic; `record` compares it.",
                types = "(text: string?, record: moontide.Wanted?)" },
        },
    },
}

-- Tables that functions take and give, for the stubs: name, then field and type.
doc.shapes = {
    { "moontide.Param", { "type", "'boolean'|'integer'|'number'|'string'" }, { "default", "any?" },
        { "min", "number?" }, { "max", "number?" }, { "choices", "any[]?" }, { "required", "boolean?" },
        { "doc", "string?" } },
    { "moontide.Log", { "error", "fun(...: any)" }, { "warn", "fun(...: any)" }, { "info", "fun(...: any)" },
        { "debug", "fun(...: any)" } },
    { "moontide.Fields", { "key", "string?" }, { "value", "string?" }, { "headers", "any?" },
        { "timestamp", "integer?" }, { "partition", "integer?" } },
    { "moontide.Copy", { "topic", "string" }, { "partition", "integer" }, { "offset", "integer" },
        { "timestamp", "integer?" }, { "key", "string?" }, { "value", "string?" },
        { "headers", "moontide.Headers" } },
    { "moontide.CaseOptions", { "params", "table<string, any>?" }, { "options", "table<string, any>?" },
        { "script", "string?" } },
    { "moontide.Input", { "key", "string?" }, { "value", "string?" }, { "headers", "table?" },
        { "timestamp", "integer?" }, { "partition", "integer?" }, { "offset", "integer?" } },
    { "moontide.Wanted", { "key", "(string|false)?" }, { "value", "(string|false)?" }, { "headers", "table?" },
        { "timestamp", "integer?" }, { "partition", "integer?" } },
}

-- What a script requires to get the section's names, or nil.
function doc.module_of(section)
    return section.module or section.text:match("^`local [%w_]+ = require \"(moontide[%w_%.]*)\"`")
end

-- Calls fn(section, entry) for each.
function doc.each(fn)
    for _, section in ipairs(doc.sections) do
        for _, entry in ipairs(section.entries) do
            fn(section, { name = entry[1], use = entry[2], what = entry[3], cost = entry[4], types = entry.types,
                errors = entry.errors, example = entry.example })
        end
    end
end

-- The reference as Markdown.
function doc.markdown()
    local lines = {}
    for _, section in ipairs(doc.sections) do
        lines[#lines + 1] = "### " .. section.title .. "\n\n" .. section.text .. "\n"
        lines[#lines + 1] = "| use | what it does | cost |\n|---|---|---|"
        for _, entry in ipairs(section.entries) do
            lines[#lines + 1] = "| `" .. entry[2] .. "` | " .. entry[3] .. " | " .. (entry[4] or "") .. " |"
        end
        lines[#lines + 1] = ""
    end
    return table.concat(lines, "\n")
end

-- "(a: T): R" of a row as LuaLS wants it; a row that is called with a colon takes its object first.
local function luals(class, name, entry)
    local types = entry.types
    if types == nil then
        return entry[2]:find(name .. "[%(%s]") and "fun(...: any): any" or "any"
    elseif types:sub(1, 1) ~= "(" or not types:find("^%b()$") and not types:find("^%b():") then
        return types
    elseif not entry[2]:find(":" .. name, 1, true) then
        return "fun" .. types
    end
    return "fun(self: " .. class .. (types:find("^%(%)") and "" or ", ") .. types:sub(2)
end

local function class_lines(section, class)
    local lines = { "---@class " .. class }
    for _, entry in ipairs(section.entries) do
        local name = entry[1]:match("([%w_]+)$")
        if not entry[1]:find(" ") and (entry[1]:find(".", 1, true) or entry.types) and name then
            local what = entry[3]:gsub("%s+", " ")
            lines[#lines + 1] = "---@field " .. name .. " " .. luals(class, name, entry) .. " # " .. what
        end
    end
    return table.concat(lines, "\n")
end

-- Stubs for LuaLS: name of a file without its ending -> text. One for each module, one for the rest.
function doc.stubs()
    local stubs, rest = {}, { "---@meta moontide.types\n" }
    for _, section in ipairs(doc.sections) do
        local module = doc.module_of(section)
        local class = section.class or module
        if module then
            stubs[module] = "---@meta " .. module .. "\n\n" .. class_lines(section, class)
                .. "\nlocal M = {}\n\nreturn M\n"
        elseif class then
            rest[#rest + 1] = class_lines(section, class) .. "\n"
        end
    end
    for _, shape in ipairs(doc.shapes) do
        rest[#rest + 1] = "---@class " .. shape[1]
        for i = 2, #shape do
            rest[#rest + 1] = "---@field " .. shape[i][1] .. " " .. shape[i][2]
        end
        rest[#rest + 1] = ""
    end
    stubs["moontide.types"] = table.concat(rest, "\n") .. "\n"
    return stubs
end

return doc
