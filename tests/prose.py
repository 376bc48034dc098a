#!/usr/bin/env python3
"""Counts sentences that a reader may have to read twice.

usage: prose.py [--list N] [FILE...]       without FILE: the whole product

One rule: every sentence names the thing with a noun; what, who, where, those,
that and it only follow a noun. The habits below break it. Prints the share of
comments, of messages (strings of the tools) and of documentation paragraphs
that have one of them; with --list also the N densest. Without FILE, exits with
status 1 if a share is above its limit in percent. Lower a limit, never raise it.
"""
import os
import re
import subprocess
import sys

LIMITS = {"comments": 1.5, "messages": 1, "docs": 2}

HABITS = [
    r"\b[Ww]hat (?!if\b|is wrong\b)\w+",  # a clause in place of a noun
    r"(?:^|[;:,.] )[Ww]ho \w+|\b(?:says|knows|finds|of|by|for|and) who\b",
    r"\b[Tt]hose (?:that|of|who|in|with|by|which|without|behind)\b|\bthat of\b",
    r"\b[Ss]uch (?!as\b)",
    r"\b(?:is|are|was|were) (?:told|said)\b|\b(?:says?|said) so\b|"
    r"\btells? (?:no more|of)\b",
    r"\b[Bb]ehind\b",  # after, past, follows
    r"\b(?:stands?|stood)\b",  # is
    r"\b(?:goes|go|went) on\b|\bcomes? (?:behind|along)\b",  # continues
    r"\bof (?:its|our|their) own\b",
    r"\b(?:is|are) (?:not )?there\b",  # exists
    r"\?$",  # a question as a contract
    r"\b(?:bears?|lies|lie|leads|lay)\b",
    r"\bso (?:many|often|much|long|far)\b",
    r"\b(?:is|are|was) to be\b",
    r"\b(?:[Nn]obody|[Ee]verybody|[Ss]omebody|[Ww]hoever)\b",
    r"\b(?:by now|anew|meanwhile)\b",
    r"\b(?:is|was|are) asked(?! for)\b",  # target
]
HABIT = re.compile("|".join(HABITS))
C_FILES = (".c", ".h", ".cc", ".js")
# A string literal, or a comment: whichever begins first.
C_PARTS = re.compile(
    r'(?P<message>"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*)'
    r"|(?P<comment>/\*.*?\*/|//[^\n]*(?:\n\s*//[^\n]*)*)", re.S)


def plain(text):
    """One line without comment signs, code and escapes."""
    text = re.sub(r"(?m)^\s*(?:\*|//|#)\s?", "", text)
    text = re.sub(r"`[^`]*`|/\*+|\*+/", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def texts(path):
    """Yields (kind, line, text) for each text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        source = file.read()
    if path.endswith(".md"):
        blank = lambda code: "\n" * code[0].count("\n")
        source = re.sub(r"(?ms)^```.*?^```", blank, source)
        found = (("docs", m) for m in re.finditer(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*", source))
    elif path.endswith(C_FILES):
        found = ((m.lastgroup, m) for m in C_PARTS.finditer(source))
    else:
        found = (("comments", m) for m in re.finditer(
            r'(?m)^\s*#[^\n]*(?:\n\s*#[^\n]*)*|"""(?:.|\n)*?"""', source))
    for kind, m in found:
        text = m[0]
        if kind == "message":
            text = re.sub(r'"\s*"|\\[nt"]', " ", text)
            if len(re.findall(r"[A-Za-z]{2,}", text)) < 4 or path.startswith("run/"):
                continue
        text = plain(text)
        if text and not text.startswith("SPDX"):
            kind += "" if kind.endswith("s") else "s"
            yield kind, source.count("\n", 0, m.start()) + 1, text


def product():
    """The files of the repository that people read, without tests."""
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True,
                            text=True).stdout.split("\n")
    return [path for path in listed if os.path.isfile(path)
            and not path.startswith("tests/") and ".min." not in path
            and (path.endswith(C_FILES + (".py", ".sh", ".md"))
                 or os.path.basename(path) == "Makefile")]


def main(arguments):
    listed = 0
    if arguments[:1] == ["--list"]:
        listed, arguments = int(arguments[1]), arguments[2:]
    counts, bad = {kind: [0, 0] for kind in LIMITS}, []
    for path in arguments or product():
        for kind, line, text in texts(path):
            hits = len(HABIT.findall(text))
            counts[kind][0] += hits > 0
            counts[kind][1] += 1
            if hits:
                bad.append((hits / (6 + len(text.split())), path, line, text))
    status = 0
    for kind, (hits, number) in counts.items():
        share = 100 * hits / max(number, 1)
        print(f"{kind}: {hits} of {number}, {share:.1f} %")
        status |= not arguments and share > LIMITS[kind]
    for _, path, line, text in sorted(bad, reverse=True)[:listed]:
        print(f"{path}:{line}: {text[:240]}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
