#!/bin/sh
# house.sh - the doors tell the truth: promises, contents, prototypes, tables.
# SPDX-License-Identifier: MIT
#
# A door is a header that users include: recorder*.h. The parts are
# in recorder/. Each check below prints a line "FILE:LINE: what is wrong" for each
# thing that it finds; a check that prints nothing has passed.
set -u
cd "$(dirname "$0")/.." || exit 1
doors=$(ls recorder*.h)
parts=$(ls recorder/*.h 2>/dev/null)
[ -n "$parts" ] || { echo "0 passed, 0 failed, 12 skipped: no recorder/ yet" && exit; }

# Each promise ends with the tests that keep it: -> tests/ring/whole.c
promises()
{
    awk 'function end()
        {
            if (!at) return
            if (!match(text, / -> /)) {
                print at ": the promise names no test (-> tests/...)"
            } else {
                n = split(substr(text, RSTART + 4), named, /[ ,]+/)
                for (i = 1; i <= n; i++)
                    if ((getline line < named[i]) < 0)
                        print at ": the test " named[i] " does not exist"
                    else
                        close(named[i])
            }
            at = ""
        }
        FNR == 1 { inside = 0 }
        /^PROMISES/ { inside = 1; next }
        inside && (/^[A-Z]+/ || /^\*\// || /^$/) { end(); inside = 0 }
        inside && /^    [^ ]/ { end(); at = FILENAME ":" FNR; text = "" }
        inside { sub(/^ +/, ""); text = text " " $0 }' $doors $parts
}

# CONTENTS lists the titles of the sections, in their order.
contents()
{
    for file in $doors $parts; do
        awk '/^CONTENTS/ { at = FNR; listing = 1; next }
            listing && !/^    / { listing = 0 }
            listing { entry[++entries] = substr($0, 5) " "; next }
            /^\/\* ---+ .* --( \*\/)?$/ {
                title = $0
                gsub(/^\/\* -+ | --( \*\/)?$/, "", title)
                titles++
                if (at && index(entry[titles], title " ") != 1)
                    print FILENAME ":" FNR ": the section \"" title \
                        "\" is not entry " titles " of CONTENTS"
            }
            END {
                if (at && titles != entries)
                    print FILENAME ":" at ": CONTENTS has " entries \
                        " entries, the file " titles + 0 " sections"
            }' "$file"
    done
}

# "FILE LINE NAME ;" for each function that is declared, "{" where it is defined.
functions()
{
    for file in "$@"; do
        sed -e 's/^RECORDER_STUB_(\(.*\), \(recorder_[a-z0-9_]*\),/RECORDER_INLINE_ \1 \2 /' \
            -e 's/;)$/;/' \
            "$file" | awk -v file="$file" '{ text = text $0 "\n" }
            # Blanks all but the lines of what a pattern matches.
            function blank(pattern, was, out)
            {
                out = ""
                while (match(text, pattern)) {
                    was = substr(text, RSTART, RLENGTH)
                    gsub(/[^\n]/, " ", was)
                    out = out substr(text, 1, RSTART - 1) was
                    text = substr(text, RSTART + RLENGTH)
                }
                text = out text
            }
            END {
                line = 1
                blank("/[*]([^*]|[*]+[^*/])*[*]+/")
                blank("\"([^\"\\\\\n]|\\\\.)*\"")
                blank("[ \t]*#([^\\\\\n]|\\\\.|\\\\\n)*\n")
                while (match(text, /[;{}]/)) {
                    chunk = substr(text, 1, RSTART - 1)
                    ends = substr(text, RSTART, 1)
                    text = substr(text, RSTART + 1)
                    begins = line
                    line += gsub(/\n/, " ", chunk)
                    if (ends != "}" && chunk !~ /^ *(typedef|return) / &&
                        match(chunk, /^ *[A-Za-z_][A-Za-z0-9_ *()]*[ *]recorder_[a-z0-9_]+ *\(/)) {
                        name = substr(chunk, 1, RLENGTH)
                        sub(/ *\($/, "", name)
                        sub(/.*[ *]/, "", name)
                        print file, line, name, ends
                    }
                }
            }'
    done
}

