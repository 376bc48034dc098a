#!/usr/bin/env python3
# Compares what a tool reads in an export with what `recorder dump --json` says.
# SPDX-License-Identifier: MIT
"""export.py FORMAT FILE DUMP: prints what differs; ends with 1 if it
does. FILE is what the format's own tool printed or, of formats that Python
reads, the export. The records are those of tests/programs/export.c, exported
with the values below."""

import csv
import json
import re
import sqlite3
import struct
import sys

VALUES = {"bytes": ("net", 0), "load": ("net", 2), "number": ("numbers", 0)}
OVERWRITTEN = ("tiny", 60 - 8)  # what the program records, less its slots


def differ(what, is_, must):
    sys.exit(f"{what}:\nis   {is_!r}\nmust {must!r}")


def same(what, is_, must):
    if is_ != must or type(is_) is not type(must):
        differ(what, is_, must)


def same_lists(what, is_, must):
    for number, pair in enumerate(zip(is_, must)):
        same(f"{what} {number}", *pair)
    same(f"number of {what}s", len(is_), len(must))


# ------------------------------------------------------------- expectations --


def place(events):
    """Gives each a time `at`: an unknown one is that of the record before."""
    at = None
    for e in events:
        at = e["at"] = at if e["ns"] is None else e["ns"]


def by_time(events):
    return sorted(events, key=lambda e: (e["at"], e["order"]))


def argument_name(event, i):
    for name, (recorder, argument) in VALUES.items():
        if (recorder, argument) == (event["recorder"], i):
            return name
    return f"arg{i + 1}"


def is_number(value):
    return isinstance(value, (int, float)) or value in ("nan", "inf", "-inf")


def value_events(events, name):
    """(ns, number) of a value."""
    recorder, argument = VALUES[name]
    return [(e["at"], e["arguments"][argument]) for e in by_time(events)
            if e["recorder"] == recorder and argument < len(e["arguments"])
            and is_number(e["arguments"][argument])
            and e["format"] != "%p %p"]


def span_name(text):
    return text[1:].lstrip(" ") or text


def pair_name(text):
    """What a close must say: "receive" of ">receive %u"."""
    return re.split("[%,:;=(]", span_name(text))[0].rstrip()


def names_agree(opened, closed):
    short, long = sorted([opened, closed], key=len)
    return long.startswith(short) and not (
        short and re.match("[A-Za-z0-9_]", long[len(short):]))


def ends_of(events):
    """When what is open in a thread ends: a nanosecond after its last record."""
    ends = {e["thread"]: e["at"] + 1 for e in by_time(events)}
    ends[1] = max(e["at"] for e in events)
    return ends


def spans_of(events):
    """(thread, name, start, end, depth) of each span, in the order of their
    starts, and which records open one. A close that finds its span ends those
    inside, too. What is open ends with its thread's last record, where the
    thread has ended: all but main have."""
    open_, spans, openers = {}, [], set()
    ends = ends_of(events)
    for e in by_time(events):
        stack = open_.setdefault(e["thread"], [])
        if e["format"].startswith(">"):
            openers.add(e["order"])
            span = [e["thread"], span_name(e["format"]), e["at"],
                    ends[e["thread"]], len(stack)]
            spans.append(span)
            stack.append((e["recorder"], span))
        elif e["format"].startswith("<"):
            name = pair_name(e["format"])
            found = [i for i, (recorder, span) in enumerate(stack)
                     if recorder == e["recorder"]
                     and names_agree(pair_name(">" + span[1]), name)]
            same_name = [i for i in found
                         if pair_name(">" + stack[i][1][1]) == name]
            if not found:
                continue
            at = (same_name or found)[-1]
            for _, span in stack[at:]:
                span[3] = e["at"]
            del stack[at:]
    return [tuple(span) for span in spans], openers


def collect_spans(marks):
    """The same of (thread, "B" or "E", name, ns); they must nest."""
    stacks, spans = {}, []
    for thread, mark, name, ns in marks:
        stack = stacks.setdefault(thread, [])
        if mark == "B":
            span = [thread, name, ns, None, len(stack)]
            stack.append(span)
            spans.append(span)
        else:
            if not stack:
                differ("a span's end", (thread, name, ns), "one that is open")
            span = stack.pop()
            if name is not None:
                same("the name of a span's end", name, span[1])
            span[3] = ns
    same("spans left open", [s for stack in stacks.values() for s in stack], [])
    return [tuple(span) for span in spans]


