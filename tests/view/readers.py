# readers.py - asks `recorder view --live` as browsers and as strangers would.
# SPDX-License-Identifier: MIT
#
#     readers.py TEST RECORDER PID
import atexit
import os
import socket
import subprocess
import sys
import time

test, recorder, pid = sys.argv[1:]


def serve(*options):
    server = subprocess.Popen([recorder, "view", "--live", "--no-open", *options,
                               pid], stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    address = server.stdout.readline()
    _, _, host, token, _ = address.split("/")
    return server, int(host.split(":")[1]), token


def ask(port, path, host=None):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{port}'}"
              "\r\n\r\n".encode())
    return s


def status(s):
    text = b""
    while b"\r\n" not in text:
        more = s.recv(4096)
        if not more:
            return 0
        text += more
    return int(text.split()[1])


def received(s, seconds):
    """Bytes of a stream in some time."""
    s.settimeout(0.2)
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            count += len(s.recv(1 << 20))
        except TimeoutError:
            pass
    return count


def answer(s):
    """All that a server sends until it closes."""
    text = b""
    while more := s.recv(4096):
        text += more
    return text.decode()


def must(holds, words):
    if not holds:
        sys.exit(words)


def port_80():
    """A browser leaves the port out of the Host header where it is 80."""
    server, port, token = serve("--port", "80")
    must(port == 80, f"port {port}")
    for host in ("127.0.0.1", "localhost", "127.0.0.1:80"):
        is_ = status(ask(80, f"/{token}/", host))
        must(is_ == 200, f"{host}: {is_}")
    for host in ("127.0.0.2", "example.org", "127.0.0.1:8080"):
        is_ = status(ask(80, f"/{token}/", host))
        must(is_ == 403, f"{host}: {is_}")
    server.kill()


def strangers():
    """Who does not know the token keeps nobody out: 2000 a second ask for what
    they may not see and keep their connections. Other programs may take the
    processor for a while: best of three."""
    for _ in range(3):
        served, slowest = among_strangers()
        print(served, "pages among strangers, the slowest after", slowest, "s")
        if served > 10 and slowest < 2:
            return
    must(False, "browsers wait")


def among_strangers():
    server, port, token = serve()
    held, served, slowest = [], 0, 0
    end = time.monotonic() + 3
    while time.monotonic() < end:
        for i in range(40):
            s = socket.create_connection(("127.0.0.1", port), timeout=10)
            s.sendall(b"GET /no HTTP/1.1\r\nHost: x\r\n\r\n" if i % 2 else b"G")
            held.append(s)
        for s in held[:-400]:
            s.close()
        del held[:-400]
        start = time.monotonic()
        is_ = status(ask(port, f"/{token}/"))
        must(is_ == 200, f"a browser gets {is_} after {served}")
        slowest = max(slowest, time.monotonic() - start)
        served += 1
    server.kill()
    return served, slowest


def asleep():
    """Ten that never read take nothing from one that does, once their sockets are
    full: on a busy machine that takes a while."""
    def windows(others, count):
        server, port, token = serve()
        sleepers = [ask(port, f"/{token}/events") for _ in range(others)]
        reader = ask(port, f"/{token}/events")
        try:
            for _ in range(count):
                yield received(reader, 3)
        finally:
            server.kill()
            del sleepers
    for _ in range(4):  # other programs may take the processor for a while
        alone = max(windows(0, 2))
        for among in windows(10, 8):
            print(alone, "bytes alone,", among, "among ten that sleep")
            if among > alone / 3:
                return
    must(False, "they take from those who read")


def refused(s, token, words):
    """Says 403 and why, and nothing that a stranger may not know."""
    text = answer(s)
    must(text.startswith("HTTP/1.1 403 "), f"{words}: {text}")
    must("recorder view printed" in text, f"{words}: no clear text: {text}")
    must("Referrer-Policy: no-referrer" in text and token not in text,
         f"{words}: {text}")


def tokens():
    """Only the whole token opens a path, and only under a name of this host."""
    server, port, token = serve()
    must(len(token) == 32, f"{4 * len(token)} bits")
    other = f"{int(token[0], 16) ^ 1:x}" + token[1:]
    last = token[:-1] + f"{int(token[-1], 16) ^ 1:x}"
    for path in ("/", "/events", "//", f"//{token}/", f"/{token}", token,
                 f"/{token[:31]}/", f"/{token[:31]}/events", f"/{token[1:]}/",
                 f"/{token}0/", f"/{token}{token}/", f"/{other}/",
                 f"/{last}/events", f"/{token.upper()}/x/../", f"/?{token}/",
                 f"/x/../{token}/", f"http://127.0.0.1:{port}/{token}/"):
        if path != f"/{token}/":
            refused(ask(port, path), token, path)
    for host in ("example.org", f"example.org:{port}", "127.0.0.1",
                 f"127.0.0.1:{port + 1}", f"127.0.0.2:{port}", f"0:{port}",
                 f"127.0.0.1:{port}.example.org", f"x@127.0.0.1:{port}"):
        for path in ("", "events", "no"):
            refused(ask(port, f"/{token}/{path}", host), token, host)
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.sendall(f"GET /{token}/ HTTP/1.0\r\n\r\n".encode())
    refused(s, token, "no Host")
    text = answer(ask(port, f"/{token}/"))
    must("200 OK" in text.split("\r\n")[0], "the page is not served")
    must("Referrer-Policy: no-referrer" in text, "the token leaks")
    must(token not in text.split("\r\n\r\n")[1], "the page has its token")
    with open(f"/proc/{server.pid}/cmdline") as line:
        must(token not in line.read(), "every user can read the token")
    server.kill()


def user():
    """A socket in TIME_WAIT has user 0 in /proc/net/tcp: who connects from its
    port is another user all the same. To be run as root."""
    server, port, token = serve()
    refused(ask(port, "/"), token, "no token")  # Python loads its modules
    if os.fork() == 0:
        os.setresuid(65534, 65534, 65534)
        refused(ask(port, "/"), token, "another user")
        listener = socket.create_server(("127.0.0.1", 0))
        old, new = socket.socket(), socket.socket()
        for s in old, new:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        old.bind(("127.0.0.1", 0))
        mine = old.getsockname()
        old.connect(listener.getsockname())
        accepted, _ = listener.accept()
        old.close()
        accepted.recv(1)
        accepted.close()
        time.sleep(0.1)
        new.bind(mine)
        new.connect(("127.0.0.1", port))
        new.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}"
                    "\r\n\r\n".encode())
        refused(new, token, "another user, from a port in TIME_WAIT")
        os._exit(0)
    must(os.wait()[1] == 0, "another user reads on")
    server.kill()


def crowd():
    """As many browsers as the help says; one more is told why it is refused."""
    server, port, token = serve()
    streams = [ask(port, f"/{token}/events") for _ in range(32)]
    must([status(s) for s in streams] == [200] * 32, "32 streams")
    is_ = status(ask(port, f"/{token}/events"))
    must(is_ == 503, f"one more gets {is_}")
    must(status(ask(port, f"/{token}/")) == 200, "the page is not served")
    server.kill()


globals()[test]()
