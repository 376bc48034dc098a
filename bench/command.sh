#!/bin/sh
# command.sh: the times of the recorder command, as a Markdown table.
# SPDX-License-Identifier: MIT
# usage: command.sh RECORDER
set -eu
LC_ALL=C
export LC_ALL
recorder=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
pid=
trap 'if [ "$pid" ]; then kill "$pid"; fi; rm -rf "$dir"' EXIT
cd "$dir"

row() { # what, figure, at most, unit
    awk -v what="$1" -v is="$2" -v most="$3" -v unit="$4" 'BEGIN {
        printf "| %s | %s%s | %.2f%s | %s |\n", what, most, unit, is, unit,
               is <= most ? "yes" : "**no**" }'
}

${CC:-cc} -O2 -I "$here/.." -o target "$here/target/command.c"
${CC:-cc} -O2 -DBIG -I "$here/.." -o big "$here/target/command.c"
echo '| | at most | here | |'
echo '|---|---:|---:|---|'

# The median of five runs of a verb, in s.
seconds() { # what the program does first, verb
    ./target "$1" >started &
    pid=$!
    while [ ! -s started ]; do sleep 0.1; done
    for i in 1 2 3 4 5; do
        start=$(date +%s%N)
        "$recorder" "$2" "$pid" >/dev/null
        echo $(($(date +%s%N) - start))
    done | sort -n >times
    kill "$pid"
    pid=
    rm started
    awk 'NR == 3 { print $1 / 1e9 }' times >seconds
}
seconds million dump
row 'recorder dump of a million records to /dev/null' "$(cat seconds)" 2 ' s'
seconds switches sched
row 'recorder sched of a million switches' "$(cat seconds)" 2 ' s'

# Instructions, which are the same on a busy machine, of 100,000 records: to make
# and dump each, and to read and print it. The target: half of
# the first figure.
if command -v valgrind >/dev/null; then
    instructions() {
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 \
            >/dev/null | awk '/Collected/ { print int($NF / 100000) }'
    }
    cp "$here/target/lines.c" . # so that the lines are as long everywhere
    ${CC:-cc} -O2 -I "$here/.." -o lines lines.c
    row 'instructions for a record and its line, recorder_dump()' \
        "$(instructions ./lines)" 2957 ''
    RECORDER_FILE=lines.rec ./lines
    row 'instructions for a line, recorder dump' \
        "$(instructions "$recorder" dump lines.rec)" 3752 ''
fi

./target follow "$recorder" >cost
row 'record while recorder follow runs / alone' \
    "$(cut -d ' ' -f 3 cost)" 1.10 ''

# recorder_kernel.h, where the kernel has perf events for this user.
${CC:-cc} -O2 -I "$here/.." -o kernel "$here/target/kernel.c" -lpthread
if ./kernel switch >cost && ./kernel pour >poured; then
    row 'a context switch with recorder_kernel(), more than without' \
        "$(cut -d ' ' -f 1 cost)" 0.6 ' us'
    row 'that / with an unread event of the kernel alone' \
        "$(awk '{ print $1 / $2 }' cost)" 1.10 ''
    row 'a switch that is poured' "$(cut -d ' ' -f 1 poured)" 100 ' ns'
fi

# The price of recorder run: the library's functions and glibc's alternate in
# one process; else programs with and without it alternate, and the least counts,
# as the machine may be busy.
run=$here/../build/lib/librecorder-run.so
turns() { # how often, what is printed of the least with and without, command
    often=$1 print=$2
    shift 2
    rm -f with without
    for i in $(seq "$often"); do
        LD_PRELOAD=$run RECORDER_RUN=:run.rec "$@" >>with
        "$@" >>without
    done
    { sort -n with | head -n 1; sort -n without | head -n 1; } |
        awk "{ ns[NR] = \$1 } END { print $print }"
}
if [ -e "$run" ]; then
    ${CC:-cc} -O2 -o run "$here/target/run.c" -lpthread
    "$recorder" run -q -o run.rec ./run calls >cost
    row 'recorder run: lock and unlock, more than without' \
        "$(awk '{ print $1 }' cost)" 10 ' ns'
    row 'recorder run: a wait' "$(awk '{ print $3 / 1000 }' cost)" 0.3 ' us'
    row 'recorder run: a thread that is made and joined' \
        "$(awk '{ print $5 / 1000 }' cost)" 3 ' us'
    row 'that thread / one without' \
        "$(awk '{ print 1 + $5 / $6 }' cost)" 1.20 ''
    row 'recorder run: a call that may block, more than without' \
        "$(awk '{ print $7 }' cost)" 60 ' ns'
    row 'recorder run: a fork() whose child ends' \
        "$(turns 11 '(ns[1] - ns[2]) / 1e6' ./run fork)" 0.1 ' ms'
    row 'recorder run: the start of a program without threads' \
        "$(turns 11 '(ns[1] - ns[2]) / 1e6' ./run start)" 0.3 ' ms'
fi

# Its pages count as ours where they are mapped: twice would be 2 and more.
room=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [ "$room" -gt 6000000 ]; then
    RECORDER_FILE=recording ./big big
    (
        "$recorder" dump recording >/dev/null &
        most=0
        while size=$(awk '/^VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null) &&
            [ "$size" ]; do
            most=$size
            sleep 0.2
        done
        echo "$most $(($(stat -c %s recording) / 1024))"
    ) >memory
    row 'memory for a recording of 2 GiB / its size' \
        "$(awk '{ print $1 / $2 }' memory)" 2 ''
fi

# A call: with the hooks of recorder_functions.h on and off, by run --span, and by
# uftrace.
if command -v uftrace >/dev/null; then
    ${CC:-cc} -O2 -finstrument-functions -c "$here/target/calls.c"
    ${CC:-cc} -O2 calls.o -o theirs
    echo '#include "recorder_functions.h"' >on.c
    echo '__attribute__((constructor)) static void off(void)
    { RECORDER_TRACE(functions) = -1; }' | cat on.c - >off.c
    echo 'void __cyg_profile_func_enter(void *f, void *c) { (void)f, (void)c; }
    void __cyg_profile_func_exit(void *f, void *c) { (void)f, (void)c; }' >none.c
    for hooks in on off none; do
        ${CC:-cc} -O2 -I "$here/.." $hooks.c calls.o -o $hooks
        for i in 1 2 3 4 5; do ./$hooks; done | sort -n | sed -n 3p >$hooks.ns
    done
    for i in 1 2 3 4 5; do
        uftrace record -d data ./theirs | tail -n 1
    done | sort -n | sed -n 3p >theirs.ns
    ${CC:-cc} -O2 "$here/target/calls.c" -o span
    for i in 1 2 3 4 5; do
        "$recorder" run -q --span leaf --span middle -o span.rec ./span
    done | sort -n | sed -n 3p >span.ns
    read -r span <span.ns
    read -r on <on.ns
    read -r off <off.ns
    read -r none <none.ns
    read -r theirs <theirs.ns
    row 'a call of an instrumented function' "$on" 30 ' ns'
    row "that / uftrace's, of $theirs ns" \
        "$(awk "BEGIN { print $on / $theirs }")" 0.35 ''
    row "a call of recorder run --span / uftrace's" \
        "$(awk "BEGIN { print $span / $theirs }")" 0.6 ''
    row 'a call while they are off, more than empty hooks' \
        "$(awk "BEGIN { print $off - $none }")" 2 ' ns'
fi
