# Fuzzes what reads files, and texts, with libFuzzer; or builds what repeats it.
# SPDX-License-Identifier: MIT
#
# run.sh [SECONDS] [TARGET...]
#                     fuzzes the targets that fuzz.h names, all, for a minute in
#                     all, as many at once as there are cores (Debian: clang,
#                     libclang-rt-14-dev); SEED=N: from these mutations on
# run.sh --one SECONDS TARGET     the same of one, which is built
# run.sh --replay     builds build/fuzz/replay with gcc, if that is due
#
# Seeds are recordings of tests/programs/hostile.c, made by this build, and what
# is below; a recording that is refused ends the fuzzer. It says of each target
# how many cases there were and how many got past the registry. A fuzzer goes on
# from what it found before, in build/fuzz/corpus/TARGET; what fails is left as
# build/fuzz/TARGET-crash-* and the like: build/fuzz/replay --target TARGET FILE
# repeats it.
set -e
cd "$(dirname "$0")/../.."
out=build/fuzz
mkdir -p $out
flags="-std=gnu11 -D_GNU_SOURCE -Dnanosleep=fuzz_nanosleep -Dexit=fuzz_exit
    -Disatty=fuzz_isatty -Dsetvbuf=fuzz_setvbuf -O1 -g1 -Wall -Wextra -I. -Itools -Igdb -Ilibrary
    $(printf -- '-I%s ' tools/*/) -fsanitize=address,undefined -fno-sanitize-recover=undefined"
flags=$(echo $flags)
sources="tests/fuzz/fuzz.c tests/fuzz/verbs.c tests/fuzz/texts.c
    tests/fuzz/walks.c tests/fuzz/tasks.c tests/fuzz/api.c $(ls tools/*.c tools/*/*.c | grep -v /main.c) gdb/library.c library/*.c"
libraries="-ldw -lelf -lsqlite3 -lz -lzstd -lseccomp -liberty -lm -lpthread"
# Compiles what has changed, into $out/FOLDER: FOLDER COMPILER FLAGS...
objects()
{
    into=$out/$1
    mkdir -p "$into"
    [ -e "$into/built" ] && [ ! "$(find tests/fuzz tests/harness tools gdb recorder \
        recorder*.h -type f ! -name '*.c' -newer "$into/built")" ] ||
        rm -f "$into"/*.o
    touch "$into/now"
    shift
    for source in $sources; do
        object=$into/$(echo "$source" | tr / _).o
        [ "$object" -nt "$source" ] || echo "$* $flags -c $source -o $object"
    done | xargs -r -P "$(nproc)" -I {} sh -c {}
    mv "$into/now" "$into/built"
}
if [ "${1:-}" = --replay ]; then
    exec 9>$out/lock
    flock 9
    sources="$sources tests/fuzz/replay.c"
    objects gcc gcc -Wno-format-truncation
    [ -e $out/replay ] && [ ! "$(find $out/gcc -name '*.o' -newer $out/replay)" ] || {
        gcc $flags $out/gcc/*.o -o $out/new $libraries
        mv $out/new $out/replay
    }
    exit
fi
# Fuzzes one target for so many seconds.
one()
{
    target=$1 seeds=$out/seeds/files limits="-max_len=131072"
    case $target in
    elf) # of this build only; and in a child, whose coverage is not seen
        rm -rf $out/corpus/elf
        seeds=$out/seeds/programs limits="-max_len=1000000 -reduce_inputs=0" ;;
    threads) # its recordings are large, and of this build only
        rm -rf $out/corpus/threads
        seeds=$out/seeds/threads limits="-max_len=8000000 -reduce_inputs=0" ;;
    tasks) seeds=$out/seeds/tasks limits="-max_len=4000" ;;
    symbols) seeds=$out/seeds/symbols limits="-max_len=2000" ;;
    walk) seeds=$out/seeds/walk limits="-max_len=9000" ;;
    options | headers) seeds=$out/seeds/$target limits="-max_len=300" ;;
    esac
    FUZZ_TARGET=$target FUZZ_GOOD=$out/seeds/files/saved-64
    export FUZZ_TARGET FUZZ_GOOD
    case $seeds in
    */files | */threads)
        # A file's bytes choose one of the command lines, some of which need more
        # than each recording has: more bytes at its end choose others.
        rm -rf $out/good-$target && mkdir $out/good-$target
        for seed in $seeds/*; do
            for more in 0 1 2 3 4 5 6 7; do
                { cat $seed && head -c $more $seed; } \
                    >$out/good-$target/${seed##*/}-$more
            done
        done
        if $out/fuzz $out/good-$target/* 2>&1 | grep -q " 0 of them"; then
            echo "$target: a good recording is refused"
            return 1
        fi ;;
    esac
    mkdir -p $out/corpus/$target
    failed=0 round=0 end=$(($(date +%s) + $2))
    : >$out/$target.log
    while left=$((end - $(date +%s))) && [ $left -gt 0 ]; do
        status=0
        $out/fuzz -rss_limit_mb=1024 -malloc_limit_mb=256 -timeout=30 -detect_leaks=0 \
            -seed=$((${SEED:-0} ? SEED + round : 0)) \
            $limits -max_total_time=$left -artifact_prefix=$out/$target- \
            $out/corpus/$target $seeds >>$out/$target.log 2>&1 || status=$?
        round=$((round + 1))
        [ $status != 99 ] || continue # full of what failed commands left
        [ $status = 0 ] || {
            failed=1
            grep -av "^#" $out/$target.log | tail -n 40
            echo "$target: FAILED, see $out/$target.log"
        }
        break
    done
    awk '/ cases, / { cases += $2; past += $4; sub(/.*got /, ""); got = $0 }
        END { printf "%-8s %8d cases, %d of them got %s\n", target, cases, past,
            got; exit !cases }' target=$target $out/$target.log ||
        echo "$target: says nothing"
    return $failed
}
if [ "${1:-}" = --one ]; then
    one "$3" "$2"
    exit
fi
clang=$(command -v clang clang-14 | head -n 1)
objects clang $clang -DFUZZER -fsanitize=fuzzer-no-link
$clang $flags -fsanitize=fuzzer $out/clang/*.o -o $out/fuzz $libraries
seconds=${1:-60}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- read show function export save view latency diff logs threads \
    gdb elf options headers walk tasks api symbols
rm -rf $out/seeds
mkdir -p $out/seeds/files $out/seeds/programs $out/seeds/options $out/seeds/headers \
    $out/seeds/threads $out/seeds/walk $out/seeds/tasks $out/seeds/symbols
# The same addresses at each run: SEED then gives nearly the same mutations.
fixed=$(command -v setarch) && $fixed -R true 2>/dev/null && fixed="$fixed -R" || fixed=
for bits in 64 32; do
    program=$out/program-$bits
    echo 'int main(void) { return 0; }' >$out/runs.c
    gcc -m$bits -o $out/runs $out/runs.c && $out/runs || continue # a kernel may refuse 32 bits
    gcc -m$bits -O1 -g -I. -o $program tests/programs/hostile.c -lpthread || continue
    [ $bits = 32 ] || cp $program $out/seeds/programs/program-64 # FUZZ_GOOD's
    : >$out/ready
    RECORDER_FILE=$out/seeds/files/file-$bits $fixed $program >$out/ready & pid=$!
    until grep -q ready $out/ready; do sleep 0.1; done
    build/recorder save $pid -o $out/seeds/files/saved-$bits
    kill $pid
done
# The first byte chooses a machine; the rest is code, some of it at the end.
for first in 0 1 2 3 4 5; do
    { printf "\\$first" && head -c 100000 build/recorder | tail -c 9000; } \
        >$out/seeds/walk/$first
done
# The same of lists: of the rest, words that lead into the memory, that are
# small, and that are anything.
for first in 0 1 2 3 4 5 6 7 8 9; do
    { printf "\\$first" && head -c $((20000 + 3000 * first)) build/recorder |
        tail -c 1500 && head -c $((90000 + 3000 * first)) build/recorder |
        tail -c 1500; } >$out/seeds/tasks/$first
done
# Letters of names as they are: see fuzz_demangle().
printf '\0' >$out/seeds/symbols/0 && printf '\1' >$out/seeds/symbols/1
# The first byte chooses: see the files.
n=0
for first in a b c d e f g h i; do
    for text in 1.5s now-1h '2026-11-20 20:25:11.5+01:00' 20:25 9 worker 'n[e-t]*|(a+){1,3}' \
        '{order:8} {wall} {name} {message}' 'net:1=bytes' 0x4000 'net=1:-one:retries=0x12' \
        '@list help' 'last=100, to=/tmp/%p.dump, names=net' 'n.*=trace retries=7' \
        'disk|net: "late" hw1,sw2 1>50 2&0x8 10x1s after=20ms: freeze, dump=/tmp/%e' \
        'major 0x001234 "disk"
minor 0x01 "error \"x\" at %u, %-5s 0x%x"' \
        '%-*.*s %5.3lf %#llx %zu %hhd %a %c %p %%' '[[:alpha:]]{2}\.^$'; do
        n=$((n + 1))
        printf %s%s $first "$text" >$out/seeds/options/$n
        cp $out/seeds/options/$n $out/seeds/headers/$n
    done
done
gcc -O1 -g -I. -DWAITS_LANES=64 -o $out/waits tests/programs/waits.c -lpthread
# Threads that wait for each other, and locks in a circle.
gcc -O1 -g -I. -DWAITS_LANES=64 -o $out/waits tests/programs/waits.c -lpthread
for what in two order; do
    : >$out/ready
    RECORDER_FILE=$out/seeds/threads/$what $fixed $out/waits $what >$out/ready & pid=$!
    until grep -q PID $out/ready; do sleep 0.1; done
    kill $pid
done
each=$((seconds * $(nproc) / $#))
[ $each != 0 ] || each=1
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh tests/fuzz/run.sh --one $each '{}'
