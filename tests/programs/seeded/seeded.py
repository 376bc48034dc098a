"""seeded.py RECORDER FOLDER SEED...: `recorder explain` against 60 crashes.

Compiles the programs server, parser, pool and model into FOLDER, with CFLAGS, by
COMPILER: gcc, or clang.
Each kind crashes once for each seed, with records that hold the cause, and once
without. Prints the misses and sums, and exits with 1 if a sum is below its limit.
WANTED=kind,program chooses; VERBOSE=1 prints each answer; SAMPLE=n takes each
n-th crash.
"""
# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys

ENDED = {
    "null_member": "null pointer",
    "use_after_free": "freed heap memory",
    "double_free": "double free",
    "heap_overflow": "damaged heap|SIGSEGV: .*(cannot exist|not mapped)",
    "stack_overflow": "stack buffer overflow",
    "uninitialised": "SIGSEGV: .*(cannot exist|not mapped|null pointer)",
    "wrong_index": "SIGSEGV: .*not mapped",
    "bad_cast": "SIGSEGV: .*(cannot exist|not mapped)",
    "race": "null pointer|freed heap memory|cannot exist|not mapped",
    "stack_exhaustion": "stack overflow of thread",
    "division": "SIGFPE: integer division by zero",
    "assertion": "failed assertion: ",
    "libc_abort": "SIGABRT: (an address was freed|abort)",
    "illegal": "SIGILL: illegal instruction",
    "exception": "uncaught exception of type std::.*: ",
    "bus": "SIGBUS: .*end of the file",
}
RUN = "read p </proc/sys/kernel/core_pattern && test $p = core && ulimit -c \
unlimited && RECORDER_FILE=rec exec {} || RECORDER_FILE=rec exec gdb -q --batch \
-ex run -ex 'generate-core-file core' -ex continue --args {}"


def shell(line, folder):
    done = subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, timeout=120
    )
    return done.stdout.decode("utf8", "replace")


def build(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    flags = os.environ.get("CFLAGS", "-O0") + " -g -w -fstack-protector-strong"
    for name in ("server.c", "parser.c", "pool.c", "model.cc"):
        compiler = os.environ.get("COMPILER", "gcc")
        if name.endswith("cc"):
            compiler = compiler.replace("gcc", "g") + "++"
        line = f"{compiler} {flags} -I {here}/../../.. -o {name.split('.')[0]} \
{here}/{name} -lpthread"
        subprocess.run(line, shell=True, cwd=folder, check=True)


def stack(program, file, folder):
    text = shell(
        "gdb -q --batch -ex 'set print frame-arguments none' -ex 'bt 40' "
        f"./{program} {file} 2>&1",
        folder,
    )
    return [x for x in text.split("\n") if x.startswith("#")][1:]


def crash(program, kind, seed, folder, rest=""):
    shell("rm -f core rec oracle", folder)
    line = f"./{program} {kind} {seed}{rest}"
    shell(RUN.format(line, line), folder)
    try:
        with open(folder + "/oracle") as file:
            return file.read().rstrip("\n").split("\n")[-1]
    except OSError:
        return None


def is_among_first(text, cause):
    at = max(text.find("most telling first:\n"), text.find("The last ones:\n"))
    lines = text[at:].split("\n")[1:4] if at >= 0 else []
    return any(cause[:70] in line for line in lines)


def main():
    recorder, folder, seeds = sys.argv[1], sys.argv[2], sys.argv[3:]
    wanted = os.environ.get("WANTED", "").split(",")
    sample = int(os.environ.get("SAMPLE", "1"))
    sums = dict.fromkeys(
        ("crashes", "ended", "cause", "rec ended", "rec cause", "stacks",
         "unrelated", "confident"), 0)  # fmt: skip
    place = 0
    os.makedirs(folder, exist_ok=True)
    build(folder)
    for seed in seeds:
        for program in ("server", "parser", "pool", "model"):
            leaves = "illegal" if program == "model" else "exception"
            for kind in (k for k in ENDED if k != leaves):
                place += 1
                if place % sample or any(
                    w and w not in (kind, program, seed) for w in wanted
                ):
                    continue
                one(recorder, folder, program, kind, seed, sums)
    print(sums)
    least = sums["crashes"]
    return not (
        sums["crashes"]
        and min(sums["cause"], sums["rec cause"]) * 60 >= 45 * least
        and min(sums["ended"], sums["rec ended"]) * 60 >= 58 * least
        and sums["stacks"] == least
        and sums["confident"] == 0
    )


def one(recorder, folder, program, kind, seed, sums):
    what = f"{program} {kind} {seed}"
    cause = crash(program, kind, seed, folder)
    if not cause or not os.path.exists(folder + "/core"):
        print(what, ": no crash")
        return
    sums["crashes"] += 1
    for file, kept in (("core", ""), ("rec", "rec ")):
        text = shell(f"{recorder} explain {file} 2>&1", folder)
        ended = re.search(ENDED[kind], text.split("\n")[0]) is not None
        found = is_among_first(text, cause)
        short = text.count("\n") <= 30
        sums[kept + "ended"] += ended
        sums[kept + "cause"] += found
        if not (ended and found and short) or "VERBOSE" in os.environ:
            print(f"--- {what} {file}: ended {ended}, cause {found}: {cause}")
            print(text)
    equal = stack(program, "core", folder) == stack(program, "rec", folder)
    sums["stacks"] += equal
    if not equal:
        print(what, ": gdb's stacks differ")
    if not crash(program, kind, seed, folder, " u"):
        return
    sums["unrelated"] += 1
    text = shell(f"{recorder} explain core 2>&1", folder)
    if re.search("<- (?!perhaps)", text):
        sums["confident"] += 1
        print(f"--- {what} unrelated:\n{text}")


sys.exit(main())
