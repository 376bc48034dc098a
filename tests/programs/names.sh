#!/bin/sh
# names.sh ROOT COMPILER... - names that our headers take and no door mentions.
# SPDX-License-Identifier: MIT
# Functions and variables as nm has them of a file with all headers, and macros.
# What is not interface ends in '_'.
root=$1
shift
printf '#include "recorder_set.h"\n#include "recorder_switch.h"\nRECORDER(user, 4);\n' >names.c
"$@" -I"$root" -O0 -fPIC -DRECORDER_COMPILE_ONCE -DRECORDER_COMPILE_HERE -c names.c \
    -o names.o || exit 1
{
    nm -C names.o | sed 's/.* //;s/(.*//;s/@.*//'
    "$@" -I"$root" -dM -E names.c | sed 's/^#define \([A-Za-z0-9_]*\).*/\1/'
} | grep '^recorder_[a-z0-9_]*$\|^RECORDER_[A-Z0-9_]*$' | sort -u |
    grep -v '_$\|_user$' >names.found
cat "$root"/recorder*.h >names.doors
[ "$(wc -l <names.found)" -gt 20 ] || { echo "too few names"; exit 1; }
while read -r name; do
    grep -qw -- "$name" names.doors || echo "$name"
done <names.found
