"""Records as columns, where numpy is installed, and as frames of pandas."""
# SPDX-License-Identifier: MIT

import ctypes

import numpy

from ._library import (CHARACTER, LOST, REAL, SIGNED, STRING, UNSIGNED,
                       POINTER_, CColumns, Error, text_of)

ROWS = 65536  # at a time
NUMBERS = {"order": numpy.int64, "ns": numpy.int64, "wall_ns": numpy.int64,
           "caller": numpy.uint64, "thread": numpy.uint32,
           "tid": numpy.int32}
TEXTS = ("recorder", "severity", "thread_name", "location", "format",
         "message")
FIELDS = ("order", "ns", "wall_ns", "recorder", "severity", "thread",
          "thread_name", "tid", "location", "message", "format", "caller")
RAW = ("argument", "kind", "argument_name")
EXACT = 1 << 53  # integers up to here are exact as doubles


def pieces_of(source, names, arguments):
    """All records, in batches: a dictionary of raw arrays each."""
    raw = {name: numpy.empty(ROWS, NUMBERS.get(name, numpy.uint32))
           for name in names}
    raw["argument"] = numpy.empty((ROWS, arguments), numpy.uint64)
    raw["kind"] = numpy.empty((ROWS, arguments), numpy.uint8)
    raw["argument_name"] = numpy.zeros((ROWS, arguments), numpy.uint32)
    c = CColumns(rows=ROWS, arguments=arguments)
    for name, array in raw.items():
        setattr(c, name, array.ctypes.data)
    turn, count = source._begin(), ROWS
    while count == ROWS:
        if turn != source._turn:
            raise Error("%s: another iteration has begun since" % source.name)
        count = source._call("fill", c, ctypes.sizeof(c))
        used = numpy.flatnonzero((raw["kind"][:count] != LOST).any(axis=0))
        width = used[-1] + 1 if len(used) else 0
        yield {name: (array[:count, :width] if array.ndim == 2
                      else array[:count]).copy()
               for name, array in raw.items()}


def joined(arrays, lacks):
    """Arrays below each other; narrow ones are filled up with `fill`."""
    if arrays[0].ndim == 1:
        return numpy.concatenate(arrays)
    width = max(array.shape[1] for array in arrays)
    return numpy.concatenate([
        numpy.pad(array, ((0, 0), (0, width - array.shape[1])),
                  constant_values=lacks) for array in arrays])


def raw_of(source, names, arguments):
    """Raw arrays of all records, and the table of texts that numbers in them
    are of."""
    fields = [name for name in names or FIELDS if name in FIELDS]
    pieces = list(pieces_of(source, fields, min(max(arguments, 0), 12)))
    raw = {name: joined([piece[name] for piece in pieces],
                        LOST if name == "kind" else 0)
           for name in pieces[0]}
    table, size = [None], ctypes.c_size_t()
    while True:
        at = source._call("text", len(table), size)
        if not at:
            return raw, numpy.array(table, object)
        table.append(text_of(ctypes.string_at(at, size.value)))


def argument_of(words, kinds, table):
    """An argument of all records: integers; reals, NaN where there is none;
    or objects, None where there is none, if that keeps all values exact."""
    here = kinds != LOST
    signed = words.view(numpy.int64)
    if (kinds == STRING).any():
        values = signed.astype(object)
        wide = (kinds == UNSIGNED) | (kinds == POINTER_)
        values[wide] = words[wide]
        values[kinds == REAL] = words.view(numpy.float64)[kinds == REAL]
        values[kinds == STRING] = table[words[kinds == STRING]]
        values[~here] = None
        return values
    if ((kinds == SIGNED) | (kinds == CHARACTER)).all():
        return signed
    wide = (kinds == UNSIGNED) | (kinds == POINTER_)
    if wide.all():
        return words
    whole = here & (kinds != REAL)
    if (wide & (words > EXACT)).any() or (
            whole & ~wide & (abs(signed) > EXACT)).any():
        values = signed.astype(object)
        values[wide] = words[wide]
        values[kinds == REAL] = words.view(numpy.float64)[kinds == REAL]
        values[~here] = None
        return values
    values = numpy.where(wide, words, signed).astype(numpy.float64)
    values[kinds == REAL] = words.view(numpy.float64)[kinds == REAL]
    values[~here] = numpy.nan
    return values


def arguments_of(raw, table):
    """A column for each argument that any record has, by its number; and for
    each name that a format gives one, "bytes=%d": where it is no field's."""
    words, kinds = raw["argument"], raw["kind"]
    found = {"argument%d" % i: argument_of(
                 numpy.ascontiguousarray(words[:, i]), kinds[:, i], table)
             for i in range(kinds.shape[1])}
    for number in numpy.unique(raw["argument_name"]):
        name = table[number]
        if number and name not in FIELDS + ("wall",) and name not in found:
            here = raw["argument_name"] == number
            row, at = numpy.arange(len(here)), here.argmax(axis=1)
            kind = numpy.where(here[row, at], kinds[row, at], LOST)
            found[name] = argument_of(
                numpy.ascontiguousarray(words[row, at]), kind, table)
    return found


def add_arguments(found, raw, table, names):
    """Adds the columns of arguments: the named ones, or all if only fields are
    named."""
    arguments = arguments_of(raw, table)
    wanted = [name for name in names if name not in FIELDS]
    for name in wanted:
        if name not in arguments:
            raise Error("there is no column %s; there are %s" % (
                name, ", ".join([*FIELDS, *arguments])))
    found.update({name: arguments[name] for name in wanted or arguments})


def columns(source, names, arguments):
    """A dictionary of arrays: the named columns, or all fields. With fields
    alone come argument0 and so on, up to `arguments`, and the arguments that
    formats name. The least int64 is an unknown time; a line of a log has the
    order 0."""
    raw, table = raw_of(source, names, arguments)
    found = {name: table[raw[name]] if name in TEXTS else raw[name]
             for name in raw if name not in RAW}
    add_arguments(found, raw, table, names)
    return found


def frame(source, names, arguments):
    """The same as a pandas.DataFrame."""
    import pandas
    raw, table = raw_of(source, names, arguments)
    found = {}
    for name in raw:
        if name == "message":
            found[name] = table[raw[name]]
        elif name in TEXTS:
            used, codes = numpy.unique(raw[name], return_inverse=True)
            if len(used) and used[0] == 0:  # 0 is no text: code -1
                used, codes = used[1:], codes - 1
            texts = pandas.Index(table[used], dtype=object)
            if texts.is_unique:
                found[name] = pandas.Categorical.from_codes(codes, texts)
            else:  # two texts of bytes that are no UTF-8
                found[name] = table[raw[name]]
        elif name == "wall_ns":  # the least int64 is NaT
            found["wall"] = pandas.to_datetime(raw[name], utc=True)
        elif name not in RAW:
            found[name] = raw[name]
    add_arguments(found, raw, table, names)
    return pandas.DataFrame(found)
