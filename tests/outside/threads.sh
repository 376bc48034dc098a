#!/bin/bash
# threads.sh - Threads and locks of programs that know no recorder: waits, holders, stacks.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

build_threads() # compiler
{
    once "$1 -o threads $PROGRAMS/threads.c -lpthread"
}
start_threads() # arguments [compiler]
{
    build_threads "${2:-gcc -O2 -g}"
    start ./threads $1
}
# The text has another so many times.
times() # count text
{
    test "$(grep -oF -- "$2" <<<"$text" | wc -l)" = $1 || { echo "$text" && false; }
}

# Threads that wait for each other, their number, and the wait of each.
each_deadlock() # function
{
    $1 two 2 'deposit waits for mutex bank of' 'withdraw waits for mutex cash of'
    $1 'circle 3' 3 'circle waits for mutex ring of' \
        'circle waits for mutex ring+0x50 of'
    $1 self 1 'self waits for mutex cash of' 'at again threads.c:'
    $1 rwlocks 2 'reads waits for rwlock pages to read of' \
        'writes waits for rwlock table to write of'
    $1 joining 2 'first waits for the end of thread' \
        'second waits for the end of thread'
    $1 join_and_lock 2 'joins waits for the end of thread' \
        'wants waits for mutex cash of'
}
# The deadlock is the first in the text, and whole. A core file has no names.
named() # arguments threads first second
{
    [[ $text = "DEADLOCK of $2 thread"?(s)': '* ]] || { echo "$text" && false; }
    times 1 DEADLOCK
    has "$3" "$4"
}
nameless() # arguments threads first second
{
    named "$1" $2 " ${3#* }" "$(sed 's/^[^ ]*\( waits.*\)/\1/' <<<"$4")"
}

# What each thread of ./threads kinds does; MAIN holds the locks.
each_kind() # function
{
    $1 late 'waits for mutex late_mutex of MAIN'
    $1 mutex 'waits for mutex cash of MAIN'
    $1 timed 'waits for mutex cash of MAIN, for a time'
    $1 recursive 'waits for mutex recursive of MAIN'
    $1 inheriting 'waits for mutex inheriting of MAIN'
    $1 plain 'waits for mutex plain of MAIN'
    $1 condition 'waits for condition ready'$'\n'
    $1 cond_timed 'waits for condition ready, for a time'
    $1 to_read 'waits for rwlock table to read of MAIN'
    $1 to_write 'waits for rwlock table to write of MAIN'
    $1 holds_pages 'waits for a signal'
    $1 behind 'waits for rwlock pages to write of 1 reader'
    $1 semaphore 'waits for semaphore items'
    $1 barrier 'waits for barrier gate'
    $1 once_first 'waits for a signal'
    $1 once 'waits for once setup'
    $1 sleeper 'sleeps for a time'
    $1 reader 'waits in read of '
}
told() # each thread begins in its own time
{
    until_has " $1 ${2/MAIN/$pid threads}" recorder threads $pid
}
start_kinds() # [compiler]
{
    start_threads kinds "${1:-}"
    each_kind told
}
kinds_live() # compiler
{
    told_nameless()
    {
        has " ${2/MAIN/$pid}"
    }
    holds=' waits for a signal; holds mutex late_mutex, mutex cash, mutex recursive,'
    holds="$holds mutex inheriting, mutex plain, rwlock table"$'\n'
    start_kinds "$1"
    must recorder threads $pid
    lacks DEADLOCK
    has "$holds"
    gdb -p $pid --batch -ex 'generate-core-file kinds.core'
    stop
    must recorder threads kinds.core
    lacks DEADLOCK
    has "$holds"
    each_kind told_nameless
}

