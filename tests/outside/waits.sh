#!/bin/bash
# waits.sh - Recorded threads and locks: deadlocks, orders, makers of threads.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

build_waits()
{
    once "gcc -g -I$ROOT -o waits $PROGRAMS/waits.c -lpthread"
}
build_threads()
{
    once "gcc -g -o threads $PROGRAMS/threads.c -lpthread"
}
start_waits() # arguments
{
    build_waits
    start env RECORDER_FILE=rec ./waits $1
}
# Waits until the recording has so many ended waits.
until_waited() # count
{
    until test $(recorder threads --locks --json rec |
        sed -n 's/.*"waited":\([0-9]*\).*/\1/p' |
        awk '{ n += $1 } END { print n + 0 }') -ge $1; do sleep 0.05; done
}
# The text has another so many times.
times() # count text
{
    test "$(grep -oF -- "$2" <<<"$text" | wc -l)" = $1 || { echo "$text" && false; }
}
# The deadlock of ./waits or ./threads is the first in the output, and whole.
named() # verb source
{
    must recorder $1 $2
    [[ $text = "DEADLOCK of $threads thread"?(s)': '* ]] || { echo "$text" && false; }
    times 1 DEADLOCK
    has "$holds" "$waits"
}

# ------------------------------------------------------------------ deadlocks

## deadlocks_are_named
# Goal: a deadlock is named with each thread's locks and the places where it
# took them: of the running process, from the recording of a killed one, and,
# if that is rare, from a core file.
row() # arguments threads holds waits
{
    threads=$2 holds=$3 waits=$4
    start_waits "$1"
    until_has DEADLOCK recorder threads $pid
    named threads $pid
    named 'threads --locks' $pid
    named threads rec
    if [[ $1 = two || $SCALE != 0* ]]; then
        gdb -p $pid --batch -ex 'generate-core-file core'
        named threads core
        named 'threads --locks' core
    fi
    stop
    named threads rec
    named 'threads --locks' rec
    must -3 recorder threads --check rec
}
row two 2 'deposit holds cash, taken at transfer waits.c:' \
    'waits for mutex bank of T'
row self 1 'self holds cash, taken at again waits.c:' \
    'waits for mutex cash of T'
row 'circle 3' 3 'circle holds ring+0x50, taken at around waits.c:' \
    'waits for mutex ring of T'
row joining 2 ' waits waits for the end of thread T' \
    'joins_main waits for the end of thread T'
row join_and_lock 2 'joins holds cash, taken at joins_wanting waits.c:' \
    'waits for the end of thread T'
row rwlocks 2 'writes holds pages to read, taken at writes waits.c:' \
    'waits for rwlock table to write of T'

## a_deadlock_of_500, long
# Goal: 500 threads in one circle are one deadlock, also after their death.
start_waits 'circle 500'
until_has 'DEADLOCK of 500 threads' recorder threads --locks rec
stop
recorder threads --locks --json rec | head -n 1 >json
text=$(grep -o '"thread":[0-9]*' json | sort -u | wc -l)
is 500

## a_busy_program_has_no_deadlock
# Goal: running threads are never reported as a deadlock, nor is their order
# of locks a circle. Method: threads take locks as fast as they can in the
# order of their addresses; looks at the process and at its recording while it
# runs; and recordings of processes that were killed at any time.
looks=$(scaled 200) i=0 waited=0
[ $looks -ge 20 ] || looks=20
start_waits 'busy 8'
until [ $i -ge $looks ] && [ $waited -gt $((looks / 4)) ]; do
    [ $i -lt $((50 * looks)) ]
    source=$pid && [ $((i % 2)) = 0 ] || source=rec
    must recorder threads --check $source
    [[ $text != *' works, at works waits.c:'* ]] || waited=$((waited + 1))
    i=$((i + 1))
done
stop
for i in $(seq $((looks / 5))); do
    start_waits 'busy 8'
    stop
    must recorder threads --check rec
    lacks 'LOCK ORDER'
done

# -------------------------------------------------------------------- holders

## holders_may_have_ended
# Goal: a thread that waits for an ended one is shown with it; and it is no
# deadlock if one thread releases another's lock and takes it again.
start_waits ended
until_has 'wants_cash  waits' recorder threads rec
lacks DEADLOCK
has 'waits for mutex cash of T'
has ' takes, which has ended; no thread can release it'
stop
must recorder threads --locks rec
has ' takes, which has ended; no thread can release it'
start_waits foreign
until_has 'locks_twice  waits for mutex cash of T' recorder threads rec
lacks DEADLOCK
stop
must recorder threads rec
lacks DEADLOCK