def same_number(what, is_, must):
    """Bit for bit, so that nan is nan and -0 is not 0."""
    if isinstance(must, int):
        same(what, is_, must)
    elif must == "nan":
        same(what, str(float(is_)), must)
    else:
        same(what, struct.pack("d", float(is_)), struct.pack("d", float(must)))


# ----------------------------------------------------------------- perfetto --


def parse_message(text, at):
    """protobuf's text format: {name: [values]}, and where it ends."""
    message = {}
    token = re.compile(r'\s*(?:(\w+)(?:: (?:"((?:[^"\\]|\\.)*)"|(\S+))| \{)|'
                       r'(\}))')
    while True:
        found = token.match(text, at)
        if not found:
            return message, at
        at = found.end()
        name, string, word, end = found.groups()
        if end:
            return message, at
        if string is not None:
            value = re.sub(rb"\\([0-7]{3}|.)",
                           lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3
                           else {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
                           .get(m[1], m[1]), string.encode()).decode()
        elif word is not None:
            value = (int(word) if re.fullmatch(r"-?\d+", word) and
                     word != "-0" else word)
        else:
            value, at = parse_message(text, at)
        if name.isdigit():
            differ("a field", name, "one of perfetto.proto")
        message.setdefault(name, []).append(value)


def perfetto(path, events):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    trace, end = parse_message(text, 0)
    same("text that protoc printed and nobody read", text[end:].strip(), "")
    names = {kind: {} for kind in ("event_categories", "event_names",
                                   "debug_annotation_names",
                                   "source_locations")}
    tracks, counters, found, marks, gaps, values = {}, {}, [], [], [], {}
    _, openers = spans_of(events)
    clocks = zero = None
    for packet in trace["packet"]:
        for data in packet.get("interned_data", []):
            for kind, entries in data.items():
                for entry in entries:
                    names[kind][entry["iid"][0]] = entry
        for snapshot in packet.get("clock_snapshot", []):
            clocks = {c["clock_id"][0]: c["timestamp"][0]
                      for c in snapshot["clocks"]}
            zero = clocks[3] - by_time(events)[0]["at"]
            same("wall time", clocks[1], by_time(events)[0]["wall_ns"])
        for track in packet.get("track_descriptor", []):
            if "thread" in track:
                tracks[track["uuid"][0]] = track["thread"][0]
            if "counter" in track:
                counters[track["uuid"][0]] = track["name"][0]
        for event in packet.get("track_event", []):
            ns = packet["timestamp"][0] - zero
            kind = event["type"][0]
            uuid = event["track_uuid"][0]
            if kind == "COUNTER":
                number = event.get("counter_value",
                                   event.get("double_counter_value"))[0]
                values.setdefault(counters[uuid], []).append((ns, number))
                continue
            if kind == "SLICE_END":
                marks.append((tracks[uuid]["tid"][0], "E", None, ns))
                continue
            category = names["event_categories"][event["category_iids"][0]]
            if uuid not in tracks:
                gaps.append((category["name"][0], event["name"][0]))
                continue
            name = names["event_names"][event["name_iid"][0]]["name"][0]
            location = names["source_locations"][
                event["source_location_iid"][0]]
            severity = [names["event_categories"][iid]["name"][0]
                        for iid in event["category_iids"][1:]]
            record = {"ns": ns, "recorder": category["name"][0],
                      "severity": severity[0] if severity else None,
                      "tid": tracks[uuid]["tid"][0],
                      "thread_name": tracks[uuid]["thread_name"][0],
                      "name": name, "opens": kind == "SLICE_BEGIN",
                      "file": location["file_name"][0],
                      "line": location["line_number"][0]}
            for a in event["debug_annotations"]:
                key = names["debug_annotation_names"][a["name_iid"][0]]
                (what, (value,)), = [item for item in a.items()
                                     if item[0] != "name_iid"]
                if what == "pointer_value":
                    value = f"{value:#x}"
                record[key["name"][0]] = value
            if record["opens"]:
                marks.append((record["tid"], "B", name, ns))
            found.append(record)
    must = []
    for e in by_time(events):
        opens = e["order"] in openers
        record = {key: e[key] for key in ("recorder", "tid", "thread_name",
                                          "file", "line", "message", "order",
                                          "caller", "severity")}
        record["ns"] = e["at"]
        record["opens"] = opens
        record["name"] = span_name(e["format"]) if opens else e["format"]
        for i, value in enumerate(e["arguments"]):
            record[argument_name(e, i)] = "<lost>" if value is None else value
        must.append(record)
    for is_, record in zip(found, must):
        same("fields", sorted(is_), sorted(record))
        for key, value in record.items():
            if isinstance(value, float) or value in ("nan", "inf", "-inf"):
                same_number(f"{record['order']} {key}", is_[key], value)
            else:
                same(f"{record['order']} {key}", is_[key], value)
    same("number of records", len(found), len(must))
    check_spans(marks, events)
    same("gaps", gaps, [(OVERWRITTEN[0],
                         f"{OVERWRITTEN[1]} records overwritten")])
    check_values(values, events)


def check_spans(marks, events):
    tids = {e["tid"]: e["thread"] for e in events}
    marks = [(tids[tid], *rest) for tid, *rest in marks]
    same_lists("span", collect_spans(marks), spans_of(events)[0])


def check_values(values, events, finite=False):
    same("values", sorted(values), sorted(VALUES))
    for name, is_ in values.items():
        must = value_events(events, name)
        if finite:
            must = [v for v in must if not isinstance(v[1], str)]
        same(f"number of {name}", len(is_), len(must))
        for (ns, number), (must_ns, must_number) in zip(is_, must):
            same(f"time of {name}", ns, must_ns)
            if isinstance(must_number, int) and must_number > 2**63 - 1:
                must_number = float(must_number)
            same_number(name, number, must_number)


# ---------------------------------------------------------------------- ctf --


def parse_fields(text):
    """{ a = 1, b = "text" } as babeltrace2 prints it."""
    escapes = dict(zip("abfnrtv0e", "\a\b\f\n\r\t\v\0\x1b"))
    fields, at = {}, 0
    token = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|([^,\s]+))(?:, |$)')
    while at < len(text):
        found = token.match(text, at)
        if not found:
            differ("fields", text[at:], "fields")
        at = found.end()
        name, string, word = found.groups()
        if string is not None:
            word = re.sub(r"\\(x[0-9a-f]{2}|.)",
                          lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 3
                          else escapes.get(m[1], m[1]), string)
        elif re.fullmatch(r"-?\d+", word):
            word = int(word)
        elif word.startswith("0x"):
            word = f"{int(word, 16):#x}"
        fields[name] = word
    return fields


