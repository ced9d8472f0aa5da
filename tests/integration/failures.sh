# Failed records: retried, skipped, sent as dead letters, or the end.
# shellcheck shell=bash disable=SC2154,SC2046

dlq() { printf '%s\n' -X "errors.dead.letter.queue.topic.name=$1"; }
committed() { luajit "$here/offsets.lua" "$broker" "$2" 1 "$1" | cut -f 2; }

local_test failures_are_refused_where_they_cannot_be_handled
failures_are_refused_where_they_cannot_be_handled() {
    identity
    seq 3 >in
    lines 2 identity.lua -X error.policy=dlq
    has err E_CONFIG 'error.policy = dlq' 'needs a topic: set errors.dead.letter.queue.topic.name'
    lines 2 identity.lua -X error.policy.timeout=dlq
    has err 'error.policy.timeout = dlq' errors.dead.letter.queue.topic.name
    lines 2 identity.lua -X production.error.policy=dlq
    has err 'production.error.policy = dlq' errors.dead.letter.queue.topic.name
    lines 2 identity.lua $(dlq letters)
    has err 'has no output here; give one with --out letters=file:PATH'
    code 2 moon run identity.lua --in t --out u -b 127.0.0.1:1 -g g $(dlq t)
    has err 'errors.dead.letter.queue.topic.name = t is an input as well'
    lines 2 identity.lua -X error.policy=retri
    has err error.policy
    [ ! -e got ] || fail "an output was made"
}

local_test failures_go_by_the_policy_of_their_kind
failures_go_by_the_policy_of_their_kind() {
    script kinds <<'LUA'
return function(rec, ctx)
    local n = tonumber(rec.value)
    ctx:emit("extra", { value = "x" .. n })
    if n % 10 == 3 then error("third") end
    if n % 10 == 5 then ctx.fail("fifth") end
    if n % 10 == 7 then ctx.skip("seventh") end
    if n % 10 == 9 then ctx.dead_letter("ninth") end
    return rec
end
LUA
    seq 0 999 >in
    local k
    for k in 1 4; do
        code 0 moon run kinds.lua --in file:in --out file:got --out extra=file:extra --out letters=file:letters \
            $(dlq letters) -X error.policy.raised=dlq -X error.policy.failed=skip $(threads $k $k)
        awk '$1 % 10 != 3 && $1 % 10 != 5 && $1 % 10 != 7 && $1 % 10 != 9' in >want
        same want got
        sed 's/^/x/' want >extras
        same extras extra
        awk '$1 % 10 == 3 || $1 % 10 == 9' in >want
        same want letters
    done
}

local_test failures_that_heal_lose_nothing
failures_that_heal_lose_nothing() {
    script heals <<'LUA'
local tries = {}
return function(rec)
    local n = tonumber(rec.value)
    tries[n] = (tries[n] or 0) + 1
    if n % 50 == 0 and tries[n] < 4 then error("try " .. tries[n]) end
    return rec
end
LUA
    seq 0 999 >in
    code 0 moon run heals.lua --in file:in --out file:got -X error.policy=retry -X max.retries=3 -X retry.backoff.ms=5
    same in got
    code 4 moon run heals.lua --in file:in --out file:got -X error.policy=retry -X max.retries=2 -X retry.backoff.ms=5
    has err E_RECORD 'file:in [0] at offset 0 (attempt 3): ' 'heals.lua:5: try 3'
    [ ! -s got ] || fail "$(wc -l <got) lines"
}

local_test failures_of_one_kind_make_few_log_lines
failures_of_one_kind_make_few_log_lines() {
    script poison <<'LUA'
return function(rec) error("bad field in " .. rec.value) end
LUA
    seq 10000 >in
    code 0 moon run poison.lua --in file:in --out file:got -X error.policy=skip
    [ ! -s got ] || fail "$(wc -l <got) lines"
    [ "$(wc -l <err)" -lt 20 ] || fail "$(wc -l <err) lines of log"
    has err 'action=skip' 'topic=file:in partition=0 offset=0' 'poison.lua:1: bad field in 1'
    # told, and counted, each once
    local told counted
    told=$(grep -c 'msg="record failed"' err)
    counted=$(sed -n 's/.* records=\([0-9]*\)$/\1/p; s/.* like_it_before=\([0-9]*\) .*/\1/p' err |
        awk '{ sum += $1 } END { print sum }')
    [ $((told + counted)) = 10000 ] || fail "$told told, $counted counted"
}

