#!/bin/bash
# compat.sh - Programs in the words of recorder 1.x, and their output.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

STRICT="-Wall -Wextra -Wundef -Wshadow -Werror -Wno-error=attributes"

# The functions of -DRECORDER_COMPILE_ONCE, once for all programs of a test.
build_library()
{
    once "gcc -std=c11 -O1 $STRICT -I$ROOT/compat -c \
        $ROOT/compat/recorder/recorder.c"
}

# Figures that no two runs share become T; a location loses its folders.
masked()
{
    sed -E 's/[0-9]+\.[0-9]{3,}/T/g; s|/[^ ]*/||g'
}

# ----------------------------------------------------------------- everything

everything()
{
    is <<'END'
-- dump
recorder_traces: Setting traces to recorder_order=0 recorder_reltime=0 /recorder.*
MyRec: once 1
MyRec: int -1 long -2 unsigned 3 hex 0x40
MyRec: double 2.50 float 0.5 char x percent %
MyRec: dropped newline
MyRec: string a and b
MyRec: width    42|ab    |cd|   T
MyRec: in
 MyRec: deeper
  MyRec: at 2
 MyRec: out
MyRec: none
Other: 5 1 2 3 4 5
Other: 8 1 2 3 4 5 6 7 8
Other: 12 1 2 3 4 5 6 7 8 9 10 11 12
sized_one: kept
MyRec: {%t} and <tree> and {%5t}
-- again, two of them
Other: 5 1 2 3 4 5
Other: 8 1 2 3 4 5 6 7 8
Other: 12 1 2 3 4 5 6 7 8 9 10 11 12
sized_one: kept
-- show
output|sized_one: kept|
output|MyRec 1 1 1 (0) compat_everything.c:133:once 1|
output|MyRec 1 1 1 (0) compat_everything.c:60:int -1 long -2 unsigned 3 hex 0x40|
output|MyRec 1 1 1 (0) compat_everything.c:61:double 2.50 float 0.5 char x percent %|
output|MyRec 1 1 1 (0) compat_everything.c:62:dropped newline|
output|MyRec 1 1 1 (0) compat_everything.c:63:string a and b|
output|MyRec 1 1 1 (0) compat_everything.c:64:width    42|ab    |cd|   T|
output|MyRec 1 1 1 (0) compat_everything.c:65:in|
output|MyRec 1 1 1 (1) compat_everything.c:66:deeper|
output|MyRec 1 1 1 (2) compat_everything.c:67:at 2|
output|MyRec 1 1 1 (1) compat_everything.c:68:out|
output|MyRec 1 1 1 (0) compat_everything.c:69:none|
output|MyRec 1 1 1 (0) compat_everything.c:171:{%t} and <tree> and {%5t}|
sorted|sized_one 1 1 1 (0) compat_everything.c:75:kept|
sorted|sized_one: kept|
-- trace
MyRec: traced <tree>
compat_part.c:9:[26] part_rec: limit 8
-- timing
MyRec: once 1
MyRec: int -1 long -2 unsigned 3 hex 0x40
MyRec: double 2.50 float 0.5 char x percent %
MyRec: dropped newline
MyRec: string a and b
MyRec: width    42|ab    |cd|   T
MyRec: in
 MyRec: deeper
  MyRec: at 2
 MyRec: out
MyRec: none
MyRec: {%t} and <tree> and {%5t}
MyRec: traced {%t}
MyRec: from the part
MyRec: Turned 200.00 wheels/s, total 2, 100.00 loops/s, avg duration 10000.00 us, 
MyRec: Turned 100.00 wheels/s, total 4, 50.00 loops/s, avg duration 10000.00 us, 
MyRec: Turned 100.00 wheels/s, total 6, 50.00 loops/s, avg duration 10000.00 us, 
END
}

everything_cxx()
{
    is <<'END'
0 0
1 7
part_rec: limit 8
cxx: overloads 1 1 1.23
cxx: POINTER
cxx: pointer 0
cxx: strings std::string std::string literal
cxx: enums 3 1 bool 1 null (nil)
cxx: constant 42 bits 17 char c
cxx: reals 1.5 2.5 wide -1
cxx: method of 4, lambda 5
cxx: template 8 x
cxx: twelve 1 2 3 4 5 6 7 8 9 10 11 12
10
END
}

