# What all tests use. A test is a function that runs in its own folder and fails with its first failed command.
# shellcheck shell=bash disable=SC2154

fail() {
    echo "  $*"
    exit 1
}

# code WANTED COMMAND...: runs it with stdout in `out` and stderr in `err`, and wants this exit code.
code() {
    local wanted=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" = "$wanted" ] || {
        tail -n 5 err
        fail "exit code $got instead of $wanted: ${*##*/}"
    }
}

# moon ARGUMENT...: the binary.
moon() { "$MOONTIDE" "$@"; }

# has FILE TEXT...: the file holds each text.
has() {
    local file=$1 text
    shift
    for text in "$@"; do
        grep -aqF -e "$text" "$file" || {
            tail -n 20 "$file"
            fail "$file does not hold: $text"
        }
    done
}

lacks() {
    ! grep -aF -e "$2" "$1" || fail "$1 holds: $2"
}

# same WANTED GOT: the files are equal byte for byte.
same() {
    cmp "$1" "$2" || {
        diff -a "$1" "$2" | head -n 10 || true
        fail "$2 ($(wc -c <"$2") bytes) is not $1 ($(wc -c <"$1") bytes)"
    }
}

# script NAME: writes NAME.lua from stdin.
script() { cat >"$1.lua"; }

# topic NAME: what the runner made of it for this test; groups are named so too.
topic() { echo "$run_id.$test_name.$1"; }

identity() { echo 'return function(rec) return rec end' >identity.lua; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Times are those of a plain build; under a sanitizer SLOWER is by how much they may be longer.

# took_less BEGIN_MS MILLISECONDS: since then.
took_less() {
    local took=$(($(now_ms) - $1))
    [ $took -lt $(($2 * ${SLOWER:-1})) ] || fail "after $took ms"
}

# within MILLISECONDS COMMAND...: repeats the command until it succeeds.
within() {
    local until=$(($(now_ms) + $1 * ${SLOWER:-1}))
    shift
    until "$@"; do
        [ "$(now_ms)" -lt "$until" ] || fail "never came true: $*"
        sleep 0.05
    done
}

# ends PID CODE MILLISECONDS: this child ends so in that time.
ends() {
    local got=0
    within "$3" gone "$1"
    wait "$1" || got=$?
    [ "$got" = "$2" ] || fail "exit code $got instead of $2"
}
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# --- Kafka ---------------------------------------------------------------------------------------

# produce TOPIC FILE [OPTION...]: a line of FILE is key, tab, value; partitions by key, or -p.
produce() { kcat -P -q -b "$broker" -t "$1" -K '\t' -X partitioner=murmur2_random "${@:3}" -l "$2"; }

# dump TOPIC PARTITIONS [FORMAT]: all records, partition by partition, each in offset order.
dump() {
    local partition
    for ((partition = 0; partition < $2; partition++)); do
        kcat -C -q -e -b "$broker" -t "$1" -p "$partition" -o beginning -X fetch.wait.max.ms=10 \
            -f "${3-%p|%T|%K|%k|%S|%s|%h\\n}"
    done
}

# records TOPIC PARTITIONS: how many there are.
records() { luajit "$here/offsets.lua" "$broker" "$1" "$2"; }
reached() { [ "$(records "$1" "$2")" -ge "$3" ]; }

# all_committed GROUP TOPIC PARTITIONS: what is committed is the end of each partition.
all_committed() {
    is_committed "$@" || {
        cat committed
        fail "not all is committed (partition, committed, end)"
    }
}
# The same as a question, for `within`.
is_committed() {
    luajit "$here/offsets.lua" "$broker" "$2" "$3" "$1" >committed
    awk '{ bad += $2 != $3 } END { exit bad > 0 }' committed
}

# kafka_run SCRIPT IN OUT GROUP [OPTION...]: the binary on topics.
kafka_run() { moon run "$1" --in "$2" --out "$3" -b "$broker" -g "$4" "${@:5}"; }
# kafka_start LOG SCRIPT IN OUT GROUP [OPTION...]: the same in the background, its process in $pid.
kafka_start() {
    "$MOONTIDE" run "$2" --in "$3" --out "$4" -b "$broker" -g "$5" "${@:6}" 2>"$1" >/dev/null &
    pid=$!
}
threads() { printf '%s\n' -X "num.stream.threads=$1" -X "num.threads.per.task=$2"; }

# keyed COUNT KEYS: lines of key, tab, number; keys come in turn.
keyed() { awk -v n="$1" -v k="$2" 'BEGIN { for (i = 0; i < n; i++) printf "key-%d\t%d\n", i * 7919 % k, i }'; }
