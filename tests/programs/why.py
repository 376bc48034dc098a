# Compares what `recorder why` says of requests with the causes that they had.
# SPDX-License-Identifier: MIT
# why.py ORACLE SPANS: see why.c; prints counts, and exits with 1 if too many
# are wrong.
import json
import re
import sys

LOCKS = {"lock": "table", "arena": "arena", "inversion": "inverted"}
CALLS = {
    "sleep": " usleep, returned 0, at suffer why.c:",
    "fifo": " read [0-9]+ /.*/requests.fifo, returned 1 of 1, at suffer ",
    "socket": r" recv [0-9]+ socket:\[[0-9]+\], returned 1 of 1, at suffer ",
    "fsync": " (fsync|pwrite) [0-9]+ /.*/wal.log, returned ",
}
KINDS = {"faults": "faults", "stop": "stopped"}
OTHERS = {
    "condition": "condition queue, signalled by T%d signaller",
    "join": "the end of T%d child",
    "semaphore": "semaphore tokens, posted by T%d poster",
}


# On a machine with other work, any thread may wait for a processor: that is
# true, and not the cause that was injected.
def largest(parts, but="ready"):
    parts = [part for part in parts if part["what"] != but]
    return max(parts, key=lambda part: part["ns"], default={"what": "none"})


def is_wait(part, text):
    if "%d" in text:
        text %= part["thread"]
    return part["what"] == "wait" and text in part["text"]


# Of the program's own threads, those that ran meanwhile are spinners.
def has_spinner(part):
    own = [p for p in part["parts"] if p["what"] == "thread"]
    return (
        part["what"] == "ready"
        and bool(own)
        and largest(own)["text"].endswith(" spinner")
    )


def is_right(cause, span):
    part = largest(span["parts"])
    if cause in LOCKS:
        held = "mutex %s held by T%%d holder" % LOCKS[cause]
        return is_wait(part, held) and (
            cause != "inversion" or has_spinner(largest(part["parts"], None))
        )
    if cause == "chain":
        for i in range(3):
            thing = "chain" if i == 0 else "chain+0x%x" % (40 * i)
            if not is_wait(part, "mutex %s held by T%%d link%d" % (thing, i)):
                return False
            part = largest(part["parts"])
        return True
    if cause == "starved":
        return has_spinner(largest(span["parts"], None))
    if cause in CALLS:
        return is_wait(part, "waited in ") and bool(
            re.search(CALLS[cause], part["text"])
        )
    if cause in KINDS:
        return part["what"] == KINDS[cause]
    return cause in OTHERS and is_wait(part, OTHERS[cause])


oracle = {}
for line in open(sys.argv[1]):
    number, cause, ns = line.split()
    oracle[int(number)] = cause, int(ns)
spans = [json.loads(line) for line in open(sys.argv[2])]
slow = right = healthy = accused = uneven = unknown = time = 0
for span in spans:
    cause, ns = oracle.pop(int(span["span"].split()[-1]))
    total = sum(part["ns"] for part in span["parts"])
    if abs(total - span["ns"]) * 100 > span["ns"]:
        uneven += 1
        print("uneven", span)
    if abs(span["ns"] - ns) > max(ns / 10, 100000):
        print("another length", ns, span["ns"])
    time += span["ns"]
    unknown += sum(
        p["ns"] for p in span["parts"] if p["what"] in ("unknown", "blocked")
    )
    if cause == "healthy":
        healthy += 1
        if {p["what"] for p in span["parts"]} - {"ran", "ready", "unknown"}:
            accused += 1
            print("accused", span)
    elif cause != "weak":
        slow += 1
        if is_right(cause, span):
            right += 1
        else:
            print("wrong", cause, json.dumps(span))
print(
    "%d slow, %d right; %d healthy, %d accused; %d uneven; %.2f %% unknown"
    % (slow, right, healthy, accused, uneven, 100 * unknown / max(time, 1))
)
if oracle:
    sys.exit("%d requests are missing" % len(oracle))
sys.exit(
    slow - right > 1 + slow // 20 or accused or uneven or unknown * 50 > time
)
