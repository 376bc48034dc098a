# Compares the waveforms of several sources with those of each alone.
# SPDX-License-Identifier: MIT
#
#   vcd_several.py ALL SCOPE ALONE SCOPE ALONE ...
#
# Of each scope the same changes of the same variables come in the same order, at
# the same dates; after its last record a source may do no more than go quiet.
import re
import sys


def read(path):
    """Variables by id, first values, then changes, and the date of time 0."""
    names, first, changes, scopes, now, date = {}, [], [], [], 0, None
    to = first
    for line in open(path, encoding="latin-1").read().split("\n"):
        words = line.split()
        if line.startswith("$scope"):
            scopes.append(words[2])
        elif line.startswith("$upscope"):
            scopes.pop()
        elif line.startswith("$var"):
            assert words[3] not in names, f"{words[3]} is two variables"
            names[words[3]] = tuple(scopes) + (words[4],)
        elif line.startswith("$comment 0 is") and "since 1970" in line:
            date = int(words[3])
        elif line == "$end":
            to = changes
        elif line.startswith("#"):
            assert int(line[1:]) >= now, "time goes back"
            now = int(line[1:])
        elif line and line[0] in "01xbrs":
            value = re.fullmatch(r"([01x])(\S+)|([brs]\S*) (\S+)", line)
            assert value, line
            to.append((now, names[value[2] or value[4]], value[1] or value[3]))
    assert not scopes
    return set(names.values()), first, changes, date


def of(scope, changes):
    return [(ns, name[1:], value) for ns, name, value in changes
            if name[0] == scope]


names, first, changes, date = read(sys.argv[1])
scopes = dict(zip(sys.argv[2::2], sys.argv[3::2]))
assert {name[0] for name in names} == set(scopes), names
ends = 0
for scope, path in scopes.items():
    alone, begins, must, start = read(path)
    assert {name[1:] for name in names if name[0] == scope} == alone, scope
    assert of(scope, first) == begins, scope
    is_ = of(scope, changes)
    must = [(ns + start - date, name, value) for ns, name, value in must]
    more = is_[len(must):]
    assert is_[:len(must)] == must, [i for i in zip(is_, must)
                                     if i[0] != i[1]][:1]
    assert all(value in "0s-" and ns == must[-1][0] + 1
               for ns, _, value in more), more
    ends += not more
assert ends >= 1, "somebody is the last"
