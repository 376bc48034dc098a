#!/bin/sh
# run.sh - checks the ring's protocol, and that the checkers notice a mistake.
# SPDX-License-Identifier: MIT
#
# Environment: MODEL_DEEP=1 also runs what takes minutes, SEED=n is where random
# executions start (printed), CC and CXX the compilers, GENMC_SECONDS the CPU time
# that GenMC may take for one program, RECORDER_TEST_SCALE=0.1 (`make test`): not what
# takes long, and of the mutants a sixth; 0.4 (`make test-all`): a third of both. README.md says
# what is proven.
cd "$(dirname "$0")" || exit 1
root=../..
build=$root/build/model
cc="${CC:-cc} -std=gnu11 -O2 -w"
cxx="${CXX:-c++} -std=gnu++11 -O2 -w"
# A port with one processor: what holds the compiler back there counts as a
# fence of the processor, as what is on one processor sees its own stores.
one="-DRECORDER_FENCE_(order)=__atomic_thread_fence(order)"
: "${SEED:=$(date +%s)}"
: "${GENMC_SECONDS:=300}"
export GENMC_SECONDS
export SEED
# Of `each` mutants, and of `each` long configurations, one runs, each day another.
case ${RECORDER_TEST_SCALE:-1}$MODEL_DEEP in
0.[0-2]*) short=1 each=6 ;;
0.*) short= each=3 ;;
*) short= each=1 ;;
esac

# What the mutants are of.
parts_checked="word.h ring.h lane.h order.h record.h strings.h"
# slots writers records tickets readers words [parts] [how]
configurations="order
1 2 1 2 1 1 compare
1 3 1 1 0 1 compare
2 3 1 1 0 1 compare
1 2 1 2 2 2
1 2 1 2 1 8
1 3 1 1 1 2
1 3 1 2 1 2
1 2 2 2 1 2
2 2 2 1 1 2
2 2 2 2 1 2
2 3 1 2 1 2
2 4 1 1 1 1
2 2 1 1 1 2 2
2 2 1 2 1 1 2
4 2 1 1 1 1 3
1 4 1 3 1 2 random 20000
1 3 2 2 1 8 random 20000
2 3 2 2 1 8 random 20000
2 3 1 2 1 8 2 random 20000
one order
one 1 2 1 2 1 8
one 1 3 1 2 1 2
one 1 2 2 2 1 2
one 2 2 2 2 1 2
one 2 2 1 2 1 1 2
one 2 3 2 2 1 8 random 20000"
deep="1 2 2 1 1 1 compare
2 3 2 1 1 1
1 3 1 3 1 1
1 4 1 1 1 1"
# handler slots parts, over, shared
lanes="lanes handler 4 1
lanes handler 2 1
lanes handler 1 1
lanes handler 4 3
lanes handler 2 2
lanes over
lanes shared
lanes clock 1
lanes clock 3
lanes clocks 2
lanes counter 2
lanes counter 5"
# slots writers texts jump kept
texts="texts 4 1 2 0 0
texts 4 1 21 0 1
texts 2 1 11 62 0
texts 2 1 11 62 1
texts 4 1 201 61 0
texts 4 1 201 61 1
texts 2 2 1 0 1
texts 2 3 1 31 0 random 20000
texts 4 2 21 0 1 random 20000"
# program bits thread_bits slots writers tickets
wraps="wraps 5 2 1 2 1
wraps 5 2 2 2 2
wraps 5 3 1 3 1
wraps 6 3 1 2 2
wraps 6 3 2 2 1
wraps-masked 5 3 1 3 1
wraps-masked 6 3 2 2 1"
long="texts 4 2 2 0 0
2 3 1 1 1 1 2
wraps 5 3 1 4 1
wraps 6 2 1 2 1
wraps 8 4 2 2 1"
wraps_deep="wraps 5 3 1 3 2
wraps 5 2 2 3 1
wraps 5 2 1 3 1
wraps 6 3 2 3 1
wraps 6 3 4 3 1
wraps 8 3 2 2 1 16"
# What a mutant must survive, the smallest first.
trials="order
2 2 2 1 1 1
1 2 1 2 1 2
1 3 1 1 1 1
2 2 1 1 1 1 2
1 2 2 2 1 1
lanes shared
lanes handler 4 1
lanes over
lanes clock 2
lanes clocks 2
lanes counter 5
wraps 5 3 1 2 1
wraps-masked 5 3 1 2 1
1 3 1 2 1 1"
# What mutants of record.h and strings.h must survive.
trials_texts="texts 4 1 2 0 0
texts 2 1 11 62 0
texts 4 1 201 61 0
texts 4 1 201 61 1
texts 2 2 1 0 1
texts 2 3 1 31 0 random 20000"
# The same for mutants of an order or of a fence, where there is one processor.
trials_one="one order
one 2 2 2 1 1 1
one 1 2 1 2 1 2
one 1 3 1 1 1 1
one 1 2 2 2 1 1
one 2 2 1 1 1 1 2
one 1 3 1 2 1 1"
# What GenMC checks of these: it enters every execution one by one.
genmc_trials="order
follows
2 2 2 1 1 1
1 2 1 2 1 1"
# Under IMM the first of these takes more than 5 minutes.
genmc_deep="1 3 1 1 1 1
1 3 1 2 0 1
1 2 2 2 0 1"

