#!/bin/sh
# bare-switches.sh - what a scheduler did, read on the host, is what it counted.
# SPDX-License-Identifier: MIT
#
# The scheduler of examples/bare-metal/switches counts its switches and their
# times itself; `recorder sched` has to say the same of its saved memory. A
# line for each check; what failed is said in full. Fails if anything does.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/bare-switches
. tests/ports/bare-machines.sh
switches=examples/bare-metal/switches

# scheduler MACHINE NAME [option...]: builds and runs it; its memory is then in
# NAME.bin, what it counted in NAME.txt. `source` is how the host reads it.
scheduler()
{
    on=$1 what=$2 board=cortex-m.c from=0x20000000
    shift 2
    [ "$on" = malta ] && board=malta.c from=0x80100000
    build "$on" "$what" "$switches/scheduler.c $switches/main.c $switches/$board" \
        -I$switches -DSCHEDULER_INTERRUPTS=4096 "$@" &&
        save "$on" "$what" "$what.bin" \
            "dump binary memory $what.bin $from $from+0x100000" || return 1
    source="--elf $out/$what --memory $from:$out/$what.bin"
}

# What `recorder sched --json` says, as the scheduler says it, sorted.
said()
{
    # shellcheck disable=SC2086
    build/recorder sched $source --json >$out/json 2>$out/complaints || {
        cat $out/complaints && return 1
    }
    [ ! -s $out/complaints ] || { cat $out/complaints && return 1; }
    awk 'function text(key)
        {
            match($0, "\"" key "\":\"[^\"]*\"") || bad()
            return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 5)
        }
        function number(key, value)
        {
            match($0, "\"" key "\":[0-9nul]*[,}]") || bad()
            value = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4)
            return value == "null" ? 0 : value
        }
        function us(key, value)
        {
            value = number(key)
            return value % 1000 ? value "ns" : value / 1000
        }
        function bad() { print "no such key in: " $0; exit 1 }
        /^{"thread"/ {
            print "thread " text("thread"), "runs=" number("runs"), \
                "blocked=" number("blocked"), "preempted=" number("preempted"), \
                "running_us=" us("running_ns"), "ready_us=" us("ready_ns"), \
                "blocked_us=" us("blocked_ns"), "ended_us=" us("ended_ns"), \
                "unknown_us=" us("unknown_ns"), \
                "longest_run_us=" us("longest_run_ns"), \
                "longest_wait_us=" us("longest_wait_ns"), \
                "longest_wake_us=" us("longest_wait_after_wake_ns")
        }
        /^{"interrupt"/ {
            print "interrupt " text("interrupt"), "count=" number("count"), \
                "us=" us("ns"), "longest_us=" us("longest_ns")
        }
        /^{"cpu"/ {
            print "processor span_us=" us("span_ns"), "idle_us=" us("idle_ns"), \
                "interrupts_us=" us("interrupts_ns"), "off=" number("off_count"), \
                "off_us=" us("off_ns"), "off_longest_us=" us("off_longest_ns")
        }' $out/json | sort
}

counted()
{
    tr -d '\r' <"$out/$what.txt" | sort
}

# All cells: with the times of the records those that the scheduler counts with.
# The counter wraps 100 ms from the start.
exact() # MACHINE NAME [option...]
{
    scheduler "$@" -DSCHEDULER_EXACT -DSCHEDULER_SWITCHES=8192 &&
        said >$out/said && counted >$out/counted &&
        diff $out/counted $out/said || return 1
    awk '$1 == "thread" && $2 != "idle" { preempted += substr($5, 11) }
        $1 == "thread" { runs += substr($3, 6) }
        $1 == "interrupt" { interrupts += substr($3, 7) }
        $1 == "processor" { us = substr($2, 9) }
        END { print runs " runs, " interrupts " interrupts, " us " us"
              exit !(runs > 300 && interrupts > 500 && preempted > 5) }' $out/said
}

# Only the counts: nothing is masked around a record, interrupts come in it.
counts() # MACHINE NAME [option...]
{
    scheduler "$@" -DSCHEDULER_SWITCHES=8192 && said >$out/said &&
        counted >$out/counted || return 1
    for file in said counted; do
        awk '/^thread/ { print $2, $3, $4, $5 } /^interrupt/ { print $2, $3 }' \
            $out/$file >$out/$file.counts
    done
    diff $out/counted.counts $out/said.counts &&
        awk '{ n += substr($2, index($2, "=") + 1) } END { print n " in all" }' \
            $out/said.counts
}

# A one-shot recorder has its first records, 8 less than its size, and is off.
one_shot()
{
    scheduler "$1" "$2" -DRECORDER_SWITCH_ONCE -DSCHEDULER_SWITCHES=512 ||
        return 1
    # shellcheck disable=SC2086
    build/recorder list $source | tr -s ' ' >$out/list || return 1
    # shellcheck disable=SC2086
    build/recorder dump $source >$out/dump || return 1
    grep -q '^switches 512 1 [0-9]*K 504 0 0 off ' $out/list &&
        grep -q '^1 .*: idle (0x[0-9a-f]*) runs on cpu 0$' $out/dump &&
        sed -n 's/^switches //p' $out/list && return
    cat $out/list && head -n 5 $out/dump && return 1
}

# `recorder tasks` of the memory while tasks stand, and gdb's tour of them.
tasks() # MACHINE NAME
{
    on=$1 what=$2 board=cortex-m.c from=0x20000000 stack=0x203ff000 reads=said
    [ "$on" = malta ] && board=malta.c from=0x80100000 stack= reads=switches
    build "$on" "$what" "$switches/scheduler.c $tests/bare-tasks.c $switches/$board" \
        -I$switches -DSCHEDULER_SWITCHES=512 -DSCHEDULER_INTERRUPTS=512 &&
        save "$on" "$what" "$what.bin" \
            "dump binary memory $what.bin $from $from+0x100000" \
            -ex "source $root/gdb/recorder-gdb.py" -ex "recorder tasks" \
            -ex "recorder task reader" -ex bt -ex "recorder prev" \
            ${stack:+-ex "dump binary memory $what.stack $stack $stack+0x1000"} ||
        return 1
    # shellcheck disable=SC2086
    build/recorder tasks --elf $out/$what --memory $from:$out/$what.bin \
        ${stack:+--memory $stack:$out/$what.stack} --stacks >$out/tasks || return 1
    grep -E -q '^scheduler +20 +idle +ready +' $out/tasks &&
        grep -E -q "^scheduler +21 +reader +blocked +$reads: .* +[0-9.]+ [mu]s\$" \
            $out/tasks &&
        grep -E -q '^scheduler +22 +last +running +said: the last stops ' \
            $out/tasks &&
        grep -q ' < queue_get .* < deep .* < deep .* < deep .* < deep .* < read_words .* < scheduler_begin ' \
            $out/tasks &&
        grep -A 1 '^1 task: idle' $out/tasks | grep -q ' < scheduler_run .* < main ' &&
        grep -A 1 '^1 task: fresh' $out/tasks | grep -q '^    scheduler_begin ' &&
        grep -q '^#.* in queue_get ' $out/gdb.txt &&
        [ "$(grep -c '^#.* in deep ' $out/gdb.txt)" = 4 ] &&
        grep -q '^#.* in read_words ' $out/gdb.txt &&
        grep -q '^#0 .*image_done ' $out/gdb.txt && return
    cat $out/tasks $out/gdb.txt && return 1
}

# examples/pipeline: what docs/pipeline.md shows. 80 images, of which the bug
# makes some late and drops one each 35; mended, it does neither.
pipeline() # NAME LATE DROPPED [option...]
{
    what=$1 late=$2 dropped=$3
    shift 3
    build m3 "$what" "$switches/scheduler.c $switches/cortex-m.c
        examples/pipeline/pipeline.c" -I$switches -DFRAMES=80 \
        -DSCHEDULER_TICK=1660 -DSCHEDULER_SENSOR=10 -DSCHEDULER_AWAKE "$@" &&
        save m3 "$what" "$what.bin" \
            "dump binary memory $what.bin 0x20000000 0x20100000" || return 1
    source="--elf $out/$what --memory 0x20000000:$out/$what.bin"
    # shellcheck disable=SC2086
    build/recorder latency $source --from 'frame .* from the sensor' \
        --to '< encode frame .*' --by 1 --deadline 16.6ms >$out/latency
    [ $? = $((late > 0)) ] && grep -q "^$((80 - dropped)) pairs, 0 without an end;\
 .*; $late beyond 16.6ms$" $out/latency || { cat $out/latency && return 1; }
    # shellcheck disable=SC2086
    build/recorder dump $source --names frames | grep -c 'SW2 frame .* dropped$' \
        >$out/dropped
    read -r n <$out/dropped
    [ "$n" = "$dropped" ] && tail -n 2 $out/latency | head -n 1
}

check "Cortex-M3: each cell" exact m3 m3 -DRECORDER_SWITCH_OFF_LIMIT=0
check "Cortex-M3: masks for more than 1 ms" exact m3 m3-long \
    -DRECORDER_SWITCH_OFF_LIMIT=1000
check "Cortex-M3: interrupts in records" counts m3 m3-counts
check "Cortex-M4F: each cell" exact m4f m4f -DRECORDER_SWITCH_OFF_LIMIT=0
check "Cortex-M0: each cell" exact m0 m0 -DRECORDER_SWITCH_OFF_LIMIT=0
check "Cortex-M0: interrupts in records" counts m0 m0-counts
check "MIPS: each cell" exact malta malta -DRECORDER_SWITCH_OFF_LIMIT=0
check "MIPS: interrupts in records" counts malta malta-counts
check "Cortex-M3: one shot" one_shot m3 m3-once
check "Cortex-M3: tasks" tasks m3 m3-tasks
check "Cortex-M4F: tasks" tasks m4f m4f-tasks
check "Cortex-M0: tasks" tasks m0 m0-tasks
check "MIPS: tasks" tasks malta malta-tasks
check "Cortex-M3: pipeline" pipeline pipeline 4 2
check "Cortex-M3: pipeline, mended" pipeline mended 0 0 -DPIPELINE_MENDED
[ -s $out/failed ] || exit 0
echo "--- of bare-switches.sh:" && cat $out/failed && exit 1
