#!/bin/bash
# names.sh - Names that formats give their arguments, and choices of records by them.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

once "gcc -O1 -g $WARNINGS -I$ROOT -o named $PROGRAMS/named.c && ./named rec"

# Chooses; the orders that remain.
chosen() # options orders
{
    eval "recorder dump --line '{order} ' $1 rec" >chosen
    text=$(sed -n 's/^\([0-9]*\) $/\1/p' chosen | tr '\n' ' ')
    is "$2"
}

# ---------------------------------------------------------------------- names

## in_json
# Goal: "bytes=%d" names its argument, with or without quotes and 0x between;
# other texts are no names.
recorder dump --json rec >all
text=$(sed -n '1p;2p;4p;25p' all |
    sed 's/.*may_have_changed...[^,]*,//; s/,.message.*//')
is <<'END'
"named":{"bytes":-500,"peer":"alpha","addr":65261,"load":0.0}
"named":{"bytes":1,"thread":0}
"named":{"id":0,"result":0}
"named":{"x":4,"X":5,"width":7}
END
python3 -c 'import json; [json.loads(l) for l in open("all")]'

## are_columns
# Goal: each name is a column; one that is something else already has a _.
text=$(recorder export csv rec -o csv
    python3 -c 'import csv; rows = list(csv.DictReader(open("csv")))
for i in 0, 1, 3, 24: print(*[rows[i][c] for c in
    "bytes peer addr load thread_ id result x".split()], sep="|")')
is <<'END'
-500|alpha|65261|0.0||||
1||||0|||
|||||0|0|
|||||||4
END
text=$(recorder dump --csv rec | cmp - csv
    recorder export sqlite rec -o db
    sqlite3 db 'select bytes, peer, addr, load, thread_, id, result from event where
            ord in (1, 2, 4) or x is not null; select sum(bytes) from event
            where recorder = 1; select bytes, peer from log where ord = 1')
is <<'END'
-500|alpha|65261|0.0|||
1||||0||
|||||0|0
||||||
4500
-500|alpha
END
text=$(sqlite3 db "select count(*) from log join event using (ord) where
            log.wall like '____-__-__ __:__:__.' || substr(wall_ns, -9)")
[[ $text -gt 20 ]]
text=$(recorder export sqlite rec rec -o db
    sqlite3 db 'select sum(bytes) from log where recorder = char(110,101,116) group by
            source')
is <<'END'
4500
4500
END

## lost_texts_are_no_values
# Goal: an overwritten text is no value: null in exports, chosen by no
# --where; diff takes neither it nor a text whose rest is missing for a new
# value. Method: a small ring, in which each record has one slot for its text,
# or 3.
cat >lost.c <<X
#include "recorder_dump.h"
#include <string.h>
RECORDER(net, 64, "")
int main(int argc, char **argv) { char verb[96] = "GET";
if (argc > 2) memset(verb, 120, 80);
for (int i = 0; i < 40; i++) record(net, "verb=%s", verb);
for (int i = 0; i < argc - 1; i++) record(net, "end"); }
X
gcc -I$ROOT -o lost lost.c
RECORDER_FILE=a ./lost
RECORDER_FILE=b ./lost 1
RECORDER_FILE=c ./lost 1 2
RECORDER_FILE=d ./lost 1 2 3
text=$(recorder dump b | grep -c 'verb=<lost>'
    recorder dump --json b | head -n 1 | grep -o '\[null\]'
    recorder export sqlite b -o db
    sqlite3 db 'select count(*) from event where verb is null;
        select distinct verb from event where verb not null')
is <<'END'
1
[null]
2
GET
END
must recorder dump --where 'verb=<lost>' b
lacks verb=
text=$(recorder diff a b; recorder diff c d) || true
lacks 'value: '
lacks 'verb of'

## head_has_chosen_recorders
# Goal: the head of a dump has the recorders that --where lets pass.
text=$(recorder dump --where 'net: bytes>1000' rec | grep DUMPING |
        cut -d ' ' -f 2
    recorder dump --where 'bytes>1000' rec | grep -c DUMPING
    recorder list rec | grep -c ' on ')
[[ $text =~ ^net$'\n'(.)$'\n'(.)$ ]]
test ${BASH_REMATCH[1]} = ${BASH_REMATCH[2]}

## in_traces
# Goal: timelines and traces have them, and --value takes them.
text=$(recorder export perfetto rec -o p --value net:bytes
    protoc --decode=Trace -I$PROGRAMS perfetto.proto <p >text
    grep -c 'name: .bytes.' text
    grep -c COUNTER text)
[[ $text = *6 ]]
text=$(recorder export perfetto rec -o p --value net:bytes=B
    protoc --decode=Trace -I$PROGRAMS perfetto.proto <p >text
    grep counter_value text | tail -1
    grep -c 'name: .B.' text
    grep -c 'string_value: .alpha' text)
is <<'END'
    counter_value: 2000
2
2
END
recorder export vcd rec -o v.vcd --value disk:bytes 2>&1
grep -c 'integer.*disk_bytes' v.vcd
recorder view rec -o v.html --value net:load
must -2 recorder export vcd rec --value net:9x -o v
has 'or RECORDER:FIELD, of "FIELD=%d"'
must -1 recorder export vcd rec -o v.vcd --value net:nothing
has 'net has no number nothing: no value'

# -------------------------------------------------------------------- filters

## choose_records
# Goal: --where compares arguments by name or place, numbers as numbers and
# texts as texts; --grep looks at messages; both choose with all the others.
chosen '--where "net: bytes>1000"' '17 21 '
chosen '--where "bytes>1000"' '6 10 14 17 18 21 22 '
chosen '--where "net: bytes>=1000"' '13 17 21 '
chosen '--where "net:bytes>=1k"' '13 17 21 '
chosen '--where "net: bytes<0"' '1 '
chosen '--where "net: bytes<=-0x1f4"' '1 '
chosen '--where "n.t|disk: bytes = 500"' '9 '
chosen '--where "net: bytes!=500 peer~gamma,"' '21 '
chosen '--where "net: bytes>0 peer!=alpha load<2.1"' '9 17 '
chosen '--where "peer~^.lpha"' '1 13 '
chosen '--where "peer=~^.lpha"' '1 13 '
chosen '--where "peer =~ eta"' '5 17 '
chosen '--where "peer=\"~eta\""' ''
chosen '--where "peer=\"beta\""' '5 17 '
chosen '--where "addr=0xfeee"' '5 '
chosen '--where "load=0.5" --where "load=1"' '5 9 '
chosen '--where "1=3 2=30"' '16 '
chosen '--where "disk: 2&4"' '18 22 '
chosen '--where "bytes>9e14"' '22 '
chosen '--where "bytes=1125899906842624"' '22 '
chosen '--where "net: \"sent\" bytes<1"' '1 5 '
chosen '--where "load>0.4 load<=1.0"' '5 9 '
chosen '--where "x=4"' '25 '
chosen '--grep "BLOCKS"' ''
chosen '--grep "blocks, thread=-[13]"' '6 14 '
chosen '--grep "Sent|read" --grep "peer|3"' '14 '
chosen '--grep "sent" --where "bytes<1"' '1 5 '
chosen '--grep "sent" --last 2 --names net' '17 21 '
chosen '--grep "request" --since 20' '20 23 24 '

## choose_in_every_verb
# Goal: each verb that chooses takes them.
must recorder spans --json --where 'id<3' rec
has '"count":3,'
text=$(recorder export json rec --where 'id<3' | wc -l
    recorder export csv rec --where 'id<3' | wc -l
    recorder save rec --where 'id<3' -o small
    recorder dump --json small | wc -l
    recorder view rec --grep 'id=[012]' -o v.html
    grep -o 'columns' v.html | wc -l
    recorder latency rec --from '> .*' --to '< .*' --grep 'id=[012]' |
        head -1)
has '6
7
6
' '
3 pairs, 0 without an end'
recorder diff rec rec --where 'id<3'
text=$(recorder list rec --where 'bytes>=1000' | sed -n 2,3p | cut -c1-60
    recorder list rec --json --grep sent | grep -o '"kept":[0-9]*'
    recorder list --rates rec --where 'net: id<2' | tail -n 2 |
        tr -s ' ' | cut -d' ' -f1,3)
is <<'END'
net            64     1     6K        3           0      0  
disk           64     1     6K        5           0      0  
"kept":6
"kept":0
net 4
disk 0
END
must -2 recorder list rec --sizes --grep a
must -2 recorder list rec --slots --where 'a=1'
must -2 recorder list --rates rec --where a

## wrong_conditions
# Goal: errors are reported.
row()
{
    must -2 eval "recorder dump rec $1"
    has "$2"
}
row '--grep "("' '--grep (: Unmatched ('
row '--where ""' 'nothing: it should be FIELD OP VALUE'
row '--where "net: bytes"' 'bytes: it should be FIELD OP VALUE'
row '--where "net: 13>1"' '13>1: it should be FIELD OP VALUE'
row '--where "bytes>x"' 'bytes>x: is compared with no number'
row '--where "bytes&1.5"' '& takes an integer'
row '--where "bytes>5ms"' '5ms: unknown unit: a number may have k'
row '--where "bytes<1e400"' 'the number is too large'
row '--where "(: a=1"' '--where (: a=1: '
row '--where "a=\"x"' 'a quote has no end'
row '--where "a~("' 'Unmatched ('

## conditions_that_nothing_meets
# Goal: recorders and arguments that do not exist are no empty answer.
row()
{
    must -$1 eval "recorder $2"
    has "$3"
}
row 1 'dump rec --where "reqid=5"' \
    'no record has an argument reqid: a format names one as in reqid=%d; '
row 1 'dump rec --where "net: 12=5"' 'no record has an argument of place 12'
row 1 'spans rec --where "reqid=5"' 'no record has an argument reqid'
row 1 'dump rec --where "nett: bytes>1"' 'no recorder is named nett'
row 1 'dump rec --where "peer>5"' 'the argument peer is a text, no number'
row 1 'dump rec --where "net: bytes=many"' \
    'the argument bytes is a number, no text'
row 1 'dump rec --names nett' 'no recorder is named nett'
row 1 'why rec --names nett' 'no recorder is named nett'
row 1 'dump rec --where "net: \"sending\" bytes=1"' \
    'no format of a record begins with "sending"'
row 1 'dump rec --where "net: bytes=500 result=10"' \
    'no record has all that is compared'
row 1 'dump rec --where "net: \"sent\" id=1"' 'no record has all that is compared'
for write in view 'export perfetto' 'export ctf' 'export vcd' 'export sqlite'; do
    row 1 "$write rec -o unmade --value net:nothing" 'net has no number nothing'
    row 1 "$write rec -o unmade --value nett:bytes" 'no recorder has that name'
    [[ -z $(find . -name '*unmade*') ]]
done
row 1 'export json rec -o v --request 7' 'no request can be chosen'
row 2 'latency rec --from "> .*" --to "< .*" --by 9' \
    'no record that matches has an argument 9'
row 1 'dump rec -t T9' 'no thread is T9'
row 1 'sched rec -t Tx' 'recorder: '
row 2 'latency rec --from "> .*" --to "< .*" --by fd' \
    'no record that matches has an argument fd'
row 2 'latency rec --from a --to b --where "x5=1"' 'no record has an argument x5'
row 2 'latency rec --from "> WORK.*" --to "< .*"' 'no record is --from > WORK'
row 125 'diff rec rec --where "x5=1"' 'no record has an argument x5'
row 1 'dump rec --where "net: Bytes>1"' 'as in 1>0; there is bytes'
row 1 'dump rec --where "net: byte>1"' 'as in 1>0; there are: bytes, peer, addr'
row 1 'dump rec --where "nett: bytes>1"' '; there are: net, disk'
row 2 'dump rec --where "net: bytes>1, peer=alpha"' \
    'compared with no number; a blank is between conditions'
row 1 'dump rec -t T1 -t none' 'no thread is none; there are: T1 named'
row 2 'dump rec --line "{nme} {recorder}: {message}"' 'unknown field: {nme}'
row 2 'dump rec --since 9 --until 8' '--until 8 is before --since 9'
row 2 'dump rec --since 1s --until 0.5' '--until 0.5 is before --since 1s'
row 2 rec 'rec: VERB is missing: recorder dump rec'
row 2 1234 '1234: VERB is missing: recorder dump 1234'
for where in 'nett: id=1' 'net: di=1' 'net: peer>5'; do
    for verb in dump 'dump --json' list 'list --rates' spans 'export csv -o -' \
        'latency --from a --to b' 'why' 'dump rec' 'functions' 'trace 1'; do
        text=$(recorder $verb rec --where "$where" 2>/dev/null || true)
        is ''
    done
done
must recorder dump rec --since 999999
has '--since 999999: the numbers of records end at '
must recorder dump rec --since 1h
has '--since 1h: the last record is at 0.0'
must recorder dump rec --since 3
lacks '--since'
recorder dump rec --where 'net: bytes=123456'
recorder dump rec --where 'net: "sent" bytes=123456'
test "$(recorder dump rec -t T1 | tail -n +2)" = "$(recorder dump rec -t 1 | tail -n +2)"
for thread in t1 named 'na.*' Named '[a-z]+'; do
    test "$(recorder dump rec -t "$thread" | wc -l)" -gt 20
done
must recorder spans rec --grep nothing
has 'no span among the chosen records'
recorder latency rec --from '> [^x].*' --to '< .*'
text=$(recorder latency rec --from '> .*' --to '< .*' --by id |
    head -1)
has ' pairs, 0 without an end'

## refused_conditions_write_nothing
# Goal: a condition that is refused leaves the file of -o as it was, and no file
# where there was none; a source that is also the output keeps its records.
cp rec before
mkdir none
for where in 'nett: id=1' 'net: di=1' 'net: peer>5'; do
    for verb in save 'export json' 'export csv' 'export sqlite' 'export vcd' \
        'export perfetto' 'view --no-open' 'export json rec' 'view --no-open rec'; do
        echo precious >old
        must -1 recorder $verb rec --where "$where" -o old
        has 'recorder: ' '--where: '
        echo precious | cmp - old
        must -1 recorder $verb rec --where "$where" -o none/new
    done
    must -1 recorder export ctf rec --where "$where" -o none/ctf
    must -1 recorder save rec --where "$where" -o rec
    cmp before rec
    text=$(recorder save rec --where "$where" -o - 2>said | cat)
    is ''
done
text=$(ls -A none; ls -A | grep '^\.recorder' || true)
is ''
recorder export ctf rec -o none/ctf
recorder save rec --where 'id<3' -o rec
recorder dump rec | grep -c 'id=' | grep -x 6

## null_pointers_are_texts
# Goal: a null pointer for %s is one value, the text of the messages, in
# filters, in each export, in diff, triggers and Python.
cat >null.c <<'C'
#include "recorder_dump.h"
#include "recorder_trigger.h"
#include <wchar.h>
RECORDER(t, 64, "Users")
int main(int argc, char **argv)
{
    char *none = 0, *bad = argc > 2 ? none : argv[0], bob[] = "bob";
    char ox[] = "0x0";
    if (!recorder_file(argv[1]) || !recorder_trigger("t: user=(null): freeze"))
        return 1;
    record(t, "user=%s n=%d", bob, 1);
    record(t, "user=%s n=%d", ox, 2);
    record(t, "short=%.3s of=%ls", none, (wchar_t *)none);
    for (int i = 0; i < 20; i++)
        record(t, "name=%s", i % 4 ? bob : bad);
    record(t, "user=%s n=%d", none, 3);
    record(t, "user=%s n=%d", none, 4);
    return 0;
}
C
gcc -O1 -Wno-format-overflow -Wno-format-truncation -I$ROOT -o null null.c -lpthread
./null null.rec && ./null bad.rec bad
orders() # condition
{
    recorder dump null.rec --where "$1" --line '{message} ' | grep -a -c '^user\|^short' || true
}
text=$(orders 't: user!=alice'; orders 'user=(null)'; orders 'user~null'
    orders 'user!="(null)"'; orders 'user=0x0'; orders 'short=""'
    orders 'of=(null)'; orders '1=(null)')
is <<'END'
3
1
1
2
1
1
1
1
END
text=$(recorder dump null.rec --json --where 'user~null' |
    sed 's/.*"arguments"/"arguments"/; s/,"message.*//'
    recorder export csv null.rec --where 'user~null' -o - | tail -1 |
        sed 's/.*message,//' | grep -o '(null)' | wc -l
    recorder export sqlite null.rec -o db
    sqlite3 db "select user, n from log where user like '(%'"
    for format in perfetto vcd; do
        recorder export $format null.rec -o - | grep -a -o '(null)\|0x0' | sort -u
    done
    recorder export ctf null.rec -o ctf
    babeltrace2 ctf | grep -o ' user = [^,]*'
    PYTHONPATH=$ROOT/python /usr/bin/python3 -c 'import recorder
for e in recorder.open("null.rec"):
    if "n" in e.names and e["n"] > 1: print(e["user"])')
is <<'END'
"arguments":["(null)",3],"may_have_changed":[],"named":{"user":"(null)","n":3}
3
(null)|3
(null)
0x0
(null)
0x0
 user = "bob"
 user = "0x0"
 user = "(null)"
0x0
(null)
END
text=$(recorder diff null.rec bad.rec || true)
has 'is "(null)" in 5 of 20 records of BAD, never in 20 of GOOD'

## names_that_repeat
# Goal: a second argument of a name, and a name in other case, have columns and
# conditions of their own, which triggers and the command read alike.
cat >same.c <<'C'
#include "recorder_dump.h"
#include "recorder_trigger.h"
RECORDER(t, 64, "Names")
int main(int argc, char **argv)
{
    if (!recorder_file(argv[1]) || !recorder_trigger(argv[argc - 1]))
        return 1;
    record(t, "from id=%d to id=%d or id=%s", 10, 20, "x");
    record(t, "ID=%d", 5);
    record(t, "id=%d", 6);
    record(t, "id=%d ID=%d Id=%s", 1, 2, "three");
    record(t, "p=%d p_2=%d p=%d p=%d", 1, 2, 3, 4);
    record(t, "q=%d q=%d q_2=%d _=%d _=%d", 1, 2, 3, 4, 5);
    return 0;
}
C
gcc -O1 -I$ROOT -o same same.c -lpthread
while read -r where wanted; do
    ./same rec "t: $where: freeze" 2>said
    text=$(recorder dump rec --where "t: $where" --line '{order} ' | sed -n 's/^\([0-9]*\) $/\1/p' | head -1
        sed -n 's/.*: record \(.*\) of t/\1/p' said)
    is "$wanted"$'\n'"$wanted"
done <<'END'
id=10 1
id_2=20 1
id_3=x 1
id=6 3
ID=2 4
Id=three 4
p=1 5
p_2=2 5
p_3=4 5
q_2=2 6
__2=5 6
END
./same rec 't: none=1: freeze' 2>said
text=$(for where in id_1=10 id_02=20 id_4=0 id_=10 q_3=3 id_2_2=20; do
    recorder dump rec --where "t: $where" 2>&1 >all |
        sed 's/.*no record/no record/; s/: a format names one as in .*=%d; .*//'; done)
is <<'END'
no record has an argument id_1
no record has an argument id_02
no record has an argument id_4
no record has an argument id_
no record has an argument q_3
no record has an argument id_2_2
END
text=$(recorder dump rec --json | sed -n 's/.*"named":{\(.*\)},"message.*/\1/p')
is <<'END'
"id":10,"id_2":20,"id_3":"x"
"ID":5
"id":6
"id":1,"ID":2,"Id":"three"
"p":1,"p_2":2,"p_3":4
"q":1,"q_2":2,"_":4,"__2":5
END
text=$(recorder export csv rec -o - | sed 's/.*may_have_changed/:/' | head -1 | tr -d '\r'
    recorder export sqlite rec -o db
    sqlite3 db 'select id, id_2, id_3, ID_, Id__, arg1, arg2 from event where ord in (1, 2, 3, 4);
        select p, p_2, p_3, arg3 from event where ord = 5')
is <<'END'
:,id,id_2,id_3,ID_,Id__,p,p_2,p_3,q,q_2,_,__2
10|20|x|||10|20
|||5||5|
6|||||6|
1|||2|three|1|2
1|2|4|3
END

## names_of_libraries
# Goal: "net of libone.so" is one of two recorders of a name, in --where, set,
# --when and --value as in --names.
for of in one two; do
    cat >$of.c <<C
#include "recorder.h"
RECORDER(net, 64, "Network");
void $of(void);
void $of(void) { record(net, "of=%s bytes=%d", "$of", 10); }
C
    gcc -shared -fPIC -I$ROOT -o lib$of.so $of.c
done
cat >both.c <<'C'
#include "recorder_dump.h"
#include <stdio.h>
#include <unistd.h>
void one(void); void two(void);
int main(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;; usleep(1000))
        one(), two();
}
C
gcc -I$ROOT -o both both.c -L. -lone -ltwo -Wl,-rpath,. -lpthread
start ./both
until_has of=two recorder dump $pid
recorder save $pid -o two.rec
of() # options
{
    text=$(eval "recorder dump --line '{message}|' $1" | grep -o 'of=.*|' |
        cut -d ' ' -f 1 | sort -u | tr '\n' ' ')
    is "$2"
}
of "two.rec --where 'net of libone.so: bytes>2'" 'of=one '
of "two.rec --where 'NET of libt.*: bytes>2'" 'of=two '
of "two.rec --where 'net: bytes>2'" 'of=one of=two '
must -1 recorder dump two.rec --where 'net of libthree.so: bytes>2'
has 'no recorder is named net of libthree.so; there are: net of lib'
must recorder export vcd two.rec -o - --value 'net of libone.so:bytes'
must timeout 20 recorder watch $pid --when 'net of libtwo.so: bytes>2' --do exit
has 'of=two'
must recorder set $pid 'net of libone.so=off'
recorder set $pid clear
until_has of=two recorder dump $pid
of $pid 'of=two '
must recorder set $pid 'net of libtwo.so=off,net of libone.so=on'
recorder set $pid clear
sleep 0.1
of $pid 'of=one '
must recorder set $pid net=on
recorder set $pid clear
sleep 0.1
of $pid 'of=one of=two '
must -1 recorder set $pid 'net of libthree.so=off'
has 'no recorder is named net of libthree.so; nothing was changed'
must -2 recorder set $pid 'net of'
must -2 recorder set $pid 'net of libone.so'
has 'net of libone.so is not NAME=VALUE'

## threads_are_chosen
# Goal: each --thread adds threads, by number, name or a REGEX for whole names;
# a name with characters of a REGEX is a name, too.
cat >pool.c <<'C'
#include "recorder_dump.h"
#include <pthread.h>
RECORDER(t, 64, "Threads");
static void *work(void *name)
{
    recorder_thread_name(name);
    record(t, "of=%s", (char *)name);
    return NULL;
}
int main(void)
{
    static char *names[] = {"worker-1", "worker-2", "(pool) 3", "main"};
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread, NULL, work, names[i]) == 0)
            pthread_join(thread, NULL);
}
C
gcc -I$ROOT -o pool pool.c -lpthread
RECORDER_FILE=pool.rec ./pool
row() # options orders
{
    text=$(eval "recorder dump pool.rec $1" | sed -n 's/.*of=//p' | tr '\n' ' ')
    is "$2"
}
row '-t worker-1 -t worker-2' 'worker-1 worker-2 '
row '-t "WORKER-."' 'worker-1 worker-2 '
row '-t worker-2 -t "(pool) 3"' 'worker-2 (pool) 3 '
row '-t "(pool) 3|main"' 'main '
row '--names nothing --names t -t main' 'main '
must -1 recorder dump pool.rec -t worker -t main
has 'no thread is worker; there are: T1 '
must -1 recorder dump pool.rec pool.rec -t worker
has 'no thread is worker; there are: T1 '
must -1 recorder dump pool.rec pool.rec --names none
has 'no recorder is named none; there are: t'

## errno_of_m
# Goal: the errno of %m is an int named errno, unless a format names one itself;
# without %m there is none.
cat >error.c <<'C'
#include "recorder_dump.h"
#include <errno.h>
RECORDER(user, 64, "Files");
int main(void)
{
    char path[] = "/nope";
    errno = ENOENT;
    record(user, "open fd=%d path=%s: %m", -1, path);
    errno = ENOSPC;
    record(user, "write %m, bytes=%d", 7);
    errno = 70000;
    record(user, "odd: %m");
    record(user, "own errno=%d: %m", 5);
    record(user, "no error n=%d", 28);
    return 0;
}
C
gcc -Wno-format -I$ROOT -o error error.c
RECORDER_FILE=error.rec ./error
row() # condition, first words of messages
{
    text=$(recorder dump error.rec --where "$1" --json |
        sed 's/.*"message":"\([a-z]*\).*/\1/' | tr '\n' ' ')
    is "$2"
}
row 'user: errno=2' 'open '
row 'errno=28' 'write '
row 'errno>1000' 'odd '
row 'errno=5' 'own '
row 'user: "open" 3=2' 'open '
text=$(recorder dump error.rec --json | sed -n 's/.*"named":\({[^}]*}\).*/\1/p'
    recorder export csv error.rec -o - | head -1 | grep -o 'fd,path,errno,bytes'
    recorder export sqlite error.rec -o db
    sqlite3 db 'select message, errno from log where errno in (2, 28)')
is <<'END'
{"fd":-1,"path":"/nope","errno":2}
{"bytes":7,"errno":28}
{"errno":70000}
{"errno":5}
{"n":28}
fd,path,errno,bytes
open fd=-1 path=/nope: No such file or directory|2
write No space left on device, bytes=7|28
END