# What a door declares, a part defines.
prototypes()
{
    functions $doors >"$scratch/doors"
    functions $doors $parts >"$scratch/all"
    awk 'NR == FNR { if ($4 == "{") defined[$3] = 1; next }
        $4 == ";" && !($3 in defined) {
            print $1 ":" $2 ": " $3 "() is declared, and defined nowhere"
        }' "$scratch/all" "$scratch/doors"
}

# docs/say.md names each macro of the doors, and no word that is not in the code.
macros()
{
    awk '{ gsub(/[^A-Za-z0-9_]+/, " "); n = split($0, word, " ")
            for (i = 1; i <= n; i++)
                if (word[i] ~ /^(RECORDER|recorder_|record$)/ && !seen[word[i]]++)
                    print FNR, word[i] }' docs/say.md |
        sed 's/ D\(RECORDER\)/ \1/' >"$scratch/said"
    for name in $(sed -n 's/^#define \([A-Za-z0-9_]*[A-Za-z0-9]\)\([( ].*\)*$/\1/p' $doors |
        grep -v '_H$' | sort -u); do
        grep -q " $name$" "$scratch/said" ||
            echo "docs/say.md: the table lacks $name"
    done
    while read -r line name; do
        grep -qw "$name" $doors $parts || [ -e "$name.h" ] ||
            echo "docs/say.md:$line: $name is in no header"
    done <"$scratch/said"
}

# docs/options.md names each variable that the code reads, each macro that a user
# may define, and each option of the command.
options()
{
    {
        grep -rhoE '(getenv|setenv|environment_|environ.get)\("[A-Z_]+"' recorder \
            run tools fleet python gdb library compat
        grep -hE '^ *# *(if|ifdef|ifndef|elif) ' $doors $parts |
            grep -oE '\bRECORDER_[A-Z_]*[A-Z]\b' | grep -v '_H$\|_TRACE$'
    } | grep -oE '[A-Z_]*[A-Z]$|[A-Z_]*[A-Z]"' | tr -d '"' >"$scratch/options"
    sed -nE "s/^ *\{?('.'|OPTION_[A-Z_]*), \"([a-z-]+)\",.*/--\2/p" \
        tools/verbs/*.c tools/*.[ch] >>"$scratch/options"
    sort -u "$scratch/options" | while read -r name; do
        grep -qE -- "(^|[^A-Za-z_-])$name([^A-Za-z_-]|\$)" docs/options.md ||
            echo "docs/options.md lacks $name"
    done
    [ "$(sort -u "$scratch/options" | wc -l)" -gt 90 ] ||
        echo "house.sh: options() finds too few"
    for name in $(grep -ohE '\bRECORDER_[A-Z_]*[A-Z]\b' docs/options.md | sort -u); do
        grep -rqw "$name" recorder*.h recorder hooks run tools fleet python compat ||
            echo "docs/options.md: $name is in no code"
    done
    [ ! -x build/recorder ] || columns
}

# Its middle column, and --help of each verb, name the same options.
columns()
{
    option='s/^  (-., )?(--[a-z-]+).*/\2/p'
    for verb in $(ls tools/verbs | sed 's/\.c$//'); do
        build/recorder "$verb" --help | sed -nE "$option" | sed "s/$/ $verb/"
    done | sort -u >"$scratch/helped"
    build/recorder help options | sed -nE "$option" | sort -u >"$scratch/common"
    sed -nE 's/^\| `(-., )?(--[a-z-]+)[^|]*\| ([^|]*) \|.*/\2 \3/p' docs/options.md |
        tee "$scratch/rows" | sed -E 's/;.*|,? ?(all verbs|verbs that choose).*//; s/,//g' |
        awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort -u |
        diff "$scratch/helped" - |
        sed -n 's/^< /docs\/options.md lacks /p; s/^> \(.*\)/docs\/options.md: \1 is in no --help/p'
    sed -nE 's/ .*(all verbs|verbs that choose).*//p' "$scratch/rows" | sort -u |
        diff "$scratch/common" - | sed -n 's/^[<>] /docs\/options.md and help options: /p'
}

