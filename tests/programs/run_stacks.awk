# run_stacks.awk - are the stacks of a recording those that run_stacks says?
# SPDX-License-Identifier: MIT
#
# Reads messages of call_stack, then of lock_wait; `own` is the program's output.
$1 == "stack" {
    for (i = 5; i <= NF && $i != "(nil)"; i++)
        all[$2] = all[$2] " " $i
}
/^>cond/ {
    waits++
    for (i = 1; i < NF; i++)
        if ($i == "stack")
            id = $(i + 1) + 0
    getline line <own
    callers = split(line, is)
    split(all[id], said)
    for (i = 1; i <= callers; i++)
        if (said[i + 1] != is[i]) {
            print "stack " id ":" all[id] ", is " line
            wrong++
        }
}
END {
    print waits " waits"
    exit waits != 1000 || wrong
}
