#!/bin/sh
# run.sh TEST... - runs test programs one after the other; fails if any does.
# SPDX-License-Identifier: MIT
# RUN: a command to run each with. What failed is said once more at the end.
set -u
failed=
for test in "$@"; do
    start=$(date +%s)
    timeout 600 ${RUN:-} "$test" </dev/null >"$test.log" 2>&1 ||
        failed="$failed $test"
    cat "$test.log"
    echo "${test##*/}: $(($(date +%s) - start)) s"
done
[ -z "$failed" ] && exit 0
for test in $failed; do
    echo "--- FAILED: ${test##*/}"
    { grep -a '^\[----\]\|^\[FAIL\]' "$test.log" || cat "$test.log"; } |
        tail -n 20 | cut -c 1-400
done >&2
exit 1
