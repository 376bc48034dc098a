"""undefined.py - no undefined behaviour in the ring, by frama-c's Eva."""
import re
import subprocess

import tables

SIZES = (1, 2, 4, 8, 16, 64)
COMMAND = ["frama-c", "-c11", "-machdep", "gcc_x86_64", "-eva", "-eva-precision", "1", "-eva-split-return", "auto", "-cpp-extra-args=-I. "
           "-D__GNUC__=12 -D__SIZEOF_POINTER__=8 -D__GCC_ATOMIC_POINTER_LOCK_FREE=2 -D__ATOMIC_RELAXED=0 "
           "-D__ATOMIC_ACQUIRE=2 -D__ATOMIC_RELEASE=3 -D__ATOMIC_ACQ_REL=4 -DSLOTS={slots} {more}"]
SOURCE = "tests/evidence/undefined.c"


def analyse(slots, more=""):
    """Returns (functions, statements, alarms, report)."""
    said = subprocess.run([word.format(slots=slots, more=more) for word in COMMAND] + [SOURCE], cwd=tables.ROOT,
                          capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+) functions analyzed.*?(\d+) statements reached.*?(\d+) alarms? generated", said, re.S)
    return (*map(int, found.groups()), said) if found else (0, 0, -1, said)


def run(_):
    """Returns (text of the chapter, failures)."""
    failures = []
    text = "| slots | functions | statements | alarms |\n|---|---|---|---|\n"
    for slots in SIZES:
        functions, statements, alarms, said = analyse(slots)
        text += f"| {slots} | {functions} | {statements} | {alarms} |\n"
        if alarms or "NON TERMINATING" in said or functions < 20:
            failures.append(f"frama-c, {slots} slots: {alarms} alarms: " +
                            " ".join(re.findall(r".*(?:alarm|error).*", said)[:5]))
    alarms = analyse(4, "-DTOO_SHORT")[2]
    text += f"| 4, and memory for 3 | | | {alarms}, as must be |\n"
    if alarms < 1:
        failures.append("frama-c raises no alarm for a ring that is too short")
    return text, failures
