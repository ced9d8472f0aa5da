# Topics, members and brokers that change under a running process.
# shellcheck shell=bash disable=SC2154,SC2046

# admin VERB ARGUMENT...: topic, grow, delete, trim.
admin() { "$root/scripts/dev/kafka" "$@"; }

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