words() # A configuration in words.
{
    case $1 in
    one\ *) echo "one processor: $(words "${1#one }")" && return ;;
    order) echo "orders (W1)" && return ;;
    follows) echo "orders follow a flag (W1)" && return ;;
    esac
    set -- $1
    case $1,$2 in
    texts,*)
        echo "texts of $4 slots, slots $2, writers $3, jump $5," \
            "$([ "$6" = 1 ] && echo "a copy of all" || echo "one by one")"
        return
        ;;
    lanes,handler)
        echo "a lane of $3 slots and a handler of its thread, parts $4"
        return
        ;;
    lanes,clock) echo "orders by the clock and a handler, units $3" && return ;;
    lanes,clocks) echo "orders by the clock in lane 0, units $3" && return ;;
    lanes,counter) echo "from the clock to the counter, lane $3" && return ;;
    lanes,over) echo "a lane whose thread has ended" && return ;;
    lanes,*) echo "lane 0" && return ;;
    esac
    case $1 in
    wraps)
        echo "words of $2 bits, $3 of them for the thread," \
            "slots $4, writers $5, tickets $6"
        return
        ;;
    wraps-masked)
        shift
        echo "without atomic instructions, $(words "wraps $*")"
        return
        ;;
    esac
    case $7 in
    [2-9]) parts=", $7 parts a record" ;;
    *) parts= ;;
    esac
    echo "slots $1, writers $2, records $3, tickets $4, readers $5," \
        "words $6$parts"
}

program() # Of a configuration: the program to run, and its arguments.
{
    case $1 in
    wraps* | lanes* | texts*) echo "$1" ;;
    one\ *) echo "ring-one ${1#one }" ;;
    *) echo "ring $1" ;;
    esac
}

configuration() # Explores one; prints its line.
{
    result=$("$build"/$(program "$1") 2>&1)
    code=$?
    case $1 in
    *random*) how="random, SEED=$SEED" ;;
    *compare) how="without and with the reduction" ;;
    *) how=exhaustive ;;
    esac
    echo "ring: $(words "$1"): $how: $result"
    return $code
}

# Lets GenMC check trial $2 with the header in $3, under model $1; its log is $4.
# Returns 0 if GenMC finished without an error, 1 if it found one, and 2 if it
# gave no verdict: the limit of CPU time stopped it, or it crashed.
genmc_try()
{
    case $2 in
    order) define=-DORDER_SHOWS ;;
    follows) define=-DORDER_FOLLOWS ;;
    *) define=$(echo "$2" | awk '{ print "-DSLOTS=" $1, "-DWRITERS=" $2,
        "-DRECORDS=" $3, "-DTICKETS=" $4, "-DREADERS=" $5, "-DWORDS=" $6 }') ;;
    esac
    # The pass that looks for spin loops follows every path of the header, and
    # does not end. Before 0.10 there was no estimation to switch off.
    for options in "-disable-spin-assume -disable-estimation" \
        -disable-spin-assume ""; do
        (ulimit -t "$GENMC_SECONDS" && exec genmc "$1" $options -- -DGENMC \
            $define -I"$3" ring.c) >"$4" 2>&1
        code=$?
        grep -q "Unknown command line argument" "$4" || break
    done
    if [ $code = 152 ] || [ $code = 137 ]; then # of SIGXCPU, of SIGKILL
        echo "stopped after $GENMC_SECONDS s of CPU time" >>"$4"
    elif grep -q "complete executions explored: *0$" "$4"; then
        echo "it explored no execution to its end" >>"$4"
        return 2
    elif [ $code = 0 ] && grep -q "^No errors were detected" "$4"; then
        return 0
    elif [ $code != 0 ] && [ $code -lt 124 ] &&
        grep -q "^Error: \|^Error detected: " "$4"; then
        return 1
    else
        echo "no verdict, status $code" >>"$4"
    fi
    return 2
}

