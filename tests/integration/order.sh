# Many threads on one partition: the same output, sooner.
# shellcheck shell=bash disable=SC2154,SC2046

# Sleeps 0 to 5 ms, drops some, adds some.
random_sleeps() {
    script sleeps <<'LUA'
local tide = require "moontide"
return function(rec, ctx)
    local n = tonumber(rec.value)
    tide.sleep(math.random(0, 5) .. "ms")
    if n % 11 == 0 then return end
    if n % 3 == 0 then ctx:forward { key = rec.key, value = "extra " .. n, timestamp = rec.timestamp } end
    rec.value = "done " .. n
    return rec
end
LUA
}
sleeps_serially() {
    awk -F'|' -v OFS='|' '$4 % 11 == 0 { next } $4 % 3 == 0 { print $1, $2, $3, "extra " $4 } { print $1, $2, $3, "done " $4 }'
}

kafka_test eight_threads_write_what_one_writes in1:1 in4:4 out1:1 out4:4
eight_threads_write_what_one_writes() {
    random_sleeps
    local partitions
    for partitions in 1 4; do
        keyed 6000 200 >lines
        produce "$(topic in$partitions)" lines
        code 0 kafka_run sleeps.lua "$(topic in$partitions)" "$(topic out$partitions)" "$(topic g$partitions)" -e \
            $(threads $((8 * (partitions > 1 ? 2 : 1))) 8)
        dump "$(topic in$partitions)" $partitions '%p|%T|%k|%s\n' | sleeps_serially >want
        dump "$(topic out$partitions)" $partitions '%p|%T|%k|%s\n' >got
        same want got
        all_committed "$(topic g$partitions)" "$(topic in$partitions)" $partitions
    done
}

kafka_test orders_and_null_keys_keep_the_output in:2 out:2
orders_and_null_keys_keep_the_output() {
    random_sleeps
    seq 0 1499 >nulls
    kcat -P -q -b "$broker" -t "$(topic in)" -p 0 -l nulls
    seq 1500 2999 >nulls
    kcat -P -q -b "$broker" -t "$(topic in)" -p 1 -l nulls
    local option done=0
    for option in processing.order=none processing.order=key; do
        code 0 kafka_run sleeps.lua "$(topic in)" "$(topic out)" "$(topic "$option")" -e -X $option $(threads 16 8)
    done
    dump "$(topic in)" 2 '|%T|%k|%s\n' | sleeps_serially | cut -d '|' -f 4 | sort >one
    sort one one >want
    # no key, so the producer chooses the partition: what must hold is that all is there, twice
    dump "$(topic out)" 2 '%s\n' | sort >got
    same want got
}

kafka_test completion_keeps_the_order_of_each_key in:2 out:2
completion_keeps_the_order_of_each_key() {
    random_sleeps
    keyed 6000 100 >lines
    produce "$(topic in)" lines
    # one member: what left before its turn leaves again when a partition moves
    code 0 kafka_run sleeps.lua "$(topic in)" "$(topic out)" "$(topic g)" -e -X processing.emit=completion $(threads 8 8)
    dump "$(topic in)" 2 '%p|%T|%k|%s\n' | sleeps_serially | sort -s -t '|' -k 3,3 >want
    dump "$(topic out)" 2 '%p|%T|%k|%s\n' >raw
    sort -s -t '|' -k 3,3 raw >got
    same want got
    dump "$(topic in)" 2 '%p|%T|%k|%s\n' | sleeps_serially >serial
    ! cmp -s serial raw || fail "the order of completion is that of the input: nothing was tried"
    all_committed "$(topic g)" "$(topic in)" 2
}

# Records a second of slow.lua on a topic, from the first to the last output's timestamp.
rate() {
    kcat -C -q -e -b "$broker" -t "$1" -o beginning -X fetch.wait.max.ms=10 -f '%T\n' |
        sort -n | awk '{ t[NR] = $1 } END { print (NR - 1) * 1000 / (t[NR] - t[1]) }'
}

kafka_test sixteen_threads_do_fourteen_times_the_work in:1 one:1 try1:1 try2:1 try3:1
sixteen_threads_do_fourteen_times_the_work() {
    # the output's timestamp is when it was made
    script slow <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("1ms")
    rec.timestamp = nil
    return rec
end
LUA
    awk 'BEGIN { srand(5); for (i = 0; i < 40000; i++) printf "key-%d\t%d\n", rand() * 1000, i }' >lines
    head -n 3000 lines >few
    produce "$(topic in)" few
    code 0 kafka_run slow.lua "$(topic in)" "$(topic one)" "$(topic g1)" -e
    tail -n +3001 lines >rest
    produce "$(topic in)" rest
    local one sixteen try
    one=$(rate "$(topic one)")
    # what else the machine does can only lower it
    for try in try1 try2 try3; do
        code 0 kafka_run slow.lua "$(topic in)" "$(topic $try)" "$(topic $try)" -e $(threads 16 16)
        sixteen=$(rate "$(topic $try)")
        awk -v one="$one" -v sixteen="$sixteen" 'BEGIN {
            printf "# K=1: %.0f records/s, K=16: %.0f records/s, %.1f times\n", one, sixteen, sixteen / one
            exit sixteen < 14 * one }' && return
    done
    fail "less than 14 times"
}

kafka_test seven_threads_make_three_pipelines in:6 out:6
seven_threads_make_three_pipelines() {
    script slow <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("1ms")
    return rec
end
LUA
    keyed 6000 500 >lines
    produce "$(topic in)" lines
    kafka_start err slow.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(threads 7 3)
    within 10000 reached "$(topic out)" 6 100
    cat /proc/$pid/task/*/comm >threads
    ends $pid 0 30000
    [ "$(grep -c '^poll-' threads)" = 3 ] || fail "$(sort threads)"
    [ "$(grep -c '^worker-' threads)" = 7 ] || fail "$(sort threads)"
    # each pipeline is a member and has partitions
    sed -n 's/.*msg="partition assigned".* pipeline=//p' err | sort -u >pipelines
    printf '%s\n' 0 1 2 >want
    same want pipelines
    dump "$(topic in)" 6 '%p|%T|%k|%s\n' >in
    dump "$(topic out)" 6 '%p|%T|%k|%s\n' >out
    same in out
    all_committed "$(topic g)" "$(topic in)" 6
}

kafka_test measured_peer_obeys_its_contract in:4 out:4
measured_peer_obeys_its_contract() {
    local peer=$root/tests/bench/moontide/run
    "$peer" --workloads >workloads
    grep -qx identity workloads
    grep -qx slow16 workloads
    keyed 5000 50 >lines
    produce "$(topic in)" lines
    BROKER=$broker IN=$(topic in) OUT=$(topic out) GROUP=$(topic g) THREADS=2 APP_DIR=. "$peer" identity 2>log &
    local pid=$!
    within 20000 reached "$(topic out)" 4 5000
    kill -TERM $pid
    ends $pid 0 5000
    dump "$(topic in)" 4 '%p|%T|%k|%s\n' >want
    dump "$(topic out)" 4 '%p|%T|%k|%s\n' >got
    same want got
}
