# Files and pipes: what goes in comes out.
# shellcheck shell=bash

# A text with CR, NUL, empty lines and bytes above 127; the last line has its line break.
strange_lines() { printf 'a\n\n\0\nb\0c\0\n \t\r\n\377\376\n%s\n' "$(seq 1 2000)"; }

local_test files_lines_come_out_as_they_went_in
files_lines_come_out_as_they_went_in() {
    identity
    strange_lines >in
    code 0 moon run identity.lua --in file:in --out file:got
    same in got
    code 0 moon run identity.lua --in file:in --out -
    same in out
    moon run identity.lua --in - --out - <in >got
    same in got
    # shellcheck disable=SC2002 # a pipe, not a file
    cat in | moon run identity.lua --in - --out - | cat >got
    same in got
}

local_test files_last_line_without_line_break_counts
files_last_line_without_line_break_counts() {
    identity
    printf 'one\ntwo' >in
    printf 'one\ntwo\n' >want
    code 0 moon run identity.lua --in file:in --out -
    same want out
}

local_test files_empty_input_gives_empty_output
files_empty_input_gives_empty_output() {
    identity
    : >in
    code 0 moon run identity.lua --in file:in --out file:got
    same in got
    moon run identity.lua --in - --out - </dev/null >got
    same in got
}

local_test files_closed_pipe_is_no_error
files_closed_pipe_is_no_error() {
    identity
    local -a codes
    yes | moon run identity.lua --in - --out - 2>err | head -n 1 >got && codes=("${PIPESTATUS[@]}") ||
        codes=("${PIPESTATUS[@]}")
    [ "${codes[1]}" = 0 ] || fail "exit code ${codes[1]}"
    [ "$(cat got)" = y ] || fail "$(cat got)"
    lacks err level=error
    lacks err moontide:
}

local_test files_several_inputs_all_come_out
files_several_inputs_all_come_out() {
    identity
    seq 1 5000 >one
    seq 5001 9000 >two
    code 0 moon run identity.lua --in file:one --in file:two --out file:got -X num.stream.threads=4 \
        -X num.threads.per.task=2
    sort -n got >sorted
    cat one two >want
    same want sorted
}

local_test files_four_threads_write_what_one_writes
files_four_threads_write_what_one_writes() {
    script upper <<'LUA'
local tide = require "moontide"
return function(rec)
    if rec.offset % 97 == 0 then tide.sleep("2ms") end
    if rec.offset % 5 == 0 then return end
    rec.value = rec.value:upper() .. rec.offset
    return rec
end
LUA
    seq -f 'line %g of the input' 1 20000 >in
    code 0 moon run upper.lua --in file:in --out file:one
    code 0 moon run upper.lua --in file:in --out file:four -X num.stream.threads=4 -X num.threads.per.task=4
    [ "$(wc -l <one)" = 16000 ] || fail "$(wc -l <one) lines"
    same one four
}

local_test frames_pass_a_script_byte_for_byte
frames_pass_a_script_byte_for_byte() {
    identity
    luajit "$here/frames.lua" make 3000 >in
    code 0 moon run identity.lua --frame --in file:in --out file:got
    same in got
    code 0 moon run identity.lua --frame --in file:in --out file:got -X num.stream.threads=4 -X num.threads.per.task=4
    same in got
    script touch <<'LUA'
return function(rec)
    local key, value, headers = rec.key, rec.value, rec.headers
    rec.key, rec.value, rec.timestamp = key, value, rec.timestamp
    headers:add("x", nil)
    headers:del("x")
    return rec
end
LUA
    luajit "$here/frames.lua" make 3000 plain >in
    code 0 moon run touch.lua --frame --in file:in --out - <in
    same in out
}

local_test frames_damage_names_the_byte
frames_damage_names_the_byte() {
    identity
    luajit "$here/frames.lua" make 10 >in
    local size
    size=$(wc -c <in)
    printf '\0\0\0\001abc' >>in
    code 1 moon run identity.lua --frame --in file:in --out file:got
    has err file:in "$size"
    head -c "$size" in >want
    same want got
}

local_test emissions_leave_in_files_by_topic
emissions_leave_in_files_by_topic() {
    script split <<'LUA'
return function(rec, ctx)
    ctx:emit(tonumber(rec.value) % 2 == 0 and "even" or "odd", { value = rec.value })
end
LUA
    seq 1 1000 >in
    code 0 moon run split.lua --in file:in --out even=file:even --out odd=file:odd -X num.stream.threads=3 \
        -X num.threads.per.task=3
    seq 2 2 1000 >want
    same want even
    seq 1 2 1000 >want
    same want odd
}

local_test files_a_restart_goes_on_where_the_last_run_ended
files_a_restart_goes_on_where_the_last_run_ended() {
    identity
    seq 1 1000 >in
    code 0 moon run identity.lua --in file:in --out file:got -X state.dir=state/here
    seq 1001 1500 >>in
    code 0 moon run identity.lua --in file:in --out file:got -X state.dir=state/here
    same in got
    code 0 moon run identity.lua --in file:in --out file:got -X state.dir=state/here
    same in got
    # another application has a position of its own
    code 0 moon run identity.lua --in file:in --out file:other -X state.dir=state/here -g other
    same in other
    code 0 moon run identity.lua --in file:in --out file:got -X state.dir=state/here --from-start
    same in got
    seq 1 700 >in
    code 1 moon run identity.lua --in file:in --out file:got -X state.dir=state/here
    has err E_IO 'it was cut, or is another file' --from-start
    seq 11 2500 >in
    code 1 moon run identity.lua --in file:in --out file:got -X state.dir=state/here
    has err E_IO 'another file' --from-start
    # nothing is kept without a folder, nor of a pipe
    code 0 moon run identity.lua --in file:in --out file:got
    same in got
    seq 1 10 | code 0 moon run identity.lua --in - --out file:got -X state.dir=state/here --from-start
    has err 'cannot go on with this input'
}

# lines_got: how many there are, 0 before the file is made.
lines_got() { if [ -e got ]; then wc -l <got; else echo 0; fi; }

local_test files_kill_9_loses_no_line_and_repeats_what_was_not_committed
files_kill_9_loses_no_line_and_repeats_what_was_not_committed() {
    script slow <<'LUA'
local tide = require "moontide"
return function(rec)
    tide.sleep("1ms")
    return rec
end
LUA
    seq 1 6000 >in
    local round lines
    local -a options=(-X state.dir=state -X commit.interval.ms=50 -X num.stream.threads=4 -X num.threads.per.task=4)
    for round in 1 2 3; do
        "$MOONTIDE" run slow.lua --in file:in --out file:got "${options[@]}" 2>log.$round &
        pid=$!
        lines=$(lines_got)
        within 10000 eval '[ "$(lines_got)" -gt '$((lines + 1000))' ]'
        kill -KILL $pid
        wait $pid || true
    done
    has log.3 'going on with an input'
    code 0 moon run slow.lua --in file:in --out file:got "${options[@]}"
    sort -n got | uniq >unique
    # a line that was cut by the kill stands in a line of its own
    grep -vxFf unique in >missing && fail "$(wc -l <missing) lines are missing"
    echo "# $(($(wc -l <got) - 6000)) of 6000 lines twice, after 3 kills"
    [ "$(wc -l <got)" -lt 9000 ] || fail "$(wc -l <got) lines for 6000"
}
