# Exit codes, and messages that say what to do.
# shellcheck shell=bash

lines() { code "$1" moon run "${@:2}" --in file:in --out file:got; }

local_test usage_faults_exit_2
usage_faults_exit_2() {
    identity
    seq 3 >in
    lines 2 identity.lua -X num.stream.threads=2 -X num.threads.per.task=3
    has err E_CONFIG_THREADS num.stream.threads num.threads.per.task
    lines 2 identity.lua --fram
    has err 'did you mean --frame?'
    lines 2 identity.lua -X num.stream.thread=2
    has err E_CONFIG_UNKNOWN 'did you mean num.stream.threads?'
    lines 2 identity.lua -X num.stream.threads=0
    has err num.stream.threads
    code 2 moon run identity.lua --in t --out u -b 127.0.0.1:1
    has err application.id
    code 2 moon run identity.lua --in t --out u -b 127.0.0.1:1 -g g -X kafka.fetch.wait.max.m=5
    has err E_CONFIG_UNKNOWN fetch.wait.max.ms
    code 2 moon run --in t
    code 2 moon runn
    has err run
    code 2 moon run identity.lua --in t --in file:in --out u -b 127.0.0.1:1 -g g
    has err input.topics
    [ ! -e got ] || fail "an output was made"
}

local_test reserved_kafka_options_are_refused_by_name
reserved_kafka_options_are_refused_by_name() {
    identity
    seq 3 >in
    local option
    for option in enable.auto.commit=true enable.auto.offset.store=true group.id=x consumer.enable.auto.commit=true; do
        lines 2 identity.lua -X "kafka.$option"
        has err E_CONFIG_RESERVED "$(sed 's/consumer.//; s/=.*//' <<<"$option")"
    done
}

local_test required_order_is_kept_or_refused
required_order_is_kept_or_refused() {
    script ordered <<'LUA'
return { requires_order = "key", process = function(rec) return rec end }
LUA
    seq 3 >in
    lines 2 ordered.lua -X processing.order=none -X num.stream.threads=2 -X num.threads.per.task=2
    has err E_ORDER_CONFIG requires_order processing.order
    lines 0 ordered.lua -X processing.order=key -X num.stream.threads=2 -X num.threads.per.task=2
    lines 0 ordered.lua -X processing.order=partition
}

local_test ini_faults_name_file_and_line
ini_faults_name_file_and_line() {
    identity
    seq 3 >in
    printf '[moontide]\ninput.topics = file:in\noutput.topic = file:got\nnum.stream.thread = 2\n' >app.ini
    code 2 moon run identity.lua -c app.ini
    has err app.ini:4 num.stream.threads
    sed -i 's/thread =/threads =/' app.ini
    code 0 moon run identity.lua -c app.ini
    same in got
    printf '[kafka]\nenable.auto.commit = true\n' >>app.ini
    code 2 moon run identity.lua -c app.ini
    has err app.ini:6 E_CONFIG_RESERVED
}

local_test scripts_that_do_not_load_exit_3_with_the_line
scripts_that_do_not_load_exit_3_with_the_line() {
    seq 3 >in
    printf 'local x = 1\nreturn function(rec) retrun rec end\n' >syntax.lua
    lines 3 syntax.lua
    has err syntax.lua:2
    printf '\nreturn { proces = function(rec) return rec end }\n' >member.lua
    lines 3 member.lua
    has err member.lua 'did you mean "process"?'
    printf 'return {\n    params = { rate = { type = "number", max = 9 } },\n    process = function(rec) return rec end }\n' \
        >params.lua
    lines 3 params.lua --set rate=many
    has err params.lua rate
    lines 3 params.lua --set rate=10
    has err params.lua rate
    lines 3 params.lua --set rat=1
    has err 'did you mean "rate"?'
    printf 'local a = 1\nerror("at load")\n' >raises.lua
    lines 3 raises.lua
    has err raises.lua:2 'at load'
    lines 3 missing.lua
    has err missing.lua
    printf 'return 7\n' >number.lua
    lines 3 number.lua
    printf 'return { init = function(ctx) error("no init") end, process = function(rec) return rec end }\n' >init.lua
    lines 3 init.lua
    has err init.lua:1 'no init'
    [ ! -s got ] || fail "an output was written"
}

