# preload.sh - folders in which each loader of a machine finds a library.
# SPDX-License-Identifier: MIT
# usage: preload.sh LIBRARY
#
# A loader puts the folder of its own libraries in place of $LIB in LD_PRELOAD.
# Without a library of its machine there, a child of 32 bits would print an
# error: for it there is an empty library.
set -e
name=${1##*/} folder=${1%/*}/preload
case $(uname -m) in x86_64) ;; *) exit 0 ;; esac
command -v as >/dev/null && command -v ld >/dev/null || exit 0
rm -rf "$folder"
for lib in lib/x86_64-linux-gnu lib64 lib/i386-linux-gnu lib32 lib; do
    mkdir -p "$folder/$lib"
done
cp "$1" "$folder/lib/x86_64-linux-gnu/$name"
cp "$1" "$folder/lib64/$name"
as --32 -o "$folder/empty.o" /dev/null
ld -m elf_i386 -shared -s -o "$folder/lib/$name" "$folder/empty.o" 2>/dev/null ||
    { rm -rf "$folder"; exit 0; }
cp "$folder/lib/$name" "$folder/lib32/$name"
cp "$folder/lib/$name" "$folder/lib/i386-linux-gnu/$name"
rm "$folder/empty.o"
