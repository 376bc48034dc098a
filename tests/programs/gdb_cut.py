# gdb_cut.py FILE LIBRARY: threads of a recording that is cut while they are read.
# SPDX-License-Identifier: MIT
import ctypes
import os
import signal
import sys
import time

path, library = sys.argv[1:]
whole = open(path, "rb").read()
with open("cut", "wb") as file:
    file.write(whole)

# Cuts the file and makes it whole, again and again.
cutter = os.fork()
if cutter == 0:
    fd = os.open("cut", os.O_RDWR)
    while os.getppid() != 1:
        os.ftruncate(fd, 4096)
        time.sleep(0.0005)
        os.pwrite(fd, whole[4096:], 4096)
        time.sleep(0.005)
    os._exit(0)

calls = ctypes.CDLL(library)
calls.recorder_gdb_new.restype = ctypes.c_void_p
calls.recorder_gdb_threads_open.restype = ctypes.c_char_p
calls.recorder_gdb_waits.restype = ctypes.c_char_p
said = set()
try:
    for _ in range(400):
        handle = ctypes.c_void_p(calls.recorder_gdb_new(bytes(1024)))
        wrong = calls.recorder_gdb_threads_open(handle, b"cut", None, None)
        if wrong is None:
            calls.recorder_gdb_waits(handle, None)
        calls.recorder_gdb_free(handle)
        said.add(wrong)
        if {None, b"was cut off while it was read"} <= said:
            break
finally:
    os.kill(cutter, signal.SIGKILL)
    os.waitpid(cutter, 0)
print(sorted(str(text) for text in said))
assert signal.getsignal(signal.SIGBUS) == signal.SIG_DFL
