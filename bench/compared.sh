#!/bin/sh
# compared.sh: ns of CPU time of one event, of recorder and of other tools.
# SPDX-License-Identifier: MIT
# Of 5 runs, the median. Debian: libspdlog-dev liblttng-ust-dev lttng-tools uftrace
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'lttng destroy "${dir##*/}" >"$dir/log" 2>&1 || :; rm -rf "$dir"' EXIT
c="-O2 -DNDEBUG -I. -Iexamples examples/compared/compared.cc"
with=; [ ! -e /usr/include/spdlog/spdlog.h ] || with="-DWITH_SPDLOG -lspdlog -lfmt
    -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL"
if lttng create --snapshot "${dir##*/}" -o "$dir/trace" >"$dir/log" 2>&1; then
    with="$with -DWITH_LTTNG $dir/event.o -llttng-ust -ldl"
    cc -O2 -Iexamples -DLTTNG_UST_TRACEPOINT_DEFINE -o "$dir/event.o" \
        -DLTTNG_UST_TRACEPOINT_CREATE_PROBES -xc -c examples/compared/event.h
    lttng enable-channel -u --overwrite --subbuf-size 256k --num-subbuf 4 ring
    lttng enable-event -u -c ring 'compared:*' && lttng start
fi >>"$dir/log"
c++ $c $with -o "$dir/all"
c++ $c -pg -o "$dir/calls"
for i in 1 2 3 4 5; do
    "$dir/all"
    uftrace record --no-libcall -d "$dir/calls.data" "$dir/calls" uftrace ||:
done 2>>"$dir/log" | sort -t "$(printf '\t')" -k 1,1 -k 2n |
    awk -F '\t' 'NR % 5 == 3 { printf "| %s | %s |\n", $1, $2 }'
