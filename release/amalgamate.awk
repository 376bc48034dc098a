# amalgamate.awk - writes a header and all that it includes of ours in one piece.
# SPDX-License-Identifier: MIT
# awk -f amalgamate.awk recorder.h: each file comes once, where it is needed first.
function emit(file, folder,    line, name) {
    folder = file
    sub(/[^\/]*$/, "", folder)
    seen[file] = 1
    while ((failed = getline line < file) > 0) {
        name = line
        if (sub(/^#include "/, "", name)) {
            sub(/".*/, "", name)
            name = folder name
            if (!(name in seen))
                emit(name)
        } else
            print line
    }
    if (failed < 0) {
        print "amalgamate.awk: cannot read " file > "/dev/stderr"
        exit 1
    }
    close(file)
}
BEGIN { emit(ARGV[1]) }