# Stacks equal gdb's, which stops the process and has all registers.
stacks_of() # compiler arguments
{
    start_threads $2 "$1"
    text=' runs'$'\n'
    while [[ $text = *' runs'$'\n'* || $text = *'it may be'* ]]; do
        sleep 0.1 # all of its threads will wait
        must recorder threads $pid
    done
    recorder threads --json $pid >json
    gdb -p $pid --batch -ex 'thread apply all bt' >bt
    python3 $PROGRAMS/threads.py bt json
    recorder threads --stop --json $pid >json
    python3 $PROGRAMS/threads.py bt json
    # With all registers, the frames of the libc, too, are the same.
    recorder threads $pid | head -n -1 >live
    recorder threads --stop $pid | head -n -1 >stopped
    diff live stopped
    stop
}
must_refuse() # source says
{
    must -1 recorder threads $1
    has "$2"
    must -1 recorder threads --locks --json $1
    has "$2"
}

# ------------------------------------------------------------------ deadlocks

## deadlocks_are_named
# Goal: a deadlock of a running process is named first, by both verbs.
row() # arguments threads first second
{
    start_threads "$1"
    until_has DEADLOCK recorder threads $pid
    named "$@"
    must recorder threads --locks $pid
    named "$@"
    must recorder threads --stop $pid
    named "$@"
    must -3 recorder threads --check $pid
    recorder threads --locks --json $pid >json
    test $(head -n 1 json | grep -o '"thread":' | wc -l) = $2
    python3 -c 'import json; [json.loads(l) for l in open("json")]'
    recorder threads --dot $pid | grep -c color=red
    stop
}
each_deadlock row

