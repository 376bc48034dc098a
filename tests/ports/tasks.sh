#!/bin/sh
# tasks.sh - tests of tasks that need compilers and emulators of other processors.
# SPDX-License-Identifier: MIT
#
# `make test` passes over them where those are missing. Here none may be.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=build/ports
mkdir -p $out

missing=
for need in arm-none-eabi-gcc=gcc-arm-none-eabi \
    qemu-system-arm=qemu-system-arm gdb-multiarch=gdb-multiarch clang=clang \
    ld.lld=lld qemu-riscv32=qemu-user \
    /usr/include/criterion/criterion.h=libcriterion-dev; do
    [ -f "${need%%=*}" ] || command -v "${need%%=*}" >/dev/null ||
        missing="$missing ${need#*=}"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || sh tests/apt.sh install -y --no-install-recommends \
    $missing || { echo "tasks.sh: could not install$missing" >&2 && exit 1; }

failed=0
for test in tasks_known/threadx tasks_known/freertos \
    tasks_known/freertos_on_risc_v_and_mips; do
    log=$out/tasks-${test#*/}.log
    if ${MAKE:-make} -s run TEST="outside/${test%/*}" CASE="${test#*/}" >"$log" \
        2>&1 && grep -q "^\[PASS\] $(echo "$test" | sed 's|/|::|')" "$log" &&
        ! grep -q '^left out: ' "$log"; then
        echo "tasks: ${test#*/}: ok"
    else
        echo "tasks: ${test#*/}: FAILED"
        grep -v '^\[SKIP\]' "$log" | tail -n 20 | cut -c 1-400
        failed=1
    fi
done
exit $failed
