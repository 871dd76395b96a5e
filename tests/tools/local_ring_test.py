"""scripts/run's ring: it works with the real programs, and stand-ins that misbehave are told."""

import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from programs import BIN, SOURCE  # noqa: E402

LOCAL_RING = SOURCE / "scripts" / "lib" / "local_ring.py"

TIMEOUT_S = 120


class LocalRingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The rings' own temporary folders go here, so that a test sees whether one was left.
        self.rings = self.folder / "rings"
        self.rings.mkdir()

    def start(self, *arguments, programs=BIN):
        process = subprocess.Popen(
            [sys.executable, "-B", LOCAL_RING, "--bin", programs, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.rings)})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_ring(self, *arguments, programs=BIN):
        process = self.start(*arguments, programs=programs)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, output, errors

    def stand_in(self, name, script):
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return folder

    def assert_nothing_left(self):
        self.assertEqual(list(self.rings.iterdir()), [])

    def test_once_shows_a_message_that_crossed_the_ring(self):
        status, output, errors = self.run_ring("--once", "--peers", "3")
        self.assertEqual(status, 0, output + errors)
        self.assertIn("received: ", output)
        self.assertIn("hello from peer-1", output)
        self.assertIn("received from it: hello from the queue", output)
        self.assert_nothing_left()

    def test_once_works_with_a_single_daemon(self):
        status, output, errors = self.run_ring("--once", "--peers", "1")
        self.assertEqual(status, 0, output + errors)
        self.assertIn("hello from peer-1", output)

    def test_stays_until_interrupted_and_takes_its_daemons_along(self):
        ring = self.start("--peers", "2")
        lines = []
        for line in ring.stdout:
            lines.append(line)
            if "Ctrl-C here stops the ring" in line:
                break
        else:
            self.fail("".join(lines) + ring.stderr.read())
        self.assertIn(" join demo", "".join(lines))
        self.assertIn("sqs create-queue --queue-name demo", "".join(lines))
        self.assertIn(" publish demo ", "".join(lines))
        self.assertIsNone(ring.poll())
        ring.send_signal(signal.SIGINT)
        _, errors = ring.communicate(timeout=TIMEOUT_S)
        self.assertEqual(ring.returncode, 0, errors)
        self.assert_nothing_left()

    def test_a_daemon_that_ends_is_named_with_the_end_of_its_log(self):
        programs = self.stand_in("canopyd", "echo cannot open the door; exit 3")
        status, _, errors = self.run_ring("--once", programs=programs)
        self.assertEqual(status, 1)
        self.assertIn("peer-1 ended with status 3", errors)
        self.assertIn("cannot open the door", errors)
        self.assert_nothing_left()

    def test_a_client_that_fails_ends_the_demonstration(self):
        self.stand_in("canopyd", "echo canopyd x listening on 127.0.0.1:1; exec tail -f /dev/null")
        programs = self.stand_in("canopy", """
            case "$*" in
                *" ring "*) echo '{"complete": true, "peers": [{}]}';;
                *" groups "*) echo '{"groups": [{"group": "demo", "member": true}]}';;
                *" publish "*) echo no such luck >&2; exit 1;;
                *) exec tail -f /dev/null;;
            esac""")
        status, _, errors = self.run_ring("--once", "--peers", "1", programs=programs)
        self.assertEqual(status, 1)
        self.assertIn("publishing failed: no such luck", errors)
        self.assert_nothing_left()

    def test_a_demonstration_that_is_interrupted_has_failed(self):
        programs = self.stand_in("canopyd", "exec tail -f /dev/null")
        ring = self.start("--once", programs=programs)
        self.assertIn("starting", ring.stdout.readline())
        self.wait_for_a_daemon()
        ring.send_signal(signal.SIGTERM)
        ring.communicate(timeout=TIMEOUT_S)
        self.assertEqual(ring.returncode, 1)
        self.assert_nothing_left()

    def wait_for_a_daemon(self):
        deadline = time.monotonic() + TIMEOUT_S
        while not list(self.rings.glob("*/*.log")):
            self.assertLess(time.monotonic(), deadline, "no daemon was started")


class ArgumentsTest(unittest.TestCase):
    def test_wrong_use_is_told_with_status_2(self):
        for arguments in (["--peers"], ["--peers", "0"], ["--peers", "many"], ["--nonsense"]):
            for script in ("run", "test"):
                with self.subTest(script=script, arguments=arguments):
                    result = subprocess.run([SOURCE / "scripts" / script, *arguments],
                                            capture_output=True, text=True, timeout=TIMEOUT_S,
                                            check=False)
                    self.assertEqual(result.returncode, 2)
                    self.assertIn(f"scripts/{script}", result.stderr)


if __name__ == "__main__":
    unittest.main()
