#!/bin/bash
# flash.sh - recorder follow flash:, records that a port kept over a loss of power.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

port_build()
{
    gcc -std=c11 -O2 -no-pie -D_GNU_SOURCE $WARNINGS -I$ROOT -I$ROOT/hooks \
        -o port $PROGRAMS/flash.c
}
# Each line is right: prints the last number of the newest start, and the lines.
lines_check()
{
    awk '/\] numbers: n=/ {
            n = substr($6, 3) + 0
            if ($7 != n * n || $8 != 4294967295 - n) exit failed = 1
            last = n
            next
        }
        /\] texts: text / { if ($7 != $9) exit failed = 1; next }
        !/\] texts: <lost> of / { exit failed = 1 }
        END { if (failed) print "wrong: " $0; else print last + 0, NR }' "$@"
}
# cut PAGE_BYTES PAGES CHANGE: the port loses power at a change of the flash.
cut()
{
    local kept made shown lines
    read -r kept made < <(./port image $1 $2 $3 $RANDOM)
    recorder follow flash:image --elf port >out 2>err || grep 'before all' err
    read -r shown lines < <(lines_check out)
    [ "$kept" = 0 ] || # the last lines may be of an earlier start
        { [ "$shown" -ge "$kept" ] && [ "$shown" -le "$made" ]; } ||
        { echo "$*: kept $kept, made $made, shown $shown $lines" && false; }
}

## cuts
# Goal: after a loss of power at any change of the flash, in the middle of a unit
# or of a page that is erased, no line is wrong, and all records are shown that
# the port had written. Method: 1,000 losses, of pages of three sizes; writes
# fail now and then.
port_build
for pages in 256x256 1024x64 4096x16; do
    rm -f image
    for i in $(seq $(scaled 334)); do
        cut ${pages%x*} ${pages#*x} $((1 + RANDOM * (1 + i % 3 * i % 7) / 4))
    done
done

## starts
# Goal: records of several starts are told apart, wear is told; a page that was
# erased took the oldest registry along, and the records after it are shown.
port_build
./port image 4096 16 20000 1
./port image 4096 16 3000 2
must recorder follow flash:image --elf port --names numbers
has 'the board started again' 'each page was erased 3 times' 'numbers: n=1 1 4294967294'

## damage
# Goal: whatever the bytes of an image are, no line is wrong.
port_build
./port whole 1024 64 0 3
for i in $(seq $(scaled 300)); do
    cp whole image
    for n in 1 2 3 4 5; do
        head -c $((RANDOM % 40)) /dev/urandom | dd of=image conv=notrunc bs=1 \
            seek=$((RANDOM * 2)) status=none
    done
    recorder follow flash:image --elf port >out 2>err || [ $? = 1 ]
    lines_check out | not grep wrong
done
head -c 65536 /dev/zero >image
must -1 recorder follow flash:image --elf port
has 'flash:image: has no page that recorder_flash.h wrote'
must -1 recorder follow flash:none --elf port
has 'No such file or directory'
must -2 recorder follow flash:image
has 'needs --elf FILE'
