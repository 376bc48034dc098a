"""coverage.py - branches and MC/DC of the lock-free files, each gap explained."""
import json
import os
import subprocess

import tables

FILES = ["recorder/ring.h", "recorder/lane.h", "recorder/record.h", "recorder/order.h"]
TESTS = [f"ring/{name}" for name in "clock kept lanes lanes_clock order parked rare threads whole".split()] + \
    [f"inside/{name}" for name in "dump packed set trace trigger".split()]
FLAGS = ("-O0 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc "
         "-fprofile-update=atomic")


def measure(folder):
    """Builds and runs the tests; returns what llvm-cov exports, and failures."""
    os.makedirs(folder, exist_ok=True)
    programs = [f"{folder}/tests/{test}" for test in TESTS]
    subprocess.run(["make", "-s", f"-j{os.cpu_count()}", *programs, f"BUILD={folder}", "CC=clang-19",
                    f"TESTFLAGS={FLAGS} -Wno-everything"], cwd=tables.ROOT, check=True,
                   capture_output=True)
    for name, define in (("edges", "-UX"), ("edges_clock", "-DRECORDER_CLOCK_ORDER")):
        programs.append(f"{folder}/{name}")
        subprocess.run(["clang-19", "-std=gnu11", "-D_GNU_SOURCE", *FLAGS.split(), "-w", "-I.", define,
                        "tests/evidence/edges.c", "-o", programs[-1], "-lpthread"], cwd=tables.ROOT, check=True,
                       capture_output=True)
    for old in os.listdir(folder):
        if old.endswith(".profraw"):
            os.remove(os.path.join(folder, old))
    failures = []
    environment = dict(os.environ, RECORDER_TEST_SCALE="0.01", LLVM_PROFILE_FILE=f"{folder}/%m-%p.profraw")
    for program in programs:
        said = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=600, check=False)
        if said.returncode:
            failures.append(f"{program}: failed: {(said.stdout + said.stderr)[-600:]}")
    raw = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".profraw")]
    subprocess.run(["llvm-profdata-19", "merge", "-o", f"{folder}/all.profdata", *raw], check=True)
    exported = []
    for program in programs: # apart: llvm-cov takes functions of one name for one
        said = subprocess.run(["llvm-cov-19", "export", program, "-instr-profile", f"{folder}/all.profdata",
                               "-sources", *FILES], cwd=tables.ROOT, capture_output=True, text=True, check=True)
        exported += json.loads(said.stdout)["data"][0]["files"]
    return exported, failures


def text_of(lines, at):
    """The source between two places of a region, on one line."""
    first, start, last, end = at
    rows = lines[first - 1:last]
    rows[-1] = rows[-1][:end - 1]
    rows[0] = rows[0][start - 1:]
    return " ".join(" ".join(rows).split())


def run(folder):
    """Returns (text of the chapter, failures)."""
    exported, failures = measure(folder + "/coverage")
    text = "| file | branches | reached | conditions of MC/DC | shown |\n|---|---|---|---|---|\n"
    gaps = {}
    # A header is in many programs: a branch is reached if one of them does; of a
    # decision, each program shows some conditions' independent effects.
    branches, decisions = ({path: {} for path in FILES} for _ in range(2))
    for file in exported:
        path = os.path.relpath(file["filename"], tables.ROOT)
        for row in file["branches"]:
            was = branches[path].get(tuple(row[:4]), (0, 0))
            branches[path][tuple(row[:4])] = (was[0] + row[4], was[1] + row[5])
        for row in file["mcdc_records"]:
            was = decisions[path].get(tuple(row[:4]), [False] * len(row[-1]))
            decisions[path][tuple(row[:4])] = [a or b for a, b in zip(was, row[-1])]
    for path in FILES:
        lines = tables.read(path).splitlines()
        for at, taken in branches[path].items():
            for way, times in zip(("true", "false"), taken):
                if not times:
                    name = text_of(lines, at) or text_of(lines, (at[0], at[1], at[0], 99))
                    gaps.setdefault((path, name), []).append(f"line {at[0]}: never {way}")
        for at, shown in decisions[path].items():
            for i, one in enumerate(shown, 1):
                if not one:
                    gaps.setdefault((path, text_of(lines, at)), []).append(
                        f"line {at[0]}: effect of condition {i} not shown")
        text += (f"| {path} | {2 * len(branches[path])} | {sum(bool(n) for t in branches[path].values() for n in t)} | "
                 f"{sum(map(len, decisions[path].values()))} | {sum(map(sum, decisions[path].values()))} |\n")
    reasons = {}
    for _, (path, condition, why) in tables.table("Gaps of coverage"):
        reasons[path, condition.strip("`")] = why
    text += "\n| gap | condition | reason |\n|---|---|---|\n"
    for (path, name), what in sorted(gaps.items()):
        reason = reasons.get((path, name))
        text += f"| {path}, {'; '.join(what)} | `{name.replace('|', chr(92) + '|')}` | {reason} |\n"
        if not reason:
            failures.append(f"{path}: {'; '.join(what)}: `{name}`: {tables.REASONS} does not explain this gap")
    failures += [f"{path}: `{name}`: {tables.REASONS} explains a gap that is none"
                 for path, name in sorted(set(reasons) - set(gaps))]
    return text, failures
