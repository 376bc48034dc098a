"""librecorder.so.1, and the declarations of recorder_reader.h."""
# SPDX-License-Identifier: MIT

import ctypes
import os
from ctypes import (POINTER, Structure, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_uint32, c_uint64, c_void_p)

HERE = os.path.dirname(os.path.abspath(__file__))
SONAME = "librecorder.so.1"


class Error(Exception):
    """A source that cannot be read, or an option that is none."""


class Warning(UserWarning):
    """A fact about a source that the user should know: for example, it is cut
    off."""


def candidates():
    """The possible places of the library, likeliest first: RECORDER_LIBRARY;
    the result of `make` in a checkout; the installed file below a prefix; the
    libraries of the system."""
    named = os.environ.get("RECORDER_LIBRARY")
    if named:
        return [named]
    found = [os.path.join(HERE, "..", "..", "build", SONAME)]
    folder = HERE
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if os.path.basename(folder) == "lib":
            found.append(os.path.join(folder, SONAME))
    return [path for path in found if os.path.exists(path)] + [SONAME]


def load():
    """Loads the library, once. Raises an Error where there is none."""
    if load.library:
        return load.library
    paths = candidates()
    for path in paths:
        try:
            load.library = ctypes.CDLL(os.path.abspath(path) if "/" in path
                                       else path)
            return load.library
        except OSError as error:
            if os.path.exists(path):
                raise Error(str(error)) from None
    raise Error("no %s: make install puts it where it is found, "
                "RECORDER_LIBRARY names another; looked for %s" %
                (SONAME, ", ".join(map(os.path.normpath, paths))))


load.library = None


def declare(library, functions):
    """Sets the results and arguments of functions."""
    try:
        for name, (result, arguments) in functions.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError as error:
        raise Error(str(error)) from None
    return library


def text_of(text):
    """Bytes of the program's, as a text; None stays None."""
    return text if text is None else text.decode("utf-8", "backslashreplace")

# ----------------------------------------------------- recorder_reader.h -- #


UNKNOWN = -1 << 63  # RECORDER_READER_UNKNOWN
SIGNED, UNSIGNED, REAL, CHARACTER, STRING, POINTER_, LOST = range(7)


class CArgument(Structure):
    """struct recorder_reader_argument"""
    _fields_ = [("word", c_uint64), ("integer", c_int64), ("real", c_double),
                ("text", c_void_p), ("text_size", c_uint64),
                ("kind", c_uint32), ("may_have_changed", c_uint32),
                ("name", c_char_p)]


class CEvent(Structure):
    """struct recorder_reader_event"""
    _fields_ = [("order", c_uint64), ("ns", c_int64), ("wall_ns", c_int64),
                ("caller", c_uint64), ("thread", c_uint32), ("tid", c_int32),
                ("line", c_uint32), ("arguments_count", c_uint32),
                ("argument_bytes", c_uint32), ("reserved", c_uint32),
                ("arguments", c_void_p), ("recorder", c_char_p),
                ("severity", c_char_p), ("thread_name", c_char_p),
                ("location", c_char_p), ("file", c_char_p),
                ("format", c_char_p), ("message", c_void_p),
                ("message_size", c_uint64)]


class CRecorder(Structure):
    """struct recorder_reader_recorder"""
    _fields_ = [("name", c_char_p), ("description", c_char_p),
                ("wrong", c_char_p), ("trace", c_int64), ("slots", c_uint64),
                ("lanes", c_uint64), ("kept", c_uint64),
                ("overwritten", c_uint64), ("lost", c_uint64),
                ("oldest_ns", c_int64), ("newest_ns", c_int64),
                ("missed", c_uint64)]


class CThread(Structure):
    """struct recorder_reader_thread"""
    _fields_ = [("name", c_char_p), ("number", c_uint32), ("id", c_int32),
                ("alive", c_int32), ("is_task", c_int32)]


class CProgram(Structure):
    """struct recorder_reader_program"""
    _fields_ = [("name", c_char_p), ("pid", c_uint64),
                ("start_wall_ns", c_int64), ("live", c_int32),
                ("word_bytes", c_int32)]


class CColumns(Structure):
    """struct recorder_reader_columns"""
    _fields_ = [("rows", c_uint64), ("arguments", c_uint64)] + [
        (name, c_void_p) for name in (
            "order", "ns", "wall_ns", "caller", "recorder", "severity",
            "thread", "thread_name", "tid", "location", "format", "message",
            "argument", "kind", "argument_name")]


FUNCTIONS = {
    "recorder_reader_version": (c_char_p, []),
    "recorder_reader_open": (c_void_p, [c_char_p, POINTER(c_char_p), c_char_p,
                                        c_size_t]),
    "recorder_reader_close": (None, [c_void_p]),
    "recorder_reader_error": (c_char_p, [c_void_p]),
    "recorder_reader_warnings": (c_char_p, [c_void_p]),
    "recorder_reader_next": (c_int, [c_void_p, POINTER(CEvent), c_size_t]),
    "recorder_reader_line": (c_char_p, [c_void_p]),
    "recorder_reader_rewind": (c_int, [c_void_p]),
    "recorder_reader_take": (c_int, [c_void_p]),
    "recorder_reader_missed": (c_uint64, [c_void_p]),
    "recorder_reader_fill": (c_int64, [c_void_p, POINTER(CColumns), c_size_t]),
    "recorder_reader_text": (c_void_p, [c_void_p, c_uint32,
                                        POINTER(c_size_t)]),
    "recorder_reader_get_recorder": (c_int, [c_void_p, c_size_t,
                                         POINTER(CRecorder), c_size_t]),
    "recorder_reader_get_thread": (c_int, [c_void_p, c_size_t, POINTER(CThread),
                                       c_size_t]),
    "recorder_reader_get_program": (None, [c_void_p, POINTER(CProgram), c_size_t]),
}


def reading():
    """The library, with the functions that read sources."""
    return declare(load(), FUNCTIONS)


def version():
    """The version of librecorder, "1.2.3"."""
    return text_of(reading().recorder_reader_version())
