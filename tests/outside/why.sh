#!/bin/bash
# why.sh - recorder why says where the time of spans went.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# Compiles programs/why.c. Skips the test where the kernel records no switches
# for us.
once 'gcc -g -O1 -DRECORDER_KERNEL_SLOTS=65536 -I$ROOT $WARNINGS -o why \
    $PROGRAMS/why.c -lpthread &&
    gcc -I$ROOT -o kernel $PROGRAMS/kernel.c -lpthread'
text=$(./kernel switches 2>&1) || skip $text

## injected_causes_are_named
# Goal: of slow requests, the cause and its object are named, of healthy ones
# none is; parts add up, and little is not known. Method: requests with
# injected causes of random order and strength; the program tells which.
count=200
[[ $SCALE != 0* ]] || count=30
# The kernel describes stops to root only, whose rings may be as large as needed
# on a busy machine.
causes=13 kib=256
[ ! -r /sys/kernel/tracing/events/sched/sched_switch/id ] || causes=14 kib=2048
RECORDER_SWITCHES=$kib,why recorder run -q -o why.rec ./why \
    $(($(seed) % 1000000)) $count $causes >oracle
recorder why why.rec request --slowest 1000 --json >spans
must python3 $PROGRAMS/why.py oracle spans

## spans_are_chosen_and_compared
# Goal: the slowest spans are compared with the usual ones, and each is found
# by the order of its first or last record, or by the options that choose.
RECORDER_SWITCHES=256,why recorder run -q -o why.rec ./why 3 20 1 >oracle
must recorder why why.rec
has 'app: request: 20 spans, usually '
must recorder why why.rec --slowest 20
has 'waited for mutex table held by T'
has ' holder, at with_lock why.c:'
recorder spans why.rec --names app --json |
    sed 's/.*longest_order":\([0-9]*\).*/\1/' >orders
recorder why why.rec --slowest 1 >slowest
recorder why why.rec --seq $(head -n 1 orders) >one
cmp slowest one
text=$(recorder why why.rec "request 7$" --slowest 9 | grep -c '^app: request')
is 1
text=$(recorder why why.rec --where 'app: 1<5' --slowest 9 |
    grep -c '^app: request')
is 5
recorder why why.rec request --slowest 9 |
    sed -n 's/^ *[0-9.]* % .* [mun]*s  *\([0-9]*\)-\([0-9]*\)  *waited for mutex.*/\1 \2/p' >records
[ -s records ]
while read -r from to; do # dump takes the numbers, which ascend
    must recorder dump why.rec --by-time --since $from --until $to
    has ' waits for mutex table'
done <records
must -1 recorder why why.rec --seq 1
has 'record 1 opens and closes no span that is kept'
must -1 recorder why why.rec nonsense
has 'no span that was closed is chosen; there are: app: request'
for regex in 'app: request 7' 'request 7$' '^app: request 7$' '^app:.* 7$'; do
    text=$(recorder why why.rec "$regex" --slowest 9 | grep '^app: request')
    has 'app: request 7, '
    must -1 recorder why why.rec "$regex" --names nothing
    has 'no recorder is named nothing; there are: '
done
cat >many.c <<'C'
#include "recorder_dump.h"
RECORDER(in, 64, "Spans");
int main(void)
{
    record(in, "> c++ %d", 1);
    record(in, "< c++ %d", 1);
#define SPAN(name) record(in, "> " name), record(in, "< " name);
    SPAN("two") SPAN("c") SPAN("d") SPAN("e") SPAN("f") SPAN("g") SPAN("h")
    SPAN("two") SPAN("i") SPAN("j")
}
C
gcc -I$ROOT -o many many.c && RECORDER_FILE=many.rec ./many
must -1 recorder why many.rec nonsense
is "recorder: many.rec: no span that was closed is chosen; there are: in: c++, in: two, in: c, in: d, in: e, in: f, in: g, in: h and 2 more"
must recorder why many.rec 'in: two'
has 'in: two: 2 spans'
must recorder why many.rec 'in: c++'
has 'in: c++ 1, T1 '
sed 's/c++ %d", 1/%s", "find"/' many.c >nameless.c
gcc -I$ROOT -o nameless nameless.c && RECORDER_FILE=nameless.rec ./nameless
must recorder spans nameless.rec
has 'in: %s'
for regex in 'in: %s' 'in: find' '> find$'; do
    must recorder why nameless.rec "$regex"
    has 'in: find, T1 '
    lacks 'in: two'
