#!/usr/bin/env python3
"""Litmus tests of the ring as compilers translate it, under processors' models.

usage: litmus.py FOLDER       writes tests and results there

Compiles steps.c for each machine, reads the instructions of each access from
the object file, puts them together in the order of recorder/ring.h, and has
herd7 (https://github.com/herd/herdtools7) explore all executions that the
processor's own model allows. Each shape must be forbidden as the ring has it.
Then one access at a time is weakened: some machine must then allow the
forbidden outcome, or the shape proves nothing. Exits with status 1 if a shape
is allowed, if a weakened access changes nothing on any machine, or if the
compiled writer or reader has its accesses in another order than the shapes.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

Machine = collections.namedtuple("Machine", "name model compiler objdump registers pointer value result")
A64, RISCV = "AArch64", "RISCV"
X = [f"x{i}" for i in range(29)]  # also the names of RISC-V, from x5 on
MACHINES = [
    Machine("aarch64 with LSE, gcc", A64, "aarch64-linux-gnu-gcc -march=armv8.1-a",
            "aarch64-linux-gnu-objdump", X, "x0", "x1", "x0"),
    Machine("aarch64, gcc", A64, "aarch64-linux-gnu-gcc -mno-outline-atomics",
            "aarch64-linux-gnu-objdump", X, "x0", "x1", "x0"),
    Machine("riscv64, gcc", RISCV, "riscv64-linux-gnu-gcc",
            "riscv64-linux-gnu-objdump -M numeric", X[5:], "x10", "x11", "x10"),
    Machine("riscv64, clang", RISCV, "clang --target=riscv64-linux-gnu -march=rv64gc",
            "riscv64-linux-gnu-objdump -M numeric", X[5:], "x10", "x11", "x10"),
    Machine("ppc64le, gcc", "PPC", "powerpc64le-linux-gnu-gcc",
            "powerpc64le-linux-gnu-objdump", [f"r{i}" for i in range(5, 31)],
            "r3", "r4", "r3"),
]
STEPS = ("load load_acquire store store_release fence_release fence_acquire "
         "add add_release add_acquire add_acquire_release").split()

# A thread is a list of (label, step, variable, value); an outcome names loads
# and additions by thread and label. c is a commit word (twice its lap, or 5 if
# busy), a and b are words of the record in that slot, o is the order.
WRITER = [("W3", "load_acquire", "c", 0), ("W4", "store", "c", 5), ("W5", "fence_release", "", 0),
          ("W6", "store", "a", 2), ("W6", "store", "b", 2), ("W7", "store_release", "c", 4)]
READER = [("R1", "load_acquire", "c", 0), ("R2a", "load", "a", 0), ("R2b", "load", "b", 0),
          ("R3", "fence_acquire", "", 0), ("R4", "load", "c", 0)]
ORDER = ("W1", "add_acquire_release", "o", 1)
SHAPES = {  # the initial values, the threads, the forbidden outcome
    "a reader accepts words of the next lap": (
        "c=2 a=1 b=1", [WRITER, READER],
        "1:R1=2 /\\ 1:R4=2 /\\ (1:R2a=2 \\/ 1:R2b=2)"),
    "a reader accepts words of the lap before": (
        "c=2 a=1 b=1", [WRITER, READER],
        "1:R1=4 /\\ 1:R4=4 /\\ (1:R2a=1 \\/ 1:R2b=1)"),
    "words of the lap before overwrite mine": (
        "", [[("W6", "store", "a", 1), ("W7", "store_release", "c", 2)], WRITER],
        "1:W3=2 /\\ a=1"),
    "a count is seen without its mark": (
        "", [[("G1", "add", "h", 1), ("G2", "add_release", "g", 1)],
             [("P1", "load_acquire", "g", 0), ("P2", "load", "h", 0)]],
        "1:P1=1 /\\ 1:P2=0"),
    "a flag comes with a lower order": (
        "", [[ORDER, ("set", "store", "x", 1)], [("seen", "load", "x", 0), ORDER]],
        "o=2 /\\ 1:seen=1 /\\ 1:W1=0 /\\ 0:W1=1"),
    "a later order does not see a store before an earlier": (
        "", [[("set", "store", "x", 1), ORDER], [ORDER, ("seen", "load", "x", 0)]],
        "o=2 /\\ 0:W1=0 /\\ 1:W1=1 /\\ 1:seen=0"),
    "a flag that a third thread passes on comes with a lower order": (
        "", [[ORDER, ("set", "store", "x", 1)],
             [("seen", "load", "x", 0), ("fence", "fence_release", "", 0), ("pass", "store", "y", 1)],
             [("heard", "load", "y", 0), ORDER]],
        "o=2 /\\ 1:seen=1 /\\ 2:heard=1 /\\ 2:W1=0 /\\ 0:W1=1"),
}
# The hardware's W5 fence orders the load W3 before the stores, so that a relaxed
# W3 changes nothing; C11 needs it, and tests/model catches that mutant.
# Label -> the steps to put in place of its own, one weakening each.
WEAKER = {"W5": [None], "W7": ["store"], "R1": ["load"], "R3": [None],
          "G2": ["add"], "P1": ["load"], "W1": ["add", "add_acquire", "add_release"]}


def instructions(machine, folder):
    """Returns {step: [instruction]} of an object file, without the return."""
    here = os.path.dirname(os.path.abspath(__file__))
    made = os.path.join(folder, "steps.o")
    subprocess.run(machine.compiler.split() + ["-O2", "-ffreestanding", "-I" + here + "/../..", "-c",
                   here + "/steps.c", "-o", made], check=True)
    text = subprocess.run(machine.objdump.split() + ["-d", "--no-show-raw-insn", made], check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(r"\n\n[0-9a-f]+ <\.L.*", "", text)  # labels inside functions
    steps = {}
    for name, body in re.findall(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)*)", text, re.M):
        if name not in STEPS + ["fill", "look"]:
            continue
        lines = [re.sub(r"\s*(//|#).*", "", line) for line in re.findall(r":\s+(.*)", body)]
        lines = [re.sub(r"\s+", " ", line).strip() for line in lines]
        ends = [i for i, line in enumerate(lines) if re.match(r"(ret|blr|b [0-9a-f])", line)]
        steps[name] = lines[:ends[-1] + 1] if name in STEPS else lines
    return steps


def ordering(lines, stores):
    """The instructions that order others, and the stores if these count."""
    kinds = r"ld[ax]+r\b|st[lx]+r\b|ldarx|stdcx|ldadd|dmb|fence|lwsync|isync|amo"
    kinds += r"|stdx?\b|str\b|sd\b" if stores else ""
    found = [re.sub(r"\s*\b[xwr]\d+\b.*", "", line) for line in lines if re.match(kinds, line)]
    return ["std" if name == "stdx" else name for name in found]


def in_order(steps):
    """True if the compiled writer and reader have the accesses of WRITER and READER."""
    writer = ["store", "fence_release"] + 8 * ["store"] + ["store_release"]
    reader = ["load_acquire", "fence_acquire"]
    return all(ordering(steps[whole], stores) ==
               [each for step in parts for each in ordering(steps[step], stores)]
               for whole, parts, stores in (("fill", writer, True), ("look", reader, False)))


def translate(machine, line):
    """An instruction of objdump as herd7 writes it; None for a return."""
    if re.match(r"(ret|blr|beqlr|nop)\b", line):
        return None
    # A loop around a conditional store: an execution in which it fails counts
    # for nothing, as the loop begins again with a new load.
    line = re.sub(r"^cbnz w(\d+), [0-9a-f]+ <.*", r"CBNZ W\1,FAILS", line)
    if re.match(r"b [0-9a-f]+ <", line):
        return "bne FAILS"  # after beqlr
    line = re.sub(r"^bne-? [0-9a-f]+ <(\w+)\+0x[0-9a-f]+>$", "bne NEXT", line)
    if machine.model == "PPC":  # the width does not matter to the model
        words = {"ld": "lwz", "std": "stw", "ldarx": "lwarx", "stdcx.": "stwcx."}
        name, _, rest = line.partition(" ")
        line = (words.get(name, name) + " " + re.sub(r"\b0,(r\d+)$", r"r0,\1", rest)).strip()
    if machine.model == RISCV:
        line = re.sub(r"^fence$", "fence rw,rw", line)
        line = re.sub(r"^fence (\w+), ?(\w+)", lambda m: "fence " + re.sub("[io]", "", m[1]) + "," +
                      re.sub("[io]", "", m[2]), line)
        line = re.sub(r"^mv (x\d+),(x\d+)", r"ori \1,\2,0", line)
        line = re.sub(r"^(amo\w+\.[wd])\.(aqrl)", r"\1.aq.rl", line)
        line = line.replace("zero", "x0")
    return line.upper() if machine.model == A64 else line


def thread(machine, steps, program, number):
    """Returns the instructions of a thread, its initial registers, and the
    register of each label's result."""
    free, code, start, results = list(machine.registers), [], [], {}
    for label, step, variable, value in program:
        if step is None:
            continue
        names = {}

        def rename(m, names=names):
            name = m[0].lower().replace("w", "x") if machine.model == A64 else m[0]
            if name in ("x0", "r0") and machine.model != A64:
                return m[0]
            if name not in names:
                names[name] = free.pop(0)
            return names[name] if machine.model != A64 else m[0][0] + names[name][1:]

        lines = [translate(machine, line) for line in steps[step]]
        lines = [line for line in lines if line]
        for i, line in enumerate(lines):
            line = re.sub(r"\b[XW]\d+\b" if machine.model == A64 else r"\b[xr]\d+\b", rename, line)
            if "NEXT" in line:
                line = line.replace("NEXT", "fails" if i + 1 < len(lines) and "cx." in lines[i - 1]
                                    else f"N{number}x{len(code) + 1}")
                line = line.replace("fails", f"E{number}")
            code.append(line.replace("FAILS", f"E{number}"))
            if code[-1].startswith(f"bne N{number}"):
                code.append(code[-1][4:] + ":")
        if machine.model == A64:
            names = {old: new.upper() for old, new in names.items()}
        if variable and machine.pointer in names:
            start.append(f"{number}:{names[machine.pointer]}={variable}")
        if machine.value in names:
            start.append(f"{number}:{names[machine.value]}={value}")
        if machine.result in names:
            results[label] = names[machine.result]
    if any(f"E{number}" in line for line in code):
        code.append(f"E{number}:")
    return code, start, results


