"""explain.py json FILE | hangs FILE | waits FILE | stacks CORE TEXT | damage
FROM TO SEED: see outside/explain.c"""
# SPDX-License-Identifier: MIT
import json
import random
import sys


def check(path):
    with open(path) as file:
        said = json.load(file)
    first = said["provenance"][0]
    assert said["signal"] == 6 and "double free" in said["ended"], said
    assert first["sure"] and first["freed"] and "release" in first["line"]
    assert any(f["function"] == "double_free" for f in said["stack"]), said
    assert said["variables"]["item"].startswith("0x"), said
    assert said["waits"] == [], said


def waits(how, path):
    """A deadlock has its two threads, another hang all that are."""
    with open(path) as file:
        threads = json.load(file)["waits"]
    kinds = [t["wait"] and t["wait"]["kind"] for t in threads]
    assert all(t["in_deadlock"] == (how == "hangs") for t in threads), threads
    if how == "hangs":
        holders = {t["wait"]["holder"] for t in threads}
        assert kinds == ["mutex", "mutex"], threads
        assert holders == {t["thread"] for t in threads}, threads
    else:
        assert "condition" in kinds, threads
    assert any(f["function"] == "main" for t in threads for f in t["stack"])


def stacks(core, text):
    """A text has the innermost frames, and no more than the core."""
    with open(core) as file:
        core = json.load(file)
    with open(text) as file:
        text = json.load(file)
    for name in ("signal", "code", "address", "thread"):
        assert core[name] == text[name], (name, core[name], text[name])
    count = len(text["stack"])
    assert count >= min(len(core["stack"]), 8), text["stack"]
    assert text["stack"] == core["stack"][:count], (core["stack"], text["stack"])


def damage(path, to, seed):
    """Overwrites words by chance, more often of the headers, and cuts."""
    chance = random.Random(seed)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for _ in range(chance.choice((20, 2000))):
        at = chance.randrange(64, chance.choice((8192, len(data))) - 8)
        data[at : at + 8] = chance.choice(
            (bytes(8), b"\xff" * 8, chance.randbytes(8))
        )
    with open(to, "wb") as file:
        file.write(data[: chance.choice((len(data), chance.randrange(len(data))))])


if sys.argv[1] == "json":
    check(sys.argv[2])
elif sys.argv[1] in ("hangs", "waits"):
    waits(sys.argv[1], sys.argv[2])
elif sys.argv[1] == "stacks":
    stacks(sys.argv[2], sys.argv[3])
else:
    damage(sys.argv[2], sys.argv[3], int(sys.argv[4]))
