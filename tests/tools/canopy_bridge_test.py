"""canopy bridge against a real daemon: what it prints, its errors, its status."""

import base64
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from daemon_case import (BIN, DEADLINE_S, DaemonCase, add_daemon, eventually,  # noqa: E402
                         start)

ACCOUNT = "000000000000"
NOTHING = {"duplicates": 0, "late": 0, "unseen": 0, "lost": 0, "refused": 0, "encoded": 0,
           "headers_left_out": 0}


class BridgeTest(DaemonCase):
    arguments = ("--gateway", "127.0.0.1:0")

    def setUp(self):
        # The node joins its ring, which its gateway does not wait for.
        eventually(lambda: self.ask("status")["state"] == "active", "an active node")
        self.name = self.id().rsplit(".", 1)[-1]

    def bridged(self, *attributes, queue=None):
        """A queue and a bridge of this test's own, from the group of its name."""
        queue = queue or self.name
        options = [word for attribute in attributes for word in ("--attribute", attribute)]
        self.output("queue", "create", queue, *options)
        self.output("bridge", "add", self.name, queue)
        self.addCleanup(self.output, "queue", "rm", queue)
        return queue

    def bridge(self):
        return next(bridge for bridge in self.ask("bridge", "list")["bridges"]
                    if bridge["group"] == self.name)

    def receive(self, queue):
        lines = self.output("queue", "receive", queue, "--wait", "10", "--delete", "--json")
        return json.loads(lines.splitlines()[0])

    def publish(self, text, *options, data=None):
        self.output("publish", self.name, text, *options, data=data)

    def test_what_is_published_becomes_a_message(self):
        queue = self.bridged()
        self.publish("hello", "--header", "source=nyse")
        message = self.receive(queue)
        self.assertEqual(message["body"], "hello")
        attributes = {name: (attribute["type"], attribute["value"])
                      for name, attribute in message["message_attributes"].items()}
        self.assertEqual(attributes, {
            "canopy.group": ("String", self.name),
            "canopy.publisher": ("String", self.ask("status")["id"]),
            "canopy.incarnation": ("Number", str(self.ask("status")["incarnation"])),
            "canopy.sequence": ("Number", attributes["canopy.sequence"][1]),
            "source": ("String", "nyse")})
        self.assertEqual(self.output("queue", "receive", queue), "")

    def test_add_list_and_remove_say_what_they_did(self):
        self.output("queue", "create", self.name)
        url = f"{self.daemon.queues_url()}/{ACCOUNT}/{self.name}"
        self.assertEqual(self.output("bridge", "add", self.name, self.name),
                         f"bridged {self.name} to {url}\n")
        self.assertEqual(self.complaint, "")
        said = {"group": self.name, "creator": "canopy", "queue": self.name, "url": url,
                "joined": True, "sent": 0, **NOTHING}
        # Again, by other names for the same.
        self.assertEqual(self.ask("bridge", "add", f"{self.name}@canopy", url), said)
        self.assertEqual(self.bridge(), said)
        self.publish("-", "--lines", data=b"a\nb\nc\n")
        eventually(lambda: self.bridge()["sent"] == 3, "three messages")
        lines = [line.split() for line in self.output("bridge", "list").splitlines()]
        self.assertEqual(lines[0], ["GROUP", "QUEUE", "SENT", "DUPLICATES", "LATE", "UNSEEN",
                                    "LOST", "REFUSED", "STATE"])
        self.assertIn([self.name, self.name, "3", "0", "0", "0", "0", "0", "joined"], lines)
        self.assertEqual(self.output("bridge", "remove", self.name, self.name),
                         f"removed the bridge from {self.name} to {self.name}\n")
        self.output("bridge", "remove", self.name, self.name, status=1)
        self.assertIn("`canopy bridge list` lists those that there are", self.complaint)
        self.publish("d")
        self.assertEqual(self.ask("queue", "ls", self.name)["queues"][0]["available"], 3)
        self.output("bridge", "add", self.name, self.name)
        self.assertEqual(self.ask("bridge", "remove", self.name, self.name),
                         {"removed": {"group": self.name, "queue": self.name}})
        self.output("queue", "rm", self.name)

    def test_a_body_that_is_no_text_comes_in_base64(self):
        queue = self.bridged()
        body = bytes(range(256))
        self.publish("-", data=body)
        message = self.receive(queue)
        self.assertEqual(base64.b64decode(message["body"]), body)
        self.assertEqual(message["message_attributes"]["canopy.encoding"]["value"], "base64")
        self.assertEqual(self.bridge()["encoded"], 1)

    def test_what_a_queue_does_not_take_is_counted(self):
        queue = self.bridged("MaximumMessageSize=1024")
        before = self.counter("bridge.refused")
        self.publish("x" * 1025)
        self.publish("fits", "--header", "no name=1", "--header", "name=2")
        self.assertEqual(self.receive(queue)["body"], "fits")
        bridge = self.bridge()
        self.assertEqual((bridge["sent"], bridge["refused"], bridge["headers_left_out"]), (1, 1, 1))
        self.assertEqual(self.counter("bridge.refused"), before + 1)

    def counter(self, name):
        return self.ask("status")["counters"][name]

    def test_the_daemons_status_counts_what_gateway_and_queues_do(self):
        before = {name: self.counter(name) for name in ("gateway.calls", "queue.commands")}
        self.output("queue", "create", self.name)
        self.output("queue", "send", self.name, "x")
        for name, count in before.items():
            self.assertGreaterEqual(self.counter(name), count + 2, name)

    def test_a_fifo_queue_keeps_the_publishers_order(self):
        queue = self.bridged(queue=f"{self.name}.fifo")
        texts = [str(number) for number in range(200)]
        self.publish("-", "--lines", data="".join(f"{text}\n" for text in texts).encode())
        eventually(lambda: self.bridge()["sent"] == len(texts), "all messages")
        self.assertEqual(self.output("queue", "receive", queue, "--max", "1000", "--delete"),
                         "".join(f"{text}\n" for text in texts))

    def test_several_queues_have_each_message_and_one_queue_several_groups(self):
        first, second = self.name + "_1", self.name + "_2"
        self.bridged(queue=first)
        self.bridged(queue=second)
        self.output("bridge", "add", self.name + "_more", first)
        self.publish("to both")
        self.assertEqual(self.receive(first)["body"], "to both")
        self.assertEqual(self.receive(second)["body"], "to both")
        self.output("publish", self.name + "_more", "to one")
        self.assertEqual(self.receive(first)["body"], "to one")

    def test_a_queue_that_is_deleted_ends_its_bridge(self):
        self.output("queue", "create", self.name)
        self.output("bridge", "add", self.name, self.name)
        self.output("queue", "rm", self.name)
        self.assertNotIn(self.name, self.output("bridge", "list"))
        eventually(lambda: not self.is_member(), "the daemon to leave the group")
        # Also if nobody looks.
        self.output("queue", "create", self.name)
        self.output("bridge", "add", self.name, self.name)
        self.output("queue", "rm", self.name)
        self.publish("nobody")
        eventually(lambda: not self.is_member(), "the daemon to leave the group")

    def is_member(self):
        return any(group["group"] == self.name and group["member"]
                   for group in self.ask("groups")["groups"])

    def test_mistakes(self):
        self.output("bridge", "add", self.name, "nowhere", status=1)
        self.assertIn("`canopy queue create nowhere` makes it", self.complaint)
        self.assertEqual(self.ask("bridge", "add", self.name, "nowhere", status=1)["error"]["code"],
                         21)
        self.output("bridge", "add", self.name, "http://x/y/z/w", status=1)
        self.output("bridge", "add", "a\nb", "q", status=2)
        self.assertIn("is no group", self.complaint)
        self.output("bridge", "add", self.name, status=2)
        self.assertIn("canopy bridge add --help shows how", self.complaint)
        self.output("bridge", status=2)
        self.output("bridge", "ad", "g", "q", status=2)
        self.assertIn("did you mean bridge add?", self.complaint)
        self.output("bridge", "rm", self.name, "nowhere", status=1)
        self.assertIn("there is no queue nowhere", self.complaint)

    def test_there_are_only_so_many(self):
        self.bridged()
        left = 64 - len(self.ask("bridge", "list")["bridges"])
        for number in range(left):
            self.output("bridge", "add", f"{self.name}_{number}", self.name)
        self.output("bridge", "add", f"{self.name}_more", self.name, status=1)
        self.assertIn("as many bridges as it may have", self.complaint)
        self.assertEqual(len(self.ask("bridge", "list")["bridges"]), 64)

    def test_help_teaches(self):
        overview = self.output("bridge", "--help")
        self.assertIn("canopyd --gateway 127.0.0.1:9324", overview)
        self.assertIn("Examples:", overview)
        for command in ("add", "list", "remove"):
            self.assertRegex(overview, rf"\n  {command}[ ,]")
            self.assertIn("bridge", self.output("bridge", command, "--help"))
        self.assertIn("UNSEEN", self.output("bridge", "list", "--help"))

    def test_a_daemon_without_a_gateway_says_how_to_get_one(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
            ring, daemon = start(folder)
            try:
                for words in (("list",), ("add", "g", "q"), ("remove", "g", "q")):
                    result = subprocess.run(ring.client(daemon, "bridge", *words),
                                            capture_output=True, text=True, timeout=DEADLINE_S,
                                            check=False)
                    self.assertEqual(result.returncode, 1)
                    self.assertIn("start canopyd with --gateway 127.0.0.1:9324", result.stderr)
            finally:
                self.assertEqual(ring.stop(), [])


class TokenTest(DaemonCase):
    """A token for the bridges of the group `prices`, and one for all others."""

    @classmethod
    def start_daemons(cls):
        cls.files = {name: pathlib.Path(cls.folder.name) / name for name in ("common", "prices")}
        for file in cls.files.values():
            cls.write_token(file)
        cls.daemon = add_daemon(cls.ring, (
            "--gateway", "127.0.0.1:0", "--bridge-token-file", str(cls.files["common"]),
            "--bridge-token-file", f"prices={cls.files['prices']}"))

    @staticmethod
    def write_token(file):
        with file.open("wb") as out:
            subprocess.run([BIN / "canopy", "token"], stdout=out, check=True, timeout=DEADLINE_S)

    def setUp(self):
        eventually(lambda: self.ask("status")["state"] == "active", "an active node")

    def bridged(self, group, file):
        """A bridge from a group that is closed to whoever has not this token."""
        self.output("create", group, "--allow-join", f"token:{file}")
        self.output("queue", "create", group)
        self.addCleanup(self.output, "queue", "rm", group)
        return self.ask("bridge", "add", group, group)

    def is_joined(self, group):
        return next(bridge["joined"] for bridge in self.ask("bridge", "list")["bridges"]
                    if bridge["group"] == group)

    def test_sighup_reads_the_tokens_of_a_group_and_of_all_others_anew(self):
        self.assertTrue(self.bridged("news", self.files["common"])["joined"])
        wanted = pathlib.Path(self.folder.name) / "wanted"
        self.write_token(wanted)
        refused = self.bridged("prices", wanted)
        self.assertFalse(refused["joined"])
        self.assertIn("--bridge-token-file", refused["problem"])
        self.assertFalse(self.bridged("sports", wanted)["joined"])

        self.reload("prices", wanted.read_bytes())
        eventually(lambda: self.is_joined("prices"), "the bridge to join by its group's token")
        self.assertFalse(self.is_joined("sports"))
        self.reload("common", wanted.read_bytes())
        eventually(lambda: self.is_joined("sports"), "the bridge to join by the common token")

        self.reload("common", b"")
        eventually(lambda: "stay in force" in self.daemon.log.read_text(encoding="utf-8"),
                   "a complaint")

    def reload(self, name, token):
        self.files[name].write_bytes(token)
        self.daemon.process.send_signal(signal.SIGHUP)

    def test_files_that_cannot_be_used_are_told(self):
        token = str(self.files["common"])
        for files, status, text in ((["prices="], 2, "GROUP=FILE"),
                                    ([token, token], 1, "two tokens for all groups"),
                                    ([f"g={token}", f"g@canopy={token}"], 1, "the group g"),
                                    (["g=/nowhere"], 1, "/nowhere"),
                                    ([token, f"g={token}"], 0, "")):
            options = [word for file in files for word in ("--bridge-token-file", file)]
            result = subprocess.run([BIN / "canopyd", "--gateway", "127.0.0.1:0", *options,
                                     "--check-config"], capture_output=True, text=True,
                                    timeout=DEADLINE_S, check=False)
            self.assertEqual(result.returncode, status, result)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
