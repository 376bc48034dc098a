# kernel_for.py - `recorder sched PID --for` against /proc, to the unit.
# SPDX-License-Identifier: MIT
"""kernel_for.py PID MS COMMAND...: of ./kernel bare, whose threads begin when
there is a file `go`. Exit status 77: they worked for longer than it looked."""
import json
import os
import subprocess
import sys
import time

PID, MS, *COMMAND = sys.argv[1:]


def counts():
    """Blocked and preempted, by thread."""
    found = {}
    for thread in os.listdir(f"/proc/{PID}/task"):
        with open(f"/proc/{PID}/task/{thread}/status") as file:
            status = dict(line.split(":", 1) for line in file)
        found[int(thread)] = (int(status["voluntary_ctxt_switches"]),
                              int(status["nonvoluntary_ctxt_switches"]))
    return found


def waits(pid):
    """Has it opened its events, of which there is one a thread and more, and
    sleeps? It does so only behind that."""
    try:
        files = [os.readlink(f"/proc/{pid}/fd/{fd}")
                 for fd in os.listdir(f"/proc/{pid}/fd")]
        with open(f"/proc/{pid}/stat") as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return (sum("perf_event" in file for file in files) >= len(before) and
            state == "S")


before = counts()
look = subprocess.Popen([*COMMAND, "sched", PID, "--for", MS + "ms", "--json"],
                        stdout=subprocess.PIPE, text=True)
while look.poll() is None and not waits(look.pid):
    time.sleep(0.01)
open("go", "w").close()
# They work, and then stand still for a while: that must lie within the look.
then, still = None, 0
while still < 20 and look.poll() is None:
    time.sleep(0.02)
    now = {thread: count for thread, count in counts().items()
           if thread != int(PID)}
    still = still + 1 if now == then and all(
        sum(count) > sum(before[thread]) + 10
        for thread, count in now.items()) else 0
    then = now
ended = look.poll() is not None
text = look.communicate()[0]
if ended and look.returncode == 0:
    sys.exit(77)
assert look.returncode == 0, look.returncode
after = counts()
is_ = {}
for line in text.splitlines():
    thread = json.loads(line)
    if "thread" in thread:
        assert thread["thread"] == "kernel", line
        is_[thread["id"]] = (thread["blocked"], thread["preempted"])
for thread in before:
    if thread == int(PID):
        continue  # it sleeps all the time
    must = tuple(a - b for a, b in zip(after[thread], before[thread]))
    assert is_[thread] == must, (thread, is_[thread], must)
    assert sum(must) > 10, must
print(len(is_))