# Goal: as many statements of as many arguments as XL and DB48X have, over 100
# recorders, show all of them, in order. One argument in five is a string.
check_corpus() # compiler extension
{
    awk -v program=x.$2 -v shows=shows 'BEGIN {
        split("%d %s %u %#lx %.3g %p %c %+s %lld %5hhd", conversion)
        split("-7|\"text\"|7u|255ul|0.25|(void *)16|(char)65|\"kept\"|" \
            "(long long)-1|(short)257", argument, "|")
        split("-7|text|7|0xff|0.25|0x10|A|kept|-1|    1", text, "|")
        print "#include \"recorder/recorder.h\"" >program
        for (i = 0; i < 100; i++)
            printf "RECORDER(rec_%d, 16, \"Recorder %d\");\n", i, i >program
        print "int main(void)\n{\n    recorder_trace_set(" \
            "\"recorder_order=0:recorder_reltime=0\");" >program
        # How many statements have 0, 1, ... arguments: XL, then DB48X.
        count = split("24 82 112 86 41 1 0 0 0 0 47 80 93 76 47 9 4 2 1 1", many)
        for (k = 1; k <= count; k++)
            for (j = 0; j < many[k]; j++) {
                shown = asked = given = ""
                for (i = 0; i < (k - 1) % 10; i++) {
                    asked = asked " " conversion[(id + i) % 10 + 1]
                    given = given ", " argument[(id + i) % 10 + 1]
                    shown = shown " " text[(id + i) % 10 + 1]
                }
                print "    record(rec_" id % 100 ", \"" id + 0 ":" asked "\"" \
                    given ");" >program
                print "rec_" id % 100 ": " id++ + 0 ":" shown >shows
            }
        print "    return recorder_dump_for(\"rec_.*\") != " id ";\n}" >program
    }'
    $1 -O0 -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -c -o x.o x.$2
    $1 -o x x.o recorder.o
    ./x 2>is
    cmp is shows
}

# Goal: a program that uses every name has the same output, line by line, with
# nothing to link.
check_c() # compiler
{
    $1 $STRICT -I$ROOT/compat -o x $PROGRAMS/compat_everything.c \
        $PROGRAMS/compat_part.c
    text=$(./x 2>&1 | masked)
    everything
}

check_cxx() # compiler
{
    $1 $STRICT -I$ROOT/compat -o x $PROGRAMS/compat_everything.cc -x c++ \
        $PROGRAMS/compat_part.c
    text=$(./x 2>&1 | sed -E 's/0x.*/POINTER/')
    everything_cxx
}

## everything_gcc
check_c 'gcc -std=c11 -Wstrict-prototypes'

## everything_clang
needs clang
check_c 'clang -std=c2x'

## everything_gxx
check_cxx 'g++ -std=c++17'

## everything_clangxx, long
needs clang++
check_cxx 'clang++ -std=c++20'

## everything_library, long
# Goal: the same with the functions in a library, whatever the language, and
# no word from the compiler in any standard.
build_library
for c_one in 'gcc -std=c11 -O2' 'gcc -std=gnu17' 'gcc -std=c2x -O2' \
    'clang -std=c11 -O2'; do
    has_program ${c_one%% *} || continue
    $c_one -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -o x \
        $PROGRAMS/compat_everything.c $PROGRAMS/compat_part.c recorder.o
    text=$(./x 2>&1 | masked)
    everything
done
for cxx_one in 'g++ -std=c++11 -O2' 'g++ -std=c++14' 'g++ -std=c++17' \
    'g++ -std=c++20 -O2' 'clang++ -std=c++11'; do
    has_program ${cxx_one%% *} || continue
    $cxx_one -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -c \
        $PROGRAMS/compat_everything.cc -x c++ $PROGRAMS/compat_part.c
    $cxx_one -o x compat_everything.o compat_part.o recorder.o
    text=$(./x 2>&1 | sed -E 's/0x.*/POINTER/')
    everything_cxx
done

