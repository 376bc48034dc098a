# Compares what ran by exports of several sources with the tables of each.
# SPDX-License-Identifier: MIT
#
#   switches_several.py CHROME PERFETTO HOST JSON HOST JSON ...
#
# PERFETTO is what protoc made of it, JSON what `recorder switches --json` says.
import json
import re
import sys


def same(what, is_, must):
    assert is_ == must, f"{what}: is {is_}, must be {must}"


def chrome(path):
    """What ran by host and thread, in ns."""
    hosts, lines, sums = {}, {}, {}
    events = json.load(open(path, encoding="utf-8"))["traceEvents"]
    for event in events:
        if event["name"] == "process_name":
            name = re.fullmatch(r"(.*): CPUs", event["args"]["name"])
            if name:
                hosts[event["pid"]] = name[1]
        elif event["name"] == "thread_name":
            lines[event["pid"], event["tid"]] = event["args"]["name"]
    for event in events:
        if event["ph"] == "X" and re.fullmatch(
                r"CPU \d+", lines[event["pid"], event["tid"]]):
            key = hosts[event["pid"]], event["name"]
            sums[key] = sums.get(key, 0) + round(event["dur"] * 1000)
    return sums


def perfetto(path):
    """The same: tracks named CPU N, below a process."""
    hosts, tracks, opened, sums = {}, {}, {}, {}
    for packet in open(path, encoding="utf-8").read().split("\npacket {"):
        assert "generic_kernel_task_state_event" not in packet
        uuid = re.search(r"  track_descriptor \{.*?    uuid: (\d+)", packet,
                         re.S)
        parent = re.search(r"    parent_uuid: (\d+)", packet)
        process = re.search(r'      process_name: "(.*?):', packet)
        if uuid and process:
            hosts[uuid[1]] = process[1]
        elif uuid and re.search(r'    name: "CPU \d+"', packet):
            tracks[uuid[1]] = parent[1]
        track = re.search(r"    track_uuid: (\d+)", packet)
        if not track or track[1] not in tracks:
            continue
        ns = int(re.search(r"^  timestamp: (\d+)", packet, re.M)[1])
        if "type: SLICE_BEGIN" in packet:
            assert track[1] not in opened, "two run at once"
            opened[track[1]] = ns, re.search(r'    name: "(.*)"', packet)[1]
        else:
            begun, name = opened.pop(track[1])
            key = hosts[tracks[track[1]]], name
            sums[key] = sums.get(key, 0) + ns - begun
    assert not opened, opened
    return sums


must = {}
for i in range(3, len(sys.argv), 2):
    rows = [json.loads(line) for line in open(sys.argv[i + 1],
                                              encoding="utf-8")]
    names = [row["thread"] for row in rows if "thread" in row]
    for row in rows:
        if "thread" in row and row["running_ns"]:
            several = names.count(row["thread"]) > 1
            name = row["thread"] + (f" {row['id']}" if several else "")
            must[sys.argv[i], name] = row["running_ns"]
assert must
for sums in chrome(sys.argv[1]), perfetto(sys.argv[2]):
    same("what ran", {key: ns for key, ns in sums.items() if ns}, must)