## a_lock_held_over_fork_is_held_by_nobody
# Goal: in the child of fork() a lock that another thread of the parent held
# has no holder that could release it.
start_waits forked
until_has 'wants_cash  waits for mutex cash of T' recorder threads $pid
has ' holds, which has ended; no thread can release it'
lacks DEADLOCK
stop # the child
pkill -KILL -P $$ waits || true

## a_circle_of_orders_is_no_hang
# Goal: explain calls a program that took locks in both orders, and waits for
# work, no deadlock; one whose lock's holder has ended is one, recorded or not.
cat >orders.c <<END
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "recorder_dump.h"

RECORDER(work, 64, "")
static pthread_mutex_t a, b, held, all[12]; /* zeros: as initialized */
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void *idles(void *unused)
{
    pthread_mutex_lock(&held);
    pthread_cond_wait(&more, &held);
    return unused;
}

static void *takes(void *other_first)
{
    pthread_mutex_t *first = other_first ? &b : &a;
    pthread_mutex_t *then = other_first ? &a : &b;
    for (int i = 0; i < 36; i++) { /* rows of the table that stay as they are */
        pthread_mutex_lock(&all[i % 12]);
        usleep(1000);
        pthread_mutex_unlock(&all[i % 12]);
    }
    recorder_thread_name("taker");
    usleep(other_first ? 200000 : 0);
    pthread_mutex_lock(first);
    pthread_mutex_lock(then);
    pthread_mutex_unlock(then);
    pthread_mutex_unlock(first);
    record(work, "done");
    return pause() ? other_first : NULL;
}

static void *ends(void *unused)
{
    pthread_mutex_lock(&held);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count > 1) {
        pthread_create(&thread, NULL, ends, NULL);
        pthread_join(thread, NULL);
    }
    pthread_create(&thread, NULL, idles, NULL);
    pthread_create(&thread, NULL, takes, NULL);
    pthread_create(&thread, NULL, takes, arguments[0]);
    printf("PID %d\\n", (int)getpid());
    fflush(stdout);
    return pause();
}
END
gcc -O1 -g $WARNINGS -I$ROOT -o orders orders.c -lpthread
start recorder run -q -o rec ./orders
until_has 'LOCK ORDER' recorder threads --order $pid
must recorder threads $pid
has ' taker  waits for a signal' # its name in the recorder, not the kernel's
if has_program gdb; then # shows what the command does: no internal recorder
    must gdb -q -batch -p $pid -ex "source $ROOT/gdb/recorder-gdb.py" \
        -ex 'recorder list' -ex 'recorder dump'
    has 'lock_wait' 'DUMPING work'
    lacks 'call_stack' 'internal:'
fi
must recorder explain $pid
lacks DEADLOCK
has 'nothing proved a hang'
stop
for run in 'recorder run -q -o rec' ''; do
    start $run ./orders ends
    must recorder explain $pid
    has 'DEADLOCK: ' 'waits for mutex held of ' ', which has ended; no thread'
    stop
done
must recorder explain rec
has 'orders: DEADLOCK: T' 'waits for mutex held of ' \
    ', which has ended; no thread can release it, no crash: '

## a_spin_is_found
# Goal: explain finds the function that a thread does not leave, of a program
# with recorders or without, recorded by recorder run or not.
cat >spins.c <<END
#ifdef RECORDS
#include "recorder_dump.h"
RECORDER(work, 64, "")
#else
#define record(recorder, text)
#endif
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long count;

static void *spins(void *unused)
{
    record(work, "spins"); /* so that the thread has a number */
    while (!unused)
        count++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spins, NULL);
    printf("PID %d\\n", (int)getpid());
    fflush(stdout);
    return pause();
}
END
gcc -O1 -g $WARNINGS -o plain spins.c -lpthread
gcc -O1 -g $WARNINGS -DRECORDS -I$ROOT -o records spins.c -lpthread
for program in ./plain ./records 'recorder run -q -o rec ./plain' \
    'recorder run -q -o rec ./records'; do
    start $program
    until_has 'SPIN for ' recorder explain $pid
    has ' runs in spins spins.c:'
    stop
done

