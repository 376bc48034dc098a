#!/bin/bash
# run_span.sh - recorder run --span records the calls of a function.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

[ "$(uname -m)" = x86_64 ] || skip '--span is for x86-64'
FUNCTIONS="look_up mixed throws jumps tests_first calls_first global_first
    switches fibonacci flush_all handler shop::cart::add"
marked() # FUNCTIONS: their options
{
    printf -- '--span %s ' "$@"
}

## a_program_runs_as_without
# Goal: a program runs as without the option, whatever its functions do: floating
# point, exceptions, longjmp(), signals, threads, a child and another program; and
# each call is a span. Method: one program by several compilers and options.
for how in 'g++ -O0' 'g++ -O2' 'g++ -O3 -fcf-protection=full' \
    'g++ -O2 -no-pie -fno-pie' 'g++ -Os -fomit-frame-pointer' 'clang++ -O2' \
    'clang++ -O0' 'g++ -O1 -fsanitize=address'; do
    has_program ${how%% *} || continue
    $how -g -w -o span $PROGRAMS/span.cc -lpthread
    ./span >expected
    # shellcheck disable=SC2046,SC2086
    must recorder run -q $(marked $FUNCTIONS) -o s.%e.%p.rec ./span
    is "$(cat expected)"
    text=$(ls s.*.rec | sed 's/[0-9]*.rec//' | tr '\n' ' ')
    is 's.span. s.span. ' # of the child, too, and not of echo
    rm s.*
    # shellcheck disable=SC2046,SC2086
    recorder run -q $(marked $FUNCTIONS) -o s.rec ./span alone >/dev/null
    recorder spans s.rec --names functions |
        awk 'NR > 1 && $2 != "fibonacci" && $2 != "flush_all" &&
             $2 != "switches" { print $2, $3, $NF }' |
        LC_ALL=C sort >counts
    must cat counts
    is <<END
calls_first 1 0
global_first 1 0
handler 1 0
jumps 5 5
look_up 51 0
mixed 1 0
shop::cart::add 2 0
tests_first 2 0
throws 20 10
END
done

## a_lock_in_a_span_is_found
# Goal: `why` says where the time of a function's calls went, of a program without
# records; `functions` shows the calls of each thread.
g++ -g -O1 -o span $PROGRAMS/span.cc -lpthread
must recorder run --span look_up -o s.rec ./span alone
has "recorder: records to $PWD/s.rec"
lacks 'once it makes a thread'
must recorder why s.rec look_up
has 'functions: look_up: 51 spans' 'waited for mutex table held by T2 span' \
    ', at look_up span.cc:' ' < main span.cc:'
must recorder functions s.rec
has 'look_up()' 'lock_wait: waits for mutex table'
# Without a call, other records would be no answer.
recorder run -q -o none.rec ./span alone
for how in '' --counts --json; do
    must recorder functions $how none.rec
    is 'recorder: none.rec: no calls: the program includes recorder_functions.h in one file and is compiled with -finstrument-functions; or see recorder run --span'
done
# A program of one thread has a recording, too.
echo 'int __attribute__((noinline)) work(int n) { return n * n + 7; }
int main(int n, char **v) { return work(n) + work(3) != 24 || !v; }' >one.c
gcc -g -O1 -o one one.c
must recorder run -q --span work -o one.rec ./one
must recorder spans one.rec
has 'functions: work        2 '

## a_debugger_sets_breakpoints
# Goal: breakpoints at each of a function's first bytes harm no program.
needs gdb
echo 'int __attribute__((noinline)) work(int n) { return n * n + 7; }
int main(int n, char **v) { return work(n) + work(3) != 24 || !v; }' >one.c
for how in -O0 '-O1 -fcf-protection=full'; do
    # shellcheck disable=SC2086
    gcc -g $how -o one one.c
    for places in 0 '1 2 3 4'; do
        # shellcheck disable=SC2086
        mapfile -t breaks < <(printf -- '-ex=break *((char *)work + %d)\n' \
            $places)
        must gdb -batch -ex 'catch exec' -ex run -ex 'break main' \
            -ex continue "${breaks[@]}" -ex continue -ex continue \
            -ex continue -ex 'info breakpoints' \
            --args recorder run -q --span work -o x.rec ./one
        has 'exited normally'
        [ "$places" != 0 ] || has 'already hit 2 times'
    done
done

## functions_of_libraries
# Goal: functions of a library are found, also static ones, and those of which
# only the exported name is left.
cat >part.c <<'C'
__attribute__((noinline)) static int inner(int n) { return n * 3 + 11; }
int outer(int n) { return inner(n) + inner(n + 1) * 2; }
C
echo 'int outer(int); int main(void) { return outer(1) != 48; }' >main.c
gcc -O1 -shared -fPIC -o libpart.so part.c
gcc -o main main.c -L. -lpart -Wl,-rpath,"$PWD"
must recorder run -q --span inner --span outer -o s.rec ./main
must recorder spans s.rec
has 'functions: inner        2 ' 'functions: outer        1 '
strip libpart.so
must recorder run -q --span outer -o s.rec ./main
must recorder spans s.rec
has 'functions: outer        1 '

## overwritten_calls_are_said
# Goal: counts of functions whose calls were overwritten are not silent about it.
cat >many.c <<END
volatile int calls;
__attribute__((noinline)) void leaf(void)
{
    calls = calls + 1;
}
__attribute__((noinline)) void outer(void)
{
    for (int i = 0; i < 10000; i++)
        leaf();
    __asm__ volatile("");
}
int main(void)
{
    outer();
    return 0;
}
END
gcc -g -O1 -o many many.c
recorder run -q --always --span outer --span leaf -o many.rec ./many
must recorder functions --counts many.rec
has ' records were overwritten: their calls are not counted, or have no time'
sed 's/10000/10/' many.c | gcc -g -O1 -o few -xc -
recorder run -q --always --span outer --span leaf -o few.rec ./few
must recorder functions --counts few.rec
lacks overwritten

