# typed.py FILE [HEADING] - types what a page tells its reader to, in this folder,
# and compares what is said. The first program after the heading is dead.c;
# "recorder" is $RECORDER.
# SPDX-License-Identifier: MIT
import os
import re
import signal
import subprocess
import sys
import time

page = open(sys.argv[1]).read()
if len(sys.argv) > 2:
    page = page[page.index("\n## " + sys.argv[2] + "\n"):]
program = re.search(r"\n```c\n(.*?)```", page, re.S)
if program:
    open("dead.c", "w").write(program.group(1))
console = next(block for block in re.findall(r"\n```console\n(.*?)```", page, re.S)
               if "./dead" in block)
pids = {}  # of the page: here


def start(line):
    for old, new in pids.items():
        line = line.replace(old, new)
    line = re.sub(r"^recorder\b", os.environ["RECORDER"], line)
    return subprocess.Popen("exec " + line, shell=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def says(line):
    return start(line).communicate()[0]


def hangs(line, look):
    """Starts the program until it hangs: a thread may be held up for as long as
    the other sleeps."""
    while True:
        runs = start(line)
        while runs.poll() is None:
            if "DEADLOCK" in says(look(str(runs.pid))):
                return runs
            time.sleep(0.05)


def plain(text):
    """The lines without what differs: ids, who of two threads was first,
    addresses, times, the functions of the libc."""
    for old, new in ((r"\d[\d.]* [mnu]?s\b", "TIME"), (r"\b\d+ dead\b", "ID dead"),
                     (r"\bT[23]\b", "T"), ("  +", " ")):
        text = re.sub(old, new, text)
    return [line.strip() for line in text.splitlines()
            if not line.rstrip().endswith("libc.so.6")]


commands = [part.splitlines()
            for part in re.split(r"^\$ ", console, flags=re.M)[1:]]
for number, (line, *expected) in enumerate(commands):
    after = commands[number + 1][0] if number + 1 < len(commands) else ""
    if line.endswith("&"):
        pid = expected[0].split()[1]
        runs = hangs(line[:-1], lambda here: after.replace(pid, here))
        pids[pid] = str(runs.pid)
    elif expected[:1] == ["^C"]:
        runs = hangs(line, lambda here: after)
        runs.send_signal(signal.SIGINT)
        assert runs.wait() == -signal.SIGINT
    else:
        here, there = plain(says(line)), plain("\n".join(expected))
        for one in there:
            if one != "..." and one not in here:
                sys.exit("$ %s\n%r is not in\n%s" % (line, one, "\n".join(here)))
        if "..." not in there and len(there) != len(here):
            sys.exit("$ %s\nsays more:\n%s" % (line, "\n".join(here)))
runs.kill()
