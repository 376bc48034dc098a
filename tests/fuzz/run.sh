# Fuzzes the reader of files with libFuzzer; or builds what repeats the corpus.
# SPDX-License-Identifier: MIT
#
# run.sh [SECONDS]    fuzzes, for a minute (Debian: clang, libclang-rt-14-dev)
# run.sh --replay     builds build/fuzz/replay with gcc, if that is due
#
# Seeds are recordings of tests/programs/hostile.c, made by this build; one that is
# refused ends the fuzzer. It says at its end how many cases got past the registry.
# A fuzzer goes on from what it found before, in build/fuzz/corpus; what fails is
# left as build/fuzz/crash-* and the like: build/fuzz/replay FILE repeats it.
# `build/fuzz/fuzz -merge=1 NEW build/fuzz/corpus` picks what is worth keeping.
set -e
cd "$(dirname "$0")/../.."
out=build/fuzz
mkdir -p $out/corpus
flags="-std=gnu11 -D_GNU_SOURCE -Dnanosleep=fuzz_nanosleep -O1 -g -Wall -Wextra
    -I. -Itools -Itools/reader -Itools/source -Itools/print
    -fsanitize=address,undefined -fno-sanitize-recover=undefined"
sources="tests/fuzz/fuzz.c tools/reader/*.c tools/source/[!s]*.c
    tools/source/scan.c tools/print/text.c tools/print/shown.c
    tools/print/tables.c tools/print/json.c tools/print/csv.c tools/print/fields.c"
if [ "$1" = --replay ]; then
    exec 9>$out/lock
    flock 9
    if [ ! -e $out/replay ] || [ "$(find $sources tests/fuzz/*.[ch] tools/*.h tools/*/*.h \
        recorder*.h recorder/*.h -newer $out/replay)" ]; then
        gcc $flags tests/fuzz/replay.c $sources -o $out/new -lelf -lm
        mv $out/new $out/replay
    fi
    exit
fi
clang=$(command -v clang clang-14 | head -n 1)
$clang $flags -DFUZZER -fsanitize=fuzzer $sources -o $out/fuzz -lelf -lm
mkdir -p $out/seeds
for bits in 64 32; do
    gcc -m$bits -O1 -I. -o $out/program tests/programs/hostile.c -lpthread || continue
    RECORDER_FILE=$out/seeds/file-$bits $out/program >$out/ready & pid=$!
    until grep -q ready $out/ready; do sleep 0.1; done
    build/recorder save $pid -o $out/seeds/saved-$bits
    kill $pid
done
$out/fuzz $out/seeds/* 2>&1 | grep -v " 0 of them" | grep "past the registry"
exec $out/fuzz -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10 \
    -max_len=131072 -max_total_time="${1:-60}" -print_final_stats=1 \
    -artifact_prefix=$out/ $out/corpus $out/seeds
