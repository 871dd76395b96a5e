"""What the tests of the command line share: a daemon of its own ring, and `canopy` against it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("CANOPY_SOURCE_DIR", pathlib.Path(__file__).parents[3]))
BIN = pathlib.Path(os.environ.get("CANOPY_BIN_DIR", SOURCE / "build/dev/bin"))
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
    daemon = ring.add(1, arguments)
    try:
        ring.wait_for(daemon.has_announced_its_address, UP_TIMEOUT_S, "the daemon to listen")
    except BaseException:
        ring.stop()
        raise
    return ring, daemon


class DaemonCase(unittest.TestCase):
    """One daemon for all tests of a class, with `arguments`; `words` begin each command line."""

    arguments = ()
    words = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="canopy-test-")
        cls.ring, cls.daemon = start(cls.folder.name, *cls.arguments)

    @classmethod
    def tearDownClass(cls):
        stubborn = cls.ring.stop()
        cls.folder.cleanup()
        if stubborn:
            raise AssertionError(f"did not heed SIGTERM: {stubborn}")

    def command(self, *arguments):
        return self.ring.client(self.daemon, *self.words, *arguments)

    def output(self, *arguments, status=0, data=None):
        """Runs a command to its end; its output."""
        result = subprocess.run(self.command(*arguments), input=data or b"", capture_output=True,
                                timeout=DEADLINE_S, check=False)
        self.assertEqual(result.returncode, status, (arguments, result))
        self.complaint = result.stderr.decode()
        return result.stdout.decode()

    def ask(self, *arguments, **options):
        return json.loads(self.output(*arguments, "--json", **options))
