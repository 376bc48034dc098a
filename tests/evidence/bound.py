"""bound.py - instructions and stack of record(), from compiled code and measured.

The bound is the longest path through the control-flow graph that llvm-objdump
shows. A loop around an exclusive store, or around a swap with interrupts off,
counts once: it repeats only if an interrupt comes between load and store. The
loop of tickets counts RECORDER_TICKETS times; any other loop is an error.
"""
import os
import re
import subprocess

import tables

BOARD = f"{tables.ROOT}/examples/bare-metal/cortex-m"
SOURCE = f"{tables.ROOT}/tests/evidence/bound.c"
ARM = f"arm-none-eabi-gcc -mthumb -I{BOARD} -T {BOARD}/mps2.ld {BOARD}/start.c {SOURCE} -lgcc -mcpu="
MPS2 = "qemu-system-arm -nographic -monitor none -serial none -semihosting-config enable=on,target=native -M "
# gcc-aarch64-linux-gnu cannot stand beside gcc-multilib, which tests need.
CLANG = f"clang-19 -static -fuse-ld=lld-19 {SOURCE} --target="
MACHINES = {
    "Cortex-M0": (ARM + "cortex-m0", MPS2 + "mps2-an385"),
    "Cortex-M3": (ARM + "cortex-m3", MPS2 + "mps2-an385"),
    "Cortex-M4F": (ARM + "cortex-m4 -mfloat-abi=hard", MPS2 + "mps2-an386"),
    "RV32IMAC": (CLANG + "riscv32-unknown-elf -march=rv32imac -mabi=ilp32", "qemu-riscv32"),
    "aarch64": (CLANG + "aarch64-none-elf -mno-outline-atomics", "qemu-aarch64"),
}
TICKETS = 64
EXCLUSIVE = re.compile(r"(strex|stl?xr|sc\.w|cpsid)")
RETURN = re.compile(r"(ret|bx\s+lr|pop(\.w)?\s.*pc\}|ldr\S*\s+pc,)")
TARGET = re.compile(r"0x([0-9a-f]+) <(recorder_\w+)[^>]*>$")


class Code:
    """The functions of a program, and the longest path through each."""

    def __init__(self, program):
        text = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", program], check=True,
                              capture_output=True, text=True).stdout
        self.functions, self.known, self.retry = {}, {}, 0
        for name, body in re.findall(r"^[0-9a-f]+ <(recorder_\w+).*>:\n((?:.+\n)*)", text, re.M):
            self.functions[name] = [
                (int(at, 16), re.sub(r"\s*(@|//).*$", "", rest)) for at, rest in
                re.findall(r"^\s*([0-9a-f]+):\s+([a-z].*)$", body, re.M) if "\t." not in rest]

    def graph(self, name, usual):
        """({address: [next addresses]}, {address: weight}, {addresses of returns})."""
        rows = self.functions[name]
        edges, weights, returns = {}, {}, set()
        for i, (at, text) in enumerate(rows):
            after = [row[0] for row in rows[i + 1:i + 2]]
            word = text.split()[0]
            target = TARGET.search(text) if re.match("[bcjt]", word) else None
            weights[at] = 1
            if RETURN.match(text):
                after = []
                returns.add(at)
            elif word in ("bl", "blx", "jal", "call") or (target and target[2] != name):
                if usual: # the usual path calls nothing
                    continue
                weights[at] += self.longest(target[2], usual)
                if word in ("b", "b.w", "j"): # a tail call
                    after = []
                    returns.add(at)
            elif target and word in ("b", "b.n", "b.w", "j"):
                after = [int(target[1], 16)]
            elif target:
                after = after + [int(target[1], 16)]
            elif re.match(r"b(?!ic|fi|fc|kpt)|j|udf|tail|.*\bpc\b(?!,)", text) and "[pc" not in text:
                raise ValueError(f"{name}: {at:x}: what is {text}?")
            edges[at] = after
        return edges, weights, returns

    def longest(self, name, usual):
        """Most instructions from the call of a function to its return."""
        if (name, usual) not in self.known:
            edges, weights, returns = self.graph(name, usual)
            size = 0
            while size < len(returns): # all from which a return can be reached
                size = len(returns)
                returns |= {at for at, after in edges.items() if returns & set(after)}
            edges = {at: [to for to in edges[at] if to in returns] for at in returns}
            self.known[name, usual] = self.path(name, edges, weights, self.functions[name][0][0])
        return self.known[name, usual]

    def path(self, name, edges, weights, start):
        """Most instructions of a path from `start`."""
        lines, cost = dict(self.functions[name]), {}
        for group in groups(edges): # after those that it leads to
            after = max((cost[to] for at in group for to in edges[at] if to not in group), default=0)
            here = weights[group[0]]
            if len(group) > 1 or group[0] in edges[group[0]]:
                heads = {to for at in edges if at not in group for to in edges[at] if to in group}
                heads |= {start} & set(group)
                if len(heads) != 1:
                    raise ValueError(f"{name}: a loop with {len(heads)} entries at {min(group):x}")
                head = heads.pop()
                inner = {at: [to for to in edges[at] if to in group and to != head] for at in group}
                here = self.path(name, inner, weights, head)
                if name != "recorder_raise_" and any("recorder_raise_" in lines[at] for at in group):
                    here *= TICKETS
                elif any(EXCLUSIVE.match(lines[at]) for at in group):
                    self.retry = max(self.retry, here)
                else:
                    raise ValueError(f"{name}: a loop without a bound at {min(group):x}")
            cost.update((at, here + after) for at in group)
        return cost[start]


