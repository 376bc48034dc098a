#!/bin/sh
# bare-zephyr.sh - zephyr/ compiles as a module, against a stand-in for Zephyr.
# SPDX-License-Identifier: MIT
#
# The library has the 7 functions that CONFIG_TRACING_USER calls; without the
# option CONFIG_RECORDER_SWITCHES there is no library. Fails if
# anything does.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/zephyr status=0
for need in arm-none-eabi-gcc cmake; do
    command -v $need >/dev/null ||
        { echo "zephyr: skipped: there is no $need" && exit; }
done
# module NAME CPU OPTIONS: builds it in $out/NAME.
module()
{
    rm -rf "$out/$1" && mkdir -p "$out/$1" &&
        cmake -S tests/hooks/zephyr/module -B "$out/$1" -DCONFIG="$3" \
            -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc \
            -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_C_FLAGS="-mcpu=$2 \
-mthumb -std=gnu11 -Os -ffreestanding -Wall -Wextra -Wundef -Werror" \
            >"$out/$1/log" 2>&1 &&
        make -C "$out/$1" >>"$out/$1/log" 2>&1 && return
    echo "zephyr: $1: FAILED" && tail -n 30 "$out/$1/log"
    status=1
    return 1
}
functions()
{
    arm-none-eabi-nm "$1" | grep -c ' T sys_trace_.*_user$'
}
module m3 cortex-m3 "RECORDER;RECORDER_SWITCHES" && {
    found=$(functions $out/m3/recorder/libmodule.a)
    echo "zephyr: $found functions of CONFIG_TRACING_USER"
    [ "$found" = 7 ] || status=1
}
module m0 cortex-m0 "RECORDER;RECORDER_SWITCHES;ATOMIC_OPERATIONS_C"
module less cortex-m3 RECORDER && [ -e $out/less/recorder/libmodule.a ] &&
    echo "zephyr: FAILED: switches without CONFIG_RECORDER_SWITCHES" && status=1
exit $status
