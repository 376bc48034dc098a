#!/bin/sh
# install.sh install|uninstall - installs files below PREFIX; removes them.
# SPDX-License-Identifier: MIT
#
# PREFIX      the final place, an absolute path
# DESTDIR     goes before all written paths: for makers of packages
# PYTHONDIR   the folder where Python finds the module `recorder`
# GDBINIT     the folder of gdb's startup scripts; empty: leave gdb alone
#
# PREFIX/share/recorder/installed names each file and, with a / at its end, each
# folder that was made. Other files stay when these are removed.
set -eu
umask 022
list=$PREFIX/share/recorder/installed

# Makes a folder and those above it.
folder()
{
    [ ! -d "$DESTDIR$1/" ] || return 0
    folder "${1%/*}"
    mkdir "$DESTDIR$1"
    echo "$1/" >>"$made"
}

# put MODE FOLDER FILE...
put()
{
    mode=$1 to=$2
    shift 2
    folder "$to"
    for file; do
        echo "$to/${file##*/}" >>"$made"
        install -m "$mode" "$file" "$DESTDIR$to/${file##*/}"
    done
}

# The list joins the list of an earlier install, even if this install failed.
finish()
{
    cat "$DESTDIR$list" 2>/dev/null >>"$made" || :
    folder "${list%/*}" && sort -u "$made" >"$DESTDIR$list.new" &&
        mv "$DESTDIR$list.new" "$DESTDIR$list"
    rm -rf "$scratch"
}

install_all()
{
    case $PYTHONDIR/ in
    */../*) ;;
    "$PREFIX"/*) inside=1 ;;
    esac
    [ -n "${inside:-}" ] ||
        { echo "recorder: PYTHONDIR=$PYTHONDIR is not below PREFIX" >&2; exit 2; }
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    made=$scratch/made
    echo "$list" >"$made"
    [ -z "$DESTDIR" ] || mkdir -p "$DESTDIR"
    folder "${list%/*}" # who may not write here hears of it once
    trap finish EXIT
    include=$PREFIX/include share=$PREFIX/share
    put 644 "$include" recorder*.h
    put 644 "$include/recorder" recorder/*.h
    put 644 "$include/recorder-hooks" hooks/*.h
    put 644 "$include/recorder-1.x/recorder" compat/recorder/*
    put 644 "$include/recorder-compat/qnx" compat/qnx/*.[ch]
    put 644 "$include/recorder-compat/qnx/sys" compat/qnx/sys/*
    printf '%s\n' "prefix=$PREFIX" 'includedir=${prefix}/include' '' \
        'Name: recorder' \
        'Description: Lock-free flight recorder for C and C++' \
        "Version: $VERSION" 'Cflags: -I${includedir}' >"$scratch/recorder.pc"
    put 644 "$share/pkgconfig" "$scratch/recorder.pc"
    put 644 "$share/cmake/recorder" packages/cmake/*
    put 755 "$PREFIX/bin" build/recorder
    [ ! -e build/recorder-fleet ] || fleet_all
    put 644 "$share/recorder" packages/recorder-watch@.service
    build/recorder --man-page >"$scratch/recorder.1"
    put 644 "$share/man/man1" "$scratch/recorder.1"
    build/recorder --bash-completion >"$scratch/recorder"
    put 644 "$share/bash-completion/completions" "$scratch/recorder"
    put 644 "$include" library/recorder_reader.h
    put 644 "$PREFIX/lib" build/librecorder.so.1
    echo "$PREFIX/lib/librecorder.so" >>"$made"
    ln -sf librecorder.so.1 "$DESTDIR$PREFIX/lib/librecorder.so"
    for library in $(cd build/lib && find . -name '*.so'); do
        library=${library#./}
        put 644 "$(dirname "$PREFIX/lib/recorder/$library")" \
            "build/lib/$library"
    done
    put 644 "$PYTHONDIR/recorder" python/recorder/*.py
    folder "$share/recorder/formats"
    put 644 "$share/recorder" gdb/recorder-gdb.py gdb/recorder-tasks.py
    echo "source $share/recorder/recorder-gdb.py" >"$scratch/recorder.gdb"
    if [ -n "$GDBINIT" ]; then
        put 644 "$GDBINIT" "$scratch/recorder.gdb"
    else
        echo "For gdb, put into ~/.gdbinit: $(cat "$scratch/recorder.gdb")"
    fi
}

# recorder-fleet, and its manual: the text of --help.
fleet_all()
{
    put 755 "$PREFIX/bin" build/recorder-fleet
    {
        printf '%s\n' ".TH recorder-fleet 1 \"\" \"recorder $VERSION\"" '.SH NAME' \
            'recorder-fleet \- flight recorders of many hosts, at one moment' \
            '.SH DESCRIPTION' .nf
        build/recorder-fleet --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'"'"']/\\\&&/'
    } >"$scratch/recorder-fleet.1"
    put 644 "$share/man/man1" "$scratch/recorder-fleet.1"
}

# Removes the listed files, if install may have made them: a list with other
# files was not written by it. A folder with other people's files stays.
uninstall_all()
{
    [ -f "$DESTDIR$list" ] ||
        { echo "recorder: nothing is installed in $DESTDIR$PREFIX" >&2; exit 1; }
    LC_ALL=C sort -r "$DESTDIR$list" | while read -r path; do
        case $path in
        */../*) ;;
        "$PREFIX"/*.py | "$PYTHONDIR"/recorder/*.py) # and what Python made of it
            cache=$DESTDIR${path%/*}/__pycache__ name=${path##*/}
            rm -f "$DESTDIR$path" "$cache/${name%.py}".*.pyc
            rmdir "$cache" 2>/dev/null || : ;;
        "$PREFIX"/*[!/] | */recorder.gdb) rm -f "$DESTDIR$path" ;;
        */) # below PREFIX, or what PREFIX or GDBINIT is in
            case $path:$PREFIX/:$GDBINIT/ in
            "$PREFIX"/*:* | *:"$path"*)
                rmdir "$DESTDIR$path" 2>/dev/null || : ;;
            esac ;;
        esac
    done
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) echo "install.sh install|uninstall" >&2 && exit 2 ;;
esac