## a_spin_for_a_lock_is_found
# Goal: a thread that never gets its spin lock is a spin, recorded or not; of a
# program of recorder run, the lock and its holder are named.
cat >lock.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_spinlock_t table;
static void *wants(void *none)
{
    pthread_spin_lock(&table);
    return none;
}
int main(void)
{
    pthread_t thread;
    pthread_spin_init(&table, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&table);
    pthread_create(&thread, NULL, wants, NULL);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    return pause();
}
END
gcc -O1 -g $WARNINGS -o lock lock.c -lpthread
start ./lock
until_has 'SPIN for ' recorder explain $pid
has ' runs in pthread_spin_lock '
stop
start recorder run -q --always -o rec ./lock
until_has 'SPIN for ' recorder explain $pid
has ' lock waits for spinlock table of T1 ' ' lock in wants lock.c:7'
stop

# -------------------------------------------------------------------- threads

## threads_stand_below_their_makers
# Goal: each thread is below the one that made it, with its number, kernel id,
# name, function, and the place where it was made; equal ones are shown once.
start_waits 'pool 20'
until_has '  20 threads: T' recorder threads rec
stop
must recorder threads rec
has ' worker  waits for condition ready
'
has '      at waits_for_work waits.c:'
has '      waits_for_work(0x0) and the like, made by T1, the first '
has ' < pool waits.c:' ' < main waits.c:' 'threads: 21 now, 20 made, 21 at most
'
must recorder threads --thread T3 rec
times 1 'waits for condition ready'
has 'T3 '
start_waits join_and_lock
until_has 'wants  waits' recorder threads rec
stop
must recorder threads rec
has '
    T3 '
# below T2, which made it
has 'made by T2 '
recorder threads --json rec >json
python3 -c '
import json
all = [json.loads(l) for l in open("json")]
by = {t["number"]: t for t in all if "thread" in t}
assert by[3]["maker"] == 2 and by[1]["maker"] is None
assert by[3]["start"] == "wants_cash"
assert by[2]["held"][0]["symbol"] == "cash"
assert by[2]["made_at"][0]["line"] > 0
'

## counts_of_many_threads_are_perhaps_less
# Goal: if the records of earlier threads are overwritten, the counts of threads
# say so; more threads at once than are seen are said after their end, too.
cat >many.c <<'END'
#include <pthread.h>
static pthread_barrier_t all;
static void *meets(void *alone)
{
    if (!alone)
        pthread_barrier_wait(&all);
    return alone;
}
int main(int count, char **none)
{
    pthread_t threads[1100];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all, NULL, 1101);
    for (int i = 0; i < 1100; i++) {
        pthread_create(&threads[i], &small, meets, count > 1 ? none : NULL);
        if (count > 1)
            pthread_join(threads[i], NULL);
    }
    if (count > 1)
        return 0;
    pthread_barrier_wait(&all);
    for (int i = 0; i < 1100; i++)
        pthread_join(threads[i], NULL);
}
END
gcc -O1 -g $WARNINGS -o many many.c -lpthread
for arguments in alone ''; do
    must recorder run -q -o many.rec ./many $arguments
    must recorder threads many.rec
    has 'threads: 0 now, ~' ' made, ~' ' records of threads were overwritten: '
    [ $arguments ] || has 'More than 1024 threads lived at once: '
done

# ---------------------------------------------------------------------- locks

## locks_taken_in_a_circle_are_named
# Goal: of nine pairs of locks that are taken in both orders, the four that
# can deadlock are named, and no other.
start_waits order
stop
must -3 recorder threads --check rec
has 'real_a and real_b are' 'rw_a and rw_b are' \
    'ring_a, ring_b and ring_c are' 'half_a and half_b are'
times 4 'LOCK ORDER'
has ' real_1 took real_b at ' ', holding real_a, taken at '
has 'rw_1 took rw_b at ' ', holding rw_a to read, taken at '
must recorder threads --ignore '^(ring|half)_a' --ignore ^rw_ rec
times 1 'LOCK ORDER'
has '3 circles of locks are ignored'
recorder threads --check --ignore waits[.]c rec
must recorder threads --locks --json rec
times 4 '{"circle":['
must recorder threads --order --json rec
times 4 '{"circle":['
must recorder threads --order rec
times 4 'LOCK ORDER'

