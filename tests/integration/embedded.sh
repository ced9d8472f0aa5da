# The Kafka inside the process.
# shellcheck shell=bash

local_test demo_counts_what_grep_counts
demo_counts_what_grep_counts() {
    local begin
    begin=$(now_ms)
    code 0 moon demo "$root/scripts/wordcount.lua"
    took_less "$begin" 10000
    # the text is loaded as often as it takes; one reading of it has this many lines
    local once loaded said
    once=$(cat /usr/share/common-licenses/* | wc -l)
    loaded=$(sed -n 's/.*: \([0-9]*\) lines of .*/\1/p' out)
    cat /usr/share/common-licenses/* | tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | grep -cx the >the || true
    said=$(awk '$2 == "the" { print $1 }' out)
    echo "# $said times \"the\" in $loaded lines; grep counts $(cat the) in $once"
    [ $((said * once)) = $(($(cat the) * loaded)) ] || fail "$said times \"the\" in $loaded lines"
    has out 'all committed'
}

local_test embedded_run_ends_by_itself
embedded_run_ends_by_itself() {
    identity
    code 0 moon run identity.lua --embedded --in lines --out copies -g g -e
    code 0 moon run identity.lua --embedded --in lines --out copies -g g -e -X num.stream.threads=4 \
        -X num.threads.per.task=2
}
