#!/bin/sh
# bare.sh - recorders without an operating system, on machines that QEMU plays.
# SPDX-License-Identifier: MIT
#
# A line for each check; what failed is said in full. Fails if anything does.
# Environment: INTERRUPTS=n, how many the stress tests take on a Cortex-M3 (a
# third of that elsewhere; default 300000).
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/bare
: "${INTERRUPTS:=300000}"
. tests/ports/bare-machines.sh

# -------------------------------------------------------------------- checks

# Are the orders of a dump ascending? Standard input; says how many there are.
ascending()
{
    awk '/^[0-9]+ \[/ { if ($1 + 0 <= last) bad = 1; last = $1 + 0; n++ }
         END { print n " records in order"; exit bad || !n }'
}

# The example: the dump of the second start shows what the first recorded, and
# the fault shows all of it and itself, from main, timer and fault.
example()
{
    build "$1" "main-$1" $arm/main.c || return 1
    run "$1" "main-$1" >$out/main-"$1".txt || return 1
    awk '/^FLIGHT/ { n++ } { print > (file n) }' file=$out/main-"$1"-part \
        $out/main-"$1".txt
    first=$out/main-$1-part1 second=$out/main-$1-part2
    for pattern in 'T1\] flight: sample 10 of 10' 'T1\] flight: reset' \
        'T1\] flight: start: the recorder is kept' \
        'T16\] timer: sample 10: 2.80 V'; do
        grep -q "$pattern" "$first" || { cat "$first" && return 1; }
    done
    grep -q 'T4\] flight: hard fault: status 0x00008.*, address 0xdeadbee0' \
        "$second" || grep -q 'T4\] flight: hard fault' "$second" || return 1
    ascending <"$first" >$out/count && ascending <"$second"
}

example_malta()
{
    build malta main-malta $mips/main.c && run malta main-malta >$out/malta.txt
    for pattern in '^FLIGHT RECORDER DUMP, 5 RECORDS' \
        'T1\] demo: start: pi is near 3.14159' 'T2\] demo: sample 3 came at' \
        'T1\] demo: 3 samples' 'T2\] demo: fault at 0x8'; do
        grep -q "$pattern" $out/malta.txt || { cat $out/malta.txt && return 1; }
    done
    sed '1,/^FLIGHT.*S 5$/d' $out/malta.txt >$out/second
    awk '/^FLIGHT/ { n++ } n == 2' $out/malta.txt | ascending
}

# A name of its own for each, since two run at once.
stress() # MACHINE INTERRUPTS [option...]
{
    machine_file=bare-cortex-m.h
    [ "$1" = malta ] && machine_file=bare-malta.h
    stressed=$1 interrupts=$2 text=$out/stress-$1-$2.txt
    shift 2
    build "$stressed" "stress-$stressed-$interrupts" $tests/bare-stress.c \
        -DINTERRUPTS="$interrupts" -DSLOTS=4 \
        -DBARE_MACHINE="\"$root/$tests/$machine_file\"" "$@" || return 1
    run "$stressed" "stress-$stressed-$interrupts" |
        tr -d '\r' >"$text"
    cat "$text"
    grep -q 'not one torn$' "$text"
}

# The same must fail where the header, or the port, is wrong.
stress_mutant() # WHAT MACHINE SED FILE
{
    rm -rf $out/mutant && mkdir -p $out/mutant &&
        cp -r recorder*.h recorder $out/mutant && cp $arm/port.h $out/mutant || return 1
    sed "$3" "$4" >$out/mutant/"$5"
    cmp -s "$4" $out/mutant/"$5" &&
        { echo "no such line any more: $3" && return 1; }
    HEADERS=$root/$out/mutant
    stress "$2" 20000 -I$out/mutant >$out/log 2>&1
    code=$?
    HEADERS=
    [ $code != 0 ] || { cat $out/log && return 1; }
    sed -n 's/.*lost: /caught: /p' $out/log | grep .
}

kept()
{
    build "$1" kept-"$1" $tests/bare-kept.c && run "$1" kept-"$1"
}

