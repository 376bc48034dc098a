# view_live.py - does a live page get what ran? view_live.py RECORDER PROGRAM...
# SPDX-License-Identifier: MIT
#
# Runs a program that says "PID 4711" and has the kernel's switches, serves its
# page, reads what GET /TOKEN/events sends, and kills the program. Its records,
# read by rules of our own, are the oracle: each thread's slices join, runs begin
# and end where a record says so, no processor runs two.
import base64
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
import zlib

STATES = ["unknown", "running", "ready", "blocked", "ended"]


def inflate(text):
    return zlib.decompress(base64.b64decode(text), -15)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        value = value >> 1 ^ -(value & 1)
        return (value + 2**63) % 2**64 - 2**63


program = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True,
                           env={**os.environ, "RECORDER_SWITCHES": "1024"})
pid = program.stdout.readline().split()[1]
server = subprocess.Popen([sys.argv[1], "view", "--live", "--no-open", pid],
                          stdout=subprocess.PIPE, text=True)
stream = urllib.request.urlopen(server.stdout.readline().strip() + "events")
# It ends when some batches with what ran have come, after a while.
batches, ended, begun = [], False, time.monotonic()
for line in stream:
    line = line.decode()
    if line.startswith("data: {"):
        batches.append(json.loads(line[6:]))
        if (sum("switches" in batch for batch in batches) > 4 and
                time.monotonic() > begun + 1.5):
            program.kill()
    ended = line.startswith("event: end")
    if ended:
        break
program.wait()
server.kill()
server.wait()
assert ended, "the page was not told of the end"

rows = {}  # of the page: kernel's id
sites, formats, records, slices, with_slices = [], [], [], [], 0
for batch in batches:
    for row, _, thread, *_ in batch.get("threads", []):
        rows[row] = thread
    formats += batch.get("formats", [])
    sites += batch.get("sites", [])
    columns, count = Bytes(inflate(batch["columns"])), batch["count"]
    for _ in range(count):
        columns.signed()
    ns, times = 0, []
    for _ in range(count):
        ns = (ns + columns.signed()) % 2**64
        times.append(ns)
    messages = []
    for text in batch["texts"]:
        data = Bytes(inflate(text))
        size = data.number()
        messages += data.data[data.at:data.at + size].decode().split("\n")[:-1]
    assert len(messages) == count
    for time, message in zip(times, messages):
        found = re.match(r"thread (\d+) (runs|leaves)(?: on)? cpu (\d+)"
                         r"(?:: (\w+))?", message)
        if found:
            records.append((time, int(found[1]), found[2], int(found[3]),
                            found[4]))
    if "switches" not in batch:
        continue
    with_slices += 1
    table, data, begin = batch["switches"], None, 0
    data = Bytes(inflate(table["slices"]))
    for _ in range(table["count"]):
        kind, of, cpu, depth = (data.number() for _ in range(4))
        begin = (begin + data.signed()) % 2**64
        end = begin + data.number()
        assert kind < 8, "only threads run here"
        slices.append((begin, end, rows[table["threads"][of]], STATES[kind],
                       cpu))

assert with_slices > 2, "what ran comes with the first batches only"
# What the records say, thread by thread, from the first slice on.
threads = {thread for _, _, thread, _, _ in slices}
last = max(record[0] for record in records)
runs = 0
for thread in threads:
    mine = [s for s in slices if s[2] == thread]
    for before, after in zip(mine, mine[1:]):
        assert before[1] == after[0], f"thread {thread}: a hole, or two states"
    joined = []
    for begin, end, _, state, cpu in mine:
        if joined and joined[-1][2:] == (state, cpu):
            joined[-1] = (joined[-1][0], end, state, cpu)
        elif end > begin:
            joined.append((begin, end, state, cpu))
    said = {(time, what, why) for time, of, what, _, why in records
            if of == thread}
    begins = {time for time, what, _ in said if what == "runs"}
    ends = {(time, why) for time, what, why in said if what == "leaves"}
    left = {time for time, _ in ends}
    for i, (begin, end, state, _) in enumerate(joined):
        if state == "running":
            assert begin in begins, f"{thread}: runs from {begin}"
            # The last one ends with the program.
            assert i == len(joined) - 1 or end in left, \
                f"{thread}: runs until {end}"
            runs += 1
        if state in ("ready", "blocked"):
            why = "preempted" if state == "ready" else "blocks"
            assert (begin, why) in ends, f"{thread}: {state} from {begin}"
    # And none was left out; a run that the last record begins has no length.
    if joined:
        first = min(begin for begin, _, _, _ in joined)
        shown = {begin for begin, _, state, _ in joined if state == "running"}
        left_out = {t for t in begins if first <= t < last} - shown
        assert not left_out, f"{thread}: {sorted(left_out)[:3]} not shown"
for cpu in {s[4] for s in slices}:
    mine = sorted(s[:2] for s in slices if s[4] == cpu and s[3] == "running")
    for before, after in zip(mine, mine[1:]):
        assert before[1] <= after[0], f"cpu {cpu} runs two"
print(len(threads), "threads,", runs, "runs,", with_slices, "batches")
