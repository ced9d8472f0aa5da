# Ends, kills and members that come and go: nothing is lost, and nothing is doubled that need not be.
# shellcheck shell=bash disable=SC2154,SC2046

# Sleeps a millisecond, as for an answer from elsewhere; each worker tells of every 300 records in the log.
slow() {
    script slow <<'LUA'
local tide = require "moontide"
local count = 0
return function(rec)
    tide.sleep("1ms")
    count = count + 1
    if count % 300 == 0 then print "300 more" end
    return rec
end
LUA
}
# told LOG COUNT: it did so that often. A broker that is slow to answer delays no kill.
told() { [ "$(grep -c '300 more' "$1")" -ge "$2" ]; }

# numbers TOPIC PARTITIONS FILE: the values, sorted, one a line.
numbers() { dump "$1" "$2" '%s\n' | sort -n >"$3"; }

# nothing_lost OUT PARTITIONS COUNT: the numbers 0 to COUNT - 1 are all there; says how many came twice.
nothing_lost() {
    numbers "$1" "$2" all
    uniq all >got
    seq 0 $(($3 - 1)) >want
    same want got
    doubled=$(($(wc -l <all) - $3))
}

# order_by_key TOPIC PARTITIONS: what was not seen before comes in rising order within each key.
order_by_key() {
    dump "$1" "$2" '%k %s\n' | awk '
        seen[$1 " " $2]++ { next }
        $1 in last && $2 < last[$1] { print "key", $1, "has", $2, "after", last[$1]; bad = 1 }
        { last[$1] = $2 + 0 } END { exit bad }'
}

kafka_test kill_9_loses_nothing in:4 out:4
kill_9_loses_nothing() {
    slow
    keyed 20000 300 >lines
    produce "$(topic in)" lines
    local round
    # the group has to notice that the member died
    local -a quick=(-X commit.interval.ms=200 -X kafka.consumer.session.timeout.ms=6000
        -X kafka.consumer.heartbeat.interval.ms=1000)
    for round in 1 2 3; do
        kafka_start log.$round slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 8 4) "${quick[@]}"
        within 30000 told log.$round 10
        kill -KILL $pid
        wait $pid || true
    done
    code 0 kafka_run slow.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(threads 8 4) "${quick[@]}"
    nothing_lost "$(topic out)" 4 20000
    echo "# $doubled of 20000 records twice, after 3 kills"
    order_by_key "$(topic out)" 4
    all_committed "$(topic g)" "$(topic in)" 4
}

kafka_test sigterm_drains_and_a_restart_doubles_nothing in:2 out:2
sigterm_drains_and_a_restart_doubles_nothing() {
    slow
    keyed 14000 100 >lines
    produce "$(topic in)" lines
    local signal before rounds=0
    for signal in TERM INT TERM; do
        rounds=$((rounds + 1))
        kafka_start log.$rounds slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4)
        within 20000 told log.$rounds 4
        kill -$signal $pid
        ends $pid 0 5000
        before=$(records "$(topic out)" 2)
        [ "$before" -lt 14000 ] || fail "it was at the end before the signal"
        # what left is what is committed
        luajit "$here/offsets.lua" "$broker" "$(topic in)" 2 "$(topic g)" >committed
        [ "$(awk '{ n += $2 } END { print n }' committed)" = "$before" ] || fail "$before left; $(cat committed)"
    done
    code 0 kafka_run slow.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(threads 4 4)
    dump "$(topic in)" 2 '%p|%T|%k|%s\n' >want
    dump "$(topic out)" 2 '%p|%T|%k|%s\n' >got
    same want got
}

kafka_test second_signal_goes_at_once in:1 out:1
second_signal_goes_at_once() {
    script stuck <<'LUA'
local tide = require "moontide"
return function(rec)
    print("begun")
    tide.sleep("20s")
    return rec
end
LUA
    keyed 10 3 >lines
    produce "$(topic in)" lines
    kafka_start log stuck.lua "$(topic in)" "$(topic out)" "$(topic g)"
    within 10000 grep -q begun log
    kill -TERM $pid
    sleep 1
    ! gone $pid || fail "it did not wait for the record"
    kill -TERM $pid
    ends $pid 7 5000
    [ "$(records "$(topic out)" 1)" = 0 ] || fail "something left"
}

kafka_test members_that_come_and_go_lose_nothing in:4 out:4
members_that_come_and_go_lose_nothing() {
    slow
    keyed 36000 200 >lines
    produce "$(topic in)" lines
    local first second
    # small windows, so that no partition is done before the last member has come
    local -a quick=(-X kafka.consumer.heartbeat.interval.ms=500 -X task.window.records=256)
    kafka_start log.1 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) "${quick[@]}"
    first=$pid
    within 20000 told log.1 4
    kafka_start log.2 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 2) "${quick[@]}"
    second=$pid
    within 20000 told log.2 4
    kill -TERM $first
    ends $first 0 10000
    within 20000 told log.2 8
    kafka_start log.3 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) "${quick[@]}"
    first=$pid
    within 20000 told log.3 1
    kill -TERM $second
    ends $second 0 10000
    [ "$(records "$(topic out)" 4)" -lt 36000 ] || fail "all was done before the last member left"
    within 30000 reached "$(topic out)" 4 36000
    kill -TERM $first
    ends $first 0 10000
    nothing_lost "$(topic out)" 4 36000
    [ $doubled = 0 ] || fail "$doubled records twice, and all members left in good order"
    order_by_key "$(topic out)" 4
    all_committed "$(topic g)" "$(topic in)" 4
}

kafka_test slow_record_keeps_the_membership in:1 out:1
slow_record_keeps_the_membership() {
    script sleeper <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("12s")
    return rec
end
LUA
    keyed 1 1 >lines
    produce "$(topic in)" lines
    code 0 kafka_run sleeper.lua "$(topic in)" "$(topic out)" "$(topic g)" -e \
        -X kafka.consumer.max.poll.interval.ms=6000 -X kafka.consumer.session.timeout.ms=6000
    [ "$(records "$(topic out)" 1)" = 1 ] || fail "$(records "$(topic out)" 1) records"
    [ "$(grep -c 'partition assigned' err)" = 1 ] || fail "$(cat err)"
    lacks err 'partition lost'
    all_committed "$(topic g)" "$(topic in)" 1
}
