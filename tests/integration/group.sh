# Topics, members and brokers that change under a running process.
# shellcheck shell=bash disable=SC2154,SC2046

# admin VERB ARGUMENT...: topic, grow, delete, trim.
admin() { "$root/scripts/dev/kafka" "$@" >/dev/null; }

kafka_test deleted_topic_exits_5_and_the_others_are_committed gone:1 kept:2 out:1
deleted_topic_exits_5_and_the_others_are_committed() {
    identity
    keyed 300 30 >lines
    produce "$(topic gone)" lines
    produce "$(topic kept)" lines
    # no commit comes of itself in this time
    "$MOONTIDE" run identity.lua --in "$(topic gone)" --in "$(topic kept)" --out "$(topic out)" -b "$broker" \
        -g "$(topic g)" -X commit.interval.ms=10m 2>log &
    pid=$!
    within 20000 reached "$(topic out)" 1 600
    admin delete "$(topic gone)"
    ends $pid 5 25000
    has log E_BROKER "topic \\\"$(topic gone)\\\" is no longer on" 'it was deleted'
    all_committed "$(topic g)" "$(topic kept)" 2
}

kafka_test grown_topic_is_read_from_the_beginning_of_its_new_partitions in:1 out:1
grown_topic_is_read_from_the_beginning_of_its_new_partitions() {
    identity
    keyed 500 50 >lines
    produce "$(topic in)" lines
    local reset
    local -a pids=()
    # without an offset the second one begins at what is the end now
    for reset in earliest latest; do
        kafka_start log.$reset identity.lua "$(topic in)" "$(topic out)" "$(topic $reset)" $(threads 4 2) \
            -X kafka.topic.metadata.refresh.interval.ms=3000 -X auto.offset.reset=$reset
        pids+=($pid)
        within 20000 grep -q 'partition assigned' log.$reset
    done
    within 20000 reached "$(topic out)" 1 500
    sleep 1 # latest has asked where the end is
    admin grow "$(topic in):3"
    # they are written before any member can know them
    seq 500 999 | kcat -P -q -b "$broker" -t "$(topic in)" -p 1
    seq 1000 1499 | kcat -P -q -b "$broker" -t "$(topic in)" -p 2
    within 30000 reached "$(topic out)" 1 2500
    kill -TERM "${pids[@]}"
    ends ${pids[0]} 0 10000
    ends ${pids[1]} 0 10000
    { seq 0 1499 && seq 500 1499; } | sort -n >want
    dump "$(topic out)" 1 '%s\n' | sort -n >got
    same want got
    all_committed "$(topic earliest)" "$(topic in)" 3
}

kafka_test misspelled_output_fails_its_record_soon_and_leaves_nothing in:1 out:1 side:1
misspelled_output_fails_its_record_soon_and_leaves_nothing() {
    script spell <<'LUA'
local M = { params = { side = { type = "string", required = true } } }
function M.process(rec, ctx)
    local topic = ctx.config.side
    if rec.offset == 40 then topic = topic .. "e" end
    ctx:emit(ctx.config.side, { value = "before " .. rec.value })
    ctx:emit(topic, { value = rec.value })
    return rec
end
return M
LUA
    keyed 100 10 >lines
    produce "$(topic in)" lines
    local begin
    begin=$(now_ms)
    code 5 kafka_run spell.lua "$(topic in)" "$(topic out)" "$(topic g)" -e --set side="$(topic side)"
    [ $(($(now_ms) - begin)) -lt 12000 ] || fail "after $(($(now_ms) - begin)) ms"
    has err E_BROKER 'at offset 40' "topic \\\"$(topic side)e\\\" does not exist"
    [ "$(records "$(topic out)" 1)" = 40 ] || fail "$(records "$(topic out)" 1) records in out"
    [ "$(records "$(topic side)" 1)" = 80 ] || fail "$(records "$(topic side)" 1) records in side"
    luajit "$here/offsets.lua" "$broker" "$(topic in)" 1 "$(topic g)" >committed
    [ "$(cut -f 2 committed)" = 40 ] || fail "committed: $(cat committed)"
}

# --- the broker goes away ------------------------------------------------------------------------

# broker_signal NAME: to the broker's process; it goes on at the end of the test in any case.
broker_signal() { kill "-$1" "$("$root/scripts/dev/kafka" pid)"; }
broker_wakes_at_the_end() { trap 'broker_signal CONT' EXIT; }

kafka_test broker_that_freezes_past_the_session_loses_nothing in:4 out:4
broker_that_freezes_past_the_session_loses_nothing() {
    slow
    broker_wakes_at_the_end
    keyed 24000 200 >lines
    produce "$(topic in)" lines
    local log=log
    kafka_start $log slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 2) -X task.window.records=256 \
        -X kafka.consumer.session.timeout.ms=6000
    within 20000 told $log 6
    broker_signal STOP
    sleep 9
    broker_signal CONT
    within 60000 reached "$(topic out)" 4 24000
    within 20000 eval 'nothing_missing "$(topic out)" 4 24000'
    kill -TERM $pid
    ends $pid 0 10000
    nothing_lost "$(topic out)" 4 24000
    echo "# $doubled of 24000 records twice"
    order_by_key "$(topic out)" 4
    all_committed "$(topic g)" "$(topic in)" 4
}
# nothing_missing OUT PARTITIONS COUNT: each number is there, once or more.
nothing_missing() { [ "$(dump "$1" "$2" '%s\n' | sort -un | wc -l)" = "$3" ]; }

