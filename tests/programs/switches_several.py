# Compares what ran by exports of several sources with the tables of each.
# SPDX-License-Identifier: MIT
#
#   switches_several.py PERFETTO HOST JSON HOST JSON ...
#
# PERFETTO is what protoc made of it, JSON what `recorder sched --json` says.
import json
import re
import sys


def same(what, is_, must):
    assert is_ == must, f"{what}: is {is_}, must be {must}"


def perfetto(path):
    """Times that threads ran, by host and thread, in ns: each source is a machine."""
    hosts, tracks, states, sums = {}, set(), {}, {}
    for packet in open(path, encoding="utf-8").read().split("\npacket {"):
        machine = re.search(r"^  machine_id: (\d+)", packet, re.M)
        if not packet.strip():
            continue
        machine = machine[1]  # no packet is without
        process = re.search(r'      process_name: "(.*?):', packet)
        thread = re.search(r"  thread \{.*?    tid: (\d+)", packet, re.S)
        if process:
            assert machine not in hosts, "two sources are one machine"
            hosts[machine] = process[1]
        if thread:
            tracks.add((machine, int(thread[1])))
        if "generic_kernel_task_state_event" not in packet:
            continue
        ns = int(re.search(r"^  timestamp: (\d+)", packet, re.M)[1])
        of = machine, int(re.search(r"    tid: (\d+)", packet)[1])
        assert of in tracks, f"{of} has no track"
        before, since = states.get(of, (None, ns))
        assert before is None or since < ns, "two states at once"
        if before == 3:
            key = hosts[machine], re.search(r'    comm: "(.*)"', packet)[1]
            sums[key] = sums.get(key, 0) + ns - since
        states[of] = int(re.search(r"    state: (\d+)", packet)[1]), ns
    assert len(hosts) == 2, hosts
    return sums


must = {}
for i in range(2, len(sys.argv), 2):
    rows = [json.loads(line) for line in open(sys.argv[i + 1],
                                              encoding="utf-8")]
    names = [row["thread"] for row in rows if "thread" in row]
    for row in rows:
        if "thread" in row and row["running_ns"]:
            several = names.count(row["thread"]) > 1
            name = row["thread"] + (f" {row['id']}" if several else "")
            must[sys.argv[i], name] = row["running_ns"]
assert must
same("what ran", {key: ns for key, ns in perfetto(sys.argv[1]).items() if ns},
     must)
