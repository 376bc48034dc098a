#!/usr/bin/env python3
"""tables.py - reads the tables of docs/evidence.md and docs/deviations.md.

As a program it prints "FILE:LINE: what is wrong" for each thing that it finds;
tests/house.sh runs it. The other scripts take their tables from it.
"""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "docs/evidence.md"
REASONS = "docs/deviations.md"


def read(path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def table(chapter, page=REASONS):
    """Rows (line number, [cells]) of the first table of a chapter."""
    rows, inside = [], False
    for number, line in enumerate(read(page).splitlines(), 1):
        if line.startswith("## "):
            inside = line == "## " + chapter
        elif inside and line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append((number, [cell.strip().replace("\\|", "|") for cell in cells]))
    return rows[1:]


def promised():
    """{promise: {tests}} as recorder.h has them."""
    text = re.search(r"^PROMISES.*?\n\n", read("recorder.h"), re.S | re.M)[0]
    parts = re.split(r"^    (?=\S)", text, flags=re.M)[1:]
    return {part.split()[0]: set(re.findall(r"tests/\S+", part)) for part in parts}


def main():
    promises, mutants = promised(), re.findall(r"^[#=] (.*)", read("tests/model/mutants"), re.M)
    listed = {}
    for line, (promise, _, code, tests, caught) in table("Promises", PAGE):
        at = f"{PAGE}:{line}"
        listed[promise] = line
        named = set(re.findall(r"tests/[\w./-]+", tests))
        for path in re.findall(r"[\w.-]+(?:/[\w.-]+)*\.[ch]\b", code + " " + tests):
            if not os.path.exists(os.path.join(ROOT, path)):
                print(f"{at}: {path} does not exist")
        for name in re.findall(r"`(\w+)`", code):
            if name not in " ".join(read(p) for p in re.findall(r"recorder[\w/]*\.h", code)):
                print(f"{at}: {name} is in none of the files of its row")
        for test in sorted(promises.get(promise, set()) - named):
            print(f"{at}: recorder.h names {test} for {promise}, the table does not")
        for label in re.findall(r"\b[A-Z]\d\b|`[^`]*`", caught):
            if not any(mutant.startswith(label.strip("`")) for mutant in mutants):
                print(f"{at}: tests/model/mutants has no mutant {label}")
    for promise in sorted(set(promises) ^ set(listed)):
        print(f"{PAGE}:{listed.get(promise, 1)}: {promise}: a promise is either in this "
              "table or in recorder.h only")


if __name__ == "__main__":
    main()
