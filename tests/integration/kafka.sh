# A real broker: records pass as they are, offsets say where to go on.
# shellcheck shell=bash disable=SC2154

kafka_test kafka_records_pass_byte_for_byte in:1 out:1 back:1
kafka_records_pass_byte_for_byte() {
    identity
    luajit "$here/frames.lua" make 2000 plain >frames
    # file to topic, topic to topic, topic to file; kcat reads the topics in between
    code 0 moon run identity.lua --frame --in file:frames --out "$(topic in)" -b "$broker"
    luajit "$here/frames.lua" list <frames >want
    dump "$(topic in)" 1 '%T|%K|%k|%S|%s|%h\n' >got
    same want got
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    dump "$(topic out)" 1 '%T|%K|%k|%S|%s|%h\n' >got
    same want got
    all_committed "$(topic g)" "$(topic in)" 1
    code 0 kafka_run identity.lua "$(topic out)" file:back "$(topic g)" --frame -e
    same frames back
}

kafka_test kafka_one_thread_equals_a_serial_loop in:4 out:4
kafka_one_thread_equals_a_serial_loop() {
    script work <<'LUA'
return function(rec, ctx)
    local n = tonumber(rec.value)
    if n % 7 == 0 then return end
    if n % 5 == 0 then ctx:forward { key = rec.key, value = "extra " .. n, timestamp = 1600000000000 + n } end
    rec.value = "<" .. n .. ">"
    rec.headers:add("n", tostring(n % 3))
    rec.timestamp = 1500000000000 + n
    return rec
end
LUA
    keyed 20000 300 >lines
    produce "$(topic in)" lines -H kept=yes -H kept=twice
    code 0 kafka_run work.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    dump "$(topic in)" 4 '%p|%k|%s|%h\n' >in
    dump "$(topic out)" 4 '%p|%T|%k|%s|%h\n' >got
    # the loop; a key's records stay in its partition, so partitions do too
    awk -F'|' -v OFS='|' '
        $3 % 7 == 0 { next }
        $3 % 5 == 0 { printf "%s|%.0f|%s|extra %s|\n", $1, 1600000000000 + $3, $2, $3 }
        { printf "%s|%.0f|%s|<%s>|%s,n=%d\n", $1, 1500000000000 + $3, $2, $3, $4, $3 % 3 }' in >want
    [ "$(wc -l <in)" = 20000 ] || fail "$(wc -l <in) records came in"
    same want got
}

kafka_test kafka_restart_goes_on_at_the_commit in:2 out:2
kafka_restart_goes_on_at_the_commit() {
    identity
    keyed 1000 50 >lines
    produce "$(topic in)" lines
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    [ "$(records "$(topic out)" 2)" = 1000 ] || fail "$(records "$(topic out)" 2) records"
    produce "$(topic in)" lines
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    [ "$(records "$(topic out)" 2)" = 2000 ] || fail "$(records "$(topic out)" 2) records"
    all_committed "$(topic g)" "$(topic in)" 2
}

kafka_test kafka_offset_reset_says_where_to_begin in:1 out:1
kafka_offset_reset_says_where_to_begin() {
    identity
    seq 1 100 | kcat -P -q -b "$broker" -t "$(topic in)"
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic latest)" -e -X auto.offset.reset=latest
    [ "$(records "$(topic out)" 1)" = 0 ] || fail "latest read $(records "$(topic out)" 1) old records"
    code 5 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic none)" -e -X auto.offset.reset=none
    has err E_
    [ "$(records "$(topic out)" 1)" = 0 ] || fail "none read $(records "$(topic out)" 1) records"
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic earliest)" -e
    [ "$(records "$(topic out)" 1)" = 100 ] || fail "earliest read $(records "$(topic out)" 1) records"
}

kafka_test kafka_options_reach_the_client in:1 out:1
kafka_options_reach_the_client() {
    identity
    seq 1 10 | kcat -P -q -b "$broker" -t "$(topic in)"
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e -X kafka.consumer.debug=fetch \
        -X log.level=debug -X kafka.consumer.fetch.wait.max.ms=7
    has err librdkafka Fetch
    code 2 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e -X kafka.consumer.fetch.wait.max.ms=x
    has err fetch.wait.max.ms
    # not a broker that speaks TLS: what is asked for is done, or it fails; it is not ignored
    code 5 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e -X kafka.security.protocol=ssl
}

kafka_test kafka_failed_record_is_where_a_restart_begins in:1 out:1
kafka_failed_record_is_where_a_restart_begins() {
    script boom <<'LUA'
local M = { params = { bad = { type = "number", default = -1 } } }
function M.process(rec, ctx)
    if rec.offset == ctx.config.bad then error("boom") end
    return rec
end
return M
LUA
    keyed 3000 100 >lines
    produce "$(topic in)" lines
    local k bad=0
    for k in 1 4; do
        bad=$((bad + 1111))
        # shellcheck disable=SC2046
        code 4 kafka_run boom.lua "$(topic in)" "$(topic out)" "$(topic g)" -e --set bad=$bad $(threads $k $k)
        has err E_RECORD "$(topic in) [0] at offset $bad" boom.lua:3 'stack traceback:'
        luajit "$here/offsets.lua" "$broker" "$(topic in)" 1 "$(topic g)" >committed
        [ "$(cut -f 2 committed)" = $bad ] || fail "committed: $(cat committed)"
        [ "$(records "$(topic out)" 1)" = $bad ] || fail "$(records "$(topic out)" 1) records left"
    done
    code 0 kafka_run boom.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    dump "$(topic in)" 1 '%k|%s\n' >in
    dump "$(topic out)" 1 '%k|%s\n' >out
    same in out
}

# The input is all there and the script is slow, so a window of 8 is full, held, and let go on again and again:
# 1,500 records a partition are 187 times 8. The client's own queue is as short.
kafka_test a_hundred_holds_lose_and_repeat_nothing in:2 out:2
a_hundred_holds_lose_and_repeat_nothing() {
    script slow <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep(math.random(0, 3))
    return rec
end
LUA
    keyed 3000 100 >lines
    produce "$(topic in)" lines
    # shellcheck disable=SC2046
    code 0 kafka_run slow.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(threads 4 4) \
        -X task.window.records=8 -X kafka.consumer.queued.max.messages.kbytes=1 \
        -X kafka.consumer.fetch.message.max.bytes=4000
    dump "$(topic in)" 2 '%p|%T|%k|%s\n' >in
    dump "$(topic out)" 2 '%p|%T|%k|%s\n' >out
    same in out
    all_committed "$(topic g)" "$(topic in)" 2
}
