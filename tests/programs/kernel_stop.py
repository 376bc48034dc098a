# kernel_stop.py - `recorder sched --for` shows what it has when it is ended.
# SPDX-License-Identifier: MIT
"""kernel_stop.py PID COMMAND...: of a program whose threads come and go."""
import json
import os
import signal
import subprocess
import sys
import time

PID, *COMMAND = sys.argv[1:]


def is_caught(pid, number):
    """Has it begun to wait, so that the signal ends the wait alone?"""
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["SigCgt"], 16) >> (number - 1) & 1


def count():
    """How often a thread blocked."""
    with open(f"/proc/{PID}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    return int(status["voluntary_ctxt_switches"])


for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    look = subprocess.Popen([*COMMAND, "sched", PID, "--for", "1h", "--json"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=lambda: [
                                signal.signal(i, signal.SIG_DFL)
                                for i in (signal.SIGINT, signal.SIGHUP)])
    while look.poll() is None and not is_caught(look.pid, number):
        time.sleep(0.01)
    until = count() + 20
    while look.poll() is None and count() < until:
        time.sleep(0.01)
    look.send_signal(number)
    text, said = look.communicate()
    assert look.returncode == -number, (look.returncode, said)
    rows = [json.loads(line) for line in text.splitlines()]
    blocked = [row["blocked"] for row in rows if row.get("id") == int(PID)]
    assert len(blocked) == 1 and blocked[0] >= 10, (text, said)
# What was ignored stays so.
look = subprocess.Popen([*COMMAND, "sched", PID, "--for", "1s", "--json"],
                        stdout=subprocess.PIPE, text=True, preexec_fn=lambda:
                        signal.signal(signal.SIGHUP, signal.SIG_IGN))
while look.poll() is None and not is_caught(look.pid, signal.SIGINT):
    time.sleep(0.01)
look.send_signal(signal.SIGHUP)
assert look.communicate()[0] and look.returncode == 0, look.returncode
