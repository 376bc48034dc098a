"""threads.py BT JSON - gdb's `thread apply all bt` against recorder threads."""
# SPDX-License-Identifier: MIT
# Compares, thread by thread, the frames that lie in threads.c, inlined ones,
# too: function and line. Of the libc the two know different names.
import json
import re
import sys


def gdb(path):
    """{thread id: [(function, line)]}"""
    stacks, frames = {}, None
    for line in open(path, errors="replace"):
        head = re.match(r"Thread \d+ \(.*LWP (\d+)", line)
        if head:
            frames = stacks.setdefault(int(head[1]), [])
        frame = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?([^ ]+) .* at "
                         r"\S*/threads\.c:(\d+)", line)
        if frame and frames is not None:
            frames.append((frame[1], int(frame[2])))
    return stacks


def ours(path):
    stacks = {}
    for line in open(path):
        thread = json.loads(line)
        if "thread" in thread:
            stacks[thread["thread"]] = [
                (f["function"], f["line"]) for f in thread["stack"]
                if f["file"] and f["file"].endswith("threads.c")]
    return stacks


theirs, own = gdb(sys.argv[1]), ours(sys.argv[2])
frames = sum(len(stack) for stack in theirs.values())
for thread in sorted(set(theirs) | set(own)):
    if theirs.get(thread) != own.get(thread):
        sys.exit(f"{thread}: gdb {theirs.get(thread)}, "
                 f"recorder {own.get(thread)}")
if frames < 2:
    sys.exit(f"only {frames} frames to compare")
print(len(theirs), "threads", frames, "frames")