# docs/command.md names each verb of the command, and no other.
verbs()
{
    ls tools/verbs | sed -n 's/\.c$//p' | sort >"$scratch/verbs"
    sed -n 's/^| `recorder \([a-z]*\) .*/\1/p' docs/command.md | sort |
        diff "$scratch/verbs" - |
        sed -n 's|^< \(.*\)|docs/command.md: the table of verbs lacks \1|p
            s|^> \(.*\)|docs/command.md: tools/verbs/\1.c does not exist|p'
    [ ! -x build/recorder ] || build/recorder --help |
        sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | sort |
        diff "$scratch/verbs" - |
        sed -n 's|^< \(.*\)|tools/verbs/\1.c: recorder --help lacks it|p
            s|^> \(.*\)|tools/verbs/\1.c does not exist; --help names it|p'
}

# README names each door and each page of docs; what it names or links to is
# there.
files()
{
    for file in $doors docs/*.md; do
        grep -q "($file)" README.md || echo "README.md: no link to $file"
    done
    grep -no '](\([a-z][^):#]*\))\|`recorder[a-z_/]*\.h`' README.md |
        sed 's/](\(.*\))/\1/; s/`//g' |
        while IFS=: read -r line file; do
            [ -e "$file" ] || echo "README.md:$line: $file does not exist"
        done
}

# Doors include parts, parts never doors; nothing includes itself by a detour.
includes()
{
    grep -n '#include *["<][./]*recorder[a-z_]*\.h' $parts |
        sed 's/:#include/: a part includes a door:/'
    for file in $doors $parts $(find tools -name '*.h'); do
        sed -n 's/^# *include "\([^"]*\)".*/\1/p' "$file" |
            while read -r included; do
                echo "$file $(ls "${file%/*}/$included" "$included" tools/*/"$included" \
                    2>/dev/null | head -n 1)"
            done
    done | awk 'NF == 2' | tsort 2>&1 >/dev/null |
        sed -n 's/^tsort: \(.*\.h\)$/\1: is in a circle of includes/p'
}

# What os.h asks of a system, each of the systems' files defines; what os_file.h
# asks, those that have recordings.
systems()
{
    answers recorder/os.h 36 recorder/os_linux.h recorder/os_posix.h \
        "recorder/os_windows.h recorder/os_windows_signal.h"
    sed '/^A system that is no port/,/^\*\//{/^\*\//!d}' recorder/os.h >"$scratch/os.h"
    answers "$scratch/os.h" 20 recorder/os_none.h
    answers recorder/os_file.h 26 \
        "recorder/os_linux.h recorder/os_linux_file.h" \
        recorder/os_windows_file.h
}
# answers CONTRACT LEAST FILES...: at least so many functions are asked for.
answers()
{
    contract=$1
    sed -n '/^\/\*$/,/^\*\//s/^        .*[ *(]\(recorder_os_[a-z_]*\)(.*/\1/p' \
        "$contract" | sort -u >"$scratch/asked"
    [ "$(wc -l <"$scratch/asked")" -ge "$2" ] ||
        echo "$contract: says too little of what it asks"
    shift 2
    for file in "$@"; do
        # shellcheck disable=SC2086
        functions $file | awk '{ print $3 }' | sort -u |
            comm -23 "$scratch/asked" - |
            sed "s|.*|$file: lacks &(), which $contract asks for|"
    done
}

# A list of FLOORS is true: no object of a room calls an object of a higher floor.
floors()
{
    for door in tools/reader/reader.h tools/unwind/unwind.h tools/threads/threads.h \
        tools/tasks/tasks.h tools/compare/compare.h; do
        room=build/${door%/*}
        set -- "$room"/*.o
        [ -e "$1" ] || return # nothing is built here
        { awk '/^FLOORS/ { at = 1; next }
            at == 1 && !/^ / { next }
            at && !/^    [a-z]/ { exit }
            at { gsub(/,/, " ")
                # a second blank ends the names
                sub(/^ +/, ""); if ($0 ~ /   /) sub(/   .*/, "")
                n = split($0, name, " ")
                for (i = 1; i <= n; i++) print "floor", name[i], at
                at++ }' "$door"
            nm -A "$@" | sed -n "s|^$room/\([a-z_0-9]*\)\.o:[0-9a-f ]*\([A-Z]\) |\2 \1 |p"
        } | awk -v door="$door" '$1 == "floor" { floor[$2] = $3 + 0; next }
            $1 == "T" { home[$3] = $2; next }
            $1 == "U" { from[++calls] = $2; to[calls] = $3 }
            END {
                for (i = 1; i <= calls; i++)
                    if (from[i] in floor && home[to[i]] in floor && \
                        floor[home[to[i]]] < floor[from[i]])
                        print door ": " from[i] " calls " to[i] "() of " \
                            home[to[i]] ", which is on a higher floor"
            }'
    done
}

