#!/bin/sh
# bare-stream.sh - records that a machine of QEMU sends: by a UART, and by RTT.
# SPDX-License-Identifier: MIT
#
# OpenOCD pulls the RTT buffer out of the machine's memory: jtag.py is its debug
# port. A line for each check; what failed is said in full.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/bare-stream
. tests/ports/bare-machines.sh

# Compares what NAME shows with what the program recorded: numbers, squares,
# complements, and the sum of records shown and missed.
judge() # NAME RECORDS
{
    awk -v records="$2" '
        FNR == NR && /missed$/ { sub(/~/, "", $(NF - 2)); missed += $(NF - 2) }
        FNR == NR { next }
        / numbers: n=/ {
            split($0, part, "n="); split(part[2], of, " "); n = of[1]
            if (n <= last || of[2] != n * n || of[3] != 4294967295 - n) bad = 1
            last = n; shown++; next
        }
        END {
            print shown + 0 " shown, " missed + 0 " missed"
            exit bad || !shown || shown + missed != records
        }' "$out/$1.err" "$out/$1.out" && return
    tail -n 3 "$out/$1.err" "$out/$1.out"
    return 1
}

uart()
{
    build "$1" "uart-$1" $tests/bare-stream.c -Ihooks -DSTREAM=uart \
        -DRECORDS=2000 -DPACE=1000 || return 1
    (cd $out && timeout 300 qemu-system-arm -M mps2-an385 -nographic \
        -monitor none -serial "file:uart-$1.bytes" -icount shift=5,sleep=off \
        -semihosting-config enable=on,target=native -kernel "uart-$1" \
        </dev/null) || return 1
    build/recorder follow "tty:$out/uart-$1.bytes" --elf "$out/uart-$1" \
        --last 100000 --names numbers >"$out/uart-$1.out" 2>"$out/uart-$1.err"
    judge "uart-$1" 2000
}

# Memory that the host maps is at 0x21000000.
rtt()
{
    sed 's/0x20000000, LENGTH/0x21000000, LENGTH/' $arm/mps2.ld >$out/rtt.ld
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb $flags -O2 -I"$root" -Ihooks \
        -DSTREAM=recorder_stream_rtt -DRECORDS=200 -DPACE=20000 -I$arm \
        -T $out/rtt.ld $arm/start.c $tests/bare-stream.c -lgcc -o $out/rtt ||
        return 1
    truncate -s 16M $out/rtt.ram
    python3 tests/ports/jtag.py 0x21000000 $out/rtt.ram $out/jtag.port \
        2>$out/jtag.err &
    jtag=$!
    waited "$out/jtag.port" || return 1
    (cd $out && exec timeout 300 qemu-system-arm \
        -M mps2-an385,memory-backend=ram -object \
        memory-backend-file,id=ram,size=16M,mem-path=rtt.ram,share=on \
        -nographic -monitor none -serial none -kernel rtt \
        -semihosting-config enable=on,target=native </dev/null >rtt.log 2>&1) &
    machine_pid=$!
    for i in $(seq 300); do # OpenOCD looks once
        grep -q 'SEGGER RTT' $out/rtt.ram && break
        sleep 0.1
    done
    # mem_ap is a target for memory alone; cortex_m has the commands of RTT.
    timeout 300 openocd -c "gdb_port disabled; tcl_port disabled
        telnet_port disabled; bindto 127.0.0.1
        adapter driver remote_bitbang; remote_bitbang host 127.0.0.1
        remote_bitbang port $(cat $out/jtag.port); transport select jtag
        jtag newtap board cpu -irlen 4 -expected-id 0x4ba00477
        dap create board.dap -chain-position board.cpu
        target create board.unused cortex_m -dap board.dap -ap-num 1 \
            -defer-examine
        target create board.mem mem_ap -dap board.dap -ap-num 0
        targets board.mem; init
        rtt setup 0x21000000 8192 {SEGGER RTT}; rtt polling_interval 5
        rtt start; rtt server start $rtt_port 0" >$out/openocd.log 2>&1 &
    openocd=$!
    for i in $(seq 100); do
        grep -q 'Listening on port' $out/openocd.log && break
        sleep 0.1
    done
    timeout 300 build/recorder follow rtt:127.0.0.1:$rtt_port \
        --elf $out/rtt --last 100000 --names numbers >$out/rtt.out \
        2>$out/rtt.err &
    follow=$!
    wait $machine_pid
    for i in $(seq 300); do # until the last one came
        grep -q 'numbers: n=200 ' $out/rtt.out && break
        sleep 0.1
    done
    kill $openocd
    wait $follow $openocd $jtag
    judge rtt 200 || { cat $out/openocd.log $out/jtag.err && return 1; }
}
waited()
{
    for i in $(seq 300); do
        [ -s "$1" ] && return
        sleep 0.1
    done
    return 1
}

[ -x build/recorder ] || { echo "bare-stream: no build/recorder" && exit 0; }
check "Cortex-M3: UART" uart m3
check "Cortex-M0: UART" uart m0
rtt_port=$((20000 + $$ % 10000))
if command -v openocd >/dev/null; then
    check "Cortex-M3: RTT by OpenOCD" rtt
else
    echo "bare: RTT was not tried: there is no openocd"
fi
[ ! -s $out/failed ] || { echo "--- of bare-stream.sh:" && cat $out/failed && exit 1; }