done
must -1 recorder why nameless.rec nonsense
has 'there are: in: %s, in: two, '
must -2 recorder why why.rec --slowest 0
has '0: is no number above 0'

## functions_are_spans
# Goal: each call of a function is a span, whose parts name a lock and its
# holder. Method: the 3rd of 10 calls waits, others do not.
cat >calls.c <<'END'
#include "recorder_dump.h"
#include "recorder_functions.h"
#include "recorder_kernel.h"
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *holds(void *none)
{
    recorder_thread_name("holder");
    pthread_mutex_lock(&table);
    pthread_barrier_wait(&both);
    usleep(50000);
    pthread_mutex_unlock(&table);
    return none;
}
static void look_up(void)
{
    pthread_mutex_lock(&table);
    pthread_mutex_unlock(&table);
}
int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 10; i++) {
        if (i == 2) {
            pthread_create(&thread, NULL, holds, NULL);
            pthread_barrier_wait(&both);
        }
        look_up();
    }
    pthread_join(thread, NULL);
}
END
gcc -g -finstrument-functions -I$ROOT $WARNINGS -o calls calls.c -lpthread
RECORDER_SWITCHES=64,why recorder run -q -o why.rec ./calls
must recorder why why.rec look_up
has 'functions: look_up: 10 spans, usually '
has 'waited for mutex table held by T'
has " holder, at look_up calls.c:$(awk '/ look_up\(/ { f = 1 } f && /mutex_lock/ { print NR; exit }' calls.c) "
has ' holder waited in usleep, returned 0, at holds calls.c:'

## missing_records_are_said
# Goal: without switches, waits are known, and the rest is `not known`;
# without recorder run, a blocked thread has no reason.
env -u RECORDER_SWITCHES recorder run -q -o why.rec ./why 3 20 1 >oracle
must recorder why why.rec request --slowest 20
has 'waited for mutex table held by T'
has 'not known'
has 'there are no records of switches'
rm requests.fifo
RECORDER_SWITCHES=256 RECORDER_FILE=own.rec ./why 3 20 1 >oracle
must recorder why own.rec request --slowest 20
has 'was blocked by a call, a page fault or a stop'
has 'there are no records of waits'

## overwritten_records_are_said
# Goal: spans and why say how many records are lacking because others took their
# place; why only if a span that is chosen began before. Method: twice as many
# naps in spans as their recorder keeps.
cat >naps.c <<'END'
#include "recorder_dump.h"
#include <unistd.h>
RECORDER(app, 16384, "Spans")
int main(void)
{
    for (int i = 0; i < 6000; i++) {
        record(app, "> %s %d", i < 5999 ? "nap" : "last", i);
        usleep(60);
        record(app, "< %s %d", i < 5999 ? "nap" : "last", i);
    }
}
END
gcc -I$ROOT $WARNINGS -o naps naps.c
recorder run -q --always -o naps.rec ./naps
count=$(recorder list naps.rec --json |
    sed -n 's/.*"slow_call".*"overwritten":\([0-9]*\).*/\1/p')
[ $count -gt 1000 ]
must recorder spans naps.rec
has "naps.rec: $count records were overwritten: their spans are not counted"
must recorder why naps.rec
has "naps.rec: $count records of waits, calls or switches were overwritten: "
must recorder why naps.rec 'app: last'
has 'app: last 5999, ' 'waited in usleep'
lacks overwritten
must recorder spans naps.rec --names app
lacks overwritten

