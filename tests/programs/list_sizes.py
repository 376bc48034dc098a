# list_sizes.py - what `recorder list --sizes` says against the records.
# SPDX-License-Identifier: MIT
"""`sizes`: that list. `large`: the events of the recorder `large`, whose records
take a slot each, as JSON."""
import json

at = [json.loads(line)["ns"] for line in open("large")]
row = next(line.split() for line in open("sizes") if line.startswith("large"))
rate = len(at) * 1e9 / (at[-1] - at[0])
assert row[1:4] == ["16384", "1409", str(len(at))], row
assert abs(float(row[6]) / rate - 1) < 1e-3, (row, rate)
for column, seconds in ((7, 1), (8, 60)):
    slots = int(row[column])
    assert slots & (slots - 1) == 0, row
    assert slots / 2 < rate * seconds * 1.001, row
    assert slots > rate * seconds * 0.999, row
