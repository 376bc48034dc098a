"""Compares `recorder tasks --json` (./json) with Pth's own list (./list)."""
# SPDX-License-Identifier: MIT
import json
import re

state, said = "", []
for line in open("list"):
    queue = re.search(r"Queue (\w+)", line)
    if queue:
        state = queue.group(1).lower()
    name = re.search(r'thread (0x\w+) \("(\w+)', line)
    if name:
        said.append((name.group(1), name.group(2), state))
ours = [(row["task"], row["name"], row["state"])
        for row in map(json.loads, open("json")) if "task" in row]
assert len(said) == 9 and sorted(said) == sorted(ours), (said, ours)