## what_cannot_be_marked_is_refused
# Goal: a function whose calls cannot be recorded is refused before the program
# starts, with the reason.
refused() # FUNCTION TEXT
{
    must -1 recorder run -q --span "$1" -o s.rec ./span
    has "$2" "recorder: --span: $1: "
    [ ! -e s.rec ]
}
for how in -O0 -O2; do
    g++ $how -g -w -o span $PROGRAMS/span.cc -lpthread
    refused on_stack ' takes arguments on the stack'
    refused variadic ' takes arguments on the stack'
    refused nothing 'no function of this name in the symbols of ./span and its '
done
g++ -O2 -w -o span $PROGRAMS/span.cc -lpthread
refused look_up 'may take arguments on the stack (compile with -g)'
cat >odd.c <<'C'
int tiny(void);
int loop(int n);
int bare(int n);
__asm__("tiny: ret\n .size tiny, . - tiny\n .type tiny, @function\n"
        "loop: .cfi_startproc\n inc %edi\n 1: dec %edi\n jnz 1b\n"
        "mov %edi, %eax\n ret\n .cfi_endproc\n .size loop, . - loop\n"
        ".type loop, @function\n"
        "bare: mov %edi, %eax\n add $3, %eax\n ret\n"
        ".size bare, . - bare\n .type bare, @function\n");
int main(int n, char **v) { return tiny() * !v + loop(n) + bare(-3); }
C
gcc -O1 -o span odd.c
refused tiny ' is shorter than a jump'
refused loop ' jumps back to its first instructions'
refused bare ' has no unwind tables of the usual form'
refused _start ' has no unwind tables of the usual form'
refused malloc 'and its libraries, libc excepted'
for i in $(seq 17); do
    echo "int __attribute__((noinline)) f$i(int n) { return n * n + $i; }"
done >many.c
echo 'int main(void) { return 0; }' >>many.c
gcc -g -O1 -o span many.c
# shellcheck disable=SC2046
must -1 recorder run -q $(marked $(seq -f 'f%g' 17)) -o s.rec ./span
has 'f17 of ./span is one function too many'
must -1 recorder run -q --span '' ./span
must -1 recorder run -q --span work /bin/true
has 'no function of this name'

## other_code_is_left_alone
# Goal: the description of a function does no harm to another program or build,
# nor if it is cut off. Method: a program prints the description, from which
# others are made.
work='int __attribute__((noinline)) work(int n) { return n * n + 7; }'
main='int main(int n, char **v) { char *t = getenv("RECORDER_RUN_SPANS");
    if (n > 1) puts(t); return work(n) + work(3) != 23 + n * n || !v; }'
printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' "$work" "$main" >one.c
gcc -g -O1 -o one one.c
sed 's/n + 7/n + 6 + (n != 77)/' one.c >two.c
gcc -g -O1 -o two two.c
must recorder run -q --span work -o one.rec ./one print
whole=$text
must recorder spans one.rec
has 'functions: work        2 '
runs() # DESCRIPTION PROGRAM: as `recorder run` would start it
{
    rm -f x.rec
    LD_PRELOAD=$ROOT/build/lib/librecorder-run.so RECORDER_RUN=always:x.rec \
        RECORDER_RUN_SPANS=$1 "./$2"
    recorder list x.rec >list
}
runs "$whole" one
grep -q '^functions ' list
mv two one.other && mv one one.kept && mv one.other one # another build
runs "$whole" one
not grep -q '^functions ' list
mv one.kept one
for ((i = 0; i < ${#whole}; i++)); do
    runs "${whole:0:i}" one
    not grep -q '^functions ' list
done
numbers=$(expr "$whole" : '[0-9a-f]*:[0-9a-f]*:[0-9a-f]*') # and not the code
for ((i = 0; i < $(scaled 200); i++)); do
    at=$((RANDOM % numbers))
    runs "${whole:0:at}$((RANDOM % 10))${whole:at+1}" one
done
must recorder run -q --span work -o one.rec ./one print # it is set anew
is "$whole"

## each_function_of_a_command
# Goal: the command itself, by which ever of its functions is marked, prints the
# same. Method: functions of its symbols in random order, one a run; most can be
# marked.
echo 'int __attribute__((noinline)) work(int n) { return n * n + 7; }
int main(int n, char **v) { return work(n) + work(3) != 24 || !v; }' >one.c
gcc -g -O1 -o one one.c
must recorder run -q --span work -o one.rec ./one
recorder dump one.rec --json >expected
nm --defined-only "$(command -v recorder)" |
    awk '$2 ~ /[tT]/ && $3 !~ /[.@]/ { print $3 }' | sort -u |
    sort -R --random-source=<(yes "$(seed)") | head -n "$(scaled 400)" >names
marked=0 refused=0
while read -r name; do
    if ! recorder run -q --span "$name" -o x.rec recorder dump one.rec --json \
        >said 2>why; then
        must cat why
        has "recorder: --span: $name"
        refused=$((refused + 1))
        continue
    fi
    cmp expected said
    marked=$((marked + 1))
done <names
echo "$marked marked, $refused refused"
((marked > 2 * refused)) # 9 of 10 can be marked, of which 40 are a sample
