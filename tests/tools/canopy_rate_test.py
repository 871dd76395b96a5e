"""canopy publish through a root that takes only so much: nothing is left out, or it is told."""

import json
import pathlib
import select
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from daemon_case import DEADLINE_S, RingCase  # noqa: E402
from local_ring import UP_TIMEOUT_S  # noqa: E402

LINES = [f"line {number}" for number in range(1, 61)]
RATE = 6  # messages a second: what a window of lines waits for is more than a publish may take


class RateCase(RingCase):
    """Two daemons, either of which may be a group's root."""

    limits = ()

    @classmethod
    def start_daemons(cls):
        first = cls.ring.add(1, list(cls.limits))
        cls.ring.wait_for(first.has_announced_its_address, UP_TIMEOUT_S, "the daemon to listen")
        second = cls.ring.add(2, [*cls.limits, "--join", first.address])
        cls.ring.wait_for(second.has_announced_its_address, UP_TIMEOUT_S, "the daemon to listen")
        cls.ring.wait_for(cls.ring.is_complete, UP_TIMEOUT_S, "the ring")

    def joined(self, group, *options):
        member = subprocess.Popen(
            self.ring.client(self.ring.daemons[1], "--json", "join", group, *options),
            stdout=subprocess.PIPE)
        self.addCleanup(member.stdout.close)
        self.addCleanup(member.wait)
        self.addCleanup(member.terminate)
        ready, _, _ = select.select([member.stdout], [], [], DEADLINE_S)
        self.assertTrue(ready and b"joined" in member.stdout.readline())
        return member

    def publish(self, group, lines, *options, status=0):
        command = self.ring.client(self.ring.daemons[0], "publish", group, "--lines", *options)
        return self.output_of(command, status, "\n".join(lines).encode())

    def create(self, mode):
        group = f"{mode}-group"
        self.output_of(self.ring.client(self.ring.daemons[0], "create", group, "--mode", mode))
        return group

    @staticmethod
    def texts(member):
        events = [json.loads(line) for line in member.stdout.read().splitlines()]
        return [event.get("payload", event) for event in events]


class SlowedDownTest(RateCase):
    limits = ("--limit-publish-messages", str(RATE))

    def test_lines_that_are_too_many_at_a_time_all_arrive_in_their_order(self):
        for mode in ("ordered", "best-effort"):
            with self.subTest(mode):
                group = self.create(mode)
                member = self.joined(group, "--count", str(len(LINES)))
                said = self.publish(group, LINES)
                self.assertEqual(said, f"published {len(LINES)} messages to {group}\n")
                self.assertEqual(self.texts(member), LINES)


class GivenUpTest(RateCase):
    # After a message of some bytes the next has to wait for many seconds.
    limits = ("--limit-publish-bytes", "1")

    def test_who_gives_up_says_what_was_not_published_and_sends_nothing_after_it(self):
        for mode in ("ordered", "best-effort"):
            with self.subTest(mode):
                group = self.create(mode)
                member = self.joined(group, "--timeout", "4")
                self.publish(group, LINES, "--timeout", "1", status=1)
                self.assertRegex(self.complaint,
                                 r"^canopy: line 2: .*: 1 of (\d+) messages that were read were "
                                 r"published; lines 2-\1 were not; the input from line \d+ on was "
                                 r"not read\n$")
                self.assertEqual(self.texts(member), ["line 1"])


if __name__ == "__main__":
    unittest.main()
