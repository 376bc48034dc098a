#!/bin/sh
# run.sh PROGRAM... - runs tests, as many at once as there are cores.
# SPDX-License-Identifier: MIT
#
# A line about each says what it looked at, which is line 1 of its source; what
# failed is shown at the end, then commands that run each alone. The last line
# counts the cases of all. What a program said in full is beside it, in a .log.
#
# A case of tests/outside that fails, where other processes take part, is run
# alone three times: if it passes each time, a line says so, and it has passed.
# A case of the header itself has no second chance.
#
# A test is a program, or a script; those of tests/outside are for bash.
#
# TURNS=13: of 13 programs 12, each day others, run as `make test` runs them.
# RUN: a command to run each with. CASE: the only case to run. AGAIN: how to run
# one, without TEST and CASE; `make run` if not set.
set -u

# Where the output of a test goes: beside the program; a script has no build.
log_of()
{
    case $1 in
    *.sh) echo "build/$1.log" ;;
    *) echo "$1.log" ;;
    esac
}

# tests/ring/whole.c of build/asan/tests/ring/whole
source_of()
{
    case $1 in
    *.sh) echo "$1" ;;
    *) echo "tests/${1##*tests/}.c" ;;
    esac
}

# What a source says of itself: the sentence of its first comment.
subject_of()
{
    sed '/^#!/d; s|^/\* ||; s|^# ||; s|^[a-z/]*\.[csh]* - ||; s| *\*/$||; q' "$1"
}

# "PASSED FAILED SKIPPED" of a log that ends with the exit status. A program
# that failed, or ran nothing, without a word of it is one failure.
count()
{
    awk '/^\[SKIP\]/ && !/: Test is disabled$/ { skipped++ } # not of --filter
        /^\[====\] Synthesis:/ {
            split($0, n, /[^0-9]+/)
            passed += n[3]; failed += n[2] - n[3]
        }
        /^[0-9]+ passed, [0-9]+ failed/ {
            passed += $1; failed += $3; skipped += $5
        }
        { last = $NF }
        END {
            if (!failed && (last != 0 || passed + skipped == 0))
                failed++
            print passed + 0, failed + 0, skipped + 0
        }' "$1"
}

# Runs one test, in whole or short, and says a line of it.
one()
{
    length=$1
    shift
    [ "$length" = whole ] || RECORDER_TEST_SCALE=0.1
    log=$(log_of "$1") start=$(date +%s)
    mkdir -p "${log%/*}"
    case $1 in
    tests/outside/*.sh) set -- "$1" bash "$1" ;;
    *.sh) set -- "$1" sh "$1" ;;
    *) set -- "$1" "$1" ${CASE:+--filter "*/$CASE"} --verbose ;;
    esac
    program=$1
    shift
    echo "$length" >"$log"
    timeout 1500 ${RUN:-} "$@" </dev/null >>"$log" 2>&1
    echo "exit status $?" >>"$log"
    name=$(source_of "$program")
    # shellcheck disable=SC2046
    printf '%-24s %s, %d s: %s\n' "${name#tests/}" "$(count "$log" |
        awk '{ print ($2 ? $2 " FAILED, " : "") $1 " passed" \
            ($3 ? ", " $3 " skipped" : "") }')" \
        $(($(date +%s) - start)) "$(subject_of "$name")"
}

# True for a script whose output has no names of cases.
is_plain()
{
    case $1 in
    tests/outside/*) false ;;
    *.sh) ;;
    *) false ;;
    esac
}

# The names of a log's failed cases.
failed_cases()
{
    sed -n 's/^\[FAIL\] [^:]*::\([A-Za-z0-9_]*\).*/\1/p' "$1"
}

