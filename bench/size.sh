#!/bin/sh
# size.sh: the recorder's share of a program: code, executable, compile time.
# SPDX-License-Identifier: MIT
# Prints lines of three columns, tabs between them: name, figure, unit.
set -eu
LC_ALL=C
export LC_ALL
cc=${CC:-gcc}
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

show() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
compile() { $cc -O2 -I"$root" "$@"; }

# Bytes of code in the functions of an object file whose names match.
code_bytes() {
    nm -S -t d "$1" |
        awk -v name="$2" '$3 ~ /^[tTwW]$/ && $4 ~ name { sum += $2 }
                          END { print sum + 0 }'
}

# The code that eight more call sites add to a function that has one. The
# arguments are in registers; the text of the format is not code.
site_function() { # NAME SITES ARGUMENTS
    echo "void $1(long a, long b, long c, long d) {"
    seq "$2" | while read -r _; do echo "record(net, $3);"; done
    echo '(void)a; (void)b; (void)c; (void)d; }'
}
four='a, b, c, d'
{
    echo '#include "recorder.h"'
    echo 'RECORDER(net, 256, "Network traffic")'
    for n in 1 9; do
        site_function "sites_0_$n" $n '"start"'
        site_function "sites_4_$n" $n "\"%ld %ld %ld %ld\", $four"
        site_function "sites_12_$n" $n \
            "\"%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\",
             $four, $four, $four"
    done
    echo 'const char *copy(const char *s) { return RECORDER_COPY(net, s); }'
    echo 'void name(const char *s) { recorder_thread_name(s); }'
} >sites.c
compile -c sites.c
for n in 0 4 12; do
    show "code at a call site with $n arguments" \
        $((($(code_bytes sites.o "^sites_${n}_9") -
            $(code_bytes sites.o "^sites_${n}_1")) / 8)) bytes
done
show 'code of the whole recorder, once for each file that records' \
    "$(code_bytes sites.o '^recorder_')" bytes

# Executables, stripped. The linker rounds up to pages: hence "code and data".
hello() { echo '#include <stdio.h>'; cat; }
hello >without.c <<'END'
int main(void) { puts("hello, world"); return 0; }
END
hello >with.c <<'END'
#include "recorder.h"
RECORDER(net, 256, "Network traffic");
int main(void) {
    puts("hello, world");
    record(net, "%d bytes from %s", 1, "localhost");
    return 0;
}
END
for which in without with; do
    compile -s $which.c -o $which
    show "executable of hello world $which a recorder" "$(wc -c <$which)" bytes
    show "its code and data, $which" \
        "$(size $which | awk 'NR == 2 { print $1 + $2 }')" bytes
done

# Compile times, of turns that alternate, over an empty file in the same turn.
: >empty.c
echo '#include "recorder.h"' >header.c
milliseconds() { # FILE: into $ms
    start=$(date +%s%N)
    compile -c "$1" -o timed.o
    ms=$(date +%s%N | awk -v start="$start" '{ print ($1 - start) / 1e6 }')
}
median() {
    sort -g "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}
turns=${TURNS:-61}
while [ "$turns" -gt 0 ]; do
    turns=$((turns - 1))
    milliseconds empty.c; empty=$ms
    milliseconds header.c; header=$ms
    milliseconds with.c; with=$ms
    milliseconds without.c; without=$ms
    echo "$empty" >>empty.ms
    awk "BEGIN { print $header - $empty }" >>header.ms
    awk "BEGIN { print $with - $without }" >>with.ms
done
show 'time to compile an empty file' "$(median empty.ms)" ms
show 'the header alone, over an empty file' "$(median header.ms)" ms
show 'hello world with a recorder, over one without' "$(median with.ms)" ms
