#!/bin/bash
# explained.sh - records that recorder explain names as the cause, or does not.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# Makes ./core and ./rec of a program that crashes.
crash()
{
    local pattern
    rm -f core rec
    pattern=$(cat /proc/sys/kernel/core_pattern)
    if [ "$pattern" = core ]; then
        (ulimit -c unlimited && RECORDER_FILE=rec exec "$@") >out 2>&1 || true
    else
        RECORDER_FILE=rec gdb -q --batch -ex run \
            -ex 'generate-core-file core' -ex continue --args "$@" >out 2>&1
    fi
    test -s core
}
# The lines of records with values of the crash, in $text.
explained() # source
{
    text=$(recorder explain "$1" | sed -n '/most telling first:$/,/^$/p')
}

## a_block_that_was_merged
# Goal: a block of which free() made one with the block that was freed twice is
# named as the cause by no line without "perhaps".
cat >merged.c <<END
#include "recorder_dump.h"
#include <stdlib.h>
RECORDER(sess, 256, "")
struct session {
    int id;
    char name[2000];
};

static void session_close(struct session *s, const char *why)
{
    record(sess, "close s=%p id=%d by %s", (void *)s, s->id, why);
    free(s);
}

int main(void)
{
    struct session *a[4];
    recorder_dump_on_common_signals(0, 0);
    for (int i = 0; i < 4; i++) {
        a[i] = malloc(sizeof *a[i]);
        a[i]->id = 100 + i;
        record(sess, "open s=%p id=%d", (void *)a[i], 100 + i);
    }
    session_close(a[1], "timeout");
    for (int i = 0; i < 4; i++)
        session_close(a[i], "shutdown");
    return 0;
}
END
gcc -O0 -g -w -I$ROOT -o merged merged.c
crash ./merged
explained rec # which has not the memory around the block
lacks '<- the block of'
explained core
has 'id=101 by timeout   <- s = ' ', freed'
lacks '<- the block of'