# True if each failed case of a test passes three times alone; the first log
# remains.
passes_alone()
{
    case $(source_of "$1") in tests/outside/*) ;; *) return 1 ;; esac
    log=$(log_of "$1")
    length=$(head -n 1 "$log") cases=$(failed_cases "$log")
    mv "$log" "$log.first"
    for case in $cases $cases $cases; do
        (CASE=$case && export CASE && one "$length" "$1") >/dev/null
        case $(count "$log") in
        "1 0 "*) ;;
        *) cases= && break ;;
        esac
    done
    mv "$log.first" "$log"
    [ -n "$cases" ]
}

# What a failed test said.
failure()
{
    log=$(log_of "$1")
    echo
    echo "--- $(source_of "$1") failed; all of it: $log"
    if is_plain "$1"; then
        tail -n 40 "$log"
        return
    fi
    { grep -a '^\[----\]\|^\[FAIL\]' "$log" || cat "$log"; } |
        grep -av '^\[----\] *$\|Criterion v' | tail -n 20 | cut -c 1-400
}

# How to run each failed case of a test alone.
again()
{
    if is_plain "$1"; then
        echo "    again: sh $1"
        return
    fi
    log=$(log_of "$1") test=$(source_of "$1") test=${test#tests/}
    again="    again: ${AGAIN:-make run} TEST=${test%.*}"
    [ "$(head -n 1 "$log")" = whole ] ||
        again=$(echo "$again" | sed 's/ RECORDER_TEST_SCALE=[^ ]*//')
    failed_cases "$log" |
        while read -r case; do
            seed=$(sed -n "s/^$case: \(SEED=[0-9]*\)$/ \1/p" "$log" | tail -n 1)
            echo "$again CASE=$case$seed"
        done | grep . || echo "$again"
}

if [ "$1" = --one ]; then
    one "$2" "$3"
    exit
fi
# What several tests compile alike (build_once() of tests/harness/build.h).
RECORDER_TEST_BUILT=$(mktemp -d) || exit
export RECORDER_TEST_BUILT
trap 'rm -rf "$RECORDER_TEST_BUILT"' EXIT
trap 'exit 130' INT TERM
# Of the short ones one more, as some wait. xargs, as a shell's own jobs ignore
# SIGINT, and so would the tests' programs. Then those that measure processor
# time, one at a time: what runs beside them uses the same caches.
case ${RECORDER_TEST_SCALE:-1} in 0.[0-2]*) more=1 ;; *) more=0 ;; esac
printf '%s\n' "$@" | awk -v turns="${TURNS:-1}" -v day=$(($(date +%s) / 86400)) \
    '{ print (NR + day) % turns ? "short" : "whole", $0 }' \
    >"$RECORDER_TEST_BUILT/list"
grep -v '_costs$' "$RECORDER_TEST_BUILT/list" | sort -rsk 1,1 | # whole ones first
    xargs -r -P $(($(nproc) + more)) -L 1 sh tests/run.sh --one
grep '_costs$' "$RECORDER_TEST_BUILT/list" | xargs -r -L 1 sh tests/run.sh --one
# Why a test was skipped, or tried less than it can; without "long", which
# `make test-all` runs.
for program in "$@"; do
    sed -n 's/^\[SKIP\] [^ ]*: /skipped: /p; s/^left out: /part of a test left out: /p' \
        "$(log_of "$program")"
done | grep -v ': long: \|: Test is disabled$' | sort | uniq -c | cut -c 1-160
passed=0 failed=0 skipped=0 alone=0 wrong=
for program in "$@"; do
    # shellcheck disable=SC2046
    set -- $(count "$(log_of "$program")")
    if [ "$2" != 0 ]; then
        failure "$program"
        if passes_alone "$program"; then
            echo "    three times alone: passed"
            alone=$((alone + $2))
            set -- $(($1 + $2)) 0 "$3"
        else
            wrong="$wrong $program"
        fi
    fi
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
[ $failed = 0 ] || echo
for program in $wrong; do again "$program"; done
[ $alone = 0 ] || echo "$alone of those that passed failed first"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
