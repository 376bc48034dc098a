"""Records, recorders and threads, as Python has them."""
# SPDX-License-Identifier: MIT

from collections import namedtuple
from ctypes import string_at
from functools import lru_cache

from ._library import (CHARACTER, LOST, REAL, SIGNED, STRING, UNKNOWN,
                       CArgument, text_of)


few = lru_cache(1024)(text_of)  # of texts that many records have


class Argument(str):
    """The text of an argument that may be another than the one recorded:
    nothing keeps it. `recorder dump` marks it by a ~."""

    may_have_changed = True


class Event:
    """A record.

    order        its sequence number among all records
    ns           since the start of the program; None: unknown
    wall_ns      since 1970, UTC; None: unknown
    recorder     the name of its recorder
    severity     "sw2", "hw3"; None: none
    thread       the number of its thread; None: unknown
    thread_name  None: unknown
    tid          the kernel's id of the thread; None: unknown
    location     "file.c:12"
    file, line   "dir/file.c", 12; None: unknown
    format       the format, as the program has it; None: unknown
    message      the text that the program would print
    arguments    a tuple: int, float, str, or None for one that was lost
    names        of arguments that have one in the format: {"bytes": 1}
    caller       the return address of the call
    """

    __slots__ = ("order", "ns", "wall_ns", "recorder", "severity", "thread",
                 "thread_name", "tid", "location", "file", "line", "format",
                 "message", "arguments", "names", "caller")

    def __init__(self, c):
        self.order = c.order or None
        self.ns = None if c.ns == UNKNOWN else c.ns
        self.wall_ns = None if c.wall_ns == UNKNOWN else c.wall_ns
        self.recorder = few(c.recorder)
        self.severity = few(c.severity)
        self.thread_name = few(c.thread_name)
        self.thread = None if self.thread_name is None else c.thread
        self.tid = c.tid or None
        self.location = few(c.location)
        self.file = few(c.file)
        self.line = c.line or None
        self.format = few(c.format)
        self.message = text_of(string_at(c.message, c.message_size))
        self.caller = c.caller
        self.names = {}
        at, step = c.arguments, c.argument_bytes
        self.arguments = tuple([
            self._argument(CArgument.from_address(at + i * step), i)
            for i in range(c.arguments_count)])

    def _argument(self, c, i):
        """The value of argument i."""
        name = c.name
        if name is not None:
            self.names[few(name)] = i
        kind = c.kind
        if kind in (SIGNED, CHARACTER):
            return c.integer
        if kind == REAL:
            return c.real
        if kind == STRING:
            text = text_of(string_at(c.text, c.text_size))
            return Argument(text) if c.may_have_changed else text
        return None if kind == LOST else c.word

    def __getitem__(self, which):
        """An argument by its number or, where the format gives it one, its
        name: event[0], event["bytes"]."""
        if isinstance(which, str):
            which = self.names[which]
        return self.arguments[which]

    def __repr__(self):
        return "Event(%s)" % ", ".join(
            "%s=%r" % (name, getattr(self, name))
            for name in ("order", "ns", "recorder", "message"))


Recorder = namedtuple("Recorder", "name description wrong trace slots lanes "
                      "kept overwritten lost oldest_ns newest_ns missed")
Thread = namedtuple("Thread", "name number id alive is_task")


def row(kind, c):
    """A named tuple of a structure whose members have the same names."""
    values = [getattr(c, name) for name in kind._fields]
    return kind(*(text_of(value) if isinstance(value, bytes)
                  else None if value == UNKNOWN else value
                  for value in values))
