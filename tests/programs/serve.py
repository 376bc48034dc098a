# serve.py: hostile servers and clients for recorder serve: tests/outside/serve.c.
# SPDX-License-Identifier: MIT
import os
import socket
import subprocess
import sys
import threading
import time

ESC = b"\x1b]0;owned\x07"


def answers(reply, pause=0.0):
    """A server that answers each request so; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            client, _ = listener.accept()
            client.recv(4096)
            try:
                for piece in reply if isinstance(reply, list) else [reply]:
                    client.sendall(piece)
                    time.sleep(pause)
            except OSError:
                pass
            client.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def says(recorder, source, *words, seconds=20):
    """The command fails with 1, says these words and nothing of a terminal."""
    begun = time.monotonic()
    done = subprocess.run([recorder, "list", source], capture_output=True,
                          timeout=seconds + 20)
    text = done.stdout + done.stderr
    assert done.returncode == 1, (source, done)
    assert time.monotonic() - begun < seconds, (source, text)
    assert b"\x1b" not in text and b"\x07" not in text, text
    for word in words:
        assert word.encode() in text, (word, text)
    left = os.listdir(os.environ["XDG_CACHE_HOME"] + "/recorder")
    assert not [name for name in left if name.startswith("new-")], left


def servers(recorder):
    ok = b"HTTP/1.1 200 OK\r\n"
    for reply, word in [
            (b"", "it closed the connection"),
            (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "it speaks no HTTP"),
            (ok + b"\r\nabc", "no length"),
            (ok + b"Content-Length: -5\r\n\r\nabc", "no length"),
            (ok + b"Content-Length: 0x10\r\n\r\nabc", "no length"),
            (ok + b"Content-Length: 99999999999999999999999\r\n\r\n",
             "no length"),
            (ok + b"Content-Length: 999999999999999\r\n\r\nabc",
             "are not taken"),
            (ok + b"Content-Length: 100\r\n\r\nabc",
             "it broke off: 3 of 100 bytes came"),
            (ok + b"Content-Length: 3\r\n\r\nabc",
             "is no core file and no recording"),
            (ok + b"Content-Length: 0\r\n\r\n", "is empty"),
            (ok + b"X: " + b"y" * 40000, "no end of headers"),
            (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
             b"Content-Length: 0\r\n\r\n", "it answers 302"),
            (b"HTTP/1.1 500 Oops\r\nContent-Length: 30\r\n\r\n" + ESC +
             b"no such process         ", "no such process")]:
        says(recorder, f"http://127.0.0.1:{answers(reply)}/", word)
    says(recorder, "http://127.0.0.1:1/", "Connection refused")
    for name in "http://", "http://x:y/", "http://127.0.0.1:80/../etc/", \
            "http://[::1/", "http://" + "a" * 5000 + "/":
        says(recorder, name, "is not http://HOST:PORT/")


def slow(recorder):
    """A byte now and then is no reason to wait for ever."""
    reply = [b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"]
    says(recorder, f"http://127.0.0.1:{answers(reply + [b'x'] * 900, 0.1)}/",
         "it is too slow", seconds=50)


def ask(port, request, size=65536):
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(request)
        text = b""
        while len(text) < size:
            piece = client.recv(65536)
            if not piece:
                break
            text += piece
    return text


def clients(port):
    port = int(port)
    host = f"Host: 127.0.0.1:{port}\r\n\r\n".encode()
    # Some who never ask: others are answered nevertheless.
    asleep = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    for request, status in [
            (b"GET /recording HTTP/1.1\r\n" + host, b"200"),
            (b"GET / HTTP/1.1\r\n" + host, b"404"),
            (b"GET /recording/ HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module/ HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module/../../etc/passwd HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module/%2e%2e HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module//etc/passwd HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module/" + b"ab" * 20 + b" HTTP/1.1\r\n" + host, b"404"),
            (b"GET /module/" + b"ab" * 2000 + b" HTTP/1.1\r\n" + host, b"404"),
            (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n" + host, b"431"),
            (b"POST /recording HTTP/1.1\r\n" + host, b"405"),
            (b"DELETE /recording HTTP/1.1\r\n" + host, b"405"),
            (b"GET /recording HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"403"),
            (b"GET /recording HTTP/1.1\r\n\r\n", b"403"),
            (b"\0\0\0\0\r\n\r\n", b"400"),
            (b"GET\r\n\r\n", b"400")]:
        text = ask(port, request, 64)
        assert text.startswith(b"HTTP/1.1 " + status), (request[:60], text)
    whole = ask(port, b"GET /recording HTTP/1.1\r\n" + host, 1 << 30)
    head, body = whole.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert len(body) == length and body.startswith(b"\x7fELF")
    for client in asleep:
        client.close()


def proxy(recorder, url, program):
    """A server that gives the recording, but another file than was asked for:
    it is not taken."""
    port = int(url.split(":")[2].strip("/"))
    host = f"Host: 127.0.0.1:{port}\r\n\r\n".encode()
    recording = ask(port, b"GET /recording HTTP/1.1\r\n" + host, 1 << 30)
    other = open(program, "rb").read()
    listener = socket.create_server(("127.0.0.1", 0))
    asked = []

    def serve():
        while True:
            client, _ = listener.accept()
            path = client.recv(4096).split(b" ")[1]
            asked.append(path)
            client.sendall(recording if path == b"/recording" else
                           b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" %
                           (len(other), other))
            client.close()

    threading.Thread(target=serve, daemon=True).start()
    source = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    done = subprocess.run([recorder, "dump", "--function", source],
                          capture_output=True, timeout=30)
    assert done.returncode == 0 and b"third" in done.stdout, done
    assert b"(main+" not in done.stdout, done
    assert [path for path in asked if path.startswith(b"/module/")], asked
    assert not os.listdir(os.environ["XDG_CACHE_HOME"] + "/recorder")


globals()[sys.argv[1]](*sys.argv[2:])