# Times are right after wraps of the counter: in microseconds, 0x80000000 is
# half of one.
wraps()
{
    build "$1" time-"$1" $tests/bare-time.c && run "$1" time-"$1" >$out/time.txt
    awk '/at the start/ { at = 0.0001 }
        /before half a wrap/ { at = 2147.483632 }
        /after half a wrap/ { at = 2147.483648 }
        /before a wrap/ { at = 4294.96704 }
        /after a wrap/ { at = 4294.967296 }
        /after five/ { at = 21474.83648 }
        /clock: / { sub(/\[/, "", $2); n++; late = $2 - at
                    if (late < 0 || late > 0.5) bad = 1 }
        END { print n " times"; exit bad || n != 6 }' $out/time.txt ||
        { cat $out/time.txt && return 1; }
}

# What the host's command makes of saved memory is what the machine wrote.
image()
{
    build m3 image $tests/bare-image.c && run m3 image >$out/image.txt &&
        build/recorder dump --elf $out/image --memory 0x20000000:$out/ram.bin \
            --memory 0x21000000:$out/kept.bin >$out/host.txt 2>$out/host.err ||
        { cat $out/host.err && return 1; }
    same $out/image.txt $out/host.txt
}
same() # All but the head, where the host puts its date; and no complaint.
{
    if [ -s $out/host.err ]; then cat $out/host.err && return 1; fi
    sed 1d "$1" >"$1.lines" && sed 1d "$2" >"$2.lines" &&
        diff "$1.lines" "$2.lines" && echo "$(wc -l <"$1.lines") lines alike"
}

# The same from what gdb saves: memory, and for Cortex-M a core file, in which
# is what the program's sections are, hence without the ring elsewhere.
gdb_saves() # MACHINE FILE COMMAND [option...]
{
    saved=$1 file=$2 command=$3
    shift 3
    build "$saved" image-"$saved" $tests/bare-image.c "$@" &&
        save "$saved" image-"$saved" "$file" "$command" || return 1
    tr -d '\r' <$out/image-"$saved".txt >$out/image.txt
}
core()
{
    gdb_saves m3 m3.core "generate-core-file m3.core" &&
        build/recorder dump --executable $out/image-m3 $out/m3.core \
            >$out/host.txt || return 1
    : >$out/host.err
    grep -v kept $out/image.txt >$out/left.txt
    grep -v kept $out/host.txt >$out/host-left.txt
    same $out/left.txt $out/host-left.txt
}
image_malta()
{
    # This one has a table of threads, and a line of its own.
    gdb_saves malta malta.bin "dump binary memory malta.bin 0x80100000 0x80120000" \
        -DRECORDER_THREADS=4 &&
        build/recorder dump --elf $out/image-malta \
            --memory 0x80100000:$out/malta.bin >$out/host.txt 2>$out/host.err ||
        { cat $out/host.err && return 1; }
    same $out/image.txt $out/host.txt
}
# Against what was asked of it: 60 instructions, 600 bytes; 70 for a switch, and
# what a one-shot recorder looks at besides; 5 where it is turned off. Two calls
# fill a slot, which costs a record (B1 to B3), and the second one appends.
cost()
{
    tests/ports/bare-cost.sh >$out/cost.txt || return 1
    awk -F '\t' '{ print $1 ": " $2 " " $3 }
        $1 ~ /^instructions of a record, Cortex-M3/ && $2 > 60 ||
        $1 ~ /^instructions of a call and its return/ && $2 > 140 ||
        $1 ~ /^instructions of a switch/ && $2 > 70 ||
        $1 ~ /^of a one-shot recorder/ && $2 > 78 ||
        $1 ~ /^turned off/ && $2 > 5 ||
        $1 ~ /^code of all that records, Cortex-M3/ && $2 > 600 {
            print "too much: " $1; bad = 1 } END { exit bad }' $out/cost.txt
}

# ------------------------------------------------------------------ all of it

third=$((INTERRUPTS / 3))
# The longest runs beside all the rest.
check "Cortex-M3: stress" stress m3 "$INTERRUPTS" >$out/beside.txt 2>&1 &
beside=$!
check "Cortex-M3: example" example m3
check "Cortex-M4F: example" example m4f
check "Cortex-M0: example" example m0
check "MIPS, big-endian: example" example_malta
check "Cortex-M3: ring that survives" kept m3
check "Cortex-M0: ring that survives" kept m0
check "Cortex-M3: wraps" wraps m3
check "Cortex-M0: wraps" wraps m0
check "Cortex-M4F: stress" stress m4f "$third"
check "Cortex-M0: stress" stress m0 "$third"
check "MIPS: stress" stress malta "$third"
check "Cortex-M3: stress without W4" stress_mutant W4 m3 \
    's/recorder_put_(word, whole | RECORDER_BUSY_); RECORDER_STEP_(W4);//' \
    recorder/ring.h recorder/ring.h
check "Cortex-M0: stress with interrupts let in" stress_mutant mask m0 \
    's/\\n\\tcpsid i//' $arm/port.h port.h
if [ -x build/recorder ]; then
    check "Cortex-M3: saved memory on the host" image
    check "Cortex-M3: core of gdb on the host" core
    check "MIPS: memory saved by gdb on the host" image_malta
else
    echo "bare: no build/recorder here: saved memory was not looked at"
fi
wait $beside
cat $out/beside.txt
check "cost" cost
[ ! -s $out/failed ] || { echo "--- of bare.sh:" && cat $out/failed && exit 1; }
