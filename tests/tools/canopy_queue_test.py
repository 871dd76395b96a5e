"""canopy queue against a real daemon: what it prints, its errors, its status."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from daemon_case import DEADLINE_S, DaemonCase, eventually, start  # noqa: E402


class QueueTest(DaemonCase):
    # Nobody can come in by HTTP: no keys, and no --allow-anonymous.
    arguments = ("--gateway", "127.0.0.1:0")
    words = ("queue",)
    queue = DaemonCase.output

    def events(self, *arguments, **options):
        return [json.loads(line) for line in self.queue(*arguments, "--json",
                                                        **options).splitlines()]

    def begun(self, *arguments, **options):
        process = subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def created(self, ending="", *arguments):
        """A queue of this test's own."""
        name = self.id().rsplit(".", 1)[-1] + ending
        self.queue("create", name, *arguments)
        return name

    def depth(self, name):
        return next(entry["available"] for entry in self.ask("ls", name)["queues"]
                    if entry["name"] == name)

    # --- Queues ---

    def test_queues_come_are_listed_and_go(self):
        name = self.created()
        other = self.created("_2", "--attribute", "DelaySeconds=60")
        self.queue("send", name, "a")
        self.queue("send", name, "b")
        self.queue("send", other, "c")
        self.queue("receive", name)
        lines = self.queue("ls", name).splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "AVAILABLE", "IN", "FLIGHT", "DELAYED"])
        self.assertEqual([line.split() for line in lines[1:]],
                         [[name, "1", "1", "0"], [other, "0", "0", "1"]])
        entry = self.ask("ls", other)["queues"][0]
        self.assertEqual(entry, {"name": other, "url": self.url_of(other), "available": 0,
                                 "in_flight": 0, "delayed": 1})
        self.assertEqual(self.queue("rm", other), f"deleted {other}\n")
        self.assertEqual(self.ask("rm", name), {"deleted": name})
        self.assertEqual(self.ask("ls", name), {"queues": []})

    def url_of(self, name):
        return f"{self.daemon.queues_url()}/000000000000/{name}"

    def test_create_tells_the_url(self):
        name = self.id().rsplit(".", 1)[-1]
        self.assertEqual(self.queue("create", name), f"created {self.url_of(name)}\n")
        self.assertEqual(self.ask("create", name, "--fifo"),
                         {"created": name + ".fifo", "url": self.url_of(name + ".fifo")})
        self.queue("create", name, "--attribute", "DelaySeconds=5", status=1)
        self.assertIn("(QueueNameExists)", self.complaint)
        said = self.ask("create", "no good", status=1)
        self.assertEqual(said["error"]["code"], "InvalidParameterValueException")

    def test_a_queue_can_be_named_by_its_url(self):
        url = self.url_of(self.created())
        self.queue("send", url, "hello")
        self.assertEqual(self.queue("receive", url, "--delete"), "hello\n")
        self.assertEqual(self.complaint, "")
        self.assertIn("MaximumMessageSize", self.queue("stats", url))
        port = url.split("/")[2].rsplit(":", 1)[1]
        self.queue("stats", url.replace("127.0.0.1", "localhost"))
        self.assertEqual(self.complaint, "")
        for host in ("127.0.0.1:1", f"elsewhere:{port}", "sqs.us-east-1.amazonaws.com"):
            other = f"http://{host}/{url.split('/', 3)[3]}"
            self.queue("send", other, "hello")
            self.assertEqual(self.complaint, f"canopy: note: {host} is not asked: a queue of this "
                                             f"daemon's gateway, 127.0.0.1:{port}, is meant\n")
            self.queue("send", other + "_no", "hello", status=1)
            self.assertIn("is no queue of this daemon, which is asked whatever host",
                          self.complaint)

    def test_stats_show_attributes(self):
        name = self.created("", "--attribute", "VisibilityTimeout=77", "--attribute",
                            "MessageRetentionPeriod=600")
        lines = [line.split() for line in self.queue("stats", name).splitlines()]
        self.assertIn(["VisibilityTimeout", "77"], lines)
        self.assertEqual(lines, sorted(lines))
        said = self.ask("stats", name)
        self.assertEqual((said["name"], said["attributes"]["MessageRetentionPeriod"]),
                         (name, "600"))

    def test_purge_empties_a_queue(self):
        name = self.created()
        self.queue("send", name, "--lines", data=b"a\nb\n")
        self.assertEqual(self.queue("purge", name), f"purged {name}\n")
        eventually(lambda: self.depth(name) == 0, "an empty queue")

    def on_terminal(self, answer, *arguments):
        """Runs a command that asks: its status, and what it asked."""
        ours, theirs = pty.openpty()
        process = self.begun(*arguments, stdin=theirs)
        os.close(theirs)
        os.write(ours, answer)
        _, complaint = process.communicate(timeout=DEADLINE_S)
        os.close(ours)
        return process.returncode, complaint.decode()

    def test_on_a_terminal_it_asks_before_it_deletes(self):
        name = self.created()
        self.queue("send", name, "a")
        for command, question in (("purge", f"Delete all messages of {name} (1 messages)? [y/N]"),
                                  ("rm", f"Delete the queue {name} and all in it")):
            for answer in (b"\n", b"n\n", b"\x04"):
                status, complaint = self.on_terminal(answer, command, name)
                self.assertEqual(status, 1)
                self.assertIn(question, complaint)
                self.assertIn("nothing was deleted", complaint)
            self.assertEqual(self.depth(name), 1)
        status, complaint = self.on_terminal(b"y\n", "purge", name)
        self.assertEqual(status, 0, complaint)
        self.assertEqual(self.on_terminal(b"", "rm", name, "--yes"), (0, ""))
        self.assertIn("no queue", self.on_terminal(b"", "rm", name)[1])

    # --- Messages ---

    def test_a_message_is_sent_received_and_deleted(self):
        name = self.created()
        self.assertRegex(self.queue("send", name, "hello, world"),
                         rf"^sent to {name} as [0-9a-f-]{{36}}\n$")
        body, handle = self.queue("receive", name).splitlines()
        self.assertEqual(body, "hello, world")
        handle = re.fullmatch(r"  receipt handle (\S+)", handle).group(1)
        self.assertEqual(self.queue("receive", name), "")
        self.assertEqual(self.complaint, f"canopy: no message in {name}\n")
        self.assertEqual(self.queue("delete", name, handle), "deleted 1 message\n")
        self.queue("delete", name, "nonsense", status=1)
        self.assertIn("(ReceiptHandleIsInvalid)", self.complaint)

    def test_json_tells_ids_and_attributes(self):
        name = self.created()
        sent = self.ask("send", name, "x", "--attribute", "kind=a=b", "--attribute", "n:Number=5",
                        "--attribute", "raw:Binary=AAH/")
        self.assertEqual(sent["queue"], name)
        seen = self.ask("peek", name)
        received = self.ask("receive", name)
        self.assertEqual(received["id"], sent["id"])
        self.assertEqual(received["body"], "x")
        self.assertEqual(received["attributes"]["ApproximateReceiveCount"], "1")
        self.assertEqual(received["message_attributes"],
                         {"kind": {"type": "String", "value": "a=b"},
                          "n": {"type": "Number", "value": "5"},
                          "raw": {"type": "Binary", "value_base64": "AAH/"}})
        self.assertEqual(self.ask("delete", name, received["receipt_handle"]), {"deleted": 1})
        self.assertEqual((seen["id"], "receipt_handle" in seen), (sent["id"], False))

    def test_peek_leaves_messages_where_they_are(self):
        name = self.created()
        self.assertEqual(self.queue("peek", name), "")
        self.queue("send", name, "--lines", data=b"".join(b"%d\n" % i for i in range(12)))
        self.assertEqual(len(self.queue("peek", name).splitlines()), 10)
        self.assertEqual(len(self.queue("peek", name, "--max", "100").splitlines()), 12)
        self.assertEqual(self.depth(name), 12)

    def test_lines_are_messages_and_a_fifo_queue_keeps_their_order(self):
        name = self.created(".fifo", "--attribute", "ContentBasedDeduplication=true")
        lines = [f"line {number}" for number in range(207)]
        said = self.queue("send", name, "--lines", "--group", "g",
                          data="\n\n".join(lines).encode())
        self.assertEqual(said, f"sent 207 messages to {name}; 206 empty lines were left out\n")
        self.assertEqual(self.queue("receive", name, "--max", "1000", "--delete").splitlines(),
                         lines)
        self.assertEqual(self.depth(name), 0)

    def test_many_lines_go_through_a_standard_queue(self):
        name = self.created()
        lines = sorted(f"line {number}" for number in range(3_001))
        sent = self.events("send", name, "-", "--lines", data="\n".join(lines).encode())
        self.assertEqual(len({one["id"] for one in sent}), 3_001)
        got = self.queue("receive", name, "--max", "5000", "--delete").splitlines()
        self.assertEqual(sorted(got), lines)

    def test_a_line_arrives_while_the_next_is_waited_for(self):
        name = self.created()
        sender = self.begun("send", name, "--lines", stdin=subprocess.PIPE)
        for text in ("one", "two"):
            sender.stdin.write(text.encode() + b"\n")
            sender.stdin.flush()
            self.assertEqual(self.queue("receive", name, "--wait", "60", "--delete"), text + "\n")
        sender.stdin.write(b"three")
        out, _ = sender.communicate(timeout=DEADLINE_S)
        self.assertEqual(out.decode(), f"sent 3 messages to {name}\n")

    def test_a_line_that_fails_says_how_many_were_sent(self):
        name = self.created()
        self.queue("send", name, "--lines", data=b"a\nb\n\xff\nc\n", status=1)
        self.assertIn("line 3 is not UTF-8", self.complaint)
        self.assertTrue(self.complaint.endswith(": 2 messages were sent\n"), self.complaint)
        self.queue("send", name, "--lines", data=b"c\n" + b"x" * (2 << 20), status=1)
        self.assertTrue(self.complaint.endswith(": 1 messages were sent\n"), self.complaint)
        self.queue("send", name, "--lines", data=b"d\nbad\x01\n", status=1)
        self.assertTrue(self.complaint.endswith(": 1 messages were sent\n"), self.complaint)
        self.assertEqual(self.depth(name), 4)

    def test_standard_input_is_one_message(self):
        name = self.created()
        text = "".join(f"{number} ünïcödé\n" for number in range(40_000))
        self.queue("send", name, "-", data=text.encode())
        self.assertEqual(self.ask("receive", name)["body"], text)
        for data, complaint in ((b"", "empty"), (b"\xff", "UTF-8"),
                                (b"x" * (1 << 21), "be shorter"),
                                (b"x" * (5 << 20), "more than")):
            self.queue("send", name, "-", data=data, status=1)
            self.assertIn(complaint, self.complaint)

    def test_many_large_messages_come_at_once(self):
        name = self.created()
        body = "\"\\" * 250_000
        self.queue("send", name, "--lines", data=f"{body}\n".encode() * 10)
        got = self.events("receive", name, "--max", "10")
        self.assertEqual([one["body"] for one in got], [body] * 10)

    def test_nothing_harms_a_terminal(self):
        name = self.created()
        self.queue("send", name, "tab\tdelete\x7fline\n\u202e")
        self.assertEqual(self.queue("receive", name).splitlines()[0],
                         r"tab\tdelete\x7fline\n" + "\u202e")

    def test_order_and_groups(self):
        name = self.created(".fifo")
        said = self.queue("send", name, "a", "--group", "g", "--dedup", "1")
        self.assertRegex(said, r", number \d+\n$")
        again = self.ask("send", name, "b", "--group", "g", "--dedup", "1")
        self.assertIn(again["sequence_number"], said)
        self.queue("send", name, "c", status=1)
        self.assertIn("MessageGroupId", self.complaint)
        self.assertEqual(self.ask("receive", name, "--max", "10")["body"], "a")

    def test_delay_and_visibility(self):
        name = self.created()
        self.queue("send", name, "later", "--delay", "1")
        self.assertEqual(self.queue("receive", name), "")
        self.assertEqual(self.queue("receive", name, "--wait", "60", "--visibility", "0")
                         .splitlines()[0], "later")
        self.assertEqual(self.queue("receive", name, "--delete"), "later\n")

    # --- Waiting ---

    def test_receive_waits_for_as_many_as_it_is_told(self):
        name = self.created()
        receiver = self.begun("receive", name, "--wait", "60", "--max", "3", "--delete")
        for text in ("one", "two", "three"):
            self.queue("send", name, text)
        out, _ = receiver.communicate(timeout=DEADLINE_S)
        self.assertEqual(sorted(out.decode().split()), ["one", "three", "two"])
        begun = time.monotonic()
        self.assertEqual(self.queue("receive", name, "--wait", "1"), "")
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_a_command_that_is_gone_swallows_no_message(self):
        name = self.created()
        for number in (signal.SIGINT, signal.SIGKILL):
            before = self.receives_begun()
            receivers = [self.begun("receive", name, "--wait", "60", "--delete")
                         for _ in range(3)]
            eventually(lambda: self.receives_begun() >= before + 3, "long polls")
            for receiver in receivers:
                receiver.send_signal(number)
                receiver.wait(DEADLINE_S)
            self.queue("send", name, "still here")
            self.assertEqual(self.queue("receive", name, "--wait", "5", "--delete"),
                             "still here\n")

    def receives_begun(self):
        stats = json.loads(self.queue("call", "GetAPIStats"))["CallStats"]
        return stats.get("ReceiveMessage", 0)

    # --- The rest of the API ---

    def test_every_action_can_be_called(self):
        name = self.created()
        parameters = json.dumps({"QueueUrl": f"/queue/{name}", "Tags": {"team": "a"}})
        self.assertEqual(self.queue("call", "TagQueue", parameters), "{}\n")
        queue = json.dumps({"QueueUrl": self.url_of(name)})
        tags = self.queue("call", "ListQueueTags", "-", data=queue.encode())
        self.assertEqual(json.loads(tags), {"Tags": {"team": "a"}})
        self.assertEqual(json.loads(self.queue("call", "GetCallerIdentity"))["Account"], "0" * 12)
        self.assertEqual(self.ask("call", "Dance", status=1)["error"]["code"],
                         "UnknownOperationException")
        self.queue("call", "TagQueue", "{", status=1)
        self.assertIn("Serialization", self.complaint)

    def test_accounts_and_regions_are_apart(self):
        name = self.created()
        elsewhere = ("--account", "111122223333", "--region", "eu-west-1")
        self.assertEqual(self.ask("ls", *elsewhere), {"queues": []})
        self.assertEqual(self.queue("create", name, *elsewhere),
                         f"created {self.daemon.queues_url()}/111122223333/{name}\n")
        self.queue("send", name, "there", *elsewhere)
        self.assertEqual(self.depth(name), 0)
        self.assertEqual(self.queue("receive", name, "--delete", *elsewhere), "there\n")
        url = f"{self.daemon.queues_url()}/111122223333/{name}"
        said = self.ask("stats", url, "--region", "eu-west-1", status=1)
        self.assertEqual(said["error"]["code"], "AccessDeniedException")
        self.assertIn("give --account", self.complaint)

    # --- Mistakes ---

    def test_a_queue_that_is_not_there(self):
        for arguments in (["send", "nobody", "x"], ["send", "nobody", "--lines"],
                          ["receive", "nobody"], ["peek", "nobody"], ["stats", "nobody"],
                          ["purge", "nobody"], ["rm", "nobody"], ["delete", "nobody", "x"]):
            with self.subTest(arguments):
                said = self.ask(*arguments, status=1, data=b"line\n")
                self.assertEqual(said["error"]["code"], "QueueDoesNotExist")
                self.assertIn("there is no queue nobody: `canopy queue ls`", self.complaint)

    def test_mistakes_in_the_command_line_say_what_to_do(self):
        for arguments, text in (
                ([], "canopy queue --help"),
                (["sned"], "did you mean queue send?"),
                (["frob"], "no command 'queue frob': canopy queue --help"),
                (["send"], "canopy queue send --help"),
                (["send", "q", "x", "--dely", "3"], "did you mean --delay?"),
                (["send", "q", "x", "--group"], "--group: no value is given"),
                (["ls", "--timout=3"], "no option '--timout': did you mean --timeout?"),
                (["ls", "--frobnicate"], "no option '--frobnicate': canopy queue ls --help"),
                (["send", "q"], "no message"),
                (["send", "q", ""], "empty"),
                (["send", "q", "x", "--lines"], "give -"),
                (["send", "q", "--lines", "--dedup", "a"], "--dedup"),
                (["send", "q", "x", "--attribute", "novalue"], "'novalue'"),
                (["send", "q", "x", "--delay", "-1"], "--delay"),
                (["receive", "q", "--max", "0"], "--max"),
                (["receive", "q", "--wait", "long"], "--wait"),
                (["ls", "--account", "12"], "twelve digits"),
                (["create", "q", "--attribute", "=5"], "--attribute"),
                (["ls", "a", "b"], "canopy queue ls --help"),
        ):
            with self.subTest(arguments):
                self.assertEqual(self.queue(*arguments, status=2), "")
                self.assertTrue(self.complaint.startswith("canopy: "))
                self.assertIn(text, self.complaint)

    def test_help_teaches(self):
        overview = self.queue("--help")
        self.assertIn("canopyd --gateway 127.0.0.1:9324", overview)
        self.assertIn("Examples:", overview)
        for command in ("ls", "create", "send", "receive", "peek", "delete", "purge", "stats",
                        "rm", "call"):
            self.assertRegex(overview, rf"\n  {command}[ ,]")
            self.assertIn("--", self.queue(command, "--help"))

    # --- The daemon ---

    def test_who_may_open_the_socket_needs_no_key(self):
        request = urllib.request.Request(self.daemon.queues_url(), b"{}", {
            "X-Amz-Target": "AmazonSQS.ListQueues"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=DEADLINE_S)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 403)
        self.queue("ls")

    def test_a_daemon_without_a_gateway_says_how_to_get_one(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
            ring, daemon = start(folder)
            try:
                result = subprocess.run(ring.client(daemon, "queue", "ls", "--json"),
                                        capture_output=True, text=True, timeout=DEADLINE_S,
                                        check=False)
            finally:
                self.assertEqual(ring.stop(), [])
        self.assertEqual(result.returncode, 1)
        self.assertIn("start canopyd with --gateway 127.0.0.1:9324", result.stderr)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], 20)

    def test_a_daemon_that_stops_ends_what_waits_and_keeps_what_was_sent(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
            ring, daemon = start(folder, "--gateway", "127.0.0.1:0", "--queue", "jobs",
                                 "--queue", "others")
            queue = [*ring.client(daemon, "queue")]
            subprocess.run([*queue, "send", "jobs", "kept"], check=True, timeout=DEADLINE_S,
                           capture_output=True)
            with subprocess.Popen([*queue, "receive", "others", "--wait", "60"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
                stats = [*queue, "call", "GetAPIStats"]
                eventually(lambda: b"ReceiveMessage" in subprocess.run(
                    stats, capture_output=True, timeout=DEADLINE_S, check=True).stdout,
                           "the long poll")
                self.assertEqual(ring.stop(), [])
                _, complaint = waiting.communicate(timeout=DEADLINE_S)
                self.assertEqual(waiting.returncode, 1)
                self.assertIn("shutting down", complaint.decode())
            ring, daemon = start(folder, "--gateway", "127.0.0.1:0")
            try:
                result = subprocess.run(ring.client(daemon, "queue", "receive", "jobs", "--delete"),
                                        capture_output=True, text=True, timeout=DEADLINE_S,
                                        check=False)
                self.assertEqual(result.stdout, "kept\n", result)
            finally:
                self.assertEqual(ring.stop(), [])


if __name__ == "__main__":
    unittest.main()
