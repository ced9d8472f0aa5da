# The commands that help to write scripts: test, check, doc, types, new.
# shellcheck shell=bash

local_test tools_new_runs_as_it_stands
tools_new_runs_as_it_stands() {
    code 0 moon new pricing
    has out pricing.lua pricing_test.lua pricing.ini
    code 0 moon test pricing_test.lua
    has out '# 2 passed, 0 failed'
    code 0 moon check pricing.lua
    code 0 moon check -c pricing.ini
    printf 'one\n' >in
    code 0 moon run pricing.lua --in file:in --out -
    [ "$(cat out)" = 'one!' ] || fail "$(cat out)"
    code 0 moon run -c pricing.ini --embedded --exit-at-end
    mkdir old
    echo mine >old/pricing.ini
    code 1 moon new old/pricing
    has err 'old/pricing.ini is there already'
    [ "$(ls old)" = pricing.ini ] || fail "$(ls old)"
    code 2 moon new 'a b'
    code 2 moon new
}

broken_script() {
    script a <<'LUA'
local M = {}
function M.process(rec, ctx)
    if rec.value == "boom" then error("bad value") end
    if rec.value == "skip" then ctx.skip("heartbeat") end
    if rec.value == "retry" then ctx.retry("5s", "away") end
    ctx:emit("alerts", { key = rec.key, value = rec.value .. "!" })
end
return M
LUA
}

local_test tools_test_passes_what_is_right
tools_test_passes_what_is_right() {
    broken_script
    cat >a_test.lua <<'LUA'
local t = require "moontide.test"
t.case("emits", function(p)
    p:push("in", { key = "k", value = "x" })
    p:expect("alerts", { { key = "k", value = "x!", headers = {} } })
    p:expect_none("output")
end)
t.case("fails", function(p)
    p:push("in", { value = "boom" })
    p:expect_failed("a.lua:3: bad value")
end)
t.case("skips", function(p)
    p:push("in", { value = "skip" })
    p:expect_skipped("heartbeat")
end)
t.case("retries on the clock of the case, then gives up", { options = { ["max.retries"] = 1,
    ["errors.dead.letter.queue.topic.name"] = "dead" } }, function(p)
    p:push("in", { key = "k", value = "retry", timestamp = 7 })
    p:expect_retry("away")
    p:advance("4s")
    p:expect_none("dead")
    p:advance("2s")
    p:expect_dead_letter("away", { key = "k", value = "retry", timestamp = 7 })
end)
t.case("a retry holds up its key only", { options = { ["error.policy"] = "retry" } }, function(p)
    p:fail_at(0, 2)
    p:push("in", { key = "a", value = "0" })
    p:push("in", { key = "a", value = "1" })
    p:expect_retry("fail_at(0)")
    p:expect_none("alerts")
    p:advance("10s")
    p:expect_retry()
    p:expect("alerts", { { value = "0!" }, { value = "1!" } })
end)
LUA
    code 0 moon test a_test.lua --plain --junit results.xml
    has out '5 passed, 0 failed'
    has results.xml '<testsuite name="a_test.lua" tests="5" failures="0">'
    code 0 moon test . -k skips
    has out '1..1' '# 1 passed, 0 failed'
    code 2 moon test . -k nothing
    code 2 moon test a.lua
    code 2 moon test
    code 2 moon test nowhere
}

local_test tools_test_ends_though_a_record_is_tried_again_for_ever
tools_test_ends_though_a_record_is_tried_again_for_ever() {
    echo 'return function(rec, ctx) ctx.retry(0, "never") end' >a.lua
    cat >a_test.lua <<'LUA'
local t = require "moontide.test"
t.case("one of many", { options = { ["max.retries"] = -1 } }, function(p)
    p:push("in", { value = "x" })
    p:expect_retry("never")
    p:expect_retry("never")
end)
LUA
    code 6 moon test a_test.lua
    has out 'a record failed and the test does not expect it' 'attempt 3, is tried again: a.lua:1: never'
}