## circles_of_memory_say_that_it_may_be_used_again
# Goal: a circle of locks that are no variables has a note that other locks
# may have had their memory; a circle of variables has none.
build_threads
start recorder run -q -o rec ./threads lends
stop
must -3 recorder threads --check rec
times 1 'LOCK ORDER'
has '  False if memory was used for another lock in between'
start_waits order
stop
must recorder threads --locks rec
times 4 'LOCK ORDER'
lacks 'False if memory'

## an_ended_thread_keeps_its_lock
# Goal: a thread that ended with a lock still holds it where another thread
# has its lane and its pthread_t since.
cat >leak.c <<X
#include <pthread.h>
pthread_mutex_t lost = PTHREAD_MUTEX_INITIALIZER;
void *keep(void *p) { pthread_mutex_lock(&lost); return p; }
void *none(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, keep, 0);
pthread_join(t, 0); for (int i = 0; i < 3; i++) {
pthread_create(&t, 0, none, 0); pthread_join(t, 0); }
return pthread_mutex_lock(&lost); }
X
gcc -g -o leak leak.c -lpthread
timeout -s KILL 1 recorder run -q -o rec ./leak || true
must -3 recorder threads --check rec
has '; no thread can release it'
must recorder threads rec
has 'waits for mutex lost of T2 ' 'still holds lost, taken at keep leak.c:3'

## waits_that_never_ended
# Goal: in a program that was killed in a deadlock, the unfinished waits come
# first, marked as unfinished; a thread that is blocked in a call is not shown
# as running.
cat >hang.c <<X
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
void *longer(void *p) { pthread_mutex_lock(&busy);
pthread_mutex_unlock(&busy); return p; }
void *reads(void *p) { int f[2]; pipe(f); read(*f, p, 1);
return p; }
int main(void) { pthread_t t; pthread_mutex_lock(&busy);
pthread_create(&t, 0, longer, 0); usleep(100000);
pthread_mutex_unlock(&busy); pthread_join(t, 0);
pthread_create(&t, 0, reads, 0); pthread_mutex_lock(&a);
return pthread_mutex_lock(&a); }
X
gcc -w -g -o hang hang.c -lpthread
timeout -s KILL 1 recorder run -q -o rec ./hang || true
text=$(recorder threads --locks rec | grep ^mutex)
[[ $text = 'mutex  a '* ]]
has ' still waiting, '
times 1 'still waiting'
must recorder threads --locks --json rec
times 1 '"goes_on":true'
must recorder threads rec
has '  waits in read of '

## a_circle_by_a_third_thread_is_named
# Goal: a circle that a third thread closes, with locks that two took before.
build_threads
start recorder run -q -o rec ./threads third
stop
must -3 recorder threads --check rec
times 1 'LOCK ORDER'
has ' third took ring+0x28 at takes_pairs '

## circles_of_random_programs, long
# Goal: circles of random programs are reported if threads can come to a
# deadlock, and only then: a lock that was destroyed or initialised is a new
# one, and a thread does nothing at once with actions before its start or
# after its end. Method: a script makes the programs, and knows the answer by
# vector clocks.
for seed in $(seq 40); do
    must python3 $PROGRAMS/lock_orders.py $seed random.c
    want=3 && [ $text != 0 ] || want=0
    gcc -w -o random random.c -lpthread
    rm -f rec
    recorder run -q --always -o rec ./random
    must -$want recorder threads --check rec
done

## locks_of_a_kind_are_perhaps_a_circle
# Goal: of thousands of locks taken at one place, the first sixteen are
# recorded; a circle through two of them is reported as possible, and does not
# fail a check. Locks taken in a row, each after the one before, are no
# circle.
start_waits classes
stop
must recorder threads --check rec
times 1 'LOCK ORDER'
has cash ring ' are perhaps taken in a circle'
start_waits hands
stop
must recorder threads --check rec
lacks 'LOCK ORDER'

## waits_are_summed_up
# Goal: how often and how long was waited, by object, place and thread.
start_waits 'busy 4'
until_waited 11
until_has 'mutex  ring+0x28 ' recorder threads --locks rec
stop
must recorder threads --locks rec
has 'KIND   OBJECT' 'mutex  ring+0x28 '
must recorder threads --by site rec
has 'works waits.c:'
must recorder threads --by thread rec
has THREAD ' works '
must -2 recorder threads --by colour rec
must recorder threads --order rec
times 0 'WAITED'
recorder threads --locks --json rec >json
python3 -c '
import json
all = [json.loads(l) for l in open("json")]
assert sum(l["waited"] for l in all) > 10, all
for l in all: assert l["longest_ns"] <= l["total_ns"], l
'

