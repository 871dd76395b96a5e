"""canopy members and tree: whom they tell, and what they say is missing."""

import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from canopy_case import CanopyCase  # noqa: E402
from daemon_case import eventually  # noqa: E402


class MembersTest(CanopyCase):
    def test_who_may_not_join_is_not_told_of_members(self):
        group = "closed"
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "secret"
            secret.write_text(self.canopy(self.first, "token"), encoding="ascii")
            self.canopy(self.first, "create", group, "--allow-join", f"token:{secret}")
            for question in (["members", group], ["tree", group]):
                self.canopy(self.last, *question, status=1)
                self.assertIn("access denied", self.complaint)
                self.canopy(self.first, *question)  # which may manage it
            token = ("--token-file", str(secret))
            # "About", if another test has killed a daemon just before.
            self.assertRegex(self.canopy(self.last, "members", group, *token),
                             r"\A(about )?0 members\n\Z")
            self.assertIn("0 members", self.canopy(self.last, "tree", group, *token))
            self.assertEqual(self.complaint, "")
            with self.join(self.last, group, *token):
                eventually(lambda: self.canopy(self.last, "members", group).endswith("1 member\n"),
                           "one member")

    def test_a_tree_says_whose_part_is_missing(self):
        members = [self.join(daemon, "silence") for daemon in self.ring.daemons]
        nodes = json.loads(self.canopy(self.first, "tree", "silence", "--json"))["nodes"]
        root = next(node["name"] for node in nodes if node["root"])
        silent = next(daemon for daemon in self.ring.daemons[1:] if daemon.name != root)
        os.kill(silent.process.pid, signal.SIGSTOP)
        try:
            self.assertIn("(no answer)", self.canopy(self.first, "tree", "silence"))
            self.assertRegex(self.complaint,
                             rf"^canopy: {silent.name} did not answer .* who is below it is not "
                             r"known: try again in a moment\n$")
        finally:
            os.kill(silent.process.pid, signal.SIGCONT)
        for member in members:
            member.__exit__()

    def test_a_ring_is_walked_again_until_the_dead_are_known_to_be_so(self):
        others = self.ring.daemons[1:]
        for daemon in others:
            os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            self.canopy(self.first, "ring", "--timeout", "0.2", status=1)
            self.assertIn("not all peers could be found in time", self.complaint)
            ring = json.loads(self.canopy(self.first, "ring", "--json"))
            self.assertEqual([peer["name"] for peer in ring["peers"]], [self.first.name])
        finally:
            for daemon in others:
                os.kill(daemon.process.pid, signal.SIGCONT)
        eventually(self.ring.is_complete, "one ring again")


if __name__ == "__main__":
    unittest.main()
