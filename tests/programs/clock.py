# clock.py - looks whether events are in order: clock.py row | followed | sqlite
# SPDX-License-Identifier: MIT
# row: the events of programs/clock.c in the file "events", each number once;
# followed: those of `command count` in "followed"; sqlite: those of the database
# "sqlite" are those of "events"; it says an order.
import json
import sqlite3
import sys


def events(path):
    order = 0
    with open(path) as file:
        for line in file:
            event = json.loads(line)
            if "order" in event:
                assert event["order"] > order, line
                order = event["order"]
                yield event


if sys.argv[1] == "row":
    wanted = 0
    for event in events("events"):
        words = event["message"].split()
        assert words[0] == str(wanted), event
        assert not event["recorder"].startswith("part") or len(words[1]) == 199, event
        wanted += 1
    assert wanted > 3 and words[-1] == "last", wanted
elif sys.argv[1] == "followed":
    last = None
    for event in events("followed"):
        number = int(event["message"].split()[1])
        assert last in (None, number - 1), event
        last = number
    assert last is not None and last > 100, last
else:
    orders = [event["order"] for event in events("events")]
    database = sqlite3.connect("sqlite").execute(
        "select ord from event order by ord")
    assert orders == [row[0] for row in database]
    print(orders[5])
