# To be seen: admin pages, slow records, events in the log, the line of progress.
# shellcheck shell=bash disable=SC2154,SC2046

# Each record waits as long as its value says, in ms.
waiter() {
    script waiter <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep(rec.value .. "ms")
    return rec
end
LUA
}

# times COUNT VALUE: the value so often, one a line.
times() { awk -v n="$1" -v value="$2" 'BEGIN { while (n-- > 0) print value }'; }

# serve OPTION...: waiter.lua on what is written to descriptor 9, with pages at unix:a.sock; its process in $pid.
serve() {
    waiter
    mkfifo pipe
    "$MOONTIDE" run waiter.lua --in - --out file:got --admin unix:a.sock "$@" <pipe 2>events &
    pid=$!
    exec 9>pipe
    within 5000 page /livez
}
# page PATH: the body; fails when the status is no 2xx. any PATH: the body, whatever the status is.
page() { curl -sf -m 5 --unix-socket a.sock "http://x$1"; }
any() { curl -s -m 5 --unix-socket a.sock "http://x$1"; }
status() { curl -s -m 5 -o /dev/null -w '%{http_code}' --unix-socket a.sock "${@:2}" "http://x$1"; }
# is JQ: what the status page says.
is() { page /status | jq -e "$1" >/dev/null; }
metric() { page /metrics | luajit "$here/exposition.lua" "$@"; }

local_test admin_pages_show_what_runs
admin_pages_show_what_runs() {
    serve $(threads 2 2)
    [ "$(stat -c %a a.sock)" = 600 ] || fail "mode $(stat -c %a a.sock)"
    printf '1\n2\n3000\n' >&9
    within 3000 is '.pipelines[0].retired == 2'
    page /readyz >ready
    has ready ready
    # R7: both threads of the task, and the record that one of them has at hand
    within 1000 is '.tasks[0].used == 1 and ([.tasks[0].threads[].state] | sort == ["idle", "running"])'
    is '.threads[] | select(.state == "running").record | .topic == "-" and .offset == 2 and .age_seconds < 3'
    is '.tasks[0] | .used == 1 and .commit_pos == 2 and .hold == null and .head_age_seconds > 0'
    is '.ready and .pipelines[0].state == "running" and .resident_bytes > 1000000 and .threads[0].script_bytes > 1000'
    page /metrics | luajit "$here/exposition.lua" >judged || fail "$(cat judged)"
    echo "# $(cat judged)"
    [ "$(metric moontide_pipeline_records_retired_total)" = 2 ] || fail "$(metric moontide_pipeline_records_retired_total)"
    [ "$(metric moontide_pipeline_threads_busy)" = 1 ] || fail "$(metric moontide_pipeline_threads_busy)"
    exec 9>&-
    ends $pid 0 5000
    [ ! -e a.sock ] || fail "the socket is still there"
    [ "$(wc -l <got)" = 3 ] || fail "$(cat got)"
}

local_test promtool_accepts_the_metrics
promtool_accepts_the_metrics() {
    local tool
    tool=$("$root/scripts/dev/promtool") || exit 77
    serve
    seq 1 20 >&9
    within 3000 is '.pipelines[0].retired == 20'
    page /metrics >metrics
    "$tool" check metrics <metrics >said 2>&1 || fail "$(cat said)"
    [ ! -s said ] || fail "$(cat said)"
    exec 9>&-
    ends $pid 0 5000
}

local_test admin_pages_only_answer_get
admin_pages_only_answer_get() {
    serve
    [ "$(status /none)" = 404 ] || fail "$(status /none)"
    any /none >said
    has said /metrics /status /livez /readyz
    [ "$(status /metrics -X POST -d x=1)" = 405 ] || fail "$(status /metrics -X POST -d x=1)"
    [ "$(status /livez -X DELETE)" = 405 ] || fail "$(status /livez -X DELETE)"
    exec 9>&-
    ends $pid 0 5000
}

