"""A source of the recorder command."""
# SPDX-License-Identifier: MIT

import ctypes
import os
import time
import warnings

from ._events import Event, Recorder, Thread, row
from ._library import (CEvent, CProgram, CRecorder, CThread, Error, Warning,
                       reading, text_of)


def options_of(given):
    """Keyword arguments as the names and values of options: since="-1s",
    formats=["a", "b"], by_time=True."""
    options = []
    for name, values in given.items():
        for value in values if isinstance(values, (list, tuple)) else [values]:
            if value is None or value is False:
                continue
            options += [name.replace("_", "-").encode(),
                        b"" if value is True else
                        os.fsencode(value) if isinstance(value, os.PathLike)
                        else os.fsencode(str(value))]
    if any(b"\0" in option for option in options):
        raise Error("an option has a NUL in it")
    return (ctypes.c_char_p * (len(options) + 1))(*options, None)


class Source:
    """The records of a source, and facts about its program.

    Iterating over it gives all records, in order; the next iteration begins
    again, and ends the one before. Close it, or use `with`.
    """

    def __init__(self, name, **options):
        self._library = reading()
        self._reader = None
        self._turn = 0  # of iterations: the last one is valid
        self.name = os.fspath(name) if not isinstance(name, int) else str(name)
        given = options_of(options)
        self._follows = bool(options.get("follow"))
        why = ctypes.create_string_buffer(2048)
        encoded = os.fsencode(self.name)
        if b"\0" in encoded:
            raise Error("%r has a NUL in it" % self.name)
        self._reader = self._library.recorder_reader_open(
            encoded, given, why, len(why))
        if not self._reader:
            raise Error(text_of(why.value))
        for warning in self.warnings:
            warnings.warn(warning, Warning, stacklevel=3)

    def close(self):
        """Releases the source. No other method may be called afterwards."""
        reader, self._reader = self._reader, None
        if reader:
            self._library.recorder_reader_close(reader)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_reader", None):
            self.close()

    def __repr__(self):
        return "<recorder.Source %r>" % self.name

    def _call(self, name, *arguments):
        """A function of the library's; below 0 is an error."""
        if not self._reader:
            raise Error("%s: is closed" % self.name)
        result = getattr(self._library, "recorder_reader_" + name)(
            self._reader, *arguments)
        if isinstance(result, int) and result < 0:
            raise Error(text_of(
                self._library.recorder_reader_error(self._reader)))
        return result

    # ------------------------------------------------------------- records --

    def _begin(self):
        """Begins an iteration; its turn."""
        if not self._follows:
            self._call("rewind")
        self._turn += 1
        return self._turn

    def _next(self, turn, event):
        """Gets the next record of an iteration."""
        if turn != self._turn:
            raise Error("%s: another iteration has begun since" % self.name)
        return self._call("next", event, ctypes.sizeof(CEvent))

    def __iter__(self):
        event, turn = CEvent(), self._begin()
        while self._next(turn, event):
            yield Event(event)

    def lines(self):
        """The lines of `recorder dump`, without its head; control characters
        for the terminal are escaped."""
        event, turn = CEvent(), self._begin()
        while self._next(turn, event):
            yield text_of(self._call("line"))

    def take(self):
        """Takes the present records of a running program."""
        self._call("take")

    def follow(self, interval=0.01):
        """Records of a running program as they are made, until it ends; of a
        source that was opened with follow=True."""
        if not self._follows or not self.live:
            raise Error("%s: only a running process that was opened with "
                        "follow=True can be followed" % self.name)
        while True:
            yield from self
            time.sleep(interval)
            try:
                self.take()
            except Error as error:
                if str(error).endswith("the program is gone"):
                    return
                raise

    @property
    def missed(self):
        """How many records were overwritten before take() saw them."""
        return self._call("missed")

    # ------------------------------------------------------------- columns --

    def columns(self, *names, arguments=12):
        """A dictionary of numpy arrays, one for each field; see Columns."""
        from ._columns import columns
        return columns(self, names, arguments)

    def frame(self, *names, arguments=12):
        """The same as a frame of pandas; texts that are few are categories,
        wall_ns is a date."""
        from ._columns import frame
        return frame(self, names, arguments)

    # ---------------------------------------------------------------- what --

    def _all(self, what, kind, c):
        """All recorders or threads."""
        found = []
        while self._call("get_" + what, len(found), c, ctypes.sizeof(c)):
            found.append(row(kind, c))
        return found

    @property
    def recorders(self):
        """A list of Recorder."""
        return self._all("recorder", Recorder, CRecorder())

    @property
    def threads(self):
        """A list of Thread."""
        return self._all("thread", Thread, CThread())

    def _program(self):
        program = CProgram()
        self._call("get_program", program, ctypes.sizeof(program))
        return program

    @property
    def program(self):
        """The name of its program."""
        return text_of(self._program().name)

    @property
    def pid(self):
        """The id that its process has, or had."""
        return self._program().pid

    @property
    def start_wall_ns(self):
        """When the program began to record, since 1970, UTC."""
        return self._program().start_wall_ns

    @property
    def live(self):
        """Whether it is a running process, of which take() may find more."""
        return bool(self._program().live)

    @property
    def warnings(self):
        """The warnings for the user, a list of lines."""
        return text_of(self._call("warnings")).splitlines()


def open(source, **options):
    """Opens a source: the id of a process, the path of a core file, a
    recording or the folder of a log, or ssh:HOST:SOURCE.

    Options are those of `recorder dump`: names, last, since, until, thread,
    severity, by_time, executable, sysroot, registry, elf, memory, formats;
    follow=True is for Source.follow().
    """
    return Source(source, **options)
