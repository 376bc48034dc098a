#!/bin/sh
# libraries.sh [names SYSTEM] - looks for the libraries of the recorder command.
# SPDX-License-Identifier: MIT
#
# It compiles and links a call of each (CC, CPPFLAGS, CFLAGS, LDFLAGS): any source
# of a library will do. It installs nothing: it names missing libraries and their
# packages, and its status is 1. `names debian`
# prints the packages of all of them.
set -u

# Without spaces: name, header, a function (libiberty's header has another path
# on each system, so it is declared here), and the package for developers in
# Debian, Fedora, openSUSE, Arch and Alpine.
table="
libelf:libelf.h:elf_begin(0,ELF_C_NULL,0):-lelf:libelf-dev:elfutils-libelf-devel:libelf-devel:libelf:elfutils-dev
libdw:elfutils/libdwfl.h:dwfl_begin(0):-ldw:libdw-dev:elfutils-devel:libdw-devel:libelf:elfutils-dev
sqlite:sqlite3.h:sqlite3_libversion():-lsqlite3:libsqlite3-dev:sqlite-devel:sqlite3-devel:sqlite:sqlite-dev
zlib:zlib.h:zlibVersion():-lz:zlib1g-dev:zlib-devel:zlib-devel:zlib:zlib-dev
zstd:zstd.h:ZSTD_versionNumber():-lzstd:libzstd-dev:libzstd-devel:libzstd-devel:zstd:zstd-dev
libiberty:stddef.h:__extension__({__typeof__(int(void))cplus_demangle_v3_callback;cplus_demangle_v3_callback();}):-liberty:libiberty-dev:binutils-devel:binutils-devel:binutils:binutils-dev
capstone:capstone/capstone.h:cs_version(0,0):-lcapstone:libcapstone-dev:capstone-devel:libcapstone-devel:capstone:capstone-dev
libseccomp:seccomp.h:seccomp_version():-lseccomp:libseccomp-dev:libseccomp-devel:libseccomp-devel:libseccomp:libseccomp-dev
"

# names SYSTEM [library...]: its packages of these libraries, or of all.
names()
{
    case $1 in
    debian) column=5 ;;
    fedora) column=6 ;;
    suse) column=7 ;;
    arch) column=8 ;;
    alpine) column=9 ;;
    *) echo "libraries.sh: no names for $1" >&2 && exit 2 ;;
    esac
    shift
    echo "$table" | awk -F: -v column="$column" -v wanted=" $* " '
        NF && (wanted ~ /^ *$/ || index(wanted, " " $1 " ")) &&
            !seen[$column]++ { printf "%s%s", sep, $column; sep = " " }'
}

# True if a program with these lines of the table builds.
builds()
{
    # shellcheck disable=SC2086
    printf '%s\n' "$@" | awk -F: 'NF {
            print "#include <" $2 ">"
            calls = calls "    (void)" $3 ";\n"
        }
        END { print "int main(void)\n{\n" calls "    return 0;\n}" }' |
        ${CC:-cc} ${CPPFLAGS:-} ${CFLAGS:-} -x c - -x none -o "$scratch/probe" \
            ${LDFLAGS:-} $(printf '%s\n' "$@" | cut -d: -f4) >/dev/null 2>&1
}

if [ $# -gt 0 ]; then
    [ "$1" = names ] && [ $# -gt 1 ] ||
        { echo "libraries.sh [names SYSTEM]" >&2 && exit 2; }
    shift
    names "$@" && echo
    exit
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
builds "$table" && exit 0
builds "" || {
    echo "recorder: no C compiler: ${CC:-cc} builds no empty program" >&2
    exit 1
}
missing=
for line in $table; do
    builds "$line" || missing="$missing ${line%%:*}"
done
[ -n "$missing" ] || exit 0 # each alone: the command's build will say more
{
    echo "recorder: the recorder command needs libraries that are not here:" \
        $missing
    kind=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}")
    for known in "debian:Debian, Ubuntu:apt-get install" \
        "fedora:Fedora:dnf install" "suse:openSUSE:zypper install" \
        "arch:Arch:pacman -S" "alpine:Alpine:apk add"; do
        case "$kind" in
        *"${known%%:*}"*) said=1 ;;
        *) continue ;;
        esac
        echo "    ${known##*:} $(names "${known%%:*}" $missing)"
    done
    [ -n "${said:-}" ] || echo "    in Debian their packages are:" \
        "$(names debian $missing)"
    ! command -v apt-get >/dev/null || echo "or: make deps"
    echo "Programs that record need none of them, nor does make hanoi."
} >&2
exit 1
