# kernel_dies.py - `recorder sched --for` of a program that is killed meanwhile.
# SPDX-License-Identifier: MIT
"""kernel_dies.py PID COMMAND...: the command ends by itself, also while the
program's parent has not asked how it ended; a thread that did nothing before it
was killed has its name."""
import json
import os
import signal
import subprocess
import sys
import time

PID, *COMMAND = sys.argv[1:]
look = subprocess.Popen([*COMMAND, "sched", PID, "--for", "1h", "--json"],
                        stdout=subprocess.PIPE, text=True)


def waits():
    with open(f"/proc/{look.pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1


while look.poll() is None and not waits():
    time.sleep(0.01)
os.kill(int(PID), signal.SIGKILL)
rows = [json.loads(line) for line in look.communicate()[0].splitlines()]
assert look.returncode == 0, look.returncode
threads = {row["id"]: row["thread"] for row in rows if "thread" in row}
assert threads.get(int(PID)) == "kernel", threads
assert set(threads.values()) == {"kernel"}, threads
look = subprocess.run([*COMMAND, "sched", PID, "--for", "1h"],
                      stderr=subprocess.PIPE, text=True)
assert look.returncode == 1, look.returncode
assert "no such process" in look.stderr, look.stderr