local_test admin_address_faults_are_told_before_a_record_runs
admin_address_faults_are_told_before_a_record_runs() {
    waiter
    seq 3 >in
    code 2 moon run waiter.lua --in file:in --out file:got --admin example.com:80
    has err E_CONFIG admin.listen HOST:PORT
    code 2 moon check waiter.lua --in file:in --out file:got -X admin.listen=70000
    has err E_CONFIG admin.listen
    : >a.sock
    code 1 moon run waiter.lua --in file:in --out file:got --admin unix:a.sock
    has err E_IO unix:a.sock 'no socket'
    rm a.sock
    serve
    code 1 moon run waiter.lua --in file:in --out file:more --admin unix:a.sock
    has err E_IO 'another process listens'
    [ ! -s more ] || fail "records ran"
    page /livez >said
    exec 9>&-
    ends $pid 0 5000
    # two processes may share one configuration
    code 0 moon run waiter.lua --in file:in --out file:got --admin 127.0.0.1:0
    has err 'event=admin address=127.0.0.1:'
    lacks err 'no password'
    code 0 moon run waiter.lua --in file:in --out file:got --admin '*:0'
    has err 'no password'
}

local_test killed_process_leaves_a_socket_that_the_next_one_takes
killed_process_leaves_a_socket_that_the_next_one_takes() {
    serve
    kill -KILL $pid
    wait $pid || true
    [ -e a.sock ] || fail "no socket is left"
    rm pipe
    serve
    exec 9>&-
    ends $pid 0 5000
    [ ! -e a.sock ] || fail "the socket is still there"
}

local_test slow_record_is_told_once_with_its_place
slow_record_is_told_once_with_its_place() {
    waiter
    { times 300 0 && echo 1500 && times 300 0; } >in
    local k
    for k in 1 4; do
        code 0 moon run waiter.lua --in file:in --out file:got $(threads $k $k) -X slow.record.warn.ms=300
        [ "$(grep -c event=slow err)" = 1 ] || fail "$(cat err)"
        has err 'level=warn msg="record is slow" event=slow topic=file:in partition=0 offset=300 age_ms=' thread=worker-
    done
    code 0 moon run waiter.lua --in file:in --out file:got -X slow.record.warn.ms=0
    lacks err event=slow
    code 0 moon run waiter.lua --in file:in --out file:got -X slow.record.warn.ms=300 -X log.format=json
    jq -e 'select(.event == "slow") | .level == "warn" and .offset == 300 and .age_ms >= 300 and .thread == "worker-0"' \
        <err >said || fail "$(cat err)"
    [ "$(cat said)" = true ] || fail "$(cat said)"
}

local_test slow_record_is_at_hand_among_quick_ones
slow_record_is_at_hand_among_quick_ones() {
    serve -X slow.record.warn.ms=200
    { times 300 0 && echo 2500 && times 300 0; } >&9
    within 2000 is '.threads[0].record.offset == 300 and .pipelines[0].slow_records == 1'
    exec 9>&-
    ends $pid 0 6000
}

local_test partition_that_is_held_is_told
partition_that_is_held_is_told() {
    serve -X task.window.records=4
    printf '3000\n0\n0\n0\n0\n0\n' >&9
    within 3000 grep -q 'event=hold' events
    has events 'msg="partition held" event=hold topic="-" partition=0 reason=records held_ms=' 'used=4'
    is '.tasks[0].hold == "records"'
    [ "$(metric moontide_window_held 'reason="records"')" = 1 ] || fail "it is not held"
    [ "$(metric moontide_window_holds_total 'reason="records"')" = 1 ] || fail "it was not held once"
    within 5000 grep -q 'event=release topic="-" partition=0 reason=records held_ms=' events
    has events 'event=assign topic="-" partition=0'
    exec 9>&-
    ends $pid 0 6000
}

