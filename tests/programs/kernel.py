# kernel.py - switches in `recorder dump --json`: none twice, none missing.
# SPDX-License-Identifier: MIT
"""kernel.py LINES [PID]: by time, each thread comes and goes in turns. With PID,
whose threads stand still, their counts are those of /proc. Says how many."""
import collections
import json
import sys

NAMES = {"runs": "in", "blocks": "b", "preempted": "p"}
found = collections.defaultdict(list)
count = 0
for line in open(sys.argv[1]):
    if line[-1] != "\n":
        break  # a follower was ended in the middle of it
    event = json.loads(line)
    if event["recorder"] != "switches":
        continue
    word = event["message"].split()
    assert word[0] == "thread", line
    way = NAMES[word[2] if word[2] == "runs" else word[-1]]
    found[int(word[1])].append((event["ns"], way, event["thread"]))
    assert event["tid"] == int(word[1]), line
    count += 1
for thread, events in found.items():
    assert len({number for _, _, number in events}) == 1, (thread, "numbers")
    events.sort(key=lambda event: event[0])
    for (ns, way, _), (later, after, _) in zip(events, events[1:]):
        assert (way == "in") != (after == "in"), (thread, ns, way, later, after)
if len(sys.argv) > 2:
    import os
    pid = sys.argv[2]
    for thread in map(int, os.listdir(f"/proc/{pid}/task")):
        if thread == int(pid):
            continue  # the rings were opened in its midst
        status = dict(line.split(":", 1)
                      for line in open(f"/proc/{pid}/task/{thread}/status"))
        must = {"b": int(status["voluntary_ctxt_switches"]),
                "p": int(status["nonvoluntary_ctxt_switches"])}
        must["in"] = must["b"] + must["p"]
        ways = [way for _, way, _ in found[thread]]
        has = {way: ways.count(way) for way in must}
        assert has == must, (thread, has, must)
print(count)