kafka_test broker_that_is_restarted_loses_nothing in:4 out:4
broker_that_is_restarted_loses_nothing() {
    slow
    keyed 16000 200 >lines
    produce "$(topic in)" lines
    kafka_start log slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) -X task.window.records=256
    within 20000 told log 4
    admin stop
    sleep 1
    ! gone $pid || fail "it ended when the broker did"
    admin start
    within 90000 eval 'nothing_missing "$(topic out)" 4 16000'
    kill -TERM $pid
    ends $pid 0 10000
    nothing_lost "$(topic out)" 4 16000
    echo "# $doubled of 16000 records twice"
    order_by_key "$(topic out)" 4
    all_committed "$(topic g)" "$(topic in)" 4
}

kafka_test stop_without_a_broker_is_bounded_and_says_what_is_undone in:2 out:2
stop_without_a_broker_is_bounded_and_says_what_is_undone() {
    slow
    broker_wakes_at_the_end
    keyed 20000 200 >lines
    produce "$(topic in)" lines
    kafka_start log slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) -X shutdown.timeout.ms=3s
    within 20000 told log 4
    broker_signal STOP
    sleep 1
    kill -TERM $pid
    ends $pid 7 20000
    has log E_DRAIN 'read again after a restart'
    broker_signal CONT
    code 0 kafka_run slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) -e
    nothing_lost "$(topic out)" 2 20000
    all_committed "$(topic g)" "$(topic in)" 2
}

kafka_test stop_without_a_broker_and_without_work_exits_0 in:2 out:2
stop_without_a_broker_and_without_work_exits_0() {
    identity
    broker_wakes_at_the_end
    keyed 100 10 >lines
    produce "$(topic in)" lines
    kafka_start log identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -X commit.interval.ms=100
    within 20000 reached "$(topic out)" 2 100
    within 5000 is_committed "$(topic g)" "$(topic in)" 2
    sleep 0.5
    broker_signal STOP
    kill -TERM $pid
    ends $pid 0 20000
    broker_signal CONT
}

# --- stops at bad moments ------------------------------------------------------------------------

kafka_test stop_while_a_partition_is_held_ends_soon in:1 out:1
stop_while_a_partition_is_held_ends_soon() {
    script second <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("500ms")
    return rec
end
LUA
    head -c 400 /dev/zero | tr '\0' x >wide
    awk -v wide="$(cat wide)" 'BEGIN { for (i = 0; i < 40000; i++) print i wide }' >lines
    kcat -P -q -b "$broker" -t "$(topic in)" -l lines
    # the window is full, and megabytes wait in the client behind it
    kafka_start log second.lua "$(topic in)" "$(topic out)" "$(topic g)" -X task.window.records=4
    within 20000 reached "$(topic out)" 1 2
    kill -TERM $pid
    ends $pid 0 5000
    luajit "$here/offsets.lua" "$broker" "$(topic in)" 1 "$(topic g)" >committed
    [ "$(cut -f 2 committed)" = "$(records "$(topic out)" 1)" ] || fail "$(cat committed), $(records "$(topic out)" 1) left"
}