local_test sigusr1_writes_the_state_and_nothing_else
sigusr1_writes_the_state_and_nothing_else() {
    serve $(threads 2 2)
    printf '0\n0\n2000\n' >&9
    within 3000 is '.tasks[0].used == 1 and ([.threads[].state] | sort == ["idle", "running"])'
    kill -USR1 $pid
    within 2000 grep -q 'state of a task' events
    has events 'level=info msg="state of a pipeline" event=state pipeline=0 state=running assigned=true partitions=1'
    has events 'event=state thread=worker-0 pipeline=0 state=' 'event=state thread=worker-1 pipeline=0 state='
    grep 'state=running .* topic="-" partition=0 offset=2 age_ms=' events >said || fail "no record at hand"
    has events 'msg="state of a task" event=state topic="-" partition=0 pipeline=0 epoch=1 used=1 capacity='
    [ "$(grep -c 'event=state' events)" = 4 ] || fail "$(cat events)"
    exec 9>&-
    ends $pid 0 5000
    [ "$(wc -l <got)" = 3 ] || fail "$(cat got)"
}

# on_terminal FILE OPTION...: a run of three seconds, of which all that the terminal sees is in FILE.
on_terminal() {
    times 300 10 >in
    command script -qec "$MOONTIDE run waiter.lua --in file:in ${*:2}" "$1" </dev/null >screen
}

local_test progress_is_for_terminals
progress_is_for_terminals() {
    waiter
    on_terminal seen --out file:got
    has seen 'records/s' 'threads 1/1 busy'
    # below the log, on one line that is drawn again, and gone at the end
    tr '\r' '\n' <seen | grep -a 'records/s' >lines
    [ "$(wc -l <lines)" -ge 2 ] || fail "$(cat lines)"
    tail -c 200 seen | tr '\r' '\n' | tail -n 3 >end
    lacks end 'records/s   threads 1/1 busy$'
    on_terminal seen --out file:got --quiet
    lacks seen records/s
    has seen 'partition assigned'
    on_terminal seen --out -
    lacks seen records/s
    code 0 moon run waiter.lua --in file:in --out file:got
    lacks err records/s
}

kafka_test readyz_says_why_not_before_the_assignment in:2 out:2
readyz_says_why_not_before_the_assignment() {
    local other
    waiter
    # a member that stands still: the group waits for it, until its session ends
    kcat -b "$broker" -G "$(topic g)" -X session.timeout.ms=$((6000 * ${SLOWER:-1})) -X enable.auto.commit=false \
        "$(topic in)" >/dev/null 2>member &
    other=$!
    within 15000 grep -q 'rebalanced.*assigned' member
    kill -STOP $other
    times 400 20 | awk '{ print NR "\t" $1 }' >lines
    produce "$(topic in)" lines
    kafka_start events waiter.lua "$(topic in)" "$(topic out)" "$(topic g)" $(threads 2 2) --admin unix:a.sock \
        -X task.window.records=32
    within 5000 any /readyz >first
    has first 'not ready' 'pipeline 0: no partitions are assigned yet'
    within 20000 page /readyz >said
    # lag and end offset of both partitions add up, before the end is reached
    within 5000 is '.tasks | length == 2 and all(.end_offset > 0 and .lag == .end_offset - .commit_pos)'
    is '[.tasks[].end_offset] | add == 400'
    is 'all(.tasks[]; .committed_pos == null or .committed_pos <= .commit_pos)'
    metric >judged || fail "$(cat judged)"
    [ "$(metric moontide_pipeline_broker_reachable)" = 1 ] || fail "not reachable"
    within 3000 is '.pipelines[0].commits > 0'
    [ "$(metric moontide_pipeline_commit_seconds_count)" -gt 0 ] || fail "no time of a commit"
    [ "$(metric moontide_window_latency_seconds_count 'partition="0"')" -gt 0 ] || fail "no latency"
    within 15000 is 'all(.tasks[]; .lag == 0 and .commit_pos == .end_offset)'
    echo 1500 | awk '{ print "a\t" $1 }' >lines
    produce "$(topic in)" lines
    within 5000 is '[.threads[].state] | any(. == "running")'
    kill -TERM $pid
    within 1000 any /readyz >last
    has last 'not ready' 'pipeline 0: is stopping'
    ends $pid 0 10000
    has events 'event=assign' 'event=revoke'
}
