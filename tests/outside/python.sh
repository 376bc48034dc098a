#!/bin/bash
# python.sh - `import recorder` reads what the command reads, and so do programs in C.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# The Python of Debian, not another that may come first in the PATH: it is the
# one that numpy and pandas are installed for.

## reads_what_the_command_reads
# Goal: all that the module says of a source is what the command says of it.
# Method: every field of every record by --json, every line, table and option,
# of a process, what it saved, its core file, its log and a server.
command_build program gcc -O2 -g
start ./program everything in.txt
/usr/bin/python3 $PROGRAMS/python.py agree $pid
recorder save $pid -o saved
/usr/bin/python3 $PROGRAMS/python.py agree saved
stop
command_core ./program in.txt
/usr/bin/python3 $PROGRAMS/python.py agree core

## reads_32_bits, long
has_flags gcc -m32 || skip 'no programs of 32 bits here'
command_build program gcc -m32 -O2 -g
command_core ./program in.txt
/usr/bin/python3 $PROGRAMS/python.py agree core

## columns, long
# Goal: columns and frames hold the values of the records, exactly.
/usr/bin/python3 -c 'import pandas' || skip 'no python3-pandas'
command_build program gcc -O2 -g
command_core ./program in.txt
/usr/bin/python3 $PROGRAMS/python.py columns core
gcc -O2 -I$ROOT -o named $PROGRAMS/named.c -lpthread
text=$(./named named.rec
    /usr/bin/python3 $PROGRAMS/python.py columns named.rec)
lacks ', 0 of named'

## follows
# Goal: a log and a server are read, too, and a program as it records.
command_build program gcc -O2 -g
start ./program count 100000 100
must /usr/bin/python3 $PROGRAMS/python.py follow $pid 500
has 'followed 500'
recorder log $pid -o log &
saver=$!
until ls log/*; do sleep 0.05; done >/dev/null 2>&1
sleep 0.3
kill -TERM $saver
wait $saver
ls log
/usr/bin/python3 $PROGRAMS/python.py agree log
stop

## errors, long
# Goal: no source harms the process that reads it: what is wrong is an
# exception with the command's message.
command_build program gcc -O2 -g
start ./program quiet
recorder save $pid -o recording
stop
/usr/bin/python3 $PROGRAMS/python.py errors
/usr/bin/python3 $PROGRAMS/python.py cut recording
/usr/bin/python3 $PROGRAMS/python.py hostile recording $(scaled 400)

## c_interface
# Goal: the library's C interface is stable and complete. Method: a program of
# an older and a newer structure; the name that it is linked to; what the
# library exports is what the header declares.
command_build program gcc -O2 -g
start ./program everything in.txt
recorder save $pid -o saved
stop
gcc $WARNINGS -std=c99 -pedantic-errors -I$ROOT/library -o reader \
    $PROGRAMS/reader.c -L$ROOT/build -lrecorder -Wl,-rpath,$ROOT/build
./reader saved >ours
recorder dump saved --names main --last 9 | tail -n 9 | diff ours -
readelf -d reader | grep 'librecorder.so.1\]'
echo '#include "recorder_reader.h"' |
    g++ $WARNINGS -std=c++11 -I$ROOT/library -x c++ -fsyntax-only -
nm -D --defined-only $ROOT/build/librecorder.so.1 |
    sed '/ A /d; s/.* //; s/@.*//' >names
grep -c recorder_reader_open names
not grep -v '^recorder_reader_\|^recorder_gdb_' names
sed -n 's/.*\(recorder_reader_[a-z]*\)(.*/\1/p' \
    $ROOT/library/recorder_reader.h | sort -u |
    while read name; do grep -qx $name names || echo $name; done | tee lacks
test ! -s lacks

## the_page_finds_its_bug, long
# Goal: docs/python.md finds its bug. Method: its code runs, and prints what
# is there, but for the digits.
/usr/bin/python3 -c 'import pandas' || skip 'no python3-pandas'
gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -I$ROOT -o latency \
    $ROOT/examples/latency/latency.c
RECORDER_FILE=latency.rec ./latency
/usr/bin/python3 $PROGRAMS/python.py pages $ROOT/docs/python.md