## stacks_without_tables
# Goal: for a program without tables, whole stacks, from its own snapshots;
# not those of another thread that came to the same call by another way.
gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -o untabled \
    $PROGRAMS/threads.c -lpthread
start recorder run -q -o untabled.rec ./untabled two
until_has DEADLOCK recorder threads untabled.rec
stop
recorder threads untabled.rec
text=$(recorder threads untabled.rec | grep -A 3 ' deposit  waits ')
has 'at transfer threads.c:' ' < deposit threads.c:'
has 'made by T1' ' < main threads.c:'
text=$(recorder threads untabled.rec | grep -A 3 ' withdraw  waits ')
has ' < withdraw threads.c:'

## libraries_opened_late_are_named
# Goal: functions of libraries that were opened after the recording began are
# named, of the build that ran and no other; if one library replaced another
# at its address, no name is shown rather than a wrong one.
for build in one two; do
    gcc -g -fPIC -shared -DPLUGIN -DWAITS=waits_in_$build \
        -DWORKS=works_in_$build -o $build.so \
        $PROGRAMS/run_plugin.c -lpthread
done
gcc -g -o plugin $PROGRAMS/run_plugin.c -lpthread -ldl
mkdir away
(cd away && recorder run -q -o ../late.rec ../plugin ../one.so)
must recorder threads late.rec
has 'works_in_one(0x0), made by T1 ' 'at work run_plugin.c:'
has ' < main run_plugin.c:'
must recorder threads --locks late.rec
has 'waits_in_one run_plugin.c:'
text=$(recorder dump --internal late.rec | grep 'module 0x')
has '/one.so, build-id of 20: 0x'
mv one.so real.so
cp two.so one.so
must recorder threads late.rec
lacks works_in_
mv real.so one.so
recorder run -q -o both.rec ./plugin ./one.so ./two.so
places=$(recorder dump both.rec |
    grep -o 'module 0x[^ ]* to [^ ]* [^ ]*/[ot][nw][eo].so' | cut -d ' ' -f 2 |
    sort -u | wc -l)
[ $places = 1 ] || skip 'the two were not put in one place'
must recorder threads --locks both.rec
has 'mutex '
lacks waits_in_

## exports_have_arrows
# Goal: exports have an arrow from who ended a wait to its end.
start_waits 'busy 4'
until_waited 11
stop
recorder export perfetto rec -o pf
protoc --decode=Trace -I $PROGRAMS perfetto.proto <pf >text
python3 -c '
import re
packets = open("text").read().split("\npacket {")
of = lambda name: {i[1]: re.search(r"track_uuid: (.*)", p)[1]
    for p in packets for i in [re.search(name + r": (.*)", p)] if i}
begin, end = of(" flow_ids"), of("terminating_flow_ids")
assert begin and begin.keys() == end.keys()
assert all(begin[i] != end[i] for i in begin)
'

# ------------------------------------------------------------------------ run

## deadlocks_of_any_program_are_named
# Goal: the same of programs that know nothing of this, which recorder run
# started: of the process, and of its recording after SIGKILL.
build_threads
row() # arguments threads holds waits
{
    [[ $1 = two || $SCALE != 0* ]] || return 0
    threads=$2 holds=$3 waits=$4
    start recorder run -q -o rec ./threads $1
    until_has DEADLOCK recorder threads $pid
    named threads $pid
    stop
    named threads rec
    named 'threads --locks' rec
    has 'HELD BY'
}
row two 2 'deposit holds cash, taken at transfer threads.c:' \
    'waits for mutex bank of T'
row self 1 'self holds cash, taken at again threads.c:' \
    'waits for mutex cash of T'
row rwlocks 2 'writes holds pages, taken at writes_table threads.c:' \
    'waits for rwlock table to write of T'
row joining 2 ' first waits for the end of thread T' \
    ' second waits for the end of thread T'
row join_and_lock 2 'joins holds cash, taken at joins_holding threads.c:' \
    'waits for the end of thread T'

## a_busy_program_that_was_run_has_no_deadlock
# Goal: a busy program that takes its locks in order has no deadlock and no
# circle, whenever it is looked at or killed.
build_threads
looks=$(scaled 100)
[ $looks -ge 10 ] || looks=10
start recorder run -q -o rec ./threads busy 6
for i in $(seq $looks); do
    source=$pid && [ $((i % 2)) = 1 ] || source=rec
    must recorder threads --check $source
