# switches.py JSON - True of what recorder switches says? No time is above the
# span, and those of a thread are the span. An interrupt may run on several
# processors at once.
# SPDX-License-Identifier: MIT
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
spans = {row["span_ns"] for row in rows if "cpu" in row}
assert len(spans) <= 1, spans
span = spans.pop() if spans else None
assert span is not None or not any("thread" in row for row in rows)
cpus = len([row for row in rows if "cpu" in row])
for row in rows:
    for key, value in row.items():
        assert not isinstance(value, int) or value >= 0, row
        if key.endswith("_ns") and value is not None:
            most = cpus * span if "interrupt" in row else span
            assert value <= most, (span, row)
    if "thread" in row:
        times = ("running", "ready", "blocked", "ended", "unknown")
        assert sum(row[time + "_ns"] for time in times) == span, (span, row)
        assert (row["longest_run_ns"] or 0) <= row["running_ns"], row
        assert (row["longest_wait_ns"] or 0) <= row["ready_ns"], row
        assert (row["longest_wait_after_wake_ns"] or 0) <= (
            row["longest_wait_ns"] or 0), row
of = lambda kind, key: sum(row[key] for row in rows if kind in row)
assert of("interrupt", "ns") == of("cpu", "interrupts_ns")
assert of("thread", "running_ns") == of("cpu", "threads_ns")