## deadlocks_are_named_from_core_files
# Goal: and so it is from a core file, of the kernel and of gdb.
row() # arguments threads first second
{
    [[ $1 = two || $SCALE != 0* ]] || return 0
    start_threads "$1"
    until_has DEADLOCK recorder threads $pid
    gdb -p $pid --batch -ex 'generate-core-file gdb.core'
    stop
    must recorder threads gdb.core
    nameless "$@"
    must -3 recorder threads --check gdb.core
}
each_deadlock row
if [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
    leaves_out 'the kernel writes no core file here'
    exit
fi
(ulimit -c unlimited; ./threads two 1 core) || true
must recorder threads core
nameless two 2 'deposit waits for mutex bank of' \
    'withdraw waits for mutex cash of'

## a_deadlock_of_500
# Goal: 500 threads in one circle are one deadlock.
start_threads 'circle 500'
until_has 'DEADLOCK of 500 threads' recorder threads --locks $pid
recorder threads --locks --json $pid | head -n 1 >json
text=$(grep -o '"thread":[0-9]*' json | sort -u | wc -l)
is 500
stop

## a_busy_program_has_no_deadlock
# Goal: running threads are never reported as a deadlock. Method: threads take
# locks as fast as they can, in an order that allows none; to a single look,
# they often seem to wait in a circle.
looks=$(scaled 500) i=0 waited=0
[ $looks -ge 50 ] || looks=50
start_threads 'busy 8'
until [ $i -ge $looks ] && [ $waited -gt $((looks / 4)) ]; do
    [ $i -lt $((50 * looks)) ]
    must recorder threads --check $pid
    lacks DEADLOCK
    [[ $text != *'mutex '* ]] || waited=$((waited + 1))
    i=$((i + 1))
done
stop

## holders_may_have_ended
# Goal: a thread that waits for an ended thread is shown with it, even if that
# is the first of its process.
start_threads ended
until_has 'wants_cash waits' recorder threads $pid
until_has 'wants_bank waits' recorder threads $pid
lacks DEADLOCK
[[ $text = *'wants_bank waits for mutex bank of '*', which has ended; no thread '\
'can release it'$'\n'* ]]
has "cash of $pid threads, which has ended; no thread can release it
"
has '    wants_cash '
stop

## robust_locks_are_held_by_who_recovers
# Goal: who waits for a robust lock, whose first holder has ended, waits for
# the thread that has it now: in the process, in its recording and its
# records.
waits=' recovers'$'\n'
start_threads recovered
until_has 'wants_robust waits for mutex robust of ' recorder threads $pid
has "$waits"
stop
start recorder run -q -o rec ./threads recovered
until_has 'wants_robust  waits for mutex robust of T' recorder threads rec
has "$waits"
stop
must recorder threads rec
has "$waits"
recorder threads --check rec
must recorder dump rec
lacks 2147483647

## holders_may_be_of_another_process
# Goal: a lock held by another process is shown with it; a futex without a
# waiting function of the libc is named by its variable, and by its waiters.
gcc -O1 -g -o shared $PROGRAMS/shared.c -lpthread
start ./shared
until_has ' shared waits for futex word
' recorder threads $pid
parent=$(cut -d ' ' -f 4 /proc/$pid/stat)
until_has " of $parent shared, of another process" recorder threads $pid
until_has ' shared, at waits_raw shared.c:' recorder threads --locks $pid
lacks DEADLOCK
stop

## signals_wait_for_their_condition
# Goal: a thread that waits within a call that wakes others waits for the
# condition, not for a mutex, of which some word would name a holder.
gcc -O1 -g -o signals $PROGRAMS/signals_wait.c -lpthread ||
    skip 'this libc has other condition variables'
start ./signals
until_has ' signals waits for condition leaving
' recorder threads $pid
until_has ' signals waits for condition locked
' recorder threads $pid
until_has ' signals waits for condition used
' recorder threads $pid
lacks mutex
stop

## conditions_of_older_libcs
# Goal: a wait for a condition is distinguished from one for its mutex, even
# if both are the same command to the kernel, as in glibc 2.31.
gcc -O1 -g -static -o old $PROGRAMS/old_condition.c -lpthread
start ./old
until_has ' old waits for condition ready
' recorder threads $pid
until_has ' old waits for condition group
' recorder threads $pid
until_has " old waits for mutex taken of $pid old"$'\n' recorder threads $pid
lacks 'mutex ready'
stop

## places_are_those_of_the_program
# Goal: a place is one of the program's own code, not of a header of C++;
# names of Go, which have dots, are whole.
for flags in -O0 -O2; do
    g++ $flags -g -o guarded $PROGRAMS/lock_guard.cc -lpthread
    start ./guarded
    until_has ' lock_guard.cc:14 < only lock_guard.cc:' \
        recorder threads --locks $pid
    lacks gthr
    stop
done
gcc -g -o go $PROGRAMS/go_name.c
start ./go
until_has 'main.server.handle.func1 ' recorder threads $pid

# ---------------------------------------------------------------------- waits

## every_kind_of_wait_is_told
kinds_live 'gcc -O2 -g'

## every_kind_of_wait_is_told_unoptimized, long
kinds_live 'gcc -O0 -g'

## every_kind_of_wait_is_told_of_a_static_program, long
kinds_live 'gcc -O2 -g -static'

## a_deadlock_that_the_kernel_refused_is_told
# Goal: a thread that waits for good, because the kernel refused a deadlock of
# mutexes that inherit priorities, is shown so; the other waits for a mutex of
# that one.
start_threads refused
until_has ' inherits waits for mutex (which one is not told), for good: the '\
'kernel refused it as a deadlock' recorder threads $pid
until_has ' inherits waits for mutex ring' recorder threads $pid
must -3 recorder threads --check $pid
stop

## every_kind_of_wait_is_told_of_a_stripped_program
# Goal: without any symbol of the program, its locks have addresses.
start_threads kinds 'gcc -O2 -s'
row()
{
    word=${2#waits for }
    if [[ $2 = 'waits for '* && $2 != *signal* ]]; then
        until_has " $1 waits for ${word%% *} 0x" recorder threads $pid
    else
        until_has " $1" recorder threads $pid
    fi
}
each_kind row
stop

## every_kind_of_wait_is_told_without_symbols_of_the_libc
# Goal: the names of the libc's inner functions are not needed, which only its
# debug symbols have.
unshare -m true || skip 'only root may hide /usr/lib/debug'
start_kinds
test -e $(unshare -m cat /proc/$pid/maps | grep -o -m 1 '/.*libc.so.6') ||
    skip 'in this chroot, unshare hides the libc, too'
must unshare -m sh -c \
    "mount -t tmpfs none /usr/lib/debug && recorder threads $pid"
row()
{
    does=${2%%M*}
    [ $1 != timed ] || does='waits for mutex' # possibly a mutex
    has " $1 $does"
}
each_kind row
stop

## deadlocks_are_named_in_words_of_32_bits
# Goal: programs of 32 bits, on the same machine.
has_flags gcc -m32 || skip 'no programs of 32 bits here'
row()
{
    [ "$1" != 'circle 3' ] || return 0
    start_threads "$1" 'gcc -m32 -O2 -g'
    until_has DEADLOCK recorder threads $pid
    named "$@"
    stop
}
each_deadlock row
start ./threads kinds
until_has ' once waits for once setup
' recorder threads $pid
has ' semaphore waits for semaphore items
'
has ' to_write waits for rwlock table to write of '
has ' behind waits for rwlock pages to write of 1 reader
'
stop

## waits_of_musl
# Goal: programs of musl, whose library has no tables of its frames and notes
# few holders: the wait of each thread, and its place.
needs musl-gcc
start_threads kinds 'musl-gcc -O2 -g -w'
until_has ' mutex waits for mutex cash
' recorder threads $pid
has ' recursive waits for mutex recursive of ' ' inheriting waits for mutex inheriting of ' ' condition waits for condition (which one is not told)
' ' to_read waits for rwlock table to read
' ' to_write waits for rwlock table to write
' ' semaphore waits for semaphore items
' ' barrier waits for barrier (which one is not told)
' ' once waits for once setup
' ' reader waits in read of ' ' (pipe:[' '
    take_item  ' 'Its libc is musl: of most locks it does not note who holds them.
'
recorder threads --locks $pid
stop

# --------------------------------------------------------------------- stacks

## stacks_are_those_of_gdb
stacks_of 'gcc -O2 -g' kinds
stacks_of 'gcc -O0 -g' frames

## stacks_are_those_of_gdb_otherwise, long
stacks_of 'gcc -O0 -g' kinds
stacks_of 'gcc -O2 -g' frames
stacks_of 'gcc -O1 -g -fno-plt' frames
stacks_of 'gcc -O3 -g -static' frames
stacks_of 'gcc -O2 -g -fno-omit-frame-pointer' frames
stacks_of 'gcc -O2 -g -no-pie -fcf-protection=none' frames
! has_program clang || stacks_of 'clang -O0 -g' frames
! has_flags gcc -m32 || stacks_of 'gcc -m32 -O2 -g' two

## equal_stacks_are_shown_once
# Goal: threads that wait at one place are one stack; and 500 are listed in at
# most 2 s of one core, the least of some.
start_threads 'pool 500'
until_has '500 threads: ' recorder threads $pid
has '501 threads, 2 different stacks'
has ' worker waits for condition ready
'
for i in 1 2 3 4 5; do
    seconds=$({ TIMEFORMAT='%U %S' && time recorder threads $pid >out; } 2>&1)
    ! awk '{ exit !($1 + $2 < 2) }' <<<"$seconds" || break
done
awk '{ print; exit !($1 + $2 < 2) }' <<<"$seconds"
stop

## only_stop_shows_the_stack_of_a_thread_that_runs, long
# Goal: a running thread is stopped only on request.
start_threads running
must recorder threads $pid
has ' spinner runs

'
has '--stop reads it'
must recorder threads --stop $pid
has ' spinner runs
    spinner '
has 'was stopped for '
grep -q '^State:.[RS]' /proc/$pid/status
must recorder threads $pid
has ' spinner runs

'
stop

## stop_waits_for_nobody_in_vain
# Goal: --stop stops no process for long, even where a thread does not stop.
start_threads uninterruptible
until_has DEADLOCK recorder threads $pid
begun=$SECONDS
must recorder threads --stop $pid
test $((SECONDS - begun)) -lt 10
has 'DEADLOCK of 2 threads'
has ' forks waits in vfork'
# They sleep again.
until test $(grep -c 'State:.[SD]' /proc/$pid/task/*/status |
    grep -c :1) = 4; do sleep 0.01; done
stop

## lines_of_units_that_a_table_lacks
# Goal: lines of clang's objects, and of Go's and Rust's, beside those of gcc.
# Method: clang writes no table of units, and the linker puts a function of gcc
# that it drops at address 0 of the table.
command -v clang >/dev/null || skip 'there is no clang'
printf '#include <unistd.h>\nint waits(void)\n{\n    return pause();\n}\n' >one.c
printf 'int waits(void);\nint unused(int x) { return x * waits() + 1; }\n' >two.c
echo 'int main(void) { return waits(); }' >>two.c
clang -g -O1 -ffunction-sections -c one.c
gcc -g -O1 -ffunction-sections -c two.c
gcc -Wl,--gc-sections one.o two.o -o units
./units &
pid=$!
until_has ' waits for a signal' recorder threads $pid
has 'waits                           one.c:4'
has 'main                            two.c:3'
kill $pid

## a_stop_changes_no_wait
# Goal: a wait that the kernel continues after a stop, by the call
# restart_syscall(), is named as before.
start_kinds
must recorder threads --stop $pid
each_kind told
must recorder threads $pid
lacks restart_syscall
stop

## nobody_is_stopped
# Goal: no thread as much as wakes up because of a look.
switches()
{
    cat /proc/$pid/task/*/status | grep ctxt_switches
}
start_threads kinds
until_has 'reader waits' recorder threads $pid
rests $pid
switches >before
for i in 1 2 3 4 5; do
    recorder threads $pid
    recorder threads --locks $pid
done
switches >after
test -s before
diff before after
stop

# -------------------------------------------------------- what cannot be read
## what_cannot_be_read_says_why
# Goal: a sentence says why, and the status is 1.
build_threads 'gcc -O2 -g'
must_refuse 2147483647 'no such process'
must_refuse ./threads 'is a program, no core file'
echo text >text
must_refuse text 'is no core file'
must -2 recorder threads --json --dot 1
must -2 recorder threads --by site --order 1
must -2 recorder threads --locks --thread nobody 1
start ./threads two
must -1 recorder threads --thread nobody $pid
has 'no thread is nobody'
must -1 recorder threads --order $pid
has 'recorded no locks'
stop

## what_may_not_be_read_says_so
# Goal: the same for a user who may not read a process. Method: root starts
# it, and another user looks, also at one of his own that forbids it.
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
$nobody true || skip 'only root may become another user'
build_threads 'gcc -O2 -g'
chmod 755 .
start ./threads two
must -1 $nobody $ROOT/build/recorder threads $pid
has 'may not be read by this user'
stop
start $nobody ./threads unreadable
must -1 $nobody $ROOT/build/recorder threads $pid
has 'may not be read by this user'
stop

## a_process_may_end_meanwhile
# Goal: a process may end at any time.
build_threads 'gcc -O2 -g'
for i in $(seq $(scaled 50)); do
    start ./threads pool 100
    recorder threads $pid >out &
    sleep 0.0$((i % 10))
    kill -9 $pid
    wait $! || test $? = 1
done

# -------------------------------------------------------------------- hostile

## stacks_may_be_anything, long
# Goal: stack pointers may lead anywhere.
start_threads scribbled
must recorder threads $pid
has '10 threads'
gdb -p $pid --batch -ex 'generate-core-file core'
stop
must recorder threads core
has '10 threads'

## core_files_may_be_anything, long
# Goal: a core file may be cut off anywhere, and hold anything. Method: one is
# cut at random lengths; another has random bytes in its notes, that is in
# registers and lists of files, and in its memory.
start_threads two
until_has DEADLOCK recorder threads $pid
gdb -p $pid --batch -ex 'generate-core-file whole'
stop
for i in $(seq $(scaled 100)); do
    cp --sparse=always whole bad
    python3 -c "import os, random; r = random.Random($i)
size = os.path.getsize('bad')
n = r.choice([4096, 65536, size])
if $((i % 2)): os.truncate('bad', r.randrange(64, n))
else:
  f = open('bad', 'r+b')
  for i in range(r.choice([1, 10, 1000])):
    f.seek(r.randrange(64, n))
    f.write(bytes([r.randrange(256)]))"
    for verb in threads 'threads --dot'; do
        recorder $verb bad >out 2>&1 || test $? = 1 ||
            { echo "seed $i" && head -n 20 out && false; }
    done
done

## names_are_escaped
# Goal: names of threads control no terminal, and break no JSON.
start_threads named
must recorder threads $pid
not grep -P '[^\x0a\x20-\x7e]' <<<"$text"
has '\x1b[31m'
recorder threads --json $pid >json
recorder threads --locks --json $pid >>json
python3 -c 'import json; [json.loads(l) for l in open("json")]'
stop

## numbers_are_those_of_the_registry, long
# Goal: threads of a program with recorders have the numbers of its records;
# its recordings have no stacks, and a line reports that.
command_build command gcc -O1 -g
start ./command quiet
text=$(recorder list --json $pid | grep '"thread"' | head -n 1)
has '"thread":1,'
must recorder threads $pid
has 'T1 '
must recorder threads --json --thread T1 $pid
has '"number":1,'
recorder save $pid -o kept.rec
stop
must_refuse kept.rec 'is a recording'
must -1 recorder threads --stop kept.rec

## names_that_the_program_gave
# Goal: a name that recorder_thread_name() gave is shown, and chooses the
# thread, live and in a core; a thread without one has the system's name. A
# deadlock has the threads' numbers in records, too.
cat >given.c <<X
#include <recorder.h>
#include <pthread.h>
#include <unistd.h>
RECORDER(net, 16, "")
static pthread_t first;
static void *given(void *p) {
pthread_setname_np(pthread_self(), p);
recorder_thread_name("the_io"); pthread_join(first, &p); return p; }
int main(void) { pthread_t t; first = pthread_self(); record(net, "begins");
pthread_create(&t, 0, given, "system"); usleep(100000);
printf("PID %d\\n", getpid()); fflush(stdout);
pthread_join(t, 0); }
X
gcc -O1 -g -D_GNU_SOURCE -include stdio.h -I$ROOT given.c -o given -lpthread
start ./given
gcore -o core $pid >/dev/null
for source in $pid core.$pid; do
    must recorder threads -t the_io $source
    has ' the_io '
    lacks system
    text=$(recorder threads $source | sed 's/ [0-9][0-9]* / N /g')
    has ' T1 N given waits for the end of thread T2 N the_io'
done
stop

## callers_of_a_jump_to_a_call
# Goal: under `recorder run`, a live thread's stack is whole if its last function
# ended in a jump to a call of libc.
cat >jump.c <<'C'
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
#define SEEN __attribute__((noinline, noclone))
static struct epoll_event event;
SEEN static int sleeps(int fd) { (void)fd; return usleep(900000000); }
SEEN static int polls(int fd) { (void)fd; return poll(0, 0, -1); }
SEEN static int waits(int fd) { return epoll_wait(fd, &event, 1, -1); }
SEEN static int serves(int which, int fd)
{
    int n = which == 1 ? sleeps(fd) : which == 2 ? polls(fd) : waits(fd);
    __asm__ volatile("");
    return n + 1;
}
int main(int count, char **arguments)
{
    (void)arguments;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    return serves(count, epoll_create1(0)) + 1;
}
C
gcc -g -O2 -o jump jump.c
for arguments in '' 1 '1 2'; do
    # shellcheck disable=SC2086
    start recorder run -q --always -o x.rec ./jump $arguments
    until_has 'serves jump.c' recorder threads $pid
    has ' < main jump.c'
    stop
done