local_test check_says_what_run_would
check_says_what_run_would() {
    identity
    code 0 moon check identity.lua --in file:in --out file:got
    printf 'return function(rec) retrun rec end\n' >syntax.lua
    code 3 moon check syntax.lua --in file:in --out file:got
    has err syntax.lua:1
    code 2 moon check identity.lua --in file:in --out file:got -X num.threads.per.task=2
    has err E_CONFIG_THREADS
}

local_test a_failed_record_exits_4_with_place_and_traceback
a_failed_record_exits_4_with_place_and_traceback() {
    script boom <<'LUA'
local function deep(rec)
    if rec.value == "77" then error("boom") end
    return rec
end
return function(rec)
    local same = deep(rec)
    return same
end
LUA
    seq 0 999 >in
    seq 0 76 >want
    local k
    for k in 1 4; do
        lines 4 boom.lua -X num.stream.threads=$k -X num.threads.per.task=$k
        has err E_RECORD 'file:in [0] at offset 77' boom.lua:2 boom 'stack traceback:' boom.lua:6
        # the log has the first line, the whole is shown once, at the end
        [ "$(grep -c 'stack traceback:' err)" = 1 ] || fail "$(grep -c 'stack traceback:' err) tracebacks"
        grep 'msg="the pipeline stops"' err >line
        has line code=E_RECORD 'at offset 77: ' 'boom.lua:2: boom"'
        same want got
    done
    printf 'return function(rec) return 7 end\n' >number.lua
    lines 4 number.lua
    has err number
}

local_test outputs_that_cannot_be_written_exit_1
outputs_that_cannot_be_written_exit_1() {
    identity
    seq 3 >in
    code 1 moon run identity.lua --in file:in --out file:none/got
    has err none/got 'No such file'
    code 1 moon run identity.lua --in file:in --out file:/dev/full
    has err 'No space left'
    code 1 moon run identity.lua --in file:none --out file:got
    has err none 'No such file'
    code 2 moon run identity.lua --in file:in --out file:in
    has err 'same file'
    [ "$(wc -l <in)" = 3 ] || fail "the input is gone"
}

local_test what_is_printed_arrives_or_exits_1
what_is_printed_arrives_or_exits_1() {
    identity
    local words
    for words in config version help "config dump" "check identity.lua --in -"; do
        local got=0
        # shellcheck disable=SC2086
        moon $words >/dev/full 2>err || got=$?
        [ "$got" = 1 ] || fail "exit code $got instead of 1: $words"
        has err 'writing standard output'
    done
    moon config 2>err | true # a reader that goes is no error
    [ "${PIPESTATUS[0]}" = 0 ]
    [ ! -s err ]
    code 3 moon check none.lua --in - # the first fault is the one that is told
}

# What is opened first would get the number of a closed stream, and records would go there.
local_test closed_streams_stay_closed
closed_streams_stay_closed() {
    identity
    seq 3 >in
    local got=0
    moon run identity.lua --in - --out - <&- >out 2>err || got=$?
    [ "$got" = 1 ] || fail "exit code $got instead of 1 without stdin"
    has err 'standard input is closed'
    got=0
    moon run identity.lua --in file:in --out - >&- 2>err || got=$?
    [ "$got" = 1 ] || fail "exit code $got instead of 1 without stdout"
    has err 'standard output is closed'
    got=0
    moon run identity.lua --in file:in --out - <in >>in 2>err || got=$?
    [ "$got" = 2 ] || fail "exit code $got instead of 2 for one file on both sides"
    moon run identity.lua --in file:in --out file:got <&- >&- 2>&-
    same in got
}

local_test demo_elsewhere_says_what_to_name
demo_elsewhere_says_what_to_name() {
    code 2 moon demo
    has err scripts/wordcount.lua 'moontide demo SCRIPT'
    code 3 moon demo none.lua
    identity
    code 1 moon demo identity.lua --text none
    has err none --text
}

