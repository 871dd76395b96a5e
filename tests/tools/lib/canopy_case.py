"""`canopy` against a ring of real daemons, all of which a class's tests share."""

import json
import select
import subprocess

from daemon_case import DEADLINE_S, RingCase

PEERS = 4


class Joined:
    """A `canopy join` that runs, from the moment that it has joined."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        **options)
        # Both ways to say it, for scripts of either kind.
        said = self.process.stdout if "--json" in command else self.process.stderr
        ready, _, _ = select.select([said], [], [], DEADLINE_S)
        self.first_line = said.readline().decode() if ready else ""
        if "joined" not in self.first_line:
            self.process.kill()
            raise AssertionError(f"did not join: {self.first_line!r} {self.process.communicate()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def lines(self):
        """All that it prints until it ends by itself."""
        out, self.complaints = self.process.communicate(timeout=DEADLINE_S)
        return out.decode().splitlines()

    def events(self):
        return [json.loads(line) for line in self.lines()]


class CanopyCase(RingCase):
    """A ring of so many daemons, asked through the `first` or the `last`."""

    peers = PEERS

    @classmethod
    def start_daemons(cls):
        cls.ring.start(cls.peers)

    def setUp(self):
        self.first, self.last = self.ring.daemons[0], self.ring.daemons[-1]

    def canopy(self, daemon, *arguments, **options):
        return self.output_of(self.ring.client(daemon, *arguments), **options)

    def ask(self, daemon, *arguments, **options):
        return json.loads(self.canopy(daemon, *arguments, "--json", **options))

    def join(self, daemon, *arguments, **options):
        return Joined(self.ring.client(daemon, "join", *arguments), **options)