# polls: its poll threads have begun to join the group.
polls() { grep -qs '^poll-' /proc/$pid/task/*/comm; }

kafka_test stop_while_joining_or_assigning_ends_soon in:4 out:4
stop_while_joining_or_assigning_ends_soon() {
    identity
    keyed 20000 200 >lines
    produce "$(topic in)" lines
    local ms
    for ms in 0 20 60 120 250 500; do
        kafka_start log identity.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 2)
        within 10000 polls
        sleep "$(printf '0.%03d' $ms)"
        kill -TERM $pid
        ends $pid 0 8000
    done
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    nothing_lost "$(topic out)" 4 20000
    all_committed "$(topic g)" "$(topic in)" 4
}

kafka_test no_drain_time_still_commits_and_leaves_the_group in:2 out:2
no_drain_time_still_commits_and_leaves_the_group() {
    slow
    keyed 20000 200 >lines
    produce "$(topic in)" lines
    local -a options=(-X drain.timeout.ms=0 -X kafka.consumer.session.timeout.ms=30000)
    kafka_start log.1 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) "${options[@]}"
    within 20000 told log.1 4
    kill -TERM $pid
    ends $pid 0 8000
    # who left is not waited for: the next member has its partitions long before the session is over
    kafka_start log.2 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 4 4) "${options[@]}"
    within 10000 grep -q 'partition assigned' log.2
    kill -TERM $pid
    ends $pid 0 8000
}

# --- members -------------------------------------------------------------------------------------

kafka_test static_members_of_a_process_have_names_of_their_own in:4 out:4
static_members_of_a_process_have_names_of_their_own() {
    identity
    keyed 2000 100 >lines
    produce "$(topic in)" lines
    local -a options=(-X kafka.consumer.group.instance.id=one -X kafka.consumer.session.timeout.ms=20000)
    kafka_start log.1 identity.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 3 1) "${options[@]}"
    within 20000 eval '[ "$(sed -n "s/.*msg=.partition assigned.* pipeline=//p" log.1 | sort -u | wc -l)" = 3 ]'
    within 20000 reached "$(topic out)" 4 2000
    kill -TERM $pid
    ends $pid 0 8000
    produce "$(topic in)" lines
    # a static member that comes back in time has its partitions at once
    kafka_start log.2 identity.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 3 1) "${options[@]}"
    within 10000 reached "$(topic out)" 4 4000
    kill -TERM $pid
    ends $pid 0 8000
    all_committed "$(topic g)" "$(topic in)" 4
}

kafka_test fenced_member_exits_5_and_says_why in:2 out:2
fenced_member_exits_5_and_says_why() {
    identity
    keyed 200 10 >lines
    produce "$(topic in)" lines
    local first
    kafka_start log.1 identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -X kafka.consumer.group.instance.id=same
    first=$pid
    within 20000 reached "$(topic out)" 2 200
    kafka_start log.2 identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -X kafka.consumer.group.instance.id=same
    ends $first 5 20000
    has log.1 E_BROKER group.instance.id FENCED_INSTANCE_ID
    # it did not spin: an error is told once
    [ "$(grep -c FENCED_INSTANCE_ID log.1)" -le 4 ] || fail "$(grep -c FENCED_INSTANCE_ID log.1) lines of it"
    produce "$(topic in)" lines
    within 20000 reached "$(topic out)" 2 400
    kill -TERM $pid
    ends $pid 0 8000
    all_committed "$(topic g)" "$(topic in)" 2
}

kafka_test retained_partitions_run_on_during_a_cooperative_revoke in:4 out:4
retained_partitions_run_on_during_a_cooperative_revoke() {
    slow
    keyed 20000 300 >lines
    produce "$(topic in)" lines
    local first
    local -a options=(-X kafka.consumer.partition.assignment.strategy=cooperative-sticky
        -X kafka.consumer.heartbeat.interval.ms=500 -X task.window.records=256)
    kafka_start log.1 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" "${options[@]}"
    first=$pid
    within 20000 told log.1 4
    kafka_start log.2 slow.lua "$(topic in)" "$(topic out)" "$(topic g)" "${options[@]}"
    has log.1 level=warn "cooperative-sticky needs librdkafka 2.10"
    within 30000 told log.2 3
    # each partition but those that moved was assigned once
    within 90000 eval 'nothing_missing "$(topic out)" 4 20000'
    kill -TERM $first $pid
    ends $first 0 10000
    ends $pid 0 10000
    nothing_lost "$(topic out)" 4 20000
    echo "# $doubled of 20000 records twice, $(cat log.1 log.2 | grep -c 'partition lost' || true) partitions lost"
    order_by_key "$(topic out)" 4
    all_committed "$(topic g)" "$(topic in)" 4
}

# --- offsets -------------------------------------------------------------------------------------

kafka_test committed_offset_that_is_gone_goes_by_the_reset in:1 out:1
committed_offset_that_is_gone_goes_by_the_reset() {
    identity
    seq 0 99 | kcat -P -q -b "$broker" -t "$(topic in)"
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic none)" -e
    seq 100 299 | kcat -P -q -b "$broker" -t "$(topic in)"
    admin trim "$(topic in):0:200"
    # the first record lies above the committed offset
    code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    all_committed "$(topic g)" "$(topic in)" 1
    { seq 0 99 && seq 0 99 && seq 200 299; } >want
    dump "$(topic out)" 1 '%s\n' >got
    same want got
    code 5 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic none)" -e -X auto.offset.reset=none
    has err E_BROKER auto.offset.reset "$(topic in) [0]"
    luajit "$here/offsets.lua" "$broker" "$(topic in)" 1 "$(topic none)" >committed
    [ "$(cut -f 2 committed)" = 100 ] || fail "committed: $(cat committed)"
}

kafka_test topic_that_was_made_anew_is_read_from_its_beginning in:1 out:1
topic_that_was_made_anew_is_read_from_its_beginning() {
    identity
    seq 0 999 | kcat -P -q -b "$broker" -t "$(topic in)"
    kafka_start log identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -X commit.interval.ms=100
    within 20000 reached "$(topic out)" 1 1000
    admin delete "$(topic in)"
    admin topic "$(topic in):1"
    seq 5000 5099 | kcat -P -q -b "$broker" -t "$(topic in)"
    # either it was noticed in time, or the process ended and an operator starts it again
    if ! (within 30000 reached "$(topic out)" 1 1100); then
        gone $pid || fail "it neither reads nor ends"
        code 0 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e
    else
        kill -TERM $pid
        ends $pid 0 10000
    fi
    { seq 0 999 && seq 5000 5099; } >want
    dump "$(topic out)" 1 '%s\n' >got
    same want got
}