## faults_outside_are_no_reason
# Goal: page faults that may have been before or after a span are not its part.
# Method: a quarter of the page faults is in short spans, one in each.
cat >faults.c <<'END'
#include "recorder_dump.h"
#include "recorder_kernel.h"
#include <sys/mman.h>
#include <unistd.h>
RECORDER(app, 1024, "Spans")
static volatile char *page;
static void touch(int pages)
{
    for (; pages > 0; pages--, page += 4096)
        *page = 1;
}
int main(void)
{
    page = mmap(NULL, 2000 * 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)page, 2000 * 4096, MADV_NOHUGEPAGE);
    usleep(1000); /* so that what is between two switches is known */
    for (int i = 0; i < 200; i++) {
        record(app, "> short %d", i);
        touch(1);
        record(app, "< short %d", i);
        touch(3);
    }
    record(app, "> long");
    touch(1000);
    record(app, "< long");
    usleep(1000);
}
END
gcc -I$ROOT $WARNINGS -o faults faults.c -lpthread
RECORDER_SWITCHES=64,why RECORDER_FILE=faults.rec ./faults
recorder why faults.rec short --slowest 1000 --json >spans
text=$(awk '/"faults"/ { n++ } END { print n + 0, NR }' spans)
is '0 200'
must recorder why faults.rec long
has 'ran on a CPU, with a page fault each '

## calls_of_one_place_are_one_part
# Goal: waits for many files or pipes at one place are one line, not one each.
cat >pipes.c <<'END'
#include "recorder_dump.h"
#include <pthread.h>
#include <unistd.h>
RECORDER(app, 64, "Spans")
static int pipes[20][2];
static void *writer(void *none)
{
    for (int i = 0; i < 20; i++)
        if (usleep(2000) || write(pipes[i][1], "x", 1) != 1)
            return pipes;
    return none;
}
int main(void)
{
    pthread_t thread;
    char byte;
    for (int i = 0; i < 20; i++)
        if (pipe(pipes[i]))
            return 1;
    pthread_create(&thread, NULL, writer, NULL);
    record(app, "> all");
    for (int i = 0; i < 20; i++)
        if (read(pipes[i][0], &byte, 1) != 1)
            return 1;
    record(app, "< all");
    return pthread_join(thread, NULL);
}
END
gcc -g -I$ROOT $WARNINGS -o pipes pipes.c -lpthread
recorder run -q -o pipes.rec ./pipes
must recorder why pipes.rec all
has ' and others like it, returned 1 of 1, at main pipes.c:'
text=$(grep -c 'waited in read' <<<"$text")
is 1

## locks_of_a_table_are_one_part
# Goal: waits at one place for the locks of a table, which threads of one name
# hold, are one line; so is what these threads do meanwhile.
cat >table.c <<'END'
#include "recorder_dump.h"
#include <pthread.h>
#include <unistd.h>
RECORDER(app, 64, "Spans")
static pthread_mutex_t *table[12];
static pthread_barrier_t taken[12];
static void *holder(void *at)
{
    pthread_mutex_lock(*(pthread_mutex_t **)at);
    pthread_barrier_wait(&taken[(pthread_mutex_t **)at - table]);
    usleep(20000 * (unsigned)((pthread_mutex_t **)at - table + 1));
    pthread_mutex_unlock(*(pthread_mutex_t **)at);
    return NULL;
}
int main(void)
{
    static pthread_mutex_t locks[12];
    pthread_t thread;
    for (int i = 0; i < 12; i++) {
        pthread_barrier_init(&taken[i], NULL, 2);
        table[i] = &locks[i];
        pthread_create(&thread, NULL, holder, &table[i]);
        pthread_barrier_wait(&taken[i]);
    }
    record(app, "> all");
    for (int i = 0; i < 12; i++) {
        pthread_mutex_lock(table[i]);
        pthread_mutex_unlock(table[i]);
    }
    record(app, "< all");
    return 0;
}
END
gcc -g -I$ROOT $WARNINGS -o table table.c -lpthread
recorder run -q -o table.rec ./table
must recorder why table.rec all
has ' and others like it held by T' ' table and others, at main table.c:'
has ' table and others waited in usleep, returned 0, at holder table.c:'
text=$(grep -c 'waited for mutex' <<<"$text")
is 1

## lives_of_threads_are_spans
# Goal: without spans of the program, the life of a thread is a span.
gcc -g -DWITHOUT_SPANS -DRECORDER_KERNEL_SLOTS=4096 -I$ROOT -o lives \
    $PROGRAMS/why.c -lpthread
