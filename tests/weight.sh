#!/bin/sh
# weight.sh - lines of the product by folder; fails above the limit.
# SPDX-License-Identifier: MIT
#
# The product is each text file of the repository without tests, documentation
# and examples. The limit covers repairs that are under way and falls to 75,000:
# lower it after each clean-up.
limit=99312
cd "$(dirname "$0")/.." || exit 1
git ls-files -- . ':!tests' ':!docs' ':!examples' ':!*.md' |
    while read -r file; do
        [ -f "$file" ] && echo "$(wc -l <"$file") $file"
    done | awk -v limit="$limit" '
    {
        n = split($2, part, "/")
        room = n == 1 ? "(top)" : part[1]
        if (n > 2 && room == "tools")
            room = room "/" part[2]
        lines[room] += $1
        files[room]++
        total += $1
        count++
    }
    END {
        for (room in lines)
            printf "%-20s %4d files %6d lines\n", room, files[room], \
                lines[room] | "sort -rnk4"
        close("sort -rnk4")
        printf "%-20s %4d files %6d lines, at most %d\n", "product", count, \
            total, limit
        exit total > limit
    }'
