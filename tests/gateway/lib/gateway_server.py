"""Starts gateway_test_server, and talks to it in raw HTTP."""

import contextlib
import os
import pathlib
import select
import socket
import subprocess

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
DEADLINE_S = 60


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [str(BIN / "gateway_test_server"), *map(str, arguments)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()

    def begin_drain(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def drained(self):
        return self.process.stdout.readline().strip()

    def connect(self):
        return Connection(self.port)

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        line, = (line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


class Connection:
    """One TCP connection. Answers are (status, headers in lower case, body)."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), DEADLINE_S)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def receive_more(self):
        data = self.socket.recv(65536)
        self.rest += data
        return bool(data)

    def head(self):
        while b"\r\n\r\n" not in self.rest:
            assert self.receive_more(), f"closed after {self.rest!r}"
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines)
        return int(first.split()[1]), fields

    def answer(self):
        status, fields = self.head()
        size = int(fields["content-length"])
        while len(self.rest) < size:
            assert self.receive_more(), "closed within a body"
        body, self.rest = self.rest[:size], self.rest[size:]
        return status, fields, body

    def readable(self, seconds):
        return bool(select.select([self.socket], [], [], seconds)[0])

    def closed(self):
        """Waits for the other side to close."""
        try:
            while self.receive_more():
                pass
        except ConnectionResetError:
            pass
        return True


def request(action, body, extra="", version="1.1"):
    """The text of an AWS JSON request."""
    return (f"POST / HTTP/{version}\r\nHost: localhost\r\nX-Amz-Target: AmazonSQS.{action}\r\n"
            f"{extra}Content-Length: {len(body.encode())}\r\n\r\n{body}")


def queue_url(name):
    return f"http://localhost/000000000000/{name}"