local_test messages_do_not_speak_to_the_terminal
messages_do_not_speak_to_the_terminal() {
    printf 'return function() error("\\27[2J\\194\\155 caf\\195\\169\\0tail") end\n' >escape.lua
    seq 1 >in
    code 4 moon run escape.lua --in file:in --out file:got
    has err '\x1b[2J\xc2\x9b café'
    code 2 moon run identity.lua --in file:in -X $'\e[31m=1'
    has err '\x1b[31m'
    lacks err $'\e'
}

local_test dead_broker_exits_5_soon
dead_broker_exits_5_soon() {
    identity
    local begin
    begin=$(now_ms)
    code 5 moon run identity.lua --in t --out u -b 127.0.0.1:1 -g g
    has err E_BROKER 127.0.0.1:1
    took_less "$begin" 12000
}

kafka_test unknown_topic_exits_5_soon there:1
unknown_topic_exits_5_soon() {
    identity
    local begin
    begin=$(now_ms)
    code 5 moon run identity.lua --in "$(topic nowhere)" --out "$(topic there)" -b "$broker" -g "$(topic g)"
    has err E_BROKER "$(topic nowhere)" 'does not exist'
    code 5 moon run identity.lua --in "$(topic there)" --out "$(topic nowhere)" -b "$broker" -g "$(topic g)"
    has err E_BROKER "$(topic nowhere)" 'does not exist'
    took_less "$begin" 24000
}

local_test secrets_are_not_shown
secrets_are_not_shown() {
    code 0 moon config dump -b 127.0.0.1:1 -g g --in a --out b -X kafka.sasl.password=hush1 \
        -X kafka.ssl.key.password=hush2 -X kafka.sasl.username=me -X kafka.fetch.wait.max.ms=5
    has out sasl.password '***' 'sasl.username = me' 'fetch.wait.max.ms = 5'
    lacks out hush
    lacks err hush
    identity
    code 2 moon run identity.lua --in a --out b -b 127.0.0.1:1 -g g -X kafka.sasl.password=hush1 -X kafka.nonesuch=1
    lacks err hush
}

local_test config_lists_every_option
config_lists_every_option() {
    code 0 moon config
    has out 'num.stream.threads = 1' 'int 1..256' 'commit.interval.ms = 1000'
    code 0 moon version
    has out moontide LuaJIT librdkafka
    code 0 moon help
    has out run check config version
    code 0 moon help run
    has out --exit-at-end
}

local_test settings_of_kafka_are_checked_though_no_topic_is_used
settings_of_kafka_are_checked_though_no_topic_is_used() {
    identity
    seq 3 >in
    lines 2 identity.lua -X kafka.fetch.wait.max.mss=1
    has err E_CONFIG_UNKNOWN fetch.wait.max.ms
    lines 2 identity.lua -X kafka.producer.linger.ms=soon
    has err linger.ms
    [ ! -e got ] || fail "an output was made"
}

local_test check_asks_for_a_script_and_nothing_else
check_asks_for_a_script_and_nothing_else() {
    identity
    code 0 moon check identity.lua
    has out 'identity.lua: good'
    code 0 moon check identity.lua --in a --out b
    code 2 moon check
    has err 'no script'
    code 2 moon check identity.lua -X kafka.fetch.wait.max.mss=1
    has err fetch.wait.max.ms
}

local_test names_of_inputs_are_topics_and_come_once
names_of_inputs_are_topics_and_come_once() {
    identity
    code 2 moon run identity.lua --embedded --in a --in b --in a -e
    has err E_CONFIG '"a" twice'
    code 2 moon run identity.lua --embedded --in 'a b' -e
    has err E_CONFIG '"a b"' file:PATH
    code 0 moon run identity.lua --embedded --in a --out a -e
    has err 'the output is an input as well'
}

local_test what_has_no_effect_is_told
what_has_no_effect_is_told() {
    identity
    seq 3 >in
    lines 0 identity.lua -b 127.0.0.1:1
    has err level=warn 'brokers are not used' bootstrap.servers=127.0.0.1:1
    lines 0 identity.lua --embedded
    has err 'embedded Kafka is not used'
    code 0 moon run identity.lua --embedded -b 127.0.0.1:1 --in a --out b -e
    has err 'brokers are not used' 'msg="embedded Kafka" bootstrap.servers=127.0.0.1:'
}
