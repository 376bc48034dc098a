"""Reads flight recorders: processes, core files, recordings, logs, servers.

    import recorder

    with recorder.open("demo.rec", names="net|disk", since="-10s") as source:
        for event in source:
            print(event.ns, event.recorder, event.message, event.arguments)
        frame = source.frame()          # where pandas is installed

A source is whatever the recorder command takes for a SOURCE, and options are
those of `recorder dump`, with _ for -. What is wrong is a recorder.Error, in
the command's words; what the user should know is a recorder.Warning.
"""
# SPDX-License-Identifier: MIT

from ._events import Argument, Event, Recorder, Thread
from ._library import Error, Warning, version
from ._source import Source, open

__all__ = ["Argument", "Error", "Event", "Recorder", "Source", "Thread",
           "Warning", "open", "version"]
