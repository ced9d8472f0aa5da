# A real broker: order, crashes, signals, members that come and go, threads.
# shellcheck shell=bash disable=SC2154

# fill TOPIC COUNT KEYS: records "N" with key "kM", N from 1; the partition follows from the key
fill() {
    awk -v n="$2" -v keys="$3" 'BEGIN { srand(408); for (i = 1; i <= n; i++) print "k" int(rand() * keys) "\t" i }' |
        kcat -P -b "$broker" -t "$(topic "$1")" -K '\t' -X partitioner=murmur2_random
}

# read_topic TOPIC FORMAT [PARTITION]
read_topic() {
    kcat -C -b "$broker" -t "$(topic "$1")" ${3:+-p "$3"} -o beginning -e -q -f "$2"
}

count_topic() {
    kcat -C -b "$broker" -t "$(topic "$1")" -o beginning -e -q -f 'x\n' | wc -l
}

# end_of TOPIC: how many records it got so far, also while it grows
end_of() {
    local -a ask=()
    local one p partitions=0
    for one in ${topics[$test_name]}; do
        [ "${one%:*}" = "$1" ] && partitions=${one##*:}
    done
    for ((p = 0; p < partitions; p++)); do ask+=(-t "$(topic "$1"):$p:-1"); done
    kcat -Q -b "$broker" "${ask[@]}" | awk '{ n += $NF } END { print n + 0 }'
}

# moontide SCRIPT IN OUT GROUP [OPTION...]
moontide() {
    local script=$1 in=$2 out=$3 group=$4
    shift 4
    "$MOONTIDE" run "$script" --in "$(topic "$in")" --out "$(topic "$out")" -b "$broker" -g "$run_id.$group" \
        -X kafka.consumer.session.timeout.ms=6000 "$@"
}

# wait_for COUNT TOPIC: until that many records stand in the topic, at most 30 s
wait_for() {
    for _ in $(seq 150); do
        [ "$(end_of "$2")" -ge "$1" ] && return
        sleep 0.2
    done
    fail "$2 has $(end_of "$2") of $1 records"
}

# committed TOPIC GROUP: "PARTITION OFFSET" lines
committed() {
    local jars
    jars=$(echo "${KAFKA_DIR:-$root/build/kafka}"/lib*)
    java -cp "$jars/*" org.apache.kafka.tools.consumer.group.ConsumerGroupCommand \
        --bootstrap-server "$broker" --describe --group "$run_id.$2" 2>/dev/null |
        awk -v topic="$(topic "$1")" '$2 == topic { print $3, $4 }' | sort -n
}

write_scripts() {
    cat >identity.lua <<'LUA'
return function(rec) return rec end
LUA
    cat >random.lua <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep(math.random() * 5)
    return rec
end
LUA
    cat >slow.lua <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("1ms")
    return rec
end
LUA
}

everything='%p %o %k %s %T %h\n'


kafka_test broker_eight_threads_a_task_write_what_one_writes one.in:1 one.k8:1 serial.in:4 serial.k8:4
broker_eight_threads_a_task_write_what_one_writes() {
    write_scripts
    fill one.in 3000 200
    moontide random.lua one.in one.k8 one8 -e -X num.stream.threads=8 -X num.threads.per.task=8
    read_topic one.in "$everything" 0 >wanted
    read_topic one.k8 "$everything" 0 >got
    same wanted got
    fill serial.in 20000 500
    moontide random.lua serial.in serial.k8 serial8 -e -X num.stream.threads=8 -X num.threads.per.task=8
    local p
    for p in 0 1 2 3; do
        read_topic serial.in "$everything" $p >wanted
        read_topic serial.k8 "$everything" $p >got
        same wanted got
    done
}

kafka_test broker_completion_keeps_the_order_of_each_key serial.in:4 serial.done:4
broker_completion_keeps_the_order_of_each_key() {
    write_scripts
    fill serial.in 20000 500
    moontide random.lua serial.in serial.done done -e -X num.stream.threads=8 -X num.threads.per.task=8 \
        -X processing.emit=completion
    read_topic serial.done '%p %k %s\n' >got
    [ "$(wc -l <got)" = 20000 ] || fail "$(wc -l <got) records"
    awk '$3 + 0 <= last[$1 " " $2] { print "key", $2, "has", $3, "after", last[$1 " " $2]; bad = 1 }
         { last[$1 " " $2] = $3 + 0 } END { exit bad }' got
}

ids_missing() {
    read_topic "$1" '%s\n' | sort -n | uniq | awk -v n="$2" '{ got++ } END { print n - got }'
}

kafka_test broker_kill_9_loses_nothing crash.in:4 crash.out:4
broker_kill_9_loses_nothing() {
    write_scripts
    fill crash.in 20000 300
    local round
    for round in 1 2 3 4; do
        moontide slow.lua crash.in crash.out crash -X num.stream.threads=8 -X num.threads.per.task=4 \
            -X commit.interval.ms=200 2>log.$round &
        sleep 1.4
        pkill -9 -P $! -x moontide || kill -9 $!
        wait $! 2>/dev/null || true
    done
    moontide slow.lua crash.in crash.out crash -e -X num.stream.threads=8 -X num.threads.per.task=4
    [ "$(ids_missing crash.out 20000)" = 0 ] || fail "$(ids_missing crash.out 20000) records are lost"
    local doubled
    doubled=$(($(count_topic crash.out) - 20000))
    echo "# $doubled of 20000 records twice, after 4 kills"
    committed crash.in crash >offsets
    local p end
    for p in 0 1 2 3; do
        end=$(read_topic crash.in 'x\n' $p | wc -l)
        grep -qx "$p $end" offsets || fail "partition $p: $(cat offsets), end $end"
    done
}

kafka_test broker_sigterm_drains_and_a_restart_doubles_nothing term.in:2 term.out:2
broker_sigterm_drains_and_a_restart_doubles_nothing() {
    write_scripts
    fill term.in 8000 100
    local round pid
    for round in 1 2 3; do
        moontide slow.lua term.in term.out term -X num.stream.threads=4 -X num.threads.per.task=4 2>log.$round &
        pid=$!
        sleep 1.3
        pkill -TERM -P $pid -x moontide || kill -TERM $pid
        wait $pid || fail "exit code $?: $(tail -n 5 log.$round)"
    done
    moontide slow.lua term.in term.out term -e -X num.stream.threads=4 -X num.threads.per.task=4
    [ "$(count_topic term.out)" = 8000 ] || fail "$(count_topic term.out) of 8000 records"
    [ "$(ids_missing term.out 8000)" = 0 ] || fail "records are lost"
}

kafka_test broker_a_second_signal_goes_at_once hurry.in:1 hurry.out:1
broker_a_second_signal_goes_at_once() {
    cat >stuck.lua <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("20s")
    return rec
end
LUA
    fill hurry.in 10 3
    local pid code=0 begin
    moontide stuck.lua hurry.in hurry.out hurry 2>log &
    pid=$!
    sleep 2
    begin=$(date +%s)
    pkill -TERM -P $pid -x moontide || kill -TERM $pid
    sleep 0.5
    pkill -TERM -P $pid -x moontide || kill -TERM $pid
    wait $pid || code=$?
    [ "$code" = 7 ] || fail "exit code $code: $(tail -n 5 log)"
    [ $(($(date +%s) - begin)) -le 8 ] || fail "it took $(($(date +%s) - begin)) s"
    [ "$(count_topic hurry.out)" = 0 ] || fail "something left"
}

kafka_test broker_members_that_come_and_go_lose_nothing group.in:4 group.out:4
broker_members_that_come_and_go_lose_nothing() {
    write_scripts
    fill group.in 16000 200
    local first second
    moontide slow.lua group.in group.out group -X num.stream.threads=4 -X num.threads.per.task=4 2>log.1 &
    first=$!
    sleep 1.5
    moontide slow.lua group.in group.out group -X num.stream.threads=4 -X num.threads.per.task=2 2>log.2 &
    second=$!
    sleep 2.5
    pkill -TERM -P $first -x moontide || kill -TERM $first
    wait $first || fail "the first: $? $(tail -n 3 log.1)"
    sleep 1.5
    pkill -TERM -P $second -x moontide || kill -TERM $second
    wait $second || fail "the second: $? $(tail -n 3 log.2)"
    moontide slow.lua group.in group.out group -e -X num.stream.threads=4 -X num.threads.per.task=4
    [ "$(ids_missing group.out 16000)" = 0 ] || fail "$(ids_missing group.out 16000) records are lost"
    echo "# $(($(count_topic group.out) - 16000)) of 16000 records twice, after 2 joins and 2 leaves"
    read_topic group.out '%k %s\n' >got
    awk '$2 + 0 <= last[$1] && !seen[$1 " " $2] { print "key", $1, "has", $2, "first after", last[$1]; bad = 1 }
         { seen[$1 " " $2] = 1; if ($2 + 0 > last[$1]) last[$1] = $2 + 0 } END { exit bad }' got
}

rate() { # TOPIC LOG: records a second from the first to the last timestamp of the log
    awk -v n="$1" '/assigned/ { split($1, t, "[T:Z]"); from = t[2] * 3600 + t[3] * 60 + t[4] }
        /revoked/ { split($1, t, "[T:Z]"); to = t[2] * 3600 + t[3] * 60 + t[4] } END { print n / (to - from) }' "$2"
}

kafka_test broker_sixteen_threads_are_fourteen_times_as_fast slow.in:1 slow.k16:1 slow.k1:1
broker_sixteen_threads_are_fourteen_times_as_fast() {
    write_scripts
    fill slow.in 16000 1000
    local one sixteen begin
    moontide slow.lua slow.in slow.k16 slow16 -e -X num.stream.threads=16 -X num.threads.per.task=16 \
        -X log.format=logfmt 2>log.16
    sixteen=$(rate 16000 log.16)
    # one thread would take 17 s for all: it is measured on what it does in 5 s
    moontide slow.lua slow.in slow.k1 slow1 -X log.format=logfmt 2>log.1 &
    local pid=$!
    wait_for 1 slow.k1
    local from to
    begin=$(date +%s%N)
    from=$(end_of slow.k1)
    sleep 4
    to=$(end_of slow.k1)
    one=$(awk -v n=$((to - from)) -v ns=$(($(date +%s%N) - begin)) 'BEGIN { print n / ns * 1e9 }')
    pkill -TERM -P $pid -x moontide || kill -TERM $pid
    wait $pid || true
    echo "# K=1 $one records/s, K=16 $sixteen, ratio $(awk -v a="$sixteen" -v b="$one" 'BEGIN { printf "%.1f", a / b }')"
    awk -v a="$sixteen" -v b="$one" 'BEGIN { exit a < 14 * b }'
}

kafka_test broker_seven_threads_by_three_share_six_partitions seven.in:6 seven.out:6
broker_seven_threads_by_three_share_six_partitions() {
    write_scripts
    fill seven.in 6000 500
    moontide slow.lua seven.in seven.out seven -X num.stream.threads=7 -X num.threads.per.task=3 2>log &
    local pid=$! child
    wait_for 6000 seven.out
    child=$(pgrep -P $pid -x moontide || echo $pid)
    cat /proc/"$child"/task/*/comm >threads
    pkill -TERM -P $pid -x moontide || kill -TERM $pid
    wait $pid || fail "exit code $?"
    [ "$(grep -c '^worker-' threads)" = 7 ] || fail "$(cat threads)"
    [ "$(grep -c '^poll-' threads)" = 3 ] || fail "$(cat threads)"
    [ "$(ids_missing seven.out 6000)" = 0 ] || fail "records are lost"
}

kafka_test broker_a_slow_script_keeps_its_membership stay.in:1 stay.out:1
broker_a_slow_script_keeps_its_membership() {
    cat >sleeper.lua <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("14s")
    return rec
end
LUA
    fill stay.in 1 1
    moontide sleeper.lua stay.in stay.out stay -e -X kafka.consumer.max.poll.interval.ms=7000 2>log
    [ "$(count_topic stay.out)" = 1 ] || fail "$(count_topic stay.out) records"
    [ "$(grep -c 'partition assigned' log)" = 1 ] || fail "$(cat log)"
}

kafka_test broker_the_peer_obeys_its_contract peer.in:4 peer.out:4
broker_the_peer_obeys_its_contract() {
    fill peer.in 1000 50
    [ "$("$root/tests/bench/moontide/run" --workloads | head -n 1)" = identity ] || fail "no workloads"
    BROKER=$broker IN=$(topic peer.in) OUT=$(topic peer.out) GROUP=$run_id.peer THREADS=1 APP_DIR=. \
        MOONTIDE=$MOONTIDE "$root/tests/bench/moontide/run" identity 2>log &
    local pid=$!
    wait_for 1000 peer.out
    kill -TERM $pid
    wait $pid || fail "exit code $?"
}
