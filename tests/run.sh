#!/bin/sh
# run.sh TEST... - runs test programs one after the other; fails if any does.
# SPDX-License-Identifier: MIT
# RUN: a command to run each with.
set -u
failed=
for test in "$@"; do
    start=$(date +%s)
    timeout 300 ${RUN:-} "$test" </dev/null || failed="$failed ${test##*/}"
    echo "${test##*/}: $(($(date +%s) - start)) s"
done
[ -z "$failed" ] && exit 0
echo "FAILED:$failed" >&2
exit 1
