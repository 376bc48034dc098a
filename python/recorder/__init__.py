"""Reads flight recorders: processes, core files, recordings, logs, servers.

    import recorder

    with recorder.open("demo.rec", names="net|disk", since="-10s") as source:
        for event in source:
            print(event.ns, event.recorder, event.message, event.arguments)
        frame = source.frame()          # where pandas is installed

A source is any SOURCE of the recorder command, and options are the options of
`recorder dump`, with _ for -. An error raises recorder.Error, with the
command's message; a warning is a recorder.Warning.
"""
# SPDX-License-Identifier: MIT

from ._events import Argument, Event, Recorder, Thread
from ._library import Error, Warning, version
from ._source import Source, open

__all__ = ["Argument", "Error", "Event", "Recorder", "Source", "Thread",
           "Warning", "open", "version"]
