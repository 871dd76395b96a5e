"""scripts/chaos overlay, in a short form: what is promised holds, and nothing is left behind."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["CANOPY_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
sys.path.insert(0, str(SOURCE / "scripts/lib"))

import chaos_overlay  # noqa: E402
from chaos_load import Event  # noqa: E402
from chaos_verdict import covers  # noqa: E402

NOT_ALLOWED = 77
MARK = b"CANOPY_CHAOS_INSIDE="
DEADLINE_S = 30


def chaos(folder, *arguments):
    return subprocess.Popen([SOURCE / "scripts/chaos", "overlay", "--bin", BIN, *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": folder})


def inside(folder):
    """Processes of a run whose temporary folder is this one."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"TMPDIR={folder}".encode() in words and any(map(lambda w: w.startswith(MARK), words)):
            found.append(process)
    return found


class ChaosTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="canopy-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def begun(self):
        """A run whose daemons are up."""
        run = chaos(self.folder)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        self.eventually(lambda: run.poll() is not None or len(inside(self.folder)) > 10)
        self.assertIsNone(run.poll(), run.poll() and run.communicate())
        return run

    def eventually(self, condition):
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_what_is_promised_holds(self):
        with chaos(self.folder, "--daemons", "9", "--seconds", "40", "--json") as run:
            said, complaints = run.communicate()
        self.assertEqual(run.returncode, 0, said + complaints)
        figures = json.loads(said)
        self.assertEqual(figures["broken"], [])
        self.assertGreaterEqual(len(figures["faults"]), 5)
        self.assertTrue(all(count > 400 for count in figures["published"].values()), figures)
        self.assertEqual(os.listdir(self.folder), [])

    def test_ctrl_c_ends_everything(self):
        run = self.begun()
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(DEADLINE_S), 128 + signal.SIGINT)
        self.eventually(lambda: not inside(self.folder))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_kill_ends_everything(self):
        run = self.begun()
        run.kill()
        self.eventually(lambda: not inside(self.folder))

    def test_help_teaches_and_mistakes_are_told(self):
        for arguments, status, text in ((["--help"], 0, "cluster is split in two"),
                                        (["--daemons", "1"], 2, "5 to 200"),
                                        (["--seconds", "x"], 2, "invalid")):
            with self.subTest(arguments), chaos(self.folder, *arguments) as run:
                said, complaints = run.communicate()
                self.assertEqual(run.returncode, status)
                self.assertIn(text, said + complaints)


class GapTest(unittest.TestCase):
    """As `canopy join --json` tells them."""

    def test_a_gap_covers_its_places(self):
        gap = {"epoch": 2, "first": 5, "last": 6}
        covered = [place for place in range(4, 9) if covers(gap, (2, 7), (2, place))]
        self.assertEqual(covered, [5, 6])

    def test_one_without_an_end_covers_all_before_what_came_next(self):
        gap = {"epoch": 2, "first": 5, "last": None}
        places = [(2, 4), (2, 5), (2, 900), (3, 1), (3, 2)]
        self.assertEqual([place for place in places if covers(gap, (3, 2), place)],
                         [(2, 5), (2, 900), (3, 1)])


class Unjudged(chaos_overlay.Chaos):
    """A run with one event, of which the verdict cannot be told."""

    def __init__(self, options, _folder):
        session = mock.Mock(events={"prices": [Event(12.5, "joined", {"group": "prices"})]})
        self.options, self.progress, self.begun = options, mock.Mock(), 10
        self.members = [mock.Mock(daemon=mock.Mock(), sessions=[session])]
        self.members[0].daemon.name = "d1"
        self.publishers = []

    def run(self):
        raise ZeroDivisionError

    def stop(self):
        pass


class KeepTest(unittest.TestCase):
    def test_events_are_kept_though_the_verdict_fails(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder, \
                mock.patch.object(chaos_overlay, "Chaos", Unjudged):
            options = mock.Mock(folder=pathlib.Path(folder), keep=True, tries=False)
            with self.assertRaises(ZeroDivisionError):
                chaos_overlay.inside(options)
            kept = (options.folder / "events.jsonl").read_text(encoding="utf-8")
        self.assertEqual(json.loads(kept), [2.5, "d1", 0, "prices", "joined", {"group": "prices"}])


def main():
    with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder, \
            chaos(folder, "--try") as tried:
        complaint = tried.communicate()[1]
    if tried.returncode == NOT_ALLOWED:
        print(complaint)
        return NOT_ALLOWED
    return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