RECORDER_SWITCHES=256,why recorder run -q -o why.rec ./lives 3 20 1 >oracle
must recorder why why.rec
has 'life: thread: '
has 'life: thread, T1 main: '

## the_last_holder_came_late
# Goal: a thread that took a lock in front of a waiting one is no holder before.
# Method: all are on one CPU, which the waiting thread gets last.
cat >late.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static volatile int held;
static int ends[2];
static void *first(void *none)
{
    usleep(10000); /* the second one reads */
    pthread_mutex_lock(&table);
    held = 1;
    usleep(20000); /* the waiting thread comes */
    pthread_mutex_unlock(&table);
    write(ends[1], "", 1);
    usleep(60000);
    return none;
}
static void *second(void *none)
{
    volatile int n;
    char byte;
    read(ends[0], &byte, 1);
    pthread_mutex_lock(&table);
    for (n = 0; n < 10000000; n++)
        ;
    pthread_mutex_unlock(&table);
    return none;
}
static void *waiter(void *none)
{
    while (!held)
        usleep(500);
    pthread_mutex_lock(&table);
    pthread_mutex_unlock(&table);
    return none;
}
int main(void)
{
    pthread_t threads[3];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    pipe(ends);
    pthread_create(&threads[2], NULL, waiter, NULL);
    pthread_setschedparam(threads[2], SCHED_IDLE, &(struct sched_param){0});
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
C
gcc -D_GNU_SOURCE -g -O1 -w -o late late.c -lpthread
must recorder run -q --span waiter -o late.rec ./late
must recorder why late.rec waiter
has 'waited for mutex table held by T'
lacks ' at second late.c'

## the_thread_that_ends_a_wait_is_named
# Goal: each of several threads that wait to read names the writer, and each of
# several that wait for a condition its own signaller. Method: both end at almost
# the same time.
cat >ends.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static volatile int waiters;
static void *reader(void *none)
{
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_unlock(&table);
    return none;
}
static void *waiter(void *none)
{
    pthread_mutex_lock(&lock);
    waiters++;
    pthread_cond_wait(&full, &lock);
    pthread_mutex_unlock(&lock);
    return none;
}
static void *signaller(void *none)
{
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&full);
    pthread_mutex_unlock(&lock);
    return none;
}
int main(void)
{
    pthread_t threads[8];
    pthread_rwlock_wrlock(&table);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, i < 4 ? reader : waiter, NULL);
    while (waiters < 2)
        usleep(1000);
    usleep(100000);
    pthread_rwlock_unlock(&table);
    for (int i = 6; i < 8; i++)
        pthread_create(&threads[i], NULL, signaller, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}
C
gcc -g -O1 -o ends ends.c -lpthread
for i in 1 2 3; do
    must recorder run -q -o ends.rec ./ends
    recorder dump ends.rec >dumped
    text=$(grep -c 'waited .* for rwlock table, ended by T1 ' dumped || true)
    is 4
    text=$(sed -n 's/.*for condition full.*, ended by \(T[0-9]*\) .*/\1/p' dumped |
        sort -u | wc -l)
    is 2
done

## lives_of_one_length_differ_in_their_parts
# Goal: the lines share all the time by which the slowest spans are longer in any
# line, and no share is above 100 %.
cat >lives.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static void *lives(void *none)
{
    usleep(200000);
    return none;
}
int main(void)
{
    pthread_t threads[12];
    for (int i = 0; i < 12; i++)
        pthread_create(&threads[i], NULL, lives, NULL);
    poll(NULL, 0, 205);
    for (int i = 0; i < 12; i++)
        pthread_join(threads[i], NULL);
}
C
gcc -g -O1 -w -o lives lives.c -lpthread
must recorder run -q -o lives.rec ./lives
must recorder why lives.rec
has 'life: thread: 13 spans' 'waited in poll, returned 0, at main lives.c:'
recorder why lives.rec >said
awk '$2 == "%" && $1 > 100 { print; bad = 1 } END { exit bad }' said
