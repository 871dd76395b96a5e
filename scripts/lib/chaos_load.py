"""Members and publishers of a disturbed cluster: processes of `canopy`, and what they tell when."""

import collections
import itertools
import json
import os
import subprocess
import threading
import time

from local_ring import stop_with_parent

AGAIN_S = 0.5  # after the end of such a process
PIPE_ROOM = 4096

Event = collections.namedtuple("Event", "at kind data")


def follow(stream, take):
    """Gives each line to `take`, with its time, in a thread of its own."""
    def read():
        for line in stream:
            take(time.monotonic(), line)
        stream.close()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


class Session:
    """One `canopy join` at a daemon, from its beginning to its end."""

    def __init__(self, ring, daemon, groups):
        self.daemon = daemon
        self.begun = time.monotonic()
        self.ended = None
        self.events = {group: [] for group in groups}
        self.delivered = {group: {} for group in groups}  # id -> when first
        self.complaints = []
        self.process = subprocess.Popen(
            ring.client(daemon, "--json", "join", *groups), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=stop_with_parent)
        self.reader = follow(self.process.stdout, self.take)

    def take(self, at, line):
        try:
            event = json.loads(line)
        except ValueError:
            return
        group = event.get("group")
        if group not in self.events:
            return
        kind = event["event"]
        if kind == "message":
            key = key_of(event["id"])
            place = (event.get("epoch", 0), event.get("position", 0))
            self.delivered[group].setdefault(key, at)
            self.events[group].append(Event(at, kind, (key, place, event.get("payload"))))
        else:
            self.events[group].append(Event(at, kind, event))

    def joined(self, group):
        return any(event.kind == "joined" for event in list(self.events[group]))

    def since(self, begin, group):
        """Its events from then on, the latest first."""
        return itertools.takewhile(lambda event: event.at >= begin,
                                   reversed(list(self.events[group])))

    def has_ended(self):
        if self.ended is None and self.process.poll() is not None:
            self.reader.join()
            self.ended = time.monotonic()
        return self.ended is not None

    def stop(self):
        if self.ended is None:
            self.process.terminate()
            self.process.wait()
            self.reader.join()


def key_of(message_id):
    return (message_id["publisher"], message_id["incarnation"], message_id["sequence"])


class Member:
    """Joins the groups at a daemon, again whenever that has ended."""

    def __init__(self, ring, daemon, groups):
        self.ring, self.daemon, self.groups = ring, daemon, groups
        self.sessions = []
        self.next_try = 0

    def look(self):
        if self.sessions and not self.sessions[-1].has_ended():
            return
        now = time.monotonic()
        if now < self.next_try or not self.daemon.is_running() or not self.daemon.control.exists():
            return
        self.next_try = now + AGAIN_S
        # One that never got anywhere tells nothing.
        if self.sessions and not any(self.sessions[-1].events.values()):
            self.sessions.pop()
        self.sessions.append(Session(self.ring, self.daemon, self.groups))

    def live(self):
        return self.sessions[-1] if self.sessions and not self.sessions[-1].has_ended() else None


class Publisher:
    """Publishes to a group through a daemon, a line at a time, and keeps what was acknowledged."""

    def __init__(self, ring, daemon, group, rate):
        self.ring, self.daemon, self.group, self.rate = ring, daemon, group, rate
        self.process = None
        self.ended = False
        self.number = 0
        self.acked = []     # (when, id, place)
        self.failures = []  # (when, what)
        self.next_line = 0
        self.next_try = 0
        self.readers = []

    def look(self):
        if self.ended:
            return
        now = time.monotonic()
        if self.process is None or self.process.poll() is not None:
            self.begin(now)
        elif now >= self.next_line:
            self.next_line = max(self.next_line + 1 / self.rate, now - 1)
            self.write()

    def begin(self, now):
        if now < self.next_try or not self.daemon.is_running() or not self.daemon.control.exists():
            return
        self.next_try = now + AGAIN_S
        self.close()
        self.process = subprocess.Popen(
            self.ring.client(self.daemon, "--json", "--timeout", "20", "publish", self.group, "-",
                             "--lines", "--ack", "root"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=stop_with_parent)
        os.set_blocking(self.process.stdin.fileno(), False)
        self.readers = [follow(self.process.stdout, self.take)]
        self.next_line = now

    def write(self):
        self.number += 1
        line = f"{self.daemon.name} {self.number}\n".encode()
        try:
            os.write(self.process.stdin.fileno(), line)
        except (OSError, ValueError):
            pass  # it waits, has just failed, or was ended meanwhile

    def take(self, at, line):
        answer = json.loads(line)
        if "error" in answer:
            self.failures.append((at, answer["error"]["message"]))
        else:
            place = (answer.get("epoch", 0), answer.get("position", 0))
            self.acked.append((at, key_of(answer["id"]), place))

    def end(self):
        """No more lines."""
        self.ended = True
        self.close()

    def close(self):
        if self.process is not None:
            try:
                self.process.stdin.close()
            except OSError:
                pass

    def stop(self, deadline):
        """Waits for the answers to what was sent."""
        self.end()
        if self.process is None:
            return
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join()
