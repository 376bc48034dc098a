"""Checks the asynchronous spans of async.c: async.py FORMAT FILE."""
# SPDX-License-Identifier: MIT
import json
import re
import sqlite3
import sys

LINES = ["request", "request", "request", "request", "named", "request"]


def same(what, is_, must):
    if is_ != must:
        sys.exit(f"{what}:\nis   {is_}\nmust {must}")


def perfetto(path):
    """`path` is what protoc made of it."""
    packets = open(path).read().split("\npacket {")
    tracks, threads = {}, {}
    for packet in packets:
        thread = re.search(r'\n      thread_name: "(.*)"', packet)
        if thread:
            threads[re.search(r"uuid: (\d+)", packet)[1]] = thread[1]
        elif "track_descriptor" in packet:
            name = re.search(r'\n    name: "(.*)"', packet)
            if name:
                tracks[re.search(r"uuid: (\d+)", packet)[1]] = name[1]
    opened, depth, flows, of_threads = [], {}, {}, {}
    for packet in packets:
        track = re.search(r"track_uuid: (\d+)", packet)
        kind = re.search(r"type: (\w+)", packet)
        if track and track[1] in tracks and kind:
            begins = kind[1].endswith("BEGIN")
            depth[track[1]] = depth.get(track[1], 0) + (1 if begins else -1)
            assert depth[track[1]] in (0, 1), packet
            if begins:
                opened.append(tracks[track[1]])
        for end, flow in re.findall(r"(terminating_)?flow_ids: (\d+)", packet):
            flows.setdefault(flow, []).append("f" if end else "s")
            of_threads.setdefault(flow, []).append(threads[track[1]])
    same("spans", opened, LINES)
    same("open at the end", set(depth.values()), {0})
    same("arrows", list(flows.values()),
         [list("ssf"), list("ssf"), list("ss"), list("ssf"), list("sf"),
          list("sf")])
    same("first arrow", list(of_threads.values())[0],
         ["client", "server", "server"])


def sqlite(path):
    database = sqlite3.connect(path)
    rows = database.execute(
        "select name, closed is null, length_ns is null, length_ns > 500000"
        " from span where thread is null order by opened").fetchall()
    same("rows", rows, [("request", 0, 0, 1), ("request", 0, 0, 1),
                        ("request", 1, 1, None), ("request", 0, 0, 1),
                        ("named", 0, 0, 1), ("request", 0, 0, 1)])


def words_agree(one, other):
    short, long = sorted([one, other], key=len)
    return long.startswith(short) and not re.match(r"\w", long[len(short):])


def spans(path):
    """`path` is what recorder spans --json says; `path`.dump all records."""
    stacks, cuts, asyncs, found = {}, {}, {}, {}

    def name_of(text):
        name, end = re.match("([^%,:;=(]*)(.?)", text.lstrip("<>= ")).groups()
        return (re.sub(r"\w+$", "", name) if end == "=" else name).rstrip()

    def find(list_, closed):
        agree = [s for s in list_ if s[0] == closed[0]
                 and words_agree(s[1], closed[1])]
        return ([s for s in agree if s[1] == closed[1]] or agree or [None])[-1]

    def row(span, by_id):
        return found.setdefault((span[0], span[1], by_id), [0, []])

    events = sorted(map(json.loads, open(path + ".dump")),
                    key=lambda e: (e["ns"], e["order"]))
    for e in events:
        format_, at = e["format"], e["ns"]
        span = (e["recorder"], name_of(format_), at, e["order"])
        stack = stacks.setdefault(e["thread"], [])
        cut = cuts.setdefault(e["thread"], [])
        if format_[:2] in (">>", "<<"):
            key = span[:2] + (e["arguments"][0],)
            was = asyncs.pop(key, None)
            if format_[0] == ">":
                asyncs[key] = span
                row(span, True)[0] += was is not None
            elif was:
                row(span, True)[1].append(at - was[2])
        elif format_[0] == ">":
            stack.append(span)
        elif format_[0] == "<" and find(stack, span):
            opened = find(stack, span)
            place = stack.index(opened)
            cut += stack[place + 1:]
            del stack[place:]
            row(opened, False)[1].append(at - opened[2])
        elif format_[0] == "<" and find(cut, span):
            opened = find(cut, span)
            cut.remove(opened)
            row(opened, False)[1].append(at - opened[2])
    for list_ in list(stacks.values()) + list(cuts.values()):
        for span in list_:
            row(span, False)[0] += 1
    for span in asyncs.values():
        row(span, True)[0] += 1
    said = [json.loads(line) for line in open(path)]
    same("names", sorted((s["recorder"], s["span"], s["by_id"]) for s in said),
         sorted(found))
    same("order", [s["total_ns"] for s in said],
         sorted((s["total_ns"] for s in said), reverse=True))
    for s in said:
        opened, times = found[s["recorder"], s["span"], s["by_id"]]
        times.sort()
        must = {"count": len(times), "open": opened, "total_ns": sum(times)}
        if times:
            rank = lambda part: times[-(-len(times) * part // 1000) - 1]
            must.update(median_ns=rank(500), p99_ns=rank(990),
                        longest_ns=times[-1], least_ns=times[0])
        same(s["span"], {key: s[key] for key in must}, must)
        for low, high, count in s["histogram"]:
            same("step", count, len([t for t in times if low < t <= high or
                                     (t == low == 0)]))
        same("steps", sum(step[2] for step in s["histogram"]), len(times))


{"spans": spans, "perfetto": perfetto, "sqlite": sqlite}[sys.argv[1]](sys.argv[2])
