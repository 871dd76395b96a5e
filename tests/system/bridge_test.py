#!/usr/bin/env python3
"""Bridges of a peer that is stopped and killed, while others publish: no multicast becomes two
messages, and what did not come is counted."""
import contextlib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from gateway_daemon import BIN, DEADLINE_S, Daemon, eventually  # noqa: E402

MESSAGES_A_ROUND = 200


def canopy(daemon, *words, data=None):
    return subprocess.run([str(BIN / "canopy"), "--control",
                           str(daemon.folder / f"{daemon.command[2]}.sock"), *words],
                          input=data, capture_output=True, text=True, timeout=DEADLINE_S,
                          check=False)


def ask(daemon, *words):
    result = canopy(daemon, *words, "--json")
    if result.returncode != 0:
        raise AssertionError((words, result))
    return json.loads(result.stdout)


def bridges(daemon):
    return ask(daemon, "bridge", "list")["bridges"]


class Publisher(threading.Thread):
    """Publishes numbered messages through a daemon until it is told to stop, some at a time."""

    def __init__(self, daemon, group):
        super().__init__()
        self.daemon_asked = daemon
        self.group = group
        self.ending = threading.Event()
        self.published = 0

    def run(self):
        for first in itertools.count(step=20):
            if self.ending.is_set():
                return
            lines = "".join(f"{number}\n" for number in range(first, first + 20))
            # What is lost when a root dies, its publisher is told; here it is counted.
            with contextlib.suppress(subprocess.TimeoutExpired):
                canopy(self.daemon_asked, "publish", self.group, "-", "--lines", data=lines)
            self.published = first + 20

    def end(self):
        self.ending.set()
        self.join(DEADLINE_S)


class BridgeOfAPeer(unittest.TestCase):
    group = "prices"  # its root is another peer

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="canopy-bridge-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.founder = self.started("f")
        address = re.search(r"listening on (\S+)", self.founder.out_path.read_text("utf-8"))[1]
        self.member = self.started("m", "--join", address)
        self.gateway = self.started("g", "--join", address, "--queue", "jobs", "--queue",
                                    "ordered.fifo")
        self.wait_for(lambda: len(ask(self.founder, "ring")["peers"]) == 3, "a ring of three")
        for queue in ("jobs", "ordered.fifo"):
            result = canopy(self.gateway, "bridge", "add", self.group, queue)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def started(self, name, *arguments):
        daemon = Daemon(self.folder, *arguments, name=name)
        self.addCleanup(daemon.kill)
        daemon.start()
        self.wait_for(lambda: ask(daemon, "status")["state"] == "active", f"{name} to be active")
        return daemon

    def wait_for(self, condition, what):
        self.assertTrue(eventually(condition), f"not in time: {what}")

    def sent(self):
        return {bridge["queue"]: bridge["sent"] for bridge in bridges(self.gateway)}

    def joined(self):
        return all(bridge["joined"] for bridge in bridges(self.gateway))

    def published_through(self, daemon, count):
        """Numbered messages, once the bridges have them."""
        before = self.sent()
        lines = "".join(f"{number}\n" for number in range(count))
        result = canopy(daemon, "publish", self.group, "-", "--lines", data=lines)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.wait_for(lambda: all(sent == before[queue] + count
                                  for queue, sent in self.sent().items()), "the messages")

    def take(self, queue, by_publisher):
        """Adds the numbers and bodies of its messages, in the order in which they come."""
        with self.gateway.connect() as connection:
            while messages := connection.receive(queue, VisibilityTimeout=600,
                                                 MessageAttributeNames=["All"]):
                for message in messages:
                    attributes = message["MessageAttributes"]
                    publisher = attributes["canopy.publisher"]["StringValue"]
                    by_publisher.setdefault(publisher, []).append(
                        (int(attributes["canopy.sequence"]["StringValue"]), message["Body"]))
                    self.assertEqual(attributes["canopy.group"]["StringValue"], self.group)
                    connection.delete(queue, message)

    def taken(self, queue):
        by_publisher = {}
        self.take(queue, by_publisher)
        return by_publisher

    def taken_until(self, queue, last):
        """Until this body has come from every publisher: then so has all before it."""
        by_publisher = {}

        def whole():
            self.take(queue, by_publisher)
            return len(by_publisher) == 2 and all(
                any(body == last for _, body in messages) for messages in by_publisher.values())
        self.wait_for(whole, "the last messages")
        return by_publisher

    def test_messages_counts_and_memberships_survive_restarts(self):
        self.published_through(self.member, 50)
        before = bridges(self.gateway)
        self.assertEqual(self.gateway.stop(), 0, self.gateway.errors())
        self.gateway.start()
        self.wait_for(self.joined, "the bridges to join again")
        self.assertEqual(bridges(self.gateway), [
            bridge | {"url": bridge["url"].replace(re.search(r":\d+/", bridge["url"])[0],
                                                   f":{self.gateway.port}/")}
            for bridge in before])
        self.published_through(self.member, 50)
        self.gateway.restart()
        self.wait_for(self.joined, "the bridges to join again")
        self.published_through(self.founder, 50)
        for queue in ("jobs", "ordered.fifo"):
            by_publisher = self.taken(queue)
            self.assertEqual(sorted(map(len, by_publisher.values())), [50, 100])
            for messages in by_publisher.values():
                self.assertEqual(len(set(messages)), len(messages))
                if queue == "ordered.fifo":
                    self.assertEqual(messages, sorted(messages))
        canopy(self.gateway, "bridge", "remove", self.group, "jobs")
        self.gateway.restart()
        self.assertEqual([bridge["queue"] for bridge in bridges(self.gateway)], ["ordered.fifo"])

    def test_kill_9_under_load_makes_no_message_twice_and_the_counts_are_right(self):
        publishers = [Publisher(self.founder, self.group), Publisher(self.member, self.group)]
        for publisher in publishers:
            publisher.start()
            self.addCleanup(publisher.end)
        for _ in range(3):
            before = self.sent()
            self.wait_for(lambda: all(sent >= before[queue] + MESSAGES_A_ROUND
                                      for queue, sent in self.sent().items()), "more messages")
            self.gateway.restart()
            self.wait_for(self.joined, "the bridges to join again")
        for publisher in publishers:
            publisher.end()
        for daemon in (self.founder, self.member):
            self.assertEqual(canopy(daemon, "publish", self.group, "the last").returncode, 0)
        for queue in ("jobs", "ordered.fifo"):
            by_publisher = self.taken_until(queue, "the last")
            counts = {bridge["queue"]: bridge for bridge in bridges(self.gateway)}
            numbers = [[sequence for sequence, _ in messages]
                       for messages in by_publisher.values()]
            for each in numbers:
                self.assertEqual(len(set(each)), len(each), "a multicast became two messages")
            # Nobody published anything else, so every number that was passed over is a loss.
            missed = sum(max(each) - min(each) + 1 - len(each) for each in numbers)
            self.assertEqual((counts[queue]["sent"], counts[queue]["unseen"]),
                             (sum(map(len, numbers)), missed))
            self.assertGreater(counts[queue]["sent"], 3 * MESSAGES_A_ROUND)
            self.assertEqual((counts[queue]["refused"], counts[queue]["lost"]), (0, 0))


class BridgeOfTheRoot(BridgeOfAPeer):
    group = "bonds"

    def test_the_gateway_is_the_root(self):
        route = ask(self.founder, "route", "--group", self.group)
        self.assertEqual(route["root"]["name"], "g")


if __name__ == "__main__":
    unittest.main()