## compiler, long
# Goal: programs of the kinds that use recorder 1.x, of several files each,
# compile without a word and show their records.
build_library
for compiler in 'g++ -std=c++14' 'g++ -std=c++20 -O2' 'clang++ -std=c++17'; do
    has_program ${compiler%% *} || continue
    $compiler $STRICT -Wredundant-decls -DRECORDER_COMPILE_ONCE \
        -I$ROOT/compat -DOTHER_FILE -c -o other.o $PROGRAMS/compat_compiler.cc
    $compiler $STRICT -Wredundant-decls -DRECORDER_COMPILE_ONCE \
        -I$ROOT/compat -o x $PROGRAMS/compat_compiler.cc other.o recorder.o
    text=$(./x -trecorder_order=0:recorder_reltime=0:/recorder.* 2>&1 |
        sed -E 's/^(gc: Timed).*/\1/')
    is <<'END'
types: static 1
options: 1 is -trecorder_order=0:recorder_reltime=0:/recorder.*
types: main 0
gc: New for tree 2
types: tree 2 tree 2 tree 2 (nil)
types: 1 -1 5 -3 9
types: 3 1 3 0
types: abc abc abc buffer constants
types: (nil) 1 7 3
types: 1 -1 -2 0
types: a b c 1.5 2.500000
types:    yes
gc: lambda 2 in record
types: value of a lambda 2
types: std::function
types: Visit tree 2 with 2 arguments, value 3
types: Twice 7 of 8 bytes
gc: Timed
types: log one 1
gc: none
gc: two 1 2
gc: else
gc: in for 0
gc: in for 1
types: last
END
done

## display, long
build_library
for compiler in 'gcc -std=gnu99' 'gcc -std=gnu17 -O2' 'clang -std=gnu11'; do
    has_program ${compiler%% *} || continue
    warnings="$STRICT -Wstrict-prototypes -Wmissing-prototypes \
        -Wold-style-definition -Wredundant-decls -Wnested-externs -Wwrite-strings"
    $compiler $warnings -DRECORDER_COMPILE_ONCE -I$ROOT/compat \
        -DOTHER_FILE -c -o other.o $PROGRAMS/compat_display.c
    $compiler $warnings -DRECORDER_COMPILE_ONCE -I$ROOT/compat -o x \
        $PROGRAMS/compat_display.c other.o recorder.o
    ./x frames 2>log
    text=$(sed -E 's/^(shown speed: Helped).*/\1/' log)
    is <<'END'
frames: none
frames: one 1
frames: helped 3
shown speed: Helped
frames: helped 1
channel: constructor
channel: 3 buffer one 1 5
channel: (nil) 255 -1 1099511627776
channel: 1 8 1.5 c
channel: 0 1 (nil)
channel: -1 -3 ffffffff
channel: 1 2 3 4 5 6 7 8 9 10 11 12
channel: arguments (null)
channel: 2 2
frames: none
frames: one 1
channel: not traced
channel: twice 6
channel: in while
frames: helped 3
channel: other file 1 text
frames: helped 1
END
done

## namespaces
# Goal: recorders and tweaks of one name, in namespaces and outside of them,
# are different ones; outside, a C file and a C++ file see the same.
build_library
gcc -std=c11 -DCOMPAT -DOTHER_FILE -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat \
    -c -o other.o -x c $PROGRAMS/namespaces.cc
g++ -std=c++11 -DCOMPAT -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -o x \
    $PROGRAMS/namespaces.cc other.o recorder.o
text=$(./x 2>&1 | sed 's/.*] //')
is <<'END'
shared: other file
net: outside, limit 1
net: app 7, limit 2
net: inner, limit 5
shared: inner
shared_by_all: inner
hidden: hidden
net: main, limit 1
END

## long_lines
# Goal: a traced line is as long as a dumped one, and the same.
build_library
gcc -std=c11 -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -o x \
    $PROGRAMS/compat_long.c recorder.o
./x >/dev/null 2>log
text=$(wc -l <log
    sort log | uniq -u)
is 16

## ring_operations
# Goal: programs that include recorder_ring.h for its atomic operations
# compile and get the values of 1.x.
gcc -std=gnu11 $STRICT -I$ROOT/compat/recorder -o ring $PROGRAMS/compat_ring.c
./ring
g++ -std=c++11 -xc++ $STRICT -I$ROOT/compat/recorder -o ring \
    $PROGRAMS/compat_ring.c