def litmus(machine, steps, name, weak=None):
    """The text of a shape's test; `weak` is (label, step) or None."""
    initial, programs, outcome = SHAPES[name]
    columns, start = [], []
    for number, program in enumerate(programs):
        if weak:
            program = [(label, weak[1] if label == weak[0] else step, variable, value)
                       for label, step, variable, value in program]
        code, registers, results = thread(machine, steps, program, number)
        columns.append(code)
        start += registers
        for label, register in results.items():
            outcome = re.sub(rf"\b{number}:{label}=", f"{number}:{register}=", outcome)
    if machine.model != "PPC":  # words of 64 bits
        start = [f"uint64_t {word}" for word in start if word.split("=")[1].isdigit()] + \
            [word for word in start if not word.split("=")[1].isdigit()]
        words = dict.fromkeys("abcghoxy", "0") | dict(word.split("=") for word in initial.split())
        start += [f"uint64_t {word}={value}" for word, value in words.items()]
    else:
        start += initial.split()
    rows = []
    for i in range(max(map(len, columns))):
        rows.append(" | ".join((column[i] if i < len(column) else "") for column in columns))
    head = " | ".join(f"P{i}" for i in range(len(columns)))
    return (f"{machine.model} test\n{{ {'; '.join(start)}; }}\n {head} ;\n " + " ;\n ".join(rows) +
            f" ;\nexists ({outcome})\n")