local_test failures_of_memory_are_a_kind
failures_of_memory_are_a_kind() {
    script bomb <<'LUA'
return function(rec)
    if rec.value == "2" then return #string.rep("x", 2 ^ 31 - 64) end
    return rec
end
LUA
    seq 3 >in
    code 0 moon run bomb.lua --in file:in --out - -X error.policy.memory=skip
    printf '1\n3\n' >want
    same want out
    has err 'kind=memory' 'not enough memory'
    code 4 moon run bomb.lua --in file:in --out - -X error.policy.raised=skip
}

kafka_test failures_make_one_letter_after_four_attempts in:1 out:1 letters:1
failures_make_one_letter_after_four_attempts() {
    script bad <<'LUA'
return function(rec, ctx)
    if rec.value == "poison" then
        print("attempt")
        error("cannot read it")
    end
    return rec
end
LUA
    printf 'a\tone\n' | kcat -P -q -b "$broker" -t "$(topic in)" -K '\t'
    printf 'k1\tpoison\n' | kcat -P -q -b "$broker" -t "$(topic in)" -K '\t' -H trace=1 -H trace=2
    printf 'a\ttwo\n' | kcat -P -q -b "$broker" -t "$(topic in)" -K '\t'
    code 0 kafka_run bad.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(dlq "$(topic letters)") \
        -X error.policy=retry -X max.retries=3 -X retry.backoff.ms=10
    [ "$(grep -c 'msg=attempt' err)" = 4 ] || fail "$(grep -c 'msg=attempt' err) attempts"
    [ "$(records "$(topic letters)" 1)" = 1 ] || fail "$(records "$(topic letters)" 1) letters"
    dump "$(topic in)" 1 '%k|%s|%T\n' | sed -n 2p >want
    dump "$(topic letters)" 1 '%k|%s|%T\n' >got
    same want got
    dump "$(topic letters)" 1 '%h\n' >headers
    has headers 'trace=1,trace=2,__streams.errors.exception=raised,' 'bad.lua:4: cannot read it' 'stack traceback:' \
        "__streams.errors.topic=$(topic in),__streams.errors.partition=0,__streams.errors.offset=1" \
        '__moontide.errors.attempts=4,__moontide.errors.script=bad.lua'
    printf 'one\ntwo\n' >want
    dump "$(topic out)" 1 '%s\n' >got
    same want got
    all_committed "$(topic g)" "$(topic in)" 1
}

kafka_test failures_need_a_topic_that_is_there in:1 out:1
failures_need_a_topic_that_is_there() {
    identity
    printf 'one\n' | kcat -P -q -b "$broker" -t "$(topic in)"
    code 5 kafka_run identity.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(dlq "$(topic nowhere)")
    has err E_BROKER "$(topic nowhere)" 'does not exist'
}

# The letter is larger than its record by its headers, and than what the client takes.
kafka_test failures_whose_letter_cannot_be_written_stop in:1 out:1 letters:1
failures_whose_letter_cannot_be_written_stop() {
    script bad <<'LUA'
return function(rec)
    if rec.key == "bad" then error("no") end
    return rec
end
LUA
    head -c 1000 /dev/zero | tr '\0' x >large
    { printf 'a\tone\nbad\t' && cat large && printf '\na\ttwo\n'; } >lines
    produce "$(topic in)" lines
    code 4 kafka_run bad.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(dlq "$(topic letters)") \
        -X error.policy=dlq -X kafka.producer.message.max.bytes=1000
    has err E_RECORD "$(topic in) [0] at offset 1" 'the dead letter cannot be written'
    [ "$(committed "$(topic g)" "$(topic in)")" = 1 ] || fail "committed: $(committed "$(topic g)" "$(topic in)")"
    code 0 kafka_run bad.lua "$(topic in)" "$(topic out)" "$(topic g)" -e $(dlq "$(topic letters)") -X error.policy=dlq
    [ "$(records "$(topic letters)" 1)" = 1 ] || fail "$(records "$(topic letters)" 1) letters"
    all_committed "$(topic g)" "$(topic in)" 1
}

