# Fuzzes the reader of files with libFuzzer; or builds what repeats the corpus.
# SPDX-License-Identifier: MIT
#
# run.sh [SECONDS]    fuzzes, for a minute (Debian: clang, libclang-rt-14-dev)
# run.sh --replay     builds build/fuzz/replay with gcc, if that is due
#
# corpus/ holds small recordings and core files, good ones (good-*: of 64 and of
# 32 bits, one of them big-endian) and those that reached something by lying.
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
exec $out/fuzz -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10 \
    -max_len=16384 -max_total_time="${1:-60}" -print_final_stats=1 \
    -artifact_prefix=$out/ $out/corpus tests/fuzz/corpus