def explore(path, text):
    """True if the model allows the outcome."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    said = subprocess.run(["herd7", path], capture_output=True, text=True, check=False)
    found = re.search(r"^Observation \S+ (\w+)", said.stdout, re.M)
    if not found:
        sys.exit(f"litmus: {path}: {said.stderr or said.stdout}")
    return found[1] != "Never"


def main(folder):
    if not shutil.which("herd7"):
        print("litmus: herd7 is not installed: nothing was run")
        return 0
    os.makedirs(folder, exist_ok=True)
    failed, matters = 0, collections.Counter()
    number = 0
    for machine in MACHINES:
        steps = instructions(machine, folder)
        if not in_order(steps):
            failed += 1
            print(f"litmus: {machine.name}: the accesses are in ANOTHER ORDER:",
                  steps["fill"], steps["look"])
        for name, (_, programs, _) in SHAPES.items():
            cases = [None] + [(label, weaker) for label, others in WEAKER.items() for weaker in others
                              if any(label == step[0] for program in programs
                                     for step in program)]
            for weak in cases:
                number += 1
                allowed = explore(f"{folder}/{number}.litmus", litmus(machine, steps, name, weak))
                if weak:
                    matters[weak] += allowed
                    continue
                failed += allowed
                print(f"litmus: {machine.name}: {name}: {'ALLOWED' if allowed else 'never'}", flush=True)
    for (label, weaker), machines in sorted(matters.items(), key=str):
        failed += machines == 0
        print(f"litmus: without {label}{' as ' + weaker if weaker else ''}: allowed in {machines} tests"
              f"{'' if machines else ': NOTHING CHANGES'}")
    print(f"litmus: {len(MACHINES) * len(SHAPES)} shapes, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "build/litmus"))
