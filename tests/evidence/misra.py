"""misra.py - MISRA C:2012 by cppcheck's addon, each deviation with its reason."""
import collections
import os
import re
import subprocess

import tables

# Of processors and systems: what their compilers define.
BOARD = ["-DBARE", "-Iexamples/bare-metal/cortex-m", "--platform=unix32", "-D__SIZEOF_POINTER__=4",
         "-D__SIZEOF_LONG__=4"]
BUILDS = {
    "x86-64 with Linux": ["--platform=unix64", "-D__SIZEOF_POINTER__=8", "-D__SIZEOF_LONG__=8",
                          "-D__linux__", "-D__x86_64__"],
    "Cortex-M3": BOARD + ["-D__ARM_ARCH_7M__"],
    "Cortex-M0": BOARD + ["-D__ARM_ARCH_6M__"],
}
COMMON = ["cppcheck", "-q", "--addon=misra", "--enable=style", "-I.", "-D__GNUC__=12", "-D__ELF__",
          "-D__GCC_ATOMIC_POINTER_LOCK_FREE=2", "--template={file}:{line}: [{id}] {message}"]


def run(folder):
    """Returns (text of the chapter, failures)."""
    source = f"{folder}/misra.c" # cppcheck writes files beside it
    with open(source, "w", encoding="ascii") as file:
        file.write('#ifdef BARE\n#include "port.h"\n#endif\n#include "recorder.h"\n')
    places, failures = collections.defaultdict(set), []
    for name, options in BUILDS.items():
        said = subprocess.run(COMMON + options + [source], cwd=tables.ROOT, check=True,
                              capture_output=True, text=True)
        found = re.findall(r"^(recorder\S*\.h):(\d+): \[misra-c2012-([\d.]+)\]", said.stderr, re.M)
        if len(found) < 100 or "Error]" in said.stderr:
            failures.append(f"cppcheck did not look at all of recorder.h for {name}: {said.stderr[:300]}")
        for path, line, rule in found:
            places[rule].add((path, int(line)))
    reasons = {rule: (kind, asks, why) for _, (rule, kind, asks, why) in tables.table("Deviations")}
    failures += [f"rule {rule}: {tables.REASONS} has no deviation for "
                 f"{', '.join(f'{p}:{n}' for p, n in sorted(places[rule])[:9])}"
                 for rule in sorted(set(places) - set(reasons))]
    failures += [f"rule {rule}: {tables.REASONS} has a deviation that is not needed"
                 for rule in sorted(set(reasons) - set(places))]
    text = (f"{len(places)} rules with deviations, {sum(map(len, places.values()))} places, of "
            f"{', '.join(BUILDS)}. All other rules that the addon checks: no finding.\n\n"
            "| rule | asks for | why not | where |\n|---|---|---|---|\n")
    for rule in sorted(places, key=lambda r: [int(n) for n in r.split(".")]):
        files = collections.defaultdict(list)
        for path, line in sorted(places[rule]):
            files[os.path.basename(path)].append(str(line))
        where = "; ".join(f"{path}:{','.join(lines)}" for path, lines in files.items())
        kind, asks, why = reasons.get(rule, ("", "", "**none**"))
        text += f"| {rule} {kind} | {asks} | {why} | {where} |\n"
    return text, failures
