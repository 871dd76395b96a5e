"""What the tests of the command line share: a daemon of its own ring, and `canopy` against it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from programs import BIN, SOURCE

sys.path.insert(0, str(SOURCE / "scripts/lib"))
from local_ring import UP_TIMEOUT_S, Ring  # noqa: E402

DEADLINE_S = 60


def eventually(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {DEADLINE_S} s: {what}")
        time.sleep(0.02)


def start(folder, *arguments):
    """A daemon of its own ring."""
    ring = Ring(BIN, pathlib.Path(folder))
    try:
        return ring, add_daemon(ring, arguments)
    except BaseException:
        ring.stop()
        raise


def add_daemon(ring, arguments):
    daemon = ring.add(1, arguments)
    ring.wait_for(daemon.has_announced_its_address, UP_TIMEOUT_S, "the daemon to listen")
    return daemon


class RingCase(unittest.TestCase):
    """A ring for all tests of a class, whose daemons start_daemons() starts."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="canopy-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ring = Ring(BIN, pathlib.Path(cls.folder.name))
        cls.addClassCleanup(cls.stop_daemons)
        cls.start_daemons()

    @classmethod
    def stop_daemons(cls):
        if stubborn := cls.ring.stop():
            raise AssertionError(f"did not heed SIGTERM: {stubborn}")

    def output_of(self, command, status=0, data=None):
        """Runs a command to its end; its output."""
        result = subprocess.run(command, input=data or b"", capture_output=True,
                                timeout=DEADLINE_S, check=False)
        self.assertEqual(result.returncode, status, (command, result))
        self.complaint = result.stderr.decode()
        return result.stdout.decode()


class DaemonCase(RingCase):
    """One daemon, with `arguments`; `words` begin each command line."""

    arguments = ()
    words = ()

    @classmethod
    def start_daemons(cls):
        cls.daemon = add_daemon(cls.ring, cls.arguments)

    def command(self, *arguments):
        return self.ring.client(self.daemon, *self.words, *arguments)

    def output(self, *arguments, **options):
        return self.output_of(self.command(*arguments), **options)

    def ask(self, *arguments, **options):
        return json.loads(self.output(*arguments, "--json", **options))
