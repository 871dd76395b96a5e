"""Starts a ring of canopyd processes on the loopback and keeps it up until told to stop.

scripts/run builds the programs and calls this. Every daemon keeps its data, its control socket and
its log in one temporary folder, which is removed at the end.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

UP_TIMEOUT_S = 10
RING_TIMEOUT_S = 60
STOP_TIMEOUT_S = 10
DELIVERY_TIMEOUT_S = 20
POLL_S = 0.05
LOG_TAIL_LINES = 15
# sockaddr_un has room for this many bytes, the final zero included.
SOCKET_PATH_MAX = 108

GATEWAY_PORT = 9324
ACCOUNT = "000000000000"

QUEUES_LINE = re.compile(r"^queues at (\S+)", re.MULTILINE)
UP_LINE = re.compile(r"^canopyd \S+ listening on (\S+)", re.MULTILINE)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failure(Exception):
    """The ring cannot be shown; the message says why and what to do."""


class Stopped(Exception):
    """The user asked for the end."""


def stop_with_parent():
    """Runs in the child: a daemon never outlives this program, not even its kill -9."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Daemon:
    """One canopyd process with its files; `before` is what to run it by, as nsenter."""

    def __init__(self, name, folder, program, arguments, listen="127.0.0.1:0", before=()):
        self.name = name
        self.control = folder / f"{name}.sock"
        self.log = folder / f"{name}.log"
        self.address = None
        self.command = [*before, program, "--name", name, "--listen", listen,
                        "--control", self.control, "--data", folder / name, *arguments]
        self.log.write_bytes(b"")  # it says when the daemon is up
        self.start()

    def start(self):
        """Also again, after its end."""
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C must reach this program alone.
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=stop_with_parent)

    def is_running(self):
        return self.process.poll() is None

    def log_tail(self):
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {self.name}: {line}" for line in lines[-LOG_TAIL_LINES:])

    def has_announced_its_address(self):
        match = UP_LINE.search(self.log.read_text(encoding="utf-8", errors="replace"))
        if match:
            self.address = match.group(1)
        return match is not None

    def queues_url(self):
        """Where its gateway listens."""
        match = QUEUES_LINE.search(self.log.read_text(encoding="utf-8", errors="replace"))
        if not match:
            raise Failure(f"{self.name} has no gateway; its log ends:\n{self.log_tail()}")
        return match.group(1)


class Ring:
    """The daemons, and the commands that talk to them."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.daemons = []

    def start(self, peers, gateway=None):
        """With queues at the address `gateway` of the first daemon, if one is given."""
        first = self.add(1, ["--gateway", gateway, "--allow-anonymous"] if gateway else [])
        self.wait_for(first.has_announced_its_address, UP_TIMEOUT_S, "the first daemon to listen")
        for number in range(2, peers + 1):
            self.add(number, ["--join", first.address])
        self.wait_for(lambda: all(daemon.has_announced_its_address() for daemon in self.daemons),
                      UP_TIMEOUT_S + peers, "every daemon to listen")
        self.wait_for(self.is_complete, RING_TIMEOUT_S + peers, f"a ring of {peers} peers")

    def add(self, number, arguments):
        daemon = Daemon(f"peer-{number}", self.folder, self.programs / "canopyd", arguments)
        self.daemons.append(daemon)
        return daemon

    def is_complete(self):
        """Whether every daemon sees every other in the ring."""
        return all(self.peers_seen_by(daemon) == len(self.daemons) for daemon in self.daemons)

    def peers_seen_by(self, daemon):
        answer = self.ask(daemon, "ring")
        return len(answer["peers"]) if answer and answer["complete"] else 0

    def ask(self, daemon, *command):
        """The JSON that `canopy` prints, or None while it cannot be asked."""
        try:
            result = subprocess.run(self.client(daemon, *command, "--json"), capture_output=True,
                                    text=True, timeout=UP_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return None
        return json.loads(result.stdout) if result.returncode == 0 else None

    def client(self, daemon, *command):
        return [str(self.programs / "canopy"), "--control", str(daemon.control), *command]

    def wait_for(self, condition, timeout_s, what):
        deadline = time.monotonic() + timeout_s
        while not condition():
            for daemon in self.daemons:
                if not daemon.is_running():
                    raise Failure(f"{daemon.name} ended with status {daemon.process.returncode} "
                                  f"while waiting for {what}; its log ends:\n{daemon.log_tail()}")
            if time.monotonic() > deadline:
                tails = "\n".join(daemon.log_tail() for daemon in self.daemons[:5])
                raise Failure(f"waited {timeout_s} s for {what}; the logs end:\n{tails}")
            time.sleep(POLL_S)

    def stop(self):
        """SIGTERM for all, SIGKILL for those that do not heed it; their names."""
        for daemon in self.daemons:
            if daemon.is_running():
                daemon.process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        stubborn = []
        for daemon in self.daemons:
            try:
                daemon.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                daemon.process.kill()
                daemon.process.wait()
                stubborn.append(daemon.name)
        return stubborn


def show_once(ring):
    """Joins a group through the last daemon, publishes through the first, shows what arrives."""
    member, publisher = ring.daemons[-1], ring.daemons[0]
    group, text = "demo", f"hello from {publisher.name}"
    print(f"{member.name} joins the group {group}, {publisher.name} publishes into it")
    join = subprocess.Popen(
        ring.client(member, "join", group, "--count", "1", "--timeout", str(DELIVERY_TIMEOUT_S)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        ring.wait_for(lambda: join.poll() is not None or is_member(ring, member, group),
                      DELIVERY_TIMEOUT_S, f"{member.name} to become a member of {group}")
        publish = subprocess.run(ring.client(publisher, "publish", group, text),
                                 capture_output=True, text=True, timeout=DELIVERY_TIMEOUT_S,
                                 check=False)
        if publish.returncode != 0:
            raise Failure(f"publishing failed: {publish.stderr.strip()}")
        arrived, complaint = join.communicate(timeout=DELIVERY_TIMEOUT_S + UP_TIMEOUT_S)
    except subprocess.TimeoutExpired as expired:
        raise Failure(f"no end of: {' '.join(map(str, expired.cmd))}") from expired
    finally:
        if join.poll() is None:
            join.kill()
            join.wait()
    if join.returncode != 0 or text not in arrived:
        raise Failure(f"the message did not arrive: {complaint.strip()}\n{member.log_tail()}")
    print(f"{member.name} received: {arrived.strip()}")


def ask_queues(url, action, **members):
    """One call of the SQS API, as an SDK makes it."""
    request = urllib.request.Request(url, json.dumps(members).encode(), {
        "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{action}"})
    try:
        with urllib.request.urlopen(request, timeout=DELIVERY_TIMEOUT_S) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        with error:
            raise Failure(f"{action} failed: {error.read().decode()}") from error
    except OSError as error:
        raise Failure(f"{action} failed: {error}") from error


def show_queue_once(ring):
    """Sends a message to a queue, receives and deletes it."""
    url = ring.daemons[0].queues_url()
    queue = ask_queues(url, "CreateQueue", QueueName="demo")["QueueUrl"]
    text = "hello from the queue"
    print(f"a message is sent to the queue {queue}")
    ask_queues(url, "SendMessage", QueueUrl=queue, MessageBody=text)
    messages = ask_queues(url, "ReceiveMessage", QueueUrl=queue, WaitTimeSeconds=5)
    bodies = [message["Body"] for message in messages.get("Messages", [])]
    if bodies != [text]:
        raise Failure(f"the queue gave {bodies} instead of what was sent to it")
    ask_queues(url, "DeleteMessage", QueueUrl=queue,
               ReceiptHandle=messages["Messages"][0]["ReceiptHandle"])
    print(f"and received from it: {bodies[0]}")


def gateway_address():
    """The usual port if nobody has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", GATEWAY_PORT))
        except OSError:
            return "127.0.0.1:0"
    return f"127.0.0.1:{GATEWAY_PORT}"


