# cases.sh - Runs the cases of a script in tests/outside, each in its own folder.
# SPDX-License-Identifier: MIT
#
# A case is the line "## NAME", or "## NAME, long" if only `make test-all` runs
# it, and the commands up to the next such line; what precedes the first case
# is for all. The first command that fails ends its case. A case has:
#
#   $ROOT $PROGRAMS        the folders of recorder.h and of tests/programs
#   start CMD...           runs a program that says "PID n", and waits: $pid
#   stop [PID]             kills it; the end of the case kills all of them
#   must [-N] CMD...       the status is N, or 0; $text is all that CMD says
#   is TEXT, is <<END      $text is this (a last newline does not count)
#   has TEXT... lacks TEXT...
#   until_has TEXT CMD...  repeats CMD until it says TEXT; a minute at most
#   not CMD...             CMD fails
#   needs PROGRAM...       skips the case where one is not installed
#   has_program PROGRAM    for one variant of several: false, and says so
#   skip WHY, leaves_out WHY
#   once CMD               makes files by a command that reads none of the
#                          folder: the first case of a run makes them, others copy
#   scaled N, sampled      as in harness/random.h; RANDOM=$(seed) says SEED=N
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
set -euE
shopt -s inherit_errexit
cd "${0%/*}/../.."
ROOT=$PWD PROGRAMS=$PWD/tests/programs SCALE=${RECORDER_TEST_SCALE:-1}
WARNINGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
PATH=$ROOT/build:$PATH
export LC_ALL=C

# ------------------------------------------------------------------ all cases

# Runs one case, and says a line of it; more if it failed.
case_run()
{
    local name=${1%, long} status=0 folder pid
    folder=$(mktemp -d /tmp/recorder-test-XXXXXX)
    : >"$folder.started"
    awk -v name="$1" '/^## / { cases = 1; mine = $0 == "## " name }
        { print !cases || mine ? $0 : "" }' "$script" >"$folder.case"
    if [[ $1 = *,\ long && $SCALE = 0.[0-2]* ]]; then
        status=77
        echo 'skipped: long: RECORDER_TEST_SCALE=1 runs it' >"$folder.log"
    else
        timeout -k 1 "${CASE_SECONDS:-400}" env CASE_FOLDER="$folder" \
            bash -c '. "$CASE_FOLDER.case"' "$script" \
            >"$folder.log" 2>&1 </dev/null || status=$?
    fi
    {
        grep -a '^left out: ' "$folder.log" || true
        case $status in
        0) echo "[PASS] $suite::$name" ;;
        77) echo "[SKIP] $suite::$name: $(sed -n 's/^skipped: //p' "$folder.log")" ;;
        *) echo "[FAIL] $suite::$name: status $status"
            tail -n 40 "$folder.log" | cut -c 1-2000 | sed 's/^/[----] /' ;;
        esac
    } >"$folder.said"
    cat "$folder.said"
    # A process that ended may have left its id to another one.
    while read -r pid; do
        case $(readlink "/proc/$pid/cwd") in "$folder"*) kill -KILL "$pid" ;; esac
    done <"$folder.started"
    chmod -R u+w "$folder" || true
    rm -rf "$folder" "$folder".*
}

cases_run()
{
    local said
    said=$(mktemp)
    sed -n 's/^## //p' "$script" | while read -r name; do
        # shellcheck disable=SC2254
        case ${name%, long} in ${CASE:-*}) printf '%s\0' "$name" ;; esac
    done | CASE_FOLDER=all xargs -0 -r -P "$(nproc)" -I '{}' \
        bash "$script" '{}' | tee "$said"
    awk '/^\[PASS\]/ { passed++ } /^\[FAIL\]/ { failed++ }
        END { print passed + 0 " passed, " failed + 0 " failed" }' "$said"
    ! grep -q '^\[FAIL\]' "$said" || said=failed
    rm -f "$said"
    [ "$said" != failed ]
}

# ------------------------------------------------------------------- one case

