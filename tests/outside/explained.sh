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

## another_thread_freed_first
# Goal: of a block that two threads freed, the record of the first free() is
# among the first three, though both are of one format; and an argument that is
# the block tells more than one before it. A recording of optimized code may have
# neither a variable nor the memory around the block.
cat >twice.c <<END
#include "recorder_dump.h"
#include <pthread.h>
#include <stdlib.h>
RECORDER(conn, 256, "")
struct conn {
    int id;
    char *buffer;
};
static struct conn *conns[10];

static void conn_close(struct conn *c)
{
    record(conn, "close c=%p id=%d buffer=%p", (void *)c, c->id,
           (void *)c->buffer);
    free(c->buffer);
}
static void *timeout(void *x)
{
    record(conn, "timeout id=%d", 7);
    conn_close(conns[7]);
    return x;
}

int main(void)
{
    pthread_t thread;
    recorder_dump_on_common_signals(0, 0);
    for (int i = 0; i < 10; i++) {
        struct conn *c = conns[i] = malloc(sizeof *c);
        *c = (struct conn){i, malloc(SIZE)};
        record(conn, "open c=%p id=%d buffer=%p", (void *)c, i,
               (void *)c->buffer);
    }
    pthread_create(&thread, NULL, timeout, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 10; i++)
        conn_close(conns[i]);
    return 0;
}
END
for flags in '-O0 -DSIZE=2000' '-O1 -DSIZE=500' '-O2 -DSIZE=2000'; do
    gcc $flags -g -w -I$ROOT -o twice twice.c -lpthread
    crash ./twice
    for source in core rec; do
        [ "$flags $source" != '-O2 -DSIZE=2000 rec' ] || continue
        explained $source
        text=$(head -n 4 <<<"$text")
        has ' T1] conn: close c=' ' T2] conn: close c='
        lacks 'before c->buffer'
    done
done

## a_null_argument_of_another_name
# Goal: the record of the null pointer that was used holds a value of the crash,
# also if its argument is not named as the variable.
cat >null.c <<END
#include "recorder_dump.h"
RECORDER(app, 64, "")

int main(void)
{
    void (*f)(void) = NULL;
    recorder_dump_on_common_signals(0, 0);
    for (int i = 0; i < 20; i++)
        record(app, "step i=%d", i);
    record(app, "call handler=%p", (void *)f);
    f();
    return 0;
}
END
gcc -O0 -g -w -I$ROOT -o null null.c
crash ./null
for source in core rec; do
    explained $source
    has 'app: call handler=(nil)   <- perhaps f
'
done

## members_inside_of_containers
# Goal: members inside of a container do not have its name, and hide none of the
# members that the program has named.
cat >inside.cc <<END
#include "recorder_dump.h"
#include <map>
#include <vector>
RECORDER(calls, 8, "")
struct outer {
    std::vector<int> list;
    std::map<int, int> table;
    int id;
};
__attribute__((noinline)) static int use(const outer *o)
{
    volatile int *none = nullptr;
    record(calls, "id=%d", o->id);
    return o->id + (int)o->table.size() + *none;
}
int main()
{
    outer o;
    o.list = {1, 2, 3};
    o.table[4] = 5;
    o.id = 9;
    return use(&o);
}
END
g++ -g -O0 -I"$ROOT" -w -o inside inside.cc
crash ./inside
must recorder explain core
has ' {id=9}'
lacks 'list=' 'table='