genmc_configuration() # $1: the model and the trial; prints its line.
{
    model=${1%% *} trial=${1#* }
    genmc_try "$model" "$trial" $root "$build/genmc$1"
    code=$?
    result=$(sed -n 's/.*complete executions explored: *\([0-9]*\).*/\1/p' \
        "$build/genmc$1")
    case $code in
    0) echo "genmc: $model: $(words "$trial"): $result executions: ok" ;;
    1) echo "genmc: $model: $(words "$trial"): FAILED:" \
        "$(grep -v '^$' "$build/genmc$1" | head -n 2 | tr '\n' ' ')" ;;
    *) echo "genmc: $model: $(words "$trial"): FAILED: not checked:" \
        "$(tail -n 1 "$build/genmc$1")" ;;
    esac
    return $code
}

make_wraps() # Builds its two programs in $2, from the header in $1.
{
    awk '/^RECORDER_INLINE_ unsigned recorder_commit_thread_/ { on = 1 }
         /^\/\* Copies the record of a slot/ { on = 0 } on' \
        "$1/recorder/ring.h" >"$2/wraps.inc" &&
        $cxx -I"$2" wraps.cc -o "$2/wraps" &&
        $cxx -I"$2" -DMASKED wraps.cc -o "$2/wraps-masked"
}

make_mutant() # Makes the header of the mutant in $dir; says what went wrong.
{
    cp -r $root/recorder.h $root/recorder "$dir"
    # Each label on the line of the step that it names.
    for part in $parts_checked; do
        sed -z 's/\n *RECORDER_STEP_(/ RECORDER_STEP_(/g' \
            $root/recorder/$part >"$dir/recorder/$part"
    done
    while read -r command; do
        changed=
        for part in $parts_checked; do
            sed "$command" "$dir/recorder/$part" >"$dir/next" || return 1
            cmp -s "$dir/recorder/$part" "$dir/next" || changed=1
            mv "$dir/next" "$dir/recorder/$part"
        done
        if [ -z "$changed" ]; then
            echo "FAILED: there is no such line any more: $command"
            return 1
        fi
    done <"$dir/sed"
    $cc -I"$dir" ring.c "$build/weak.o" -o "$dir/ring" 2>"$dir/log" ||
        { echo "FAILED: does not compile: $(head -n 1 "$dir/log")"; return 1; }
    sed -z 's/\n *RECORDER_STEP_(/ RECORDER_STEP_(/g' $root/recorder/ring.h |
        cmp -s - "$dir/recorder/ring.h" ||
        ! grep -q "__ATOMIC_\|recorder_fence_" "$dir/sed" ||
        $cc -DRECORDER_ONE_PROCESSOR "$one" -I"$dir" ring.c "$build/weak.o" \
            -o "$dir/ring-one"
}

try_mutant() # $1: trials. Runs it until it fails; prints that, or nothing.
{
    echo "$1" | while read -r trial; do
        case $trial in
        wraps*)
            [ -x "$dir/wraps" ] || make_wraps "$dir" "$dir" 2>"$dir/log" ||
                { echo "FAILED: $(head -n 1 "$dir/log")"; break; }
            ;;
        lanes* | texts*)
            made=${trial%% *}
            [ -x "$dir/$made" ] || $cc -I"$dir" $made.c "$build/weak.o" \
                -o "$dir/$made" 2>"$dir/log" ||
                { echo "FAILED: $(head -n 1 "$dir/log")"; break; }
            ;;
        esac
        result=$("$dir"/$(program "$trial") </dev/null 2>&1)
        case $?,$result in
        0,*) continue ;;
        1,*) echo "caught after ${result%% through*}: ${result##*: }" \
            "($(words "$trial"))" ;;
        *) echo "FAILED: $result" ;;
        esac
        break
    done
}

genmc_try_mutant()
{
    printf '%s\n' "$genmc_trials" "$genmc_deep" | while read -r trial; do
        genmc_try --imm "$trial" "$dir" "$dir/log" </dev/null
        case $? in
        0) continue ;;
        1) echo "; genmc --imm: caught ($(words "$trial"))" ;;
        *) echo "; genmc --imm: FAILED: not checked:" \
            "$(tail -n 1 "$dir/log") ($(words "$trial"))" ;;
        esac
        break
    done
}