case_end()
{
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) 2>/dev/null || true
}
skip()
{
    echo "skipped: $*"
    exit 77
}
leaves_out()
{
    echo "left out: $*"
}
not()
{
    ! "$@"
}
start()
{
    local line
    exec 9< <(exec "$@")
    read -r -u 9 line pid || line=
    exec 9<&-
    echo "$pid" >>"$CASE_FOLDER.started"
    [ "$line" = PID ] || { echo "it did not start: $*" && false; }
}
stop() # a process that may have ended
{
    kill -KILL "${1:-$pid}" 2>/dev/null || true
    wait "${1:-$pid}" 2>/dev/null || true
}
must()
{
    local want=0 status=0
    case $1 in -[0-9]*) want=${1#-} && shift ;; esac
    text=$("$@" 2>&1) || status=$?
    [ $status = "$want" ] || { echo "status $status of: $*" "
$text" && false; }
}
is()
{
    local want
    [ $# = 1 ] && want=$(echo "$1") || want=$(cat)
    [ "$text" = "$want" ] || {
        diff -a <(echo "$want") <(echo "$text") || true
        false
    }
}
has()
{
    for word; do
        [[ $text$'\n' = *"$word"* ]] || { echo "no \"$word\" in
$text" && false; }
    done
}
lacks()
{
    for word; do
        [[ $text$'\n' != *"$word"* ]] || { echo "\"$word\" is in
$text" && false; }
    done
}
until_has()
{
    local word=$1 end=$((SECONDS + 60))
    shift
    while text=$("$@" 2>&1) || true; [[ $text$'\n' != *"$word"* ]]; do
        [ $SECONDS -lt $end ] || { has "$word"; return; }
        sleep 0.05
    done
}

# A program is lacking: fails where CI is set, unless it is one of those that
# tests/packages.sh does not install (build_optional of harness/build.h).
case_lacks()
{
    [ -n "${CI:-}" ] || return 0
    sed -n '/build_optional\[\]/,/;/s/"\([^"]*\)"/\n\1\n/gp' \
        "$ROOT/tests/harness/build.h" | grep -v '[ {}]' | grep . |
        while read -r begin; do
            [[ $1 != "$begin"* ]] || echo "$begin"
        done | grep -q . || {
        echo "CI installs what tests need, but not $1: see tests/packages.sh"
        exit 1
    }
}
has_program()
{
    ! command -v "$1" >/dev/null || return 0
    case_lacks "$1"
    leaves_out "no $1 here"
    return 1
}
needs()
{
    for word; do
        has_program "$word" || skip "no $word here"
    done
}
# Does this compiler build and run an empty program with these flags? A kernel
# that runs no programs of that kind (status 126) lacks no package.
has_flags()
{
    local status=0
    echo 'int main(void) { return 0; }' >can.c
    { "$@" -o can can.c && ./can; } >can.log 2>&1 || status=$?
    [ $status != 0 ] || return 0
    [ $status = 126 ] || case_lacks "$*"
    leaves_out "$* builds nothing that runs here"
    return 1
}
once()
{
    local made
    [ -n "${RECORDER_TEST_BUILT:-}" ] || { eval "$*"; return; }
    made=$RECORDER_TEST_BUILT/$(echo "$*" | cksum | tr ' ' -)
    (
        flock 9
        test -d "$made" || {
            rm -rf "$made.new"
            mkdir "$made.new"
            cd "$made.new"
            eval "$*"
            mv "$made.new" "$made"
        }
    ) 9>"$made.lock"
    cp -r "$made/." .
}
scaled()
{
    awk "BEGIN { n = int($1 * $SCALE); print n < 1 ? 1 : n }"
}
sampled()
{
    case_sample=$((${case_sample:--1} + 1))
    awk "BEGIN { exit !($case_sample == 0 || int($case_sample * $SCALE) != \
        int(($case_sample - 1) * $SCALE)) }"
}
# Compiles programs/command.c as ./NAME, by COMPILER...
command_build()
{
    once "${@:2} -I$ROOT -o $1 $PROGRAMS/command.c -lpthread"
}
many_build()
{
    once "gcc -O2 -I$ROOT -o many $PROGRAMS/many.c -lpthread"
}
# Tells programs/command.c to go, and waits until that is done.
command_goes()
{
    touch go
    until test -e done; do sleep 0.01; done
    rm done
}
# Makes ./core of "./program core ARGUMENT": by the kernel, where it leaves
# cores in the folder of the program, else by gdb.
command_core()
{
    rm -f core
    if [ "$(cat /proc/sys/kernel/core_pattern)" = core ]; then
        (ulimit -c unlimited && exec "$1" core "$2") || true
    else
        start "$1" everything "$2"
        gdb -p "$pid" --batch -ex 'generate-core-file core'
        stop
    fi
    test -s core
}
# A dump by the command equals the program's own in in.txt, except for the date
# and the stack of a crash: byte for byte.
command_must_dump()
{
    recorder dump "$1" >out.txt
    tail -n +2 in.txt >in
    sed '1d; /^CRASH SIG/,$d' out.txt >out
    test -s in
    cmp in out || diff -a in out
    diff <(head -n 1 in.txt | sed 's/ AT .*UTC//') \
        <(head -n 1 out.txt | sed 's/ AT .*UTC//')
}
# A seed, which the log tells; SEED=n takes that.
seed()
{
    echo ${SEED:=$RANDOM$RANDOM}
    echo "SEED=$SEED" >&2
}
# Waits until all threads of a process are asleep, and off their processors.
rests()
{
    local end=$((SECONDS + 60))
    while cat "/proc/$1"/task/*/stat "/proc/$1"/task/*/syscall 2>/dev/null |
        grep -q ') R \|running'; do
        [ $SECONDS -lt $end ]
        sleep 0.002
    done
}

script=$ROOT/tests/outside/${0##*/} suite=${0##*/} suite=${suite%.sh}
case ${CASE_FOLDER:-} in
'')
    if cases_run; then exit 0; else exit 1; fi
    ;;
all)
    case_run "$1"
    exit 0
    ;;
*)
    cd "$CASE_FOLDER"
    trap 'echo "line $LINENO: status $?: $BASH_COMMAND"' ERR
    trap case_end EXIT
    ;;
esac