done
until_has ' busy' recorder threads --locks rec
stop
must recorder threads --check rec

## lines_of_docs_are_true
# Goal: a program that hangs, one command, the answer: as docs tell it.
# Method: types the lines of the page, in a folder that is empty.
RECORDER=$ROOT/build/recorder python3 $PROGRAMS/typed.py \
    $ROOT/docs/threads.md 'A deadlock'
RECORDER=$ROOT/build/recorder python3 $PROGRAMS/typed.py \
    $ROOT/docs/threads.md 'Recorded by recorder run'

## json_is_told_in_docs
# Goal: a script reads --json of a process and of a recording alike, and
# docs/threads.md explains each word of it.
start_waits order
stop
recorder threads --locks --json rec >json
start_waits two
until_has DEADLOCK recorder threads --locks rec
stop
recorder threads --json rec >>json
recorder threads --locks --json rec >locks
recorder threads --json --by site rec >>json
recorder threads --json --by thread rec >>json
build_threads
start ./threads two
until_has DEADLOCK recorder threads --locks $pid
recorder threads --json $pid >>json
recorder threads --locks --json $pid >live
stop
python3 -c "
import json
told = open(\"$ROOT/docs/threads.md\").read()
def look(at):
    for key in at if isinstance(at, dict) else ():
        assert chr(96) + key + chr(96) in told, key
    for value in at.values() if isinstance(at, dict) else at:
        if isinstance(value, (dict, list)): look(value)
rows = {n: [json.loads(l) for l in open(n)] for n in (\"json\", \"locks\", \"live\")}
for all in rows.values(): look(all)
held = lambda n: {l[\"symbol\"]: type(l[\"holder\"])
    for l in rows[n] if l.get(\"kind\") == \"mutex\"}
assert held('locks') == held('live') == {'cash': int, 'bank': int}, held('locks')
"

## odd_names_and_a_stopped_process
# Goal: a picture shows any name as a terminal would; a process that a signal
# stopped is shown as stopped.
build_threads
start ./threads odd
until_has ' 5: ' recorder threads --locks $pid
must recorder threads --dot $pid
has ' esc\\x1b[31m"' ' tab\\there"' ' q\"uote"' ' back\\sl"'
has ' a&amp;amp;b"'
kill -STOP $pid
until_has '; is stopped' recorder threads $pid
until_has 'A signal stopped the process before: kill ' recorder threads $pid
lacks 'while the process ran'
stop

# -------------------------------------------------------------------- hostile

## hostile_recordings_harm_nobody, long
# Goal: whatever a recording says of threads and locks, and wherever it ends,
# reading ends, with words.
tries=$(scaled 40)
[ $tries -ge 4 ] || tries=4
RANDOM=$(seed)
for i in $(seq $tries); do
    arguments="hostile $((RANDOM * RANDOM % 100000))"
    [ $((i % 4)) != 0 ] || arguments=two
    start_waits "$arguments"
    stop
    [ $((i % 2)) = 0 ] || truncate -s -$((RANDOM * RANDOM % (5 << 20))) rec
    for verb in threads 'threads --locks' 'threads --json' \
        'threads --locks --json' 'threads --by site' 'threads --by thread' \
        'threads --dot' 'threads --order'; do
        recorder $verb rec >out 2>&1 || test $? = $((i % 2)) ||
            { echo "$arguments $verb" && tail out && false; }
    done
done

## a_library_ends_threads_at_exit
# Goal: records of threads that a library's destructor ends are readable, as
# those before.
cat >part.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ends = PTHREAD_COND_INITIALIZER;
static pthread_t threads[3];
static int end;
static void *works(void *none)
{
    pthread_mutex_lock(&lock);
    while (!end)
        pthread_cond_wait(&ends, &lock);
    pthread_mutex_unlock(&lock);
    return none;
}
void part_begin(void)
{
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, works, NULL);
}
__attribute__((destructor)) static void part_end(void)
{
    pthread_mutex_lock(&lock);
    end = 1;
    pthread_cond_broadcast(&ends);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
C
echo 'int usleep(unsigned); void part_begin(void);
int main(void) { part_begin(); return usleep(20000); }' >main.c
gcc -g -shared -fPIC -o libpart.so part.c -lpthread
gcc -g -o main main.c -L. -lpart -Wl,-rpath,"$PWD"
must recorder run -q -o main.rec ./main
must recorder threads main.rec
has '3 threads: ' ' ended' 'threads: 0 now, 3 made, 4 at most'
must recorder dump main.rec
lacks '<format at '
has 'thread_life: joins T2 main' 'thread_life: joins T4 main'
must recorder spans main.rec --json
lacks '"open":3'

## a_crash_with_a_handler_is_kept
# Goal: a recording of `recorder run` has the crash of a program with a handler
# of recorder_dump.h, which is in another module than the file; and no crash that
# a handler of the program mends.
cat >crash.c <<'C'
#include "recorder_dump.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
RECORDER(net, 64, "Packets");
static char *page;
static void mends(int sig)
{
    (void)sig;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void *worker(void *name)
{
    record(net, "worker %s", (char *)name);
    *page = 1;
    return name;
}
int main(int count, char **arguments)
{
    pthread_t thread;
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (count > 1)
        signal(SIGSEGV, mends);
    recorder_dump_on_common_signals(0, 0);
    pthread_create(&thread, NULL, worker, arguments[0]);
    pthread_join(thread, NULL);
}
C
gcc -g -I$ROOT -o crash crash.c -lpthread
recorder run -q -o crash.rec ./crash 2>said && exit 1
must recorder explain crash.rec
has 'crash: SIGSEGV: write to address 0x' 'thread T2 ' '  worker crash.c:' \
    'net: worker ./crash'
must recorder run -q -o crash.rec ./crash mend
must -1 recorder explain crash.rec
has 'holds no crash: exited 0'

## a_call_that_has_not_returned
# Goal: the recording of a killed program tells in which call of libc a thread
# was, and nothing of a call that has returned.
cat >calls.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
static pthread_mutex_t db = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile int runs;
static void *receives(void *none)
{
    char byte;
    pthread_mutex_lock(&db);
    recv(ends[0], &byte, 1, 0);
    return none;
}
static void *polls(void *none)
{
    poll(NULL, 0, -1);
    return none;
}
static void *works(void *none)
{
    close(dup(0));
    for (runs = 1;;)
        ;
    return none;
}
int main(void)
{
    pthread_t threads[3];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    pthread_create(&threads[0], NULL, receives, NULL);
    pthread_create(&threads[1], NULL, polls, NULL);
    pthread_create(&threads[2], NULL, works, NULL);
    while (!runs)
        usleep(1000);
    usleep(100000);
    kill(getpid(), SIGKILL);
}
C
gcc -g -O1 -o calls calls.c -lpthread
recorder run -q -o calls.rec ./calls || true
must recorder threads calls.rec
has 'calls  waits in recv of 3' 'holds db, taken at receives calls.c:' \
    'calls  waits in poll' 'calls  ran, or was blocked where nothing is recorded'
lacks 'waits in usleep' 'waits in close'
must recorder threads calls.rec --json
has '"does":"waits in recv of 3","call":"recv"'

## a_late_thread_was_made_when_its_maker_asked
# Goal: the time at which a thread was made is the call of pthread_create(), not
# the thread's first step; threads that an exit() ended are not there now. Method:
# all threads share one processor, which the maker keeps busy.
cat >late.c <<END
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>
static void *late(void *p)
{
    return p;
}
int main(void)
{
    pthread_t t[20];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 20; i++) {
        struct timespec begin, now;
        pthread_create(&t[i], NULL, late, NULL);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while (now.tv_sec * 1000000000L + now.tv_nsec <
               begin.tv_sec * 1000000000L + begin.tv_nsec + 300000);
    }
    for (int i = 0; i < 20; i++)
        pthread_join(t[i], NULL);
    return 7;
}
END
gcc -g -o late late.c -lpthread
recorder run -q -o late.rec ./late || test $? = 7
recorder threads --json late.rec >threads.json
recorder dump --json late.rec >dump.json
python3 -c '
import json
made = [json.loads(l)["made_ns"] for l in open("threads.json")]
made = sorted(ns for ns in made if ns is not None)
lines = [json.loads(l) for l in open("dump.json")]
told = [l["ns"] for l in lines if l["message"].startswith("makes a thread")]
assert len(made) == len(told) == 20, (made, told)
for asked, returned, before in zip(made, told, [0] + told):
    assert before < asked <= returned, (made, told)
'
must recorder threads late.rec
has ' late  ended with the program' 'threads: 0 now, 20 made'
lacks 'nothing is recorded'