mutant() # Makes mutant number $1 and tries to catch it; prints its line.
{
    dir=$build/mutant-$1
    name=$(sed 's/^[#=] //' "$dir/name")
    equivalent=$(grep '^=' "$dir/name")
    if ! caught=$(make_mutant); then
        echo "mutant: $name: $caught"
        return 1
    fi
    for part in $parts_checked; do
        sed -z 's/\n *RECORDER_STEP_(/ RECORDER_STEP_(/g' $root/recorder/$part |
            cmp -s - "$dir/recorder/$part" || changed=$part
    done
    case $changed,$name in
    record.h,* | strings.h,* | *" the end that it reads"*)
        trials=$trials_texts ;;
    esac
    caught=$(try_mutant "$trials")
    if [ -x "$dir/ring-one" ]; then
        by_one=$(try_mutant "$trials_one")
        [ -n "$by_one" ] || caught="FAILED: not caught on one processor"
    fi
    by_genmc=
    case $MODEL_DEEP,$caught in
    ,* | *,*" bits, "* | *,*lane* | *,*clock* | *,*texts*) ;; # GenMC sees none of these
    *)
        command -v genmc >/dev/null && by_genmc=$(genmc_try_mutant)
        command -v genmc >/dev/null && [ -z "$by_genmc" ] &&
            by_genmc="; genmc --imm: not caught"
        ;;
    esac
    case "$equivalent,$caught$by_genmc" in
    *FAILED*) code=1 ;;
    ,*"not caught") code=1 ;;
    ,caught*) code=0 ;;
    =*,|=*,"; genmc --imm: not caught")
        caught="not caught, as explained"
        code=0
        ;;
    *) code=1 ;;
    esac
    [ $code = 0 ] || caught="FAILED: ${caught:-not caught}"
    echo "mutant: $name: $caught$by_genmc"
    return $code
}

# ------------------------------------------------------------------- a job --

# run.sh job NUMBER KIND WHAT: its line and its result go to files.
if [ "$1" = job ]; then
    case $3 in
    litmus) "$build/litmus" ;;
    ring) configuration "$4" ;;
    genmc) genmc_configuration "$4" ;;
    mutant) mutant "$4" ;;
    esac >"$build/job-$2" 2>&1
    echo $? >"$build/job-$2.code"
    exit 0
fi

# ----------------------------------------------------------------- the run --

rm -rf "$build"
mkdir -p "$build"
$cc -c weak.c -o "$build/weak.o" &&
    $cc litmus.c "$build/weak.o" -o "$build/litmus" &&
    $cc -I$root ring.c "$build/weak.o" -o "$build/ring" &&
    $cc -DRECORDER_ONE_PROCESSOR "$one" -I$root ring.c "$build/weak.o" -o "$build/ring-one" &&
    $cc -I$root lanes.c "$build/weak.o" -o "$build/lanes" &&
    $cc -I$root texts.c "$build/weak.o" -o "$build/texts" &&
    make_wraps $root "$build" || exit 1

awk -v build="$build" '
    /^[#=] / { dir = build "/mutant-" ++n; system("mkdir -p " dir)
               print > (dir "/name"); next }
    n && NF { print > (dir "/sed") }' mutants

some()
{
    awk -v each=$each -v day=$(($(date +%s) / 86400)) 'NR % each == day % each'
}
skipped=0
{
    echo "litmus"
    printf '%s\n' "$configurations" "$lanes" "$texts" "$wraps" |
        sed "s/^/ring /; ${short:+s/ random 20000/ random 2000/}"
    [ -n "$short" ] || echo "$long" | sed 's/^/ring /' | some
    [ -z "$MODEL_DEEP" ] ||
        printf '%s\n' "$deep" "$wraps_deep" | sed 's/^/ring /'
    if command -v genmc >/dev/null; then
        for model in --rc11 --imm; do
            echo "$genmc_trials" | sed "s/^/genmc $model /"
            [ -z "$MODEL_DEEP" ] ||
                echo "$genmc_deep" | sed "s/^/genmc $model /"
        done
    else
        skipped=1
    fi
    ls -d "$build"/mutant-* | sed 's/.*-/mutant /' | sort -k2n |
        some
} >"$build/jobs"
awk '{ kind = $1; sub(/^[^ ]* ?/, ""); print NR; print kind; print }' \
    "$build/jobs" | tr '\n' '\0' |
    xargs -0 -n 3 -P "$(nproc 2>/dev/null || echo 1)" sh ./run.sh job

passed=0 failed=0 i=0
while read -r job; do
    i=$((i + 1))
    cat "$build/job-$i"
    if [ "$(cat "$build/job-$i.code")" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done <"$build/jobs"
if [ $skipped = 0 ]; then
    echo "$passed passed, $failed failed"
else
    echo "genmc: not installed: its part was skipped"
    echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $failed = 0 ]