def groups(edges):
    """Strongly connected parts, each after those that it leads to (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def stack_of(reports):
    """{function: bytes} of the compilers' -fstack-usage."""
    return {re.sub(r"\..*", "", name): int(size) for name, size in
            re.findall(r":(recorder_\S+)\t(\d+)\tstatic$", reports, re.M)}


def measured(emulator, program, log):
    """{record: (instructions, those with the call site's, bytes of stack)} of a run."""
    said = subprocess.run([*emulator.split(), "-singlestep", "-d", "exec,nochain", "-D", log,
                           *(["-kernel"] if "system" in emulator else []), program], check=True, timeout=600,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    labels = dict(re.findall(r"^([0-9a-f]+) \S (?:\S+ )?((?:usual|worst)_(?:begin|end))$", subprocess.run(
        ["llvm-nm-19", program], check=True, capture_output=True, text=True).stdout, re.M))
    labels = {name: int(at, 16) for at, name in labels.items()}
    figures = {}
    for name, stack in re.findall(r"(\w+) +(\d+)", said.stdout + said.stderr):
        count, everything, counts = 0, 0, False
        with open(log, encoding="ascii", errors="replace") as file:
            for row in file:
                found = re.match(r"Trace[^[]*\[[0-9a-f]+/([0-9a-f]+)/\S*\] ?(\S*)", row)
                at = int(found[1], 16) if found else None
                counts = at == labels[name + "_begin"] or (counts and at != labels[name + "_end"])
                everything += bool(counts and found)
                count += bool(counts and found and re.match("recorder_(record_few|write_late|raise)_", found[2]))
        figures[name] = (count, everything, int(stack))
    return figures


def run(folder):
    """Returns (text of the chapter, failures)."""
    failures = []
    text = ("| processor | instructions, usual: bound | measured | worst: bound | measured | "
            "bytes of stack: bound | measured | usual, with the call site | again after an interrupt |\n" + "|---" * 9 + "|\n")
    for name, (compiler, emulator) in MACHINES.items():
        program = f"{folder}/bound-{name}"
        for old in os.listdir(folder):
            if old.startswith(os.path.basename(program)):
                os.remove(f"{folder}/{old}")
        subprocess.run([*compiler.split(), "-O2", "-std=c11", "-ffreestanding", "-nostdlib", "-fstack-usage",
                        f"-I{tables.ROOT}", "-o", program, "-w"], check=True, cwd=folder)
        usage = ""
        for report in os.listdir(folder):
            if report.endswith(".su"):
                with open(f"{folder}/{report}", encoding="utf-8") as file:
                    usage += file.read() if "bound" in report else ""
                os.remove(f"{folder}/{report}")
        code, frames = Code(program), stack_of(usage)
        usual, worst = (code.longest("recorder_record_few_", way) for way in (True, False))
        stack = sum(frames[f"recorder_{f}_"] for f in ("record_few", "write_late", "raise"))
        is_usual, is_worst = (measured(emulator, program, program + ".log")[r] for r in ("usual", "worst"))
        os.remove(program + ".log")
        text += (f"| {name} | {usual} | {is_usual[0]} | {worst} | {is_worst[0]} | {stack} | {is_worst[2]} | "
                 f"{is_usual[1]} | {code.retry} |\n")
        if not (0 < is_usual[0] <= usual and is_usual[0] < is_worst[0] <= worst and
                is_usual[2] <= is_worst[2] <= stack):
            failures.append(f"bound: {name}: measured {is_usual}, {is_worst} above {usual}, {worst}, {stack}")
    return text, failures