./ring

## refused
# Goal: errors at build time are reported in words.
row()
{
    cat >x.c <<END
#include "recorder/recorder.h"
RECORDER(r, 8, "");
void f(const char *text);
void f(const char *text) { (void)text; $1; }
END
    for compiler in 'gcc -std=c11' 'g++ -std=c++17 -x c++' 'clang -std=c11' \
        'clang++ -std=c++17 -x c++'; do
        has_program ${compiler%% *} || continue
        not $compiler -fsyntax-only -DRECORDER_COMPILE_ONCE \
            -I$ROOT/compat x.c >log 2>&1
        grep -E "$2" log
    done
}
row 'record(r, "%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)' \
    'at most 12 arguments'
row 'record(r, "%Lf", 1.0L)' 'long double|long_double|cast_it_to'
row 'record(r, text)' expected
row 'record(nobody, "text")' recorder_for_nobody

# --------------------------------------------------------------------- corpus

## corpus, long
build_library
check_corpus 'gcc -std=c11' c
check_corpus 'g++ -std=c++17' cc

# -------------------------------------------------------------------- signals

## environment_signals_background, long
# Goal: the variables are read by recorder_dump_on_common_signals(); a crash
# shows the lines of 1.x and ends the program by its signal; a background dump
# shows each record once.
build_library
gcc -std=c11 -DRECORDER_COMPILE_ONCE $STRICT -I$ROOT/compat -o x \
    $PROGRAMS/compat_signals.c recorder.o
must ./x
is ''
text=$(RECORDER_TRACES=MyRec ./x 2>&1)
is <<'END'
MyRec: limit 7
MyRec: in
END
text=$(RECORDER_TRACES=MyRec:Other RECORDER_TWEAKS=my_limit=9:recorder_order=1 \
    ./x 2>&1)
is <<'END'
[6] MyRec: limit 9
[7] MyRec: in
[8]  Other: deeper
END
ulimit -c 0
must -134 ./x crash
has 'Other: in a constructor
MyRec: limit 7
MyRec: in
 Other: deeper
 recorder_signals: Received signal 6, dumping
'
[[ $text = 'recorder: SIGABRT'* ]]
text=$(RECORDER_DUMP=MyRec ./x stop 2>&1)
is <<'END'
MyRec: limit 7
MyRec: in
END
text=$(./x background 2>&1 | grep -c not)
is 1
# While 1000 are recorded in a ring of 32, each is shown once, if at all.
text=$(./x background 2>&1 | sed '/--/,$d' | grep -E '^ *MyRec: [0-9]+$' |
    sort | uniq -d | wc -l)
is 0
text=$(./x background 2>&1 | grep -c 'MyRec: 999')
is 2

## a_crash_shows_the_last
# Goal: a crash shows the newest records, 1000 lines in all, or all on
# request; its own lines on that are true here, too, if RECORDER_DUMP names
# recorders. Method: RECORDER_DUMP with and without a setting.
gcc -std=c11 $STRICT -I$ROOT/compat -o x $PROGRAMS/compat_signals.c
ulimit -c 0
./x much >said 2>&1 || true
text=$(awk '/Much:/ { shown++ } /left out/ { left = $2 } END {
        print shown + left, (NR > 950 && NR <= 1000) }' said
    grep -o 'set REC.*' said
    grep Much: said | tail -n 1)
is <<'END'
2000 1
set RECORDER_DUMP=last=all
 Much: 1999
END
RECORDER_DUMP=last=all ./x much >said 2>&1 || true
test $(grep -c Much: said) = 2000
not grep left.out said
RECORDER_DUMP=names=Much,last=2 ./x much >few 2>&1 || true
test $(grep -c Much: few) = 2

# ---------------------------------------------------------------------- alone

## names
# Goal: beside the headers of the program, only names that begin with
# recorder, RECORD, record, ringidx and _recorder enter. Method: the macros
# that the compiler knows with and without.
echo '#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>' >a.h
gcc -E -dM a.h | sort >without
(cat a.h; echo '#include "recorder/recorder.h"') >b.h
gcc -E -dM -I$ROOT/compat b.h | sort >with
comm -13 without with >new
test -s new
not grep -v '^#define \(RECORD\|record\|ringidx\)' new