def is_member(ring, daemon, group):
    answer = ring.ask(daemon, "groups")
    return answer is not None and any(
        entry["group"] == group and entry["member"] for entry in answer["groups"])


def explain(ring, program):
    first, last = ring.daemons[0], ring.daemons[-1]
    url = first.queues_url()
    queue = f"{url}/{ACCOUNT}/demo"
    print(f"""
A ring of {len(ring.daemons)} peers is up; logs are in {ring.folder}.

Join a group in another terminal, and leave it with Ctrl-C:
  {program} --control {last.control} join demo

Publish into it from a third:
  {program} --control {first.control} publish demo 'hello'

Look around:
  {program} --control {first.control} ring
  {program} --control {first.control} tree demo

Queues are at {url}, for any AWS SDK (any keys, any region), or the AWS CLI:
  export AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_DEFAULT_REGION=us-east-1
  aws --endpoint-url {url} sqs create-queue --queue-name demo
  aws --endpoint-url {url} sqs send-message --queue-url {queue} --message-body hello
  aws --endpoint-url {url} sqs receive-message --queue-url {queue}

Ctrl-C here stops the ring.""", flush=True)


def stay(ring):
    """Until a signal; tells of daemons that end meanwhile, which the others must survive."""
    ended = set()
    while len(ended) < len(ring.daemons):
        for daemon in ring.daemons:
            if daemon not in ended and not daemon.is_running():
                ended.add(daemon)
                print(f"{daemon.name} ended with status {daemon.process.returncode}; "
                      f"its log ends:\n{daemon.log_tail()}", flush=True)
        time.sleep(POLL_S * 4)
    raise Failure("no daemon is left")


def run(args):
    program = os.path.relpath(args.bin / "canopy", args.start_folder)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="canopy-"))
    ring = Ring(args.bin, folder)
    try:
        longest = folder / f"peer-{args.peers}.sock"
        if len(os.fsencode(longest)) >= SOCKET_PATH_MAX:
            raise Failure(f"{longest} is too long for a socket: set TMPDIR to a shorter folder")
        print(f"starting {args.peers} daemon{'s' if args.peers > 1 else ''}", flush=True)
        ring.start(args.peers, "127.0.0.1:0" if args.once else gateway_address())
        if args.once:
            show_once(ring)
            show_queue_once(ring)
        else:
            explain(ring, program)
            stay(ring)
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        print("stopping", flush=True)
        stubborn = ring.stop()
        shutil.rmtree(folder, ignore_errors=True)
    if stubborn:
        raise Failure(f"killed after {STOP_TIMEOUT_S} s without heed to SIGTERM: "
                      f"{', '.join(stubborn)}")


def on_signal(_number, _frame):
    raise Stopped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--from", dest="start_folder", default=".",
                        help="folder that printed commands are relative to")
    parser.add_argument("--peers", type=int, default=5)
    parser.add_argument("--once", action="store_true")
    args = parser.parse_args()
    args.bin = args.bin.resolve()
    for number in STOP_SIGNALS:
        signal.signal(number, on_signal)
    try:
        run(args)
    except Stopped:
        # That is how a ring in the foreground is meant to end, but a demonstration was cut short.
        return 1 if args.once else 0
    except Failure as failure:
        print(f"run: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
