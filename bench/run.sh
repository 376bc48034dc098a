#!/bin/sh
# run.sh: runs all benchmarks and writes their figures into a page of docs.
# SPDX-License-Identifier: MIT
# usage: run.sh BENCH [PAGE [BENCH...]]
# The tables go to standard output, and into the page between the lines
# <!-- bench --> and <!-- /bench -->. REPETITIONS=5 is quick and coarse.
set -eu
LC_ALL=C
export LC_ALL
if [ $# -lt 1 ]; then
    echo 'usage: run.sh BENCH [PAGE [BENCH...]]' >&2
    exit 2
fi
bench=$1
readme=${2-}
shift $(($# < 2 ? $# : 2))
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Many short repetitions, in random order: a disturbance of some length hits all
# benchmarks alike. Other programs count little in the CPU time of one thread;
# threads need the machine for themselves.
measure() {
    of=$1
    shift
    "$of" --benchmark_enable_random_interleaving=true \
        --benchmark_repetitions="${REPETITIONS:-31}" \
        --benchmark_format=csv "$@"
}
for each in "$bench" "$@"; do
    "$each" --benchmark_list_tests
done >"$dir/names"
measure "$bench" --benchmark_filter='-^dump/' --benchmark_min_time=0.03 >"$dir/csv"
# A process where no other ring is filled.
measure "$bench" --benchmark_filter='^dump/' --benchmark_min_time=0.01 \
    --benchmark_repetitions=5 >>"$dir/csv"
for each in "$@"; do # programs that make another choice
    measure "$each" --benchmark_min_time=0.03 >>"$dir/csv"
done
"$here/size.sh" >"$dir/sizes"

{
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    echo "${model:-$(uname -m)}, $(nproc) cores," \
        "$(${CC:-gcc} --version | head -n 1), $(date +%Y-%m-%d), \`make bench\`"
    echo
    { grep '^record/' "$dir/names"; grep -v '^record/' "$dir/names"; } |
        awk -f "$here/table.awk" - "$dir/csv" "$dir/sizes"
    echo
    sh "$here/command.sh" "$here/../build/recorder"
} >"$dir/table"
cat "$dir/table"

[ -n "$readme" ] || exit 0
if ! awk -v table="$dir/table" '
        $0 == "<!-- /bench -->" && inside { inside = 0; whole = 1 }
        !inside { print }
        $0 == "<!-- bench -->" && !whole {
            inside = 1
            while ((getline line < table) > 0)
                print line
        }
        END { exit !whole }' "$readme" >"$dir/readme"; then
    echo "run.sh: no lines <!-- bench --> and <!-- /bench --> in $readme:" \
        'it stays as it is' >&2
    exit 0
fi
cat "$dir/readme" >"$readme"
