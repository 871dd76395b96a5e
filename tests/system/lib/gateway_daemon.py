"""Starts canopyd with a gateway in a folder of its own, and asks it in AWS JSON."""

import ctypes
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
DEADLINE_S = 60
ACCOUNT = "000000000000"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """An answer that is an error of the API."""

    def __init__(self, status, code, message):
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def eventually(condition, seconds=DEADLINE_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Connection:
    """One connection of a client. Not thread-safe."""

    def __init__(self, port, host="127.0.0.1"):
        self.http = http.client.HTTPConnection(host, port, timeout=DEADLINE_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def get(self, path, **headers):
        self.http.request("GET", path, headers=headers)
        answer = self.http.getresponse()
        return answer.status, answer.read().decode()

    def call(self, action, **members):
        self.http.request("POST", "/", json.dumps(members), {
            "X-Amz-Target": f"AmazonSQS.{action}", "Content-Type": "application/x-amz-json-1.0"})
        answer = self.http.getresponse()
        body = json.loads(answer.read() or b"{}")
        if answer.status != 200:
            raise Failed(answer.status, body.get("__type", "").split("#")[-1],
                         body.get("message", ""))
        return body

    def send(self, queue, body, **more):
        return self.call("SendMessage", QueueUrl=url_of(queue), MessageBody=body, **more)

    def receive(self, queue, **more):
        """Up to ten messages."""
        return self.call("ReceiveMessage", QueueUrl=url_of(queue), MaxNumberOfMessages=10,
                         **more).get("Messages", [])

    def delete(self, queue, message):
        self.call("DeleteMessage", QueueUrl=url_of(queue), ReceiptHandle=message["ReceiptHandle"])

    def take_all(self, queue):
        """The bodies of all visible messages, in the order in which they come."""
        bodies = []
        while messages := self.receive(queue, VisibilityTimeout=600):
            bodies += [message["Body"] for message in messages]
            self.call("DeleteMessageBatch", QueueUrl=url_of(queue), Entries=[
                {"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
                for i, message in enumerate(messages)])
        return bodies


def url_of(queue):
    return f"http://localhost/{ACCOUNT}/{queue}"


class Daemon:
    """canopyd with its files in `folder`; its data, too, unless `data` is another directory or
    False: then it has none."""

    def __init__(self, folder, *arguments, data=True, prefix=(), name="a", program="canopyd",
                 environment=None):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / f"{name}.data" if data is True else data
        self.environment = {} if environment is None else environment
        self.command = [*prefix, str(BIN / program), "--name", name, "--listen", "127.0.0.1:0",
                        "--control", str(self.folder / f"{name}.sock")]
        if data:
            self.command += ["--data", str(self.data)]
        self.command += [str(argument) for argument in arguments]
        if "--gateway" not in arguments:
            self.command += ["--gateway", "127.0.0.1:0"]
        if "--credentials" not in arguments:
            self.command += ["--allow-anonymous"]
        self.out_path = self.folder / f"{name}.out"
        self.error_path = self.folder / f"{name}.err"
        self.process = None
        self.url = None
        self.port = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def launch(self):
        # The keys of whoever runs the tests are not the daemon's.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("AWS_", "CANOPY_"))} | self.environment
        with self.out_path.open("wb") as out, self.error_path.open("ab") as error:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=error, env=environment,
                preexec_fn=end_with_parent)

    def start(self):
        self.launch()
        if not eventually(lambda: self.find_url() or self.process.poll() is not None):
            raise AssertionError(f"not up: {self.errors()}")
        if self.url is None:
            raise AssertionError(f"ended with {self.process.returncode}: {self.errors()}")

    def find_url(self):
        match = re.search(r"^queues at (\S+:(\d+))$", self.out_path.read_text(encoding="utf-8"),
                          re.MULTILINE)
        self.url, self.port = (match.group(1), int(match.group(2))) if match else (None, None)
        return match is not None

    def run(self):
        """For daemons that end by themselves: their status."""
        self.launch()
        return self.wait()

    def wait(self, seconds=DEADLINE_S):
        return self.process.wait(seconds)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE_S)

    def close(self):
        self.kill()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def restart(self):
        self.kill()
        self.start()

    def errors(self):
        return self.error_path.read_text(encoding="utf-8", errors="replace")

    def says(self, text, seconds=DEADLINE_S):
        return eventually(lambda: text in self.errors(), seconds)

    def connect(self):
        return Connection(self.port)


def check_store(directory, *more):
    """What canopyd --check-store says: status and output."""
    result = subprocess.run([BIN / "canopyd", "--check-store", directory, *more],
                            capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    return result.returncode, result.stdout + result.stderr