kafka_test failures_hold_their_own_key_only in:1 out1:1 out4:1
failures_hold_their_own_key_only() {
    script heals <<'LUA'
local tries = 0
return function(rec, ctx)
    if rec.key == "key-0" and rec.value == "0" and tries < 1 then
        tries = tries + 1
        ctx.retry("1500ms", "not yet")
    end
    return rec
end
LUA
    keyed 1000 10 >lines
    produce "$(topic in)" lines
    local k
    for k in 1 4; do
        code 0 kafka_run heals.lua "$(topic in)" "$(topic out$k)" "$(topic g$k)" -e -X processing.emit=completion \
            $(threads $k $k)
        dump "$(topic out$k)" 1 '%k|%s\n' >raw
        grep '^key-0|' raw >own
        dump "$(topic in)" 1 '%k|%s\n' | grep '^key-0|' >want
        same want own
        # 900 records of other keys left before the first of this one
        [ "$(grep -n '^key-0|' raw | head -n 1 | cut -d : -f 1)" = 901 ] || fail "$(grep -n '^key-0|' raw | head -n 1)"
        all_committed "$(topic g$k)" "$(topic in)" 1
    done
}

local_test failures_wait_as_long_as_the_script_asks
failures_wait_as_long_as_the_script_asks() {
    script later <<'LUA'
local tries = 0
return function(rec, ctx)
    tries = tries + 1
    if tries <= 2 then ctx.retry("300ms") end
    return rec
end
LUA
    echo one >in
    local begin took
    begin=$(now_ms)
    code 0 moon run later.lua --in file:in --out -
    took=$(($(now_ms) - begin))
    same in out
    [ $took -ge 600 ] || fail "$took ms"
    [ $took -lt 1800 ] || fail "$took ms"
}

kafka_test failures_of_delivery_go_by_their_policy in:1 stop:1 skip:1 dlq:1 letters:1
failures_of_delivery_go_by_their_policy() {
    script grow <<'LUA'
return function(rec)
    if rec.value == "big" then rec.value = ("x"):rep(5000) end
    return rec
end
LUA
    printf 'one\nbig\nthree\n' | kcat -P -q -b "$broker" -t "$(topic in)"
    local policy
    for policy in stop skip dlq; do
        local wanted=0
        [ $policy = stop ] && wanted=5
        code $wanted kafka_run grow.lua "$(topic in)" "$(topic $policy)" "$(topic g-$policy)" -e \
            -X production.error.policy=$policy $(dlq "$(topic letters)") -X kafka.producer.message.max.bytes=2000
        if [ $policy = stop ]; then
            has err E_BROKER "$(topic in) [0] at offset 1"
            [ "$(committed "$(topic g-stop)" "$(topic in)")" = 1 ] || fail "$(committed "$(topic g-stop)" "$(topic in)")"
        else
            printf 'one\nthree\n' >want
            dump "$(topic $policy)" 1 '%s\n' >got
            same want got
            all_committed "$(topic g-$policy)" "$(topic in)" 1
        fi
    done
    [ "$(dump "$(topic letters)" 1 '%s\n')" = big ] || fail "$(dump "$(topic letters)" 1)"
    dump "$(topic letters)" 1 '%h\n' >headers
    has headers __streams.errors.exception=production
}

# Without a bound to retries the window fills with what waits, and goes on when that heals.
local_test failures_without_end_hold_the_window_until_they_heal
failures_without_end_hold_the_window_until_they_heal() {
    script sick <<'LUA'
local failed = 0
return function(rec)
    if tonumber(rec.value) % 5 == 0 and failed < 1000 then
        failed = failed + 1
        error("sick")
    end
    return rec
end
LUA
    seq 1 5000 >in
    "$MOONTIDE" run sick.lua --in file:in --out file:got --admin unix:a.sock -X error.policy=retry -X max.retries=-1 \
        -X retry.backoff.ms=100 -X retry.backoff.max.ms=100 -X task.window.records=256 2>err &
    local pid=$!
    within 5000 page /livez
    within 5000 is '.tasks[0].hold == "retry_full" and .tasks[0].used >= 192 and .tasks[0].commit_pos == 4'
    page /metrics | grep '^moontide_window_held{' >held
    grep -q 'reason="retry_full"} 1$' held || fail "$(cat held)"
    ends $pid 0 15000
    same in got
    has err 'msg="partition held"' 'reason=retry_full'
}
