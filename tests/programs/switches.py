# switches.py JSON [VCD PERFETTO | PERF] - checks what recorder sched says.
# SPDX-License-Identifier: MIT
"""No time is above the span, and those of a thread are the span. An interrupt
may run on several processors at once. What exports say adds up to the same."""
import json
import re
import sys


def of(kind, key):
    return sum(row[key] for row in rows if kind in row)


def check_row(row):
    times = ("running", "ready", "blocked", "ended", "unknown")
    most = cpus * span if "interrupt" in row else span
    for key, value in row.items():
        assert not isinstance(value, int) or value >= 0, row
        if key.endswith("_ns") and value is not None:
            assert value <= most, (span, row)
    if "thread" in row:
        assert sum(row[time + "_ns"] for time in times) == span, (span, row)
        assert (row["longest_run_ns"] or 0) <= row["running_ns"], row
        assert (row["longest_wait_ns"] or 0) <= row["ready_ns"], row
        assert (row["longest_wait_after_wake_ns"] or 0) <= (
            row["longest_wait_ns"] or 0), row


def same(what, is_, must):
    assert is_ == must, f"{what}: is {is_}, must be {must}"


def names():
    """The threads by the names that exports have."""
    all_names = [row["thread"] for row in rows if "thread" in row]
    return {row["thread"] + (f" {row['id']}" if
                             all_names.count(row["thread"]) > 1 else ""): row
            for row in rows if "thread" in row}


def vcd(path):
    """Each wire is high for as long as the table says."""
    sums, state, codes, now = {}, {}, {}, 0
    for line in open(path, encoding="utf-8"):
        name = re.match(r"\$var wire 1 (\S+) (\S+) \$end", line)
        if name:
            codes[name[1]] = name[2]
        elif line[0] == "#":
            for code, value in state.items():
                sums[code, value] = (sums.get((code, value), 0) +
                                     int(line[1:]) - now)
            now = int(line[1:])
        elif line[0] in "01x" and line[1:].strip() in codes:
            state[line[1:].strip()] = line[0]
    high = {codes[code]: ns for (code, value), ns in sums.items()
            if value == "1"}
    for name, row in names().items():
        wire = re.sub("[^A-Za-z0-9]", "_", name)
        same(f"wire {wire}", high.get(wire, 0), row["running_ns"])
        same(f"wire {wire}_ready", high.get(wire + "_ready", 0),
             row["ready_ns"])


def perfetto(path):
    """As trace_processor takes them: none of its errors, and the same sums."""
    states, sums, tracks, sleeps, lines = {}, {}, set(), {}, {}
    text = open(path, encoding="utf-8").read()
    for packet in text.split("\npacket {"):
        ns = re.search(r"^  timestamp: (\d+)", packet, re.M)
        tid = re.search(r"  thread \{.*?    tid: (\d+)", packet, re.S)
        if tid:
            tracks.add(int(tid[1]))
        line = re.search(r'    name: "(CPU \d+ sleeps)"', packet)
        if line:
            lines[re.search(r"    uuid: (\d+)", packet)[1]] = line[1]
        track = re.search(r"    track_uuid: (\d+)", packet)
        kind = re.search(r"    type: SLICE_(BEGIN|END)", packet)
        if kind and track[1] in lines:
            line = lines[track[1]]
            sleeps[line] = sleeps.get(line, 0) + (
                int(ns[1]) if kind[1] == "END" else -int(ns[1]))
        if "generic_kernel_task_state_event" not in packet:
            continue
        tid = int(re.search(r"    tid: (\d+)", packet)[1])
        state = int(re.search(r"    state: (\d+)", packet)[1])
        comm = re.search(r'    comm: "(.*)"', packet)[1]
        assert tid in tracks, f"{tid} has no track"
        before, since = states.get(tid, (None, None))
        if before is not None:
            assert since < int(ns[1]), "two states at once"
            assert before != 7, "a state behind dead"
            assert not (before == 3 and state == 3), "runs and runs"
            key = comm, before
            sums[key] = sums.get(key, 0) + int(ns[1]) - since
        states[tid] = state, int(ns[1])
    for name, row in names().items():
        for state, key in ((3, "running_ns"), (2, "ready_ns"),
                           (4, "blocked_ns")):
            same(f"{name} in state {state}", sums.get((name, state), 0),
                 row[key])
    for row in rows:
        if "cpu" in row:
            line = f"CPU {row['cpu']} sleeps"
            same(line, sleeps.get(line, 0), row["idle_ns"] or 0)


def perf(path):
    """perf sched timehist --summary of the same run: it lacks a run at either
    end, and looks at a clock in other places. The main thread ran before."""
    found = 0
    for line in open(path, encoding="utf-8"):
        row = re.match(r" *(\S+)\[(\d+)/\d+\] +-?\d+ +(\d+) +([0-9.]+)", line)
        for t in rows if row else []:
            if t.get("thread") != row[1] or t.get("id") != int(row[2]):
                continue
            found += 1
            missing = abs(t["runs"] - int(row[3]))
            apart = abs(t["running_ns"] - float(row[4]) * 1e6)
            assert missing <= 2, (line, t)
            # A busy host takes the processor away between the two clocks.
            assert apart <= (missing * (t["longest_run_ns"] or 0) + 100000 *
                             t["runs"] + t["running_ns"] / 10), (line, t)
    same("threads that perf knows", found, 4)


rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
spans = {row["span_ns"] for row in rows if "cpu" in row}
assert len(spans) <= 1, spans
span = spans.pop() if spans else None
cpus = len([row for row in rows if "cpu" in row])
assert span is not None or not any("thread" in row for row in rows)
for one in rows:
    check_row(one)
same("interrupts", of("interrupt", "ns"), of("cpu", "interrupts_ns"))
same("threads", of("thread", "running_ns"), of("cpu", "threads_ns"))
if len(sys.argv) == 3:
    perf(sys.argv[2])
elif len(sys.argv) > 3:
    vcd(sys.argv[2])
    perfetto(sys.argv[3])