def ctf_name(event):
    text = event["format"].removesuffix("\n")
    return event["recorder"] + ":" + re.sub(
        "[\x00-\x1f\x7f]", lambda m: {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
        .get(m[0], f"\\x{ord(m[0]):02x}"), text)


def ctf(path, events):
    line = re.compile(r"\[(\d+)\.(\d{9})\] \(.*?\) (?:program:)?(?:\(\d+\) )?(.*): "
                      r"\{ (order = .*?) \}, \{ (.*) \}")
    found = []
    with open(path, encoding="utf-8") as file:
        for text in file:
            parts = line.fullmatch(text.rstrip("\n"))
            if not parts:
                differ("a line", text, "an event")
            found.append({"wall_ns": int(parts[1] + parts[2]),
                          "name": parts[3], **parse_fields(parts[4]),
                          **parse_fields(parts[5])})
    must = []
    for e in by_time(events):
        record = {key: e[key] for key in ("order", "caller", "tid", "thread",
                                          "thread_name", "message")}
        record["wall_ns"] = e["at"] + events[0]["wall_ns"] - events[0]["at"]
        record["name"] = ctf_name(e)
        record["location"] = f"{e['file']}:{e['line']}"
        if e["severity"]:
            record["severity"] = e["severity"]
        for i, value in enumerate(e["arguments"]):
            if value is not None:  # which was lost
                record[argument_name(e, i)] = value
        must.append(record)
    for is_, record in zip(found, must):
        same("fields", sorted(is_), sorted(record))
        for key, value in record.items():
            if isinstance(value, float):  # of which it prints six digits
                same(key, float(is_[key]), float(f"{value:g}"))
            else:
                same(f"{record['order']} {key}", is_[key], value)
    same("number of records", len(found), len(must))


# ---------------------------------------------------------------------- vcd --


def vcd_file(path):
    """Yields (time, {name: text}, pulses) for each time."""
    names, types, state, pulses = {}, {}, {}, set()
    now = None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, _, body = text.partition("$enddefinitions $end\n")
    for kind, code, name in re.findall(
            r"\$var (\w+) \d+ (\S+) (\S+)(?: \[\d+:\d+\])? \$end", head):
        names[code], types[code] = name, kind
    scale = re.search(r"\$timescale\s+(\d+)\s*(\w+)", head)
    unit = int(scale[1]) * {"ns": 1, "us": 1000, "ms": 10**6}[scale[2]]
    words = iter(body.split())
    for word in words:
        if word[0] == "#":
            if now is not None:
                yield now, dict(state), pulses
            now, pulses = int(word[1:]) * unit, set()
        elif word[0] == "$":
            continue
        elif word[0] in "bsr":
            text = word[1:]
            if word[0] != "r":
                text = vcd_text(text) if word[0] == "s" else str(int(text, 2))
            state[names[next(words)]] = text
        elif types[word[1:]] == "event":
            pulses.add(names[word[1:]])
        else:
            state[names[word[1:]]] = word[0]
    yield now, dict(state), pulses


def gtkwave_file(path):
    """The same of what gtkwave.tcl printed."""
    times = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#|"):
                _, time, name, value = line.rstrip("\n").split("|", 3)
                times.setdefault(int(time), {})[name] = value
    for time, state in times.items():
        short = {name.rpartition(".")[2]: state[name] for name in state}
        yield time, short, {name.removesuffix("_message") for name in short if
                            name.endswith("_message") and
                            short[name.removesuffix("_message")] == "1"}


def vcd_name(text):
    return "".join(chr(c) if chr(c).isalnum() and c < 128 else "_"
                   for c in text.encode())


def lane_name(event):
    return f"T{event['thread']}_{vcd_name(event['thread_name'])}"


def vcd_text(text):
    return re.sub(r"\\([0-7]{3}|.)",
                  lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else
                  {"n": "\n", "t": "\t"}.get(m[1], m[1]),
                  text).encode("latin-1").decode()


def vcd_states(events):
    """What must be at each time: the last event, and which recorders pulse."""
    states = {}
    for e in by_time(events):
        _, recorders = states.get(e["at"], (None, set()))
        states[e["at"]] = (e, recorders | {e["recorder"]})
    return states


def check_wires(state, events, event, ns):
    """One thread runs; a thread is in a span or not."""
    for name in {lane_name(e) for e in events}:
        same(f"wire {name} at {ns}", state[name],
             "1" if event and name == lane_name(event) else "0")


def vcd(path, events, read=vcd_file):
    start = by_time(events)[0]["at"]
    states = vcd_states(events)
    spans, _ = spans_of(events)
    lanes = {e["thread"]: lane_name(e) for e in events}
    found = 0
    for time, state, pulses in read(path):
        ns = start + time
        if ns not in states:
            same(f"pulses at {ns}", pulses, set())
            continue
        event, recorders = states[ns]
        found += 1
        same(f"pulses at {ns}", pulses, recorders)
        check_wires(state, events, event, ns)
        same("order", state["order"], str(event["order"]))
        same(f"message of {event['order']}",
             state[event["recorder"] + "_message"], event["message"])
        for name, (recorder, argument) in VALUES.items():
            if (recorder == event["recorder"] and
                    argument < len(event["arguments"]) and
                    is_number(event["arguments"][argument])):
                value = event["arguments"][argument]
                is_ = state[f"{recorder}_{name}"]
                if not any(isinstance(other, (float, str)) for _, other in
                           value_events(events, name)):
                    same(f"{name} at {ns}", int(is_) % 2**64, value % 2**64)
                    continue
                number = f"{float(value):.16g}"
                if number == "-0" and read is gtkwave_file:
                    number = "0"  # which is no change
                same(f"{name} at {ns}", f"{float(is_):.16g}", number)
        lane = lanes[event["thread"]]
        within = [s for s in spans if s[0] == event["thread"] and
                  s[2] <= ns and (ns < s[3] or s[3] == max(states))]
        same(f"{lane}_span at {ns}", state[lane + "_span"],
             "1" if within else "0")
        if within:
            same(f"{lane}_spans at {ns}", state[lane + "_spans"],
                 " > ".join(s[1] for s in within))
    same("number of times", found, len(states))


def gtkwave(path, events):
    vcd(path, events, gtkwave_file)


def sigrok(path, events):
    """Of what sigrok-cli reads and writes again: wires only."""
    start = by_time(events)[0]["at"]
    states = vcd_states(events)
    changes = list(vcd_file(path))
    for ns, (event, _) in states.items():
        state = {}
        for time, now, _ in changes:
            if start + time > ns:
                break
            state = now
        check_wires(state, events, event, ns)


# ------------------------------------------------------------------- tables --


def sqlite(path, events):
    database = sqlite3.connect(path)
    columns = ", ".join(f"arg{i}" for i in range(1, 13))
    rows = database.execute(
        "select ord, ns, wall_ns, recorder.name, thread.number, thread.name,"
        " thread.tid, format.file, format.line, caller, format.format,"
        f" severity, message, format.arguments, {columns} from event"
        " join recorder on recorder.id = event.recorder"
        " join format on format.id = event.format"
        " left join thread on thread.id = event.thread order by ord").fetchall()
    for row, e in zip(rows, events):
        same_lists(f"column of {e['order']}", list(row[:13]),
                   [e[key] for key in ("order", "ns", "wall_ns", "recorder",
                                       "thread", "thread_name", "tid", "file",
                                       "line", "caller", "format", "severity",
                                       "message")])
        arguments = [str(a) if isinstance(a, int) and a > 2**63 - 1 else a
                     for a in e["arguments"]]
        same("arguments", row[13], len(arguments))
        for is_, must in zip(row[14:], arguments):
            if isinstance(must, float):
                same_number(f"argument of {e['order']}", is_, must)
            else:
                same(f"argument of {e['order']}", is_, must)
        same("further arguments", set(row[14 + len(arguments):]) - {None},
             set())
    same("number of records", len(rows), len(events))
    ends = ends_of(events)
    spans = [(thread, name, start,
              ends[thread] if length is None else start + length, depth) for thread, name, start, length, depth in
             database.execute("select thread.number, span.name, start_ns,"
                              " length_ns, depth from span join thread"
                              " on thread.id = thread order by opened")]
    same_lists("span", spans, spans_of(events)[0])
    for name in VALUES:
        is_ = [row[0] for row in database.execute(
            "select value from value where name = ? order by ns, ord", [name])]
        must = [v for _, v in value_events(events, name)]
        same_lists(f"value of {name}", [str(v) for v in is_],
                   [str(v) for v in must])
    same("overwritten", dict(database.execute(
        "select name, overwritten from recorder"))[OVERWRITTEN[0]],
        OVERWRITTEN[1])


def shown(text):
    """As the text of a message: nothing in it controls a terminal."""
    def character(c):
        if c in "\n\t\r":
            return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[c]
        if c < " " or "\x7f" <= c <= "\x9f" or c in (
                "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
                "\u2066\u2067\u2068\u2069"):
            return "".join(f"\\x{b:02x}" for b in c.encode())
        return c
    return "".join(map(character, text))


def cell(text):
    """As a cell of CSV: no text is a formula."""
    if text == "-inf":  # a number, which JSON has as a text
        return text
    return "'" * (text[:1] in tuple("=+-@")) + shown(text)


def csv_table(path, events):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    for row, e in zip(rows, events):
        for key, value in e.items():
            if key == "at":
                continue
            if key == "arguments":
                for i, argument in enumerate(value):
                    text = row[f"argument{i + 1}"]
                    if isinstance(argument, float):
                        same_number(f"argument of {e['order']}", float(text),
                                    argument)
                    else:
                        same("argument", text,
                             "" if argument is None else
                             cell(argument) if isinstance(argument, str)
                             else str(argument))
                for i in range(len(value), 12):
                    same("no argument", row[f"argument{i + 1}"], "")
            elif key == "may_have_changed":
                same(key, row[key], " ".join(str(i) for i in value))
            else:
                same(key, row[key],
                     "" if value is None else
                     cell(value) if isinstance(value, str) else str(value))
    same("number of records", len(rows), len(events))
    same("columns", len(rows[0]), 17 + 12)


def main():
    kind, path, dump = sys.argv[1:4]
    with open(dump, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    if len(events) < 150:
        sys.exit(f"{dump}: only {len(events)} records")
    place(events)
    for e in events if kind != "csv" else ():
        for i in e["may_have_changed"]:  # these outputs have no field for it
            e["arguments"][i - 1] = "~" + e["arguments"][i - 1]
    {"perfetto": perfetto, "ctf": ctf, "vcd": vcd, "gtkwave": gtkwave,
     "sigrok": sigrok, "sqlite": sqlite, "csv": csv_table}[kind](path, events)


main()
