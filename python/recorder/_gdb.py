"""The functions of gdb/library.h in librecorder: for gdb's script alone, which
is installed with this module and the library."""
# SPDX-License-Identifier: MIT

import ctypes

from ._library import declare, load, text_of  # noqa: F401 for the script
NUMBER = ctypes.POINTER(ctypes.c_uint64)

# The functions of struct recorder_gdb_target: the result, and the arguments
# after the first, which says nothing.
CALLBACKS = {
    "read": (ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p,
             ctypes.c_size_t),
    "write": (ctypes.c_bool, ctypes.c_uint64, ctypes.c_void_p,
              ctypes.c_size_t),
    "thread": (ctypes.c_bool, ctypes.c_int32, ctypes.c_void_p),
    "constant": (ctypes.c_bool, ctypes.c_uint64),
    "symbol": (ctypes.c_uint64, ctypes.c_char_p, NUMBER),
    "member": (ctypes.c_bool, ctypes.c_char_p, ctypes.c_char_p, NUMBER,
               ctypes.POINTER(ctypes.c_uint32)),
    "variable": (ctypes.c_bool, ctypes.c_uint64, ctypes.c_void_p,
                 ctypes.c_size_t),
    "is_code": (ctypes.c_bool, ctypes.c_uint64),
    "writable": (ctypes.c_bool, ctypes.c_size_t, NUMBER, NUMBER),
    "has_library": (ctypes.c_bool, ctypes.c_char_p),
    "kernel_thread": (ctypes.c_bool, ctypes.c_size_t,
                      ctypes.POINTER(ctypes.c_int32), NUMBER),
    "thread_name": (None, ctypes.c_size_t, ctypes.c_void_p),
}
CALLBACKS = {name: ctypes.CFUNCTYPE(result, ctypes.c_void_p, *arguments)
             for name, (result, *arguments) in CALLBACKS.items()}


class Target(ctypes.Structure):
    """struct recorder_gdb_target"""
    _fields_ = [*CALLBACKS.items(), ("size", ctypes.c_uint64),
                ("word_bytes", ctypes.c_uint32), ("machine", ctypes.c_uint32),
                ("big_endian", ctypes.c_bool), ("live", ctypes.c_bool),
                ("native", ctypes.c_bool), ("stale_order", ctypes.c_bool)]


class Event(ctypes.Structure):
    """struct recorder_gdb_event"""
    _fields_ = [("line", ctypes.c_char_p), ("file", ctypes.c_char_p),
                ("name", ctypes.c_char_p), ("caller", ctypes.c_uint64),
                ("file_line", ctypes.c_uint32), ("thread", ctypes.c_int32),
                ("alive", ctypes.c_bool), ("is_task", ctypes.c_bool)]


class Task(ctypes.Structure):
    """struct recorder_gdb_task"""
    _fields_ = [("name", ctypes.c_char_p), ("group", ctypes.c_char_p),
                ("state", ctypes.c_char_p), ("address", ctypes.c_uint64),
                ("id", ctypes.c_int64), ("thread", ctypes.c_int64),
                ("running", ctypes.c_bool), ("dead", ctypes.c_bool),
                ("internal", ctypes.c_bool)]


class Registers(ctypes.Structure):
    """struct recorder_gdb_registers"""
    _fields_ = [("value", ctypes.c_uint64 * 64), ("known", ctypes.c_uint64),
                ("xpsr", ctypes.c_uint64), ("sp", ctypes.c_uint32),
                ("pc", ctypes.c_uint32)]


# The functions of library.h: the result, and the arguments after the library.
FUNCTIONS = {
    "free": (None, []),
    "candidate": (ctypes.c_size_t, [ctypes.c_uint64]),
    "scan": (ctypes.c_size_t, [ctypes.c_uint64, ctypes.c_uint64]),
    "open": (ctypes.c_char_p, []),
    "take": (ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_uint64]),
    "list": (ctypes.c_char_p, []),
    "threads": (ctypes.c_char_p, []),
    "dump": (ctypes.c_char_p, []),
    "several": (ctypes.c_char_p, []),
    "warnings": (ctypes.c_char_p, []),
    "at": (ctypes.c_char_p, [ctypes.c_uint64, ctypes.POINTER(Event)]),
    "set": (ctypes.c_char_p, [ctypes.c_char_p]),
    "name": (ctypes.c_char_p, [ctypes.c_size_t]),
    "tasks_open": (ctypes.c_char_p, []),
    "tasks_warnings": (ctypes.c_char_p, []),
    "groups": (ctypes.c_char_p, []),
    "tasks": (ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_bool,
                                ctypes.c_uint64]),
    "task": (ctypes.c_bool, [ctypes.c_size_t, ctypes.POINTER(Task)]),
    "task_registers": (ctypes.c_bool, [ctypes.c_size_t,
                                       ctypes.POINTER(Registers)]),
    "threads_open": (ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_char_p,
                                       ctypes.c_char_p]),
    "waits": (ctypes.c_char_p, [ctypes.c_char_p]),
    "locks": (ctypes.c_char_p, []),
}


def library():
    """The library, with these functions."""
    functions = {"recorder_gdb_" + name: (result, [ctypes.c_void_p] + arguments)
                 for name, (result, arguments) in FUNCTIONS.items()}
    functions["recorder_gdb_new"] = (ctypes.c_void_p, [ctypes.POINTER(Target)])
    return declare(load(), functions)