local_test tools_test_fails_what_is_wrong
tools_test_fails_what_is_wrong() {
    broken_script
    # each case is to fail with the words of its name
    cat >a_test.lua <<'LUA'
local t = require "moontide.test"
t.case("value differs at byte 2", function(p)
    p:push("in", { value = "x\0" })
    p:expect("alerts", { { value = "x\1!" } })
end)
t.case('unknown topic "alert"', function(p)
    p:push("in", { value = "x" })
    p:ignore("alerts")
    p:expect_none("alert")
end)
t.case("the test does not expect", function(p) p:push("in", { value = "x" }) end)
t.case("a record failed and the test", function(p) p:push("in", { value = "boom" }) end)
t.case("the run has stopped", function(p)
    p:push("in", { value = "boom" })
    p:push("in", { value = "x" })
end)
t.case("another reason", function(p)
    p:push("in", { value = "boom" })
    p:expect_failed("good value")
end)
t.case('did you mean "expect"?', function(p) p:expct("alerts", {}) end)
t.case("did you mean error.policy?", { options = { ["eror.policy"] = "skip" } }, function() end)
t.case("did not come", function(p)
    p:push("in", { value = "x" })
    p:expect("alerts", { { value = "x!" }, { value = "y!" } })
end)
t.case("nothing was wanted, 1 came", function(p)
    p:push("in", { value = "x" })
    p:expect_none("alerts")
end)
t.case("is not behind the last one", function(p)
    p:push("in", { value = "skip", offset = 5 })
    p:push("in", { value = "skip", offset = 5 })
end)
t.case('unknown field "vlaue"', function(p) p:push("in", { vlaue = "x" }) end)
t.case("headers differ", function(p)
    p:push("in", { value = "x" })
    p:expect("alerts", { { headers = { { "a", "b" } } } })
end)
LUA
    code 6 moon test a_test.lua --junit results.xml
    has err 'E_TESTS: 13 of 13 cases failed'
    has out 'wanted "x\x01!"' 'got    "x\x00!"' 'at     p:expect("alerts", { { value = "x\1!" } })' 'a_test.lua:4: '
    grep -c '<failure message=' results.xml | grep -qx 13
    sed -n 's/^t.case(\(["'\'']\)\(.*\)\1, .*/\2/p' a_test.lua >names
    [ "$(wc -l <names)" = 13 ] || fail "$(cat names)"
    awk '/^not ok/ { n++ } { print n ": " $0 }' out >numbered
    local number=0 name
    while read -r name; do
        number=$((number + 1))
        grep "^$number:   # " numbered | grep -qF -e "$name" || fail "case $number does not say: $name"
    done <names
}

local_test tools_test_says_when_something_does_not_load
tools_test_says_when_something_does_not_load() {
    echo 'return function(' >a.lua
    echo 'require("moontide.test").case("runs", function() end)' >a_test.lua
    code 3 moon test .
    has out 'a.lua:2: '
    echo 'x = = 1' >b_test.lua
    code 3 moon test b_test.lua
    has out 'b_test.lua:1: '
    echo 'io.write("no")' >b_test.lua
    code 3 moon test b_test.lua
    has out 'undeclared global "io"'
    identity
    echo 'local t = require "moontide.test" t.script("identity.lua") t.case("x", function(p) p:push("in", { value = "v" })
        p:expect("output", { { value = "v" } }) end)' >b_test.lua
    code 0 moon test b_test.lua
}

local_test tools_check_tells_all_faults_with_their_columns
tools_check_tells_all_faults_with_their_columns() {
    script bad <<'LUA'
local M = {}
local last, seen = nil, {}
M.params = { rate = { type = "numbr" } }
M.proces = 1
function M.process(rec)
    if rec.key == "x" then
        pritn("rare")
        counter = 1
    end
    last = rec
    seen[#seen + 1] = rec
    seen[1] = rec.key
    local copy = rec
    seen.last = copy
    table.insert(seen, rec)
    table.insert(seen, rec.key)
    return last and rec
end
return M
LUA
    code 3 moon check bad.lua
    sed -n 's/^\(bad.lua:[0-9:]*\): error: .*/\1/p' out >got
    printf 'bad.lua:%s\n' 3:14 4:1 7:9 8:9 10:12 11:23 14:5 15:24 >want
    same want got
    has out '    last = rec' '               ^' 'did you mean "print"?' 'did you mean "process"?'
    has err 'E_SCRIPT: 8 faults in bad.lua'
    code 3 moon check bad.lua --json
    jq -r '[.path, .line, .column] | join(":")' out >got
    same want got
    printf 'return function() error(_G["\377"], \302\265) end' >bytes.lua
    code 3 moon check bytes.lua --json
    jq -e .message out >got
    iconv -f utf-8 -t utf-8 out >got
    identity
    printf 'local x = 1\nx += 2\n' >syntax.lua
    code 3 moon check identity.lua syntax.lua none.lua
    has out 'identity.lua: good' 'syntax.lua:2:3: error:' 'none.lua: error: '
    code 0 moon check identity.lua --json
    [ ! -s out ] || fail "$(cat out)"
}

local_test tools_doc_and_types_know_what_there_is
tools_doc_and_types_know_what_there_is() {
    code 0 moon doc
    has out ctx.emit rec.headers moontide
    code 0 moon doc ctx:emit
    has out 'ctx:emit(topic' 'cost: ' 'type: '
    code 0 moon doc moontide.test
    has out t.case
    code 2 moon doc ctx.emt
    has err 'did you mean "ctx.emit"?'
    code 0 moon types stubs
    local file
    for file in stubs/*.lua; do luajit -bl "$file" >/dev/null || fail "$file"; done
    has stubs/moontide.types.lua '---@class moontide.Record' '---@field emit fun(self: moontide.Context, topic: string'
    has stubs/moontide.lua '---@meta moontide'
    code 0 moon types stubs
    echo mine >stubs/moontide.lua
    code 1 moon types stubs
    has err 'no file of'
}
