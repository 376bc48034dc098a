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


def chrome(path):
    events = json.load(open(path))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events
             if e["name"] == "thread_name"}
    begins = {e["id"]: e for e in events if e["ph"] == "b"}
    ends = {e["id"]: e for e in events if e["ph"] == "e"}
    same("spans", [e["name"] for e in begins.values()], LINES)
    same("ids that end", sorted(ends), sorted(begins))
    longest = max(begins, key=lambda i: ends[i]["ts"] - begins[i]["ts"])
    same("longest", begins[longest]["args"]["message"], ">> request 2 of a client")
    same("no span ends early", [i for i in begins
                                if ends[i]["ts"] < begins[i]["ts"]], [])
    flows = [e for e in events if e["ph"] in "stf" and e["cat"] == "net"]
    of_first = [(e["ph"], names[e["tid"]]) for e in flows
                if e["id"] == list(begins)[0]]
    same("arrow", of_first, [("s", "client"), ("t", "server"), ("f", "server")])
    slices = {(e["tid"], e["ts"]) for e in events
              if e["ph"] == "X" and e["cat"] == "async"}
    same("arrows in no slice", [e for e in flows
                                if (e["tid"], e["ts"]) not in slices], [])


def perfetto(path):
    """`path` is what protoc made of it."""
    packets = open(path).read().split("\npacket {")
    tracks = {}
    for packet in packets:
        if "track_descriptor" in packet and "thread {" not in packet:
            name = re.search(r'\n    name: "(.*)"', packet)
            if name:
                tracks[re.search(r"uuid: (\d+)", packet)[1]] = name[1]
    opened, depth, flows = [], {}, {}
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
    same("spans", opened, LINES)
    same("open at the end", set(depth.values()), {0})
    same("arrows", list(flows.values()),
         [list("ssf"), list("ssf"), list("ss"), list("ssf"), list("sf"),
          list("sf")])


def sqlite(path):
    database = sqlite3.connect(path)
    rows = database.execute(
        "select name, closed is null, length_ns is null, length_ns > 500000"
        " from span where thread is null order by opened").fetchall()
    same("rows", rows, [("request", 0, 0, 1), ("request", 0, 0, 1),
                        ("request", 1, 1, None), ("request", 0, 0, 1),
                        ("named", 0, 0, 1), ("request", 0, 0, 1)])


{"chrome": chrome, "perfetto": perfetto, "sqlite": sqlite}[sys.argv[1]](sys.argv[2])
