"""Clients of memcached, each a thread: run_clients.py SOCKET REQUESTS."""
# SPDX-License-Identifier: MIT
import socket
import sys
import threading

wrong = []


def client(which):
    """Sets and gets values that no other client does."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        answers = s.makefile("rb")
        for i in range(int(sys.argv[2])):
            key = b"key%d-%d" % (which, i % 50)
            value = b"x" * (i % 700)
            s.sendall(b"set %s 0 0 %d\r\n%s\r\nget %s\r\n" %
                      (key, len(value), value, key))
            lines = [answers.readline() for _ in range(2)]
            got = answers.read(len(value) + 2)[:-2]
            if (lines[0] != b"STORED\r\n" or got != value or
                    answers.readline() != b"END\r\n"):
                wrong.append((which, i, lines, got))


threads = [threading.Thread(target=client, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(wrong[:3], len(wrong))