# Conditionals outside the files for systems and compilers have a limit; guards and
# those for C++ do not count. The lock-free files have none inside a function.
conditionals()
{
    # shellcheck disable=SC2046
    set -- $(ls $doors $parts | grep -v '/os_\|/os\.h\|/clock\.h\|/language\.h')
    grep -hE '^ *# *(if|ifdef|ifndef|elif)\b' "$@" |
        grep -vE '_H_? *$|__cplusplus *$' | wc -l | awk -v most=103 '
        $1 > most { print "recorder/: " $1 " conditionals, at most " most }'
    awk 'FNR == 1 { inside = 0 }
        /^{/ { inside = 1 }
        /^}/ { inside = 0 }
        inside && /^ *# *(if|elif)/ {
            print FILENAME ":" FNR ": a conditional inside a function"
        }' recorder/ring.h recorder/lane.h recorder/order.h recorder/record.h \
        recorder/word.h tools/reader/*.[ch]
}

# A file is read in one sitting, the ring in a short one.
sizes()
{
    wc -l $parts | awk -v ring=350 -v most=660 '
        $2 == "total" { next }
        { may = $2 == "recorder/ring.h" ? ring : most }
        $1 > may { print $2 ":" $1 ": longer than " may " lines" }'
}

# Each header compiles with nothing before it; `make test` asks one compiler for
# C and another for C++.
alone()
{
    set -- gcc "clang++ -std=c++11"
    case ${RECORDER_TEST_SCALE:-1} in 0.[0-2]*) ;; *) set -- "$@" "g++ -std=c++11" clang ;; esac
    for compiler; do
        command -v "${compiler%% *}" >/dev/null || continue
        case $compiler in *++*) as=c++ ;; *) as=c ;; esac
        for file in $doors $parts; do
            # shellcheck disable=SC2086
            echo "#include \"$file\"" | $compiler -Wall -Wextra -Wpedantic \
                -Wconversion -Wshadow -Wundef -Werror -I. -x $as -fsyntax-only - \
                >"$scratch/said" 2>&1 && continue
            echo "$file:1: does not compile alone by $compiler:"
            grep -m 1 error "$scratch/said"
        done
    done
}

# The number of product lines has a limit, which tests/weight.sh names.
weight()
{
    git rev-parse 2>/dev/null || return # an archive has no list of files
    sh tests/weight.sh >"$scratch/said" || tail -n 1 "$scratch/said"
}

# docs/evidence.md has each promise; the files, functions and mutants of the table
# exist.
evidence()
{
    command -v python3 >/dev/null || return
    python3 tests/evidence/tables.py
}

# Plain English: tests/prose.py counts habits that make a reader stumble.
prose()
{
    git rev-parse 2>/dev/null && command -v python3 >/dev/null || return
    python3 tests/prose.py --list 20 >"$scratch/said" || cat "$scratch/said"
}

# Without its semicolon a recorder of C cannot be the last thing in a file.
semicolons()
{
    git rev-parse 2>/dev/null || return
    git grep -nE '^ *RECORDER(_LANES|_AT|_TWEAK_DEFINE|_(TWEAK_)?DECLARE)?\(.*\) *(/[/*].*)?$' \
        README.md docs examples hooks bench packages
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
for check in promises contents prototypes macros options verbs files includes systems floors conditionals sizes weight evidence prose semicolons alone; do
    said=$($check 2>&1)
    if [ -z "$said" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s\n' "[FAIL] $check" "$said"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
