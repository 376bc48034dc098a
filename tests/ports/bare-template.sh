#!/bin/sh
# bare-template.sh - the template of a port dumps the expected lines.
# SPDX-License-Identifier: MIT
#
# A copy of examples/port-template, as users make, built by its own
# Makefile for a Cortex-M3 and for a Cortex-M0, and run under QEMU. A line for
# each; what failed is said in full. Fails if anything does.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=build/ports/template status=0
for need in arm-none-eabi-gcc qemu-system-arm; do
    command -v $need >/dev/null ||
        { echo "template: skipped: there is no $need" && exit; }
done
for cpu in cortex-m3 cortex-m0; do
    rm -rf $out/$cpu && mkdir -p $out && cp -r examples/port-template $out/$cpu &&
        make -C $out/$cpu CPU=$cpu RECORDER="$PWD" >$out/$cpu.log 2>&1 &&
        grep -q "^The dump is as expected" $out/$cpu.log &&
        echo "template: $cpu: $(wc -l <$out/$cpu/dump.txt) lines as expected" ||
        { echo "template: $cpu: FAILED" && cat $out/$cpu.log && status=1; }
done
# The comparison sees a line that is missing.
sed -i '/tick 2/d' $out/cortex-m3/expected.txt
make -C $out/cortex-m3 RECORDER="$PWD" >$out/less.log 2>&1 &&
    { echo "template: FAILED: a line too many is not seen" && status=1; }
exit $status
