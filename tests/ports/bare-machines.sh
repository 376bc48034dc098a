#!/bin/sh
# bare-machines.sh - builds and runs programs without an operating system.
# SPDX-License-Identifier: MIT
#
# For bare.sh and its like, which set `out` and include it in the tree's root.
# shellcheck disable=SC2154
root=$PWD
arm=examples/bare-metal/cortex-m mips=examples/bare-metal/malta
tests=tests/ports
rm -rf "$out" && mkdir -p "$out" || exit 2

# ------------------------------------------------------------------ packages

# gcc-mips-linux-gnu cannot stand beside gcc-multilib: clang does instead, with
# the linker and libgcc of the former.
missing=
for need in arm-none-eabi-gcc=gcc-arm-none-eabi \
    qemu-system-arm=qemu-system-arm qemu-system-mips=qemu-system-mips \
    mips-linux-gnu-ld=binutils-mips-linux-gnu gdb-multiarch=gdb-multiarch \
    clang=clang; do
    command -v "${need%%=*}" >/dev/null || missing="$missing ${need#*=}"
done
mips_libgcc=$(ls /usr/lib/gcc-cross/mips-linux-gnu/*/libgcc.a 2>/dev/null |
    tail -n 1)
[ -n "$mips_libgcc" ] || missing="$missing libgcc-12-dev-mips-cross"
if [ -n "$missing" ]; then
    echo "Installing what the tests of bare metal need:$missing"
    # shellcheck disable=SC2086
    sh tests/apt.sh install -y --no-install-recommends $missing ||
        { echo "bare.sh: could not install them" >&2 && exit 1; }
    mips_libgcc=$(ls /usr/lib/gcc-cross/mips-linux-gnu/*/libgcc.a | tail -n 1)
fi

# ------------------------------------------------------------------ machines

warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
flags="-std=c11 -g -ffreestanding -nostdlib $warnings"

# build MACHINE NAME SOURCES [option...]: makes $out/NAME. HEADERS: where from.
build()
{
    machine=$1 name=$out/$2 source=$3
    shift 3
    headers=${HEADERS:-$root}
    case $machine in
    m0) cpu="-mcpu=cortex-m0" ;;
    m3) cpu="-mcpu=cortex-m3" ;;
    m4f) cpu="-mcpu=cortex-m4 -mfloat-abi=hard" ;;
    malta)
        cpu="--target=mips-linux-gnu -march=mips32r2 -mno-abicalls -fno-pic -G0
            -msoft-float"
        for part in $mips/vectors.S $mips/start.c $source; do
            # shellcheck disable=SC2086
            clang $cpu $flags -O2 -I"$headers" -I$mips "$@" -c "$part" \
                -o "$name-$(basename "$part").o" || return 1
        done
        mips-linux-gnu-ld --no-warn-mismatch -T $mips/malta.ld "$name"-*.o \
            "$mips_libgcc" -o "$name"
        return
        ;;
    esac
    # shellcheck disable=SC2086
    arm-none-eabi-gcc $cpu -mthumb $flags -O2 -I"$headers" "$@" -I$arm \
        -T $arm/mps2.ld $arm/start.c $source -lgcc -o "$name"
}

# run MACHINE NAME [option...]: what the program writes; its exit status. Time
# is what instructions take, and sleep takes none: a busy host changes nothing.
run()
{
    machine=$1 program=$2
    shift 2
    common="-nographic -monitor none -icount shift=5,sleep=off"
    semihosting="-semihosting-config enable=on,target=native"
    case $machine in
    malta) set -- qemu-system-mips -M malta -net none -vga none -serial stdio \
        -no-reboot "$@" ;;
    m4f) set -- qemu-system-arm -M mps2-an386 -serial none $semihosting "$@" ;;
    *) set -- qemu-system-arm -M mps2-an385 -serial none $semihosting "$@" ;;
    esac
    (cd "$out" && exec timeout -k 1 600 "$@" $common -kernel "$program" </dev/null)
}

# save MACHINE NAME FILE COMMAND [option...]: runs it up to image_done(), where
# gdb does the command, which writes the file, and what its options say. What the
# program writes is in NAME.txt, what gdb says in gdb.txt.
save()
{
    saved=$1 name=$2 file=$3 command=$4
    shift 4
    rm -f "$out/gdb.socket" "$out/$file"
    run "$saved" "$name" -S -gdb unix:gdb.socket,server=on,wait=off \
        >"$out/$name.log" 2>&1 &
    machine_pid=$!
    for i in $(seq 600); do
        [ -S "$out/gdb.socket" ] && break
        sleep 0.1
    done
    (cd "$out" && timeout 300 gdb-multiarch -nx -q -batch -ex "set confirm off" \
        -ex "set remotetimeout 60" -ex "target remote gdb.socket" \
        -ex "break image_done" -ex continue \
        -ex "$command" "$@" -ex kill "$name") >"$out/gdb.txt" 2>&1
    # Not by its status: the machine may be gone before it has heard so.
    [ -s "$out/$file" ] || { cat "$out/gdb.txt" && return 1; }
    wait $machine_pid
    sed '/^qemu-system/d' "$out/$name.log" >"$out/$name.txt"
}

# check WHAT COMMAND...: runs it; one line if it succeeds, else all it said,
# once more at the end.
check()
{
    what=$1
    shift
    if said=$("$@" 2>&1); then
        echo "bare: $what: ${said:-ok}"
    else
        echo "bare: $what: FAILED" | tee -a $out/failed
        echo "$said" | tee -a $out/failed
    fi
}
