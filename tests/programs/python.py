"""Checks the Python module against the recorder command: tests/outside/python.sh

python.py agree SOURCE          all that both say of a source
python.py columns SOURCE        columns and frames, by the records
python.py errors                what is wrong, in the command's words
python.py hostile FILE EVERY    a recording, cut off and changed
python.py cut FILE              a recording that is cut off while it is read
python.py follow PID COUNT      records of a program as they are made
python.py pages FILE            runs the Python code of a page of docs
"""
# SPDX-License-Identifier: MIT

import faulthandler
import json
import os
import random
import re
import shutil
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))
COMMAND = os.path.join(HERE, "..", "..", "build", "recorder")

import recorder  # noqa: E402


def command(*arguments):
    """What the command says: status, stdout, stderr."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def events(source, *options):
    """The records of a source, as the command has them in JSON."""
    status, out, err = command("dump", "--json", source, *options)
    assert status == 0, err
    return [json.loads(line) for line in out.decode().splitlines()]


def same(ours, theirs, what):
    """One value; JSON has no bytes that are no UTF-8, and no pointers."""
    if isinstance(theirs, str):
        if "\ufffd" in theirs:
            return
        if re.fullmatch("0x[0-9a-f]+", theirs) and isinstance(ours, int):
            theirs = int(theirs, 16)
        if isinstance(ours, float):  # "inf"
            theirs = float(theirs)
    if what.endswith("ns") and ours is not None:
        ours -= min(1000, max(-1000, ours - theirs))  # the clock's rate is
        #                                               measured at each look
    assert ours == theirs or ours != ours and theirs != theirs, (
        what, ours, theirs)


def agree(name):
    """All fields of all records, all lines, recorders, threads, options."""
    with recorder.open(name) as source:
        theirs = events(name)
        ours = list(source)
        assert len(ours) == len(theirs) > 10, (len(ours), len(theirs))
        for e, j in zip(ours, theirs):
            for field in ("order", "ns", "wall_ns", "recorder", "severity",
                          "thread", "thread_name", "tid", "location", "file",
                          "line", "format", "message", "caller"):
                same(getattr(e, field), j[field], field)
            assert len(e.arguments) == len(j["arguments"])
            for i, argument in enumerate(j["arguments"]):
                same(e[i], argument, "argument %d of %r" % (i, e))
                assert hasattr(e[i], "may_have_changed") == (
                    i + 1 in j["may_have_changed"]), (e, i)
        again = [e.order for e in source]
        assert again == [e.order for e in ours]
        head = 1 + len(source.recorders)
        times = re.compile(r"\[\d+\.\d+ ")
        lines = times.sub("[", "".join(source.lines()))
        dumped = times.sub("[", command("dump", name)[1].decode(
            "utf-8", "backslashreplace"))
        assert dumped.endswith(lines) and (
            dumped.count("\n") - lines.count("\n") <= head)
        listed = command("list", name)[1].decode()
        for r in source.recorders:
            row = re.search("^%s +(.*)$" % re.escape(r.name), listed, re.M)
            if r.wrong is None and row:
                size, lanes, _, kept, over, lost = row.group(1).split()[:6]
                assert [r.slots, r.lanes, r.kept, r.lost] == [
                    int(size), int(lanes), int(kept), int(lost)], r
                assert r.overwritten == int(over.strip("~")), r
        for t in source.threads:
            assert re.search(r"^%d +%d" % (t.number, t.id), listed, re.M), t
        middle = ours[len(ours) // 2]
    for options in ({"names": "main|small"}, {"last": 5},
                    {"since": middle.order, "names": "m.*"},
                    {"until": middle.order}, {"thread": middle.thread},
                    {"since": "-1s", "by_time": True}, {"severity": "hw0,sw0"}):
        line = []
        for option, value in options.items():
            line.append("--" + option.replace("_", "-"))
            line += [] if value is True else [str(value)]
        with recorder.open(name, **options) as source:
            assert [e.order for e in source] == [
                j["order"] for j in events(name, *line)], options
    print("agreed on %d records" % len(ours))


def columns(name):
    """Columns are the records, value by value; exact, or None."""
    import pandas
    with recorder.open(name) as source:
        ours, found = list(source), source.columns()
        width = max(len(e.arguments) for e in ours)
        assert "argument%d" % (width - 1) in found
        assert "argument%d" % width not in found
        for i, e in enumerate(ours):
            for field in ("order", "recorder", "severity", "message", "format",
                          "location", "caller", "thread_name"):
                assert found[field][i] == getattr(e, field), (field, e)
            assert found["ns"][i] == e.ns
            for k in range(width):
                was = e[k] if k < len(e.arguments) else None
                now = found["argument%d" % k][i]
                assert (now is None or now != now) if was is None else (
                    now == was or was != was), (k, was, now, e)
        fields = set(vars(type(ours[0]))["__slots__"]) | {"wall"}
        for one in {one for e in ours for one in e.names} - fields:
            was = [e[one] if one in e.names else None for e in ours]
            for old, now in zip(was, found[one]):
                assert now == old or old is None and (
                    now is None or now != now), (one, old, now)
        some = source.columns("ns", "recorder", arguments=1)
        assert {"argument0", "ns", "recorder"} <= set(some), some
        assert "message" not in some and "argument1" not in some
        chosen = source.columns("argument0", "ns")
        assert set(chosen) == {"argument0", "ns"}, chosen
        assert all(a is b or a == b or a != a for a, b in
                   zip(chosen["argument0"], found["argument0"]))
        fields = set(vars(type(ours[0]))["__slots__"]) | {"wall"}
        for one in sorted({one for e in ours for one in e.names} - fields)[:2]:
            alone = source.columns(one)
            assert set(alone) == {one}, alone
            assert all(a is b or a == b or a != a for a, b in
                       zip(alone[one], found[one])), one
        assert list(source.frame("argument0").columns) == ["argument0"]
        try:
            source.columns("nanoseconds")
            raise AssertionError
        except recorder.Error as error:
            assert "there is no column nanoseconds" in str(error)
        frame = source.frame()
        assert isinstance(frame, pandas.DataFrame) and len(frame) == len(ours)
        assert list(frame.message) == [e.message for e in ours]
        assert list(frame.recorder) == [e.recorder for e in ours]
        assert frame.recorder.dtype == "category"
        assert frame.wall[0].value == ours[0].wall_ns
        named = sum(1 for e in ours if e.names)
    with recorder.open(name, last=1) as source:
        assert len(source.frame()) == 1
    print("columns of %d records, %d of named arguments" % (len(ours), named))


def wrong(name, *line, **options):
    """Both refuse it, with the same words."""
    try:
        recorder.open(name, **options)
    except recorder.Error as error:
        status, _, said = command("dump", name, *line)
        said = said.splitlines()
        assert status in (1, 2), said
        assert "recorder: %s" % error in said, (str(error), said)
        return str(error)
    raise AssertionError("%s is read" % name)


def errors():
    """What cannot be read, options that are none, and use after the end."""
    open("empty", "w").close()
    os.makedirs("folder", exist_ok=True)
    for name in ("nowhere", "empty", "folder", "/etc/passwd", "/dev/null",
                 "999999999", "0", COMMAND, "ssh:a;b:1",
                 "a\033[31m\n"):
        wrong(name)
    wrong("recording", "--names", "nix", names="nix")
    wrong("recording", "--names", "n[", names="n[")
    wrong("recording", "--since", "then", since="then")
    wrong("recording", "--last", "-1", last=-1)
    wrong("recording", "--severity", "9", severity=9)
    wrong("recording", "--registry", "x", registry="x")
    wrong("recording", "--formats", "/nowhere", formats="/nowhere")
    for options in {"nix": 1}, {"help": True}, {"names": "a\0b"}, {
            "memory": ["1:a"] * 70}:
        try:
            recorder.open("recording", **options)
            raise AssertionError(options)
        except recorder.Error as error:
            assert str(error), options
    source = recorder.open("recording")
    first = iter(source)
    next(first)
    assert next(iter(source)).order
    for what in lambda: next(first), source.close, lambda: list(source):
        try:
            what()
            assert what == source.close
        except recorder.Error as error:
            assert "another iteration" in str(error) or "closed" in str(error)
    with recorder.open("recording") as source:
        try:
            next(source.follow())
            raise AssertionError
        except recorder.Error as error:
            assert "only a running process" in str(error)
    os.environ["RECORDER_LIBRARY"] = "/nowhere"
    done = subprocess.run([sys.executable, "-c", "import recorder; recorder."
                           "version()"], capture_output=True, cwd=os.path.join(
                               HERE, "..", "..", "python"))
    assert b"RECORDER_LIBRARY names another" in done.stderr, done.stderr
    print("errors as the command's")


def hostile(name, every):
    """Cut off at any length, and with any word changed: records or an Error;
    now and then it is compared with the command, whatever that says."""
    warnings.simplefilter("ignore", recorder.Warning)
    whole = open(name, "rb").read()
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("SEED=%d" % seed, flush=True)
    random.seed(seed)
    read = refused = 0
    sizes = sorted(random.sample(range(len(whole)), every))
    for i in range(2 * every):
        if i < every:
            bytes_ = whole[:sizes[i]]
        else:
            bytes_ = bytearray(whole)
            for _ in range(4):
                at = random.choice([random.randrange(len(whole)),
                                    random.randrange(4096)]) & ~7
                bytes_[at:at + 8] = random.choice(
                    [b"\xff" * 8, bytes(8), random.randbytes(8)])
        with open("bad", "wb") as file:
            file.write(bytes_)
        try:
            with recorder.open("bad") as source:
                count = sum(1 for _ in source)
                source.recorders, source.threads, source.warnings
                if i % 5 == 0:
                    assert count == len(source.columns("order",
                                                       arguments=1)["order"])
            read += 1
            if i % 10 == 0:
                assert count == len(events("bad"))
        except recorder.Error:
            refused += 1
            if i % 5 == 0:
                wrong("bad")
    assert read and refused, (read, refused)
    print("%d read, %d refused" % (read, refused))


def cut(name):
    """The file loses its end under the reader: an Error, no signal; and other
    faults end the process as before."""
    shutil.copy(name, "short")
    source = recorder.open("short")
    os.truncate("short", 4096)
    try:
        for _ in range(3):
            list(source)
        raise AssertionError("nothing was missed")
    except recorder.Error as error:
        assert str(error) == "short: was cut off while it was read", error
    source.close()
    faulthandler.enable()
    child = os.fork()
    if child == 0:
        import mmap
        faulthandler.disable()
        with recorder.open(name), open("own", "w+b") as file:
            file.truncate(4096)
            own = mmap.mmap(file.fileno(), 4096)
            file.truncate(0)
            own[0]
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == 7  # SIGBUS
    print("cut off")


def follow(pid, count):
    """Each record once, in order, until the program has ended."""
    found = []
    with recorder.open(int(pid), names="count|flood|main", follow=True) as source:
        assert source.live and source.pid == int(pid)
        for event in source.follow():
            found.append(event.order)
            if len(found) == int(count):
                break
        assert found == sorted(set(found))
        print("followed %d, missed %d" % (len(found), source.missed))


def shape_of(text):
    """A text without the width of its columns and the values of its numbers, but
    for the lines of files: of them, main.c:12 says the same each time."""
    return [re.sub(r"(\.\w+:)?\d+", lambda number: number[0] if number[1] else "0",
                   re.sub(r"[ \-]+", " ", line)).strip()
            for line in text.splitlines()]


def pages(path):
    """The Python code of a page, in its order, and what it says it prints: the
    block of text behind a block of code."""
    import contextlib
    import io
    page = open(path).read()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S)
    names, said = {}, ""
    ran = compared = 0
    for kind, text in blocks:
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, path, "exec"), names)
            said, ran = out.getvalue(), ran + 1
        elif kind == "text" and said:
            assert shape_of(text) == shape_of(said), (
                "%s says:\n%s\nbut its code prints:\n%s" % (path, text, said))
            said, compared = "", compared + 1
    assert ran and compared, (ran, compared)
    print("%s: %d blocks ran, %d as printed" % (path, ran, compared))


if __name__ == "__main__":
    arguments = [int(a) if i and sys.argv[1] == "hostile" else a
                 for i, a in enumerate(sys.argv[2:])]
    {"agree": agree, "columns": columns, "errors": errors, "hostile": hostile,
     "cut": cut, "follow": follow, "pages": pages}[sys.argv[1]](*arguments)
