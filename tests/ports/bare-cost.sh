#!/bin/sh
# bare-cost.sh - what a recorder costs without an operating system, measured.
# SPDX-License-Identifier: MIT
# Prints lines of three columns, tabs between them: what, figure, unit. It is a
# program that only records; its second recorder is not counted. Instructions
# are counted as QEMU executes them, one by one.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.."
board=examples/bare-metal/cortex-m
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

show() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
size_of() { # PATTERN KINDS: of all symbols like that, in bytes
    arm-none-eabi-nm -S -t d "$dir/cost.elf" | awk -v name="$1" -v kind="$2" '
        NF == 4 && $4 ~ name && index(kind, $3) { sum += $2 }
        END { print sum + 0 }'
}
at() { # SYMBOL, without the bit that says Thumb
    arm-none-eabi-nm "$dir/cost.elf" | awk -v name="$1" '$3 == name { print $1 }'
}

# Prints all instructions from cost_begin to cost_end, and those of recorder_*(),
# of a program of tests/ports.
counted() # PROGRAM.c OPTION...
{
    program=tests/ports/$1
    shift
    arm-none-eabi-gcc "$@" -mthumb -std=c11 -ffreestanding -nostdlib -I. \
        -I$board -T $board/mps2.ld $board/start.c "$program" -lgcc \
        -o "$dir/cost.elf"
    timeout 600 qemu-system-arm -M mps2-an385 -nographic -monitor none \
        -serial none -semihosting-config enable=on,target=native -singlestep \
        -d exec,nochain -D "$dir/log" -kernel "$dir/cost.elf" </dev/null
    # Trace 0: 0x7f2a [00000000/000001a4/00000110/ff000000] main
    sed -n 's/^Trace[^[]*\[[^/]*\/0*\([^/]*\)\/.*\] *\(.*\)/\1 \2/p' "$dir/log" |
        awk -v begin="$(at cost_begin)" -v end="$(at cost_end)" '
            BEGIN { sub(/^0+/, "", begin); sub(/^0+/, "", end) }
            $1 == end { counts = 0 }
            $1 == begin { counts = 1; all = own = 0 }
            counts { all++; own += $2 ~ /^recorder_/ }
            END { print all, own }'
}

cost() # $1: the processor, in words; $2: its option; $3: optimization
{
    counted bare-cost.c "$2" "$3" >"$dir/counted"
    read -r all own <"$dir/counted"
    show "instructions of a record, $1 $3" "$own" instructions
    show "with those at the call, $1 $3" "$all" instructions
    show "code of all that records, $1 $3" \
        $(($(size_of '^recorder_' tTwW) - $(size_of _other tTwW))) bytes
}

cost "Cortex-M3" -mcpu=cortex-m3 -O2
cost "Cortex-M3" -mcpu=cortex-m3 -Os
show "RAM of a recorder of 16 records, Cortex-M" \
    "$(size_of '^recorder_(for|rings_for)_cost' bBdD)" bytes
show "RAM of the registry, Cortex-M" \
    "$(size_of '^recorder_(registry|order)' bBdDvV)" bytes
show "heap" 0 bytes
cost "Cortex-M0" -mcpu=cortex-m0 -Os

# A call and its return, of recorder_functions.h: of 100.
for optimized in -O2 -Os; do
    counted bare-functions.c -mcpu=cortex-m3 $optimized -finstrument-functions \
        -finstrument-functions-exclude-file-list=start.c \
        -finstrument-functions-exclude-function-list=port_ >"$dir/counted"
    read -r all _ <"$dir/counted"
    show "instructions of a call and its return, Cortex-M3 $optimized" \
        $((all / 100)) instructions
done

# A switch: the hook's own instructions and all of record(). With clang for MIPS,
# as gcc for it cannot stand beside gcc-multilib.
mips=examples/bare-metal/malta
libgcc=$(ls /usr/lib/gcc-cross/mips-linux-gnu/*/libgcc.a | tail -n 1)
between() # LABEL: instructions from LABEL_begin to LABEL_end, the last time
{
    sed -n 's/^Trace[^[]*\[[^/]*\/0*\([^/]*\)\/.*/\1/p' "$dir/log" |
        awk -v begin="$(label "$1_begin")" -v end="$(label "$1_end")" '
            $1 == end { counts = 0 }
            $1 == begin { counts = 1; all = 0 }
            counts { all++ }
            END { print all }'
}
label() # SYMBOL: its address, as QEMU logs it
{
    arm-none-eabi-nm "$dir/switch.elf" | awk -v name="$1" '
        $3 == name { sub(/^(ffffffff)?0*/, "", $1); print $1 }'
}
switched() # $1: the processor, in words; $2: optimization; $3: option
{
    case $1 in
    MIPS)
        for part in $mips/vectors.S $mips/start.c tests/ports/bare-switch-cost.c; do
            clang --target=mips-linux-gnu -march=mips32r2 -mno-abicalls \
                -fno-pic -G0 -msoft-float "$2" $3 -std=c11 -ffreestanding -I. \
                -I$mips -c "$part" -o "$dir/$(basename "$part").o"
        done
        mips-linux-gnu-ld --no-warn-mismatch -T $mips/malta.ld "$dir"/*.o \
            "$libgcc" -o "$dir/switch.elf"
        set -- "$@" qemu-system-mips -M malta -net none -vga none -serial stdio \
            -no-reboot
        ;;
    *)
        arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb "$2" $3 -std=c11 \
            -ffreestanding -nostdlib -I. -I$board -T $board/mps2.ld \
            $board/start.c tests/ports/bare-switch-cost.c -lgcc \
            -o "$dir/switch.elf"
        set -- "$@" qemu-system-arm -M mps2-an385 -serial none \
            -semihosting-config enable=on,target=native
        ;;
    esac
    cpu=$1 optimized=$2 once=$3
    shift 3
    timeout 600 "$@" -nographic -monitor none -singlestep -d exec,nochain \
        -D "$dir/log" -kernel "$dir/switch.elf" </dev/null
    if [ -n "$once" ]; then
        show "of a one-shot recorder, $cpu $optimized" "$(between on)" instructions
        return
    fi
    show "instructions of a switch, $cpu $optimized" "$(between on)" instructions
    show "turned off, $cpu $optimized" "$(between off)" instructions
    show "interrupts off and on, for a short time, $cpu $optimized" \
        "$(between mask)" instructions
}
for optimized in -O2 -Os; do
    for cpu in Cortex-M3 MIPS; do
        switched $cpu $optimized ""
        switched $cpu $optimized -DRECORDER_SWITCH_ONCE
    done
done
