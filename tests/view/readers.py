# readers.py - asks `recorder view --live` as browsers and as strangers would.
# SPDX-License-Identifier: MIT
#
#     readers.py TEST RECORDER PID
import atexit
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
    """Ten that never read take nothing from one that does."""
    def share(others):
        server, port, token = serve()
        asleep = [ask(port, f"/{token}/events") for _ in range(others)]
        time.sleep(2)
        bytes_ = received(ask(port, f"/{token}/events"), 3)
        server.kill()
        del asleep
        return bytes_
    for _ in range(3):  # other programs may take the processor for a while
        alone, among = share(0), share(10)
        print(alone, "bytes alone,", among, "among ten that sleep")
        if among > alone / 3:
            return
    must(False, "they take from those who read")


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
