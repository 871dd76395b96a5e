"""canopy request and reply, and messages to one member: what they print, their errors, their
status."""

import base64
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from canopy_case import CanopyCase  # noqa: E402
from daemon_case import DEADLINE_S, eventually  # noqa: E402

PEERS = 3


class Running:
    """A command that has joined its group, and runs."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        bufsize=0)
        said = self.process.stdout if "--json" in command else self.process.stderr
        ready, _, _ = select.select([said], [], [], DEADLINE_S)
        first = said.readline().decode() if ready else ""
        if "joined" not in first:
            self.process.kill()
            raise AssertionError(f"did not join: {first!r} {self.process.communicate()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Not SIGKILL, which would leave its commands behind, with its standard error.
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=DEADLINE_S)

    def line(self):
        """The next that it prints."""
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        if not ready:
            raise AssertionError("prints nothing")
        return self.process.stdout.readline().decode().rstrip("\n")

    def event(self):
        return json.loads(self.line())

    def end(self):
        """What it printed until it ended by itself."""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        self.complaint = err.decode()
        return out.decode().splitlines()


class RequestTest(CanopyCase):
    peers = PEERS

    def setUp(self):
        super().setUp()
        self.second = self.ring.daemons[1]
        self.group = self.id().rsplit(".", 1)[-1]

    def objects(self, daemon, *arguments, **options):
        return [json.loads(line)
                for line in self.canopy(daemon, *arguments, "--json", **options).splitlines()]

    def request(self, *arguments, **options):
        return self.canopy(self.first, "request", self.group, *arguments, **options)

    def running(self, daemon, word, *arguments):
        return Running(self.ring.client(daemon, word, self.group, *arguments))

    def start_request(self, *arguments):
        return subprocess.Popen(self.ring.client(self.first, "request", self.group, *arguments),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    # --- Messages to one member ---

    def test_a_message_goes_to_one_member_who_is_named(self):
        with self.running(self.second, "join", "--count", "1") as member:
            said = self.canopy(self.first, "publish", self.group, "job", "--to-one")
            self.assertRegex(said, rf"^sent to {self.group} as \w{{8}}-\d+, taken by peer-2\n$")
            self.assertEqual(member.end(), ["job"])

    def test_lines_go_to_one_member_each(self):
        with contextlib.ExitStack() as stack:
            members = [stack.enter_context(self.running(daemon, "join", "--json"))
                       for daemon in self.ring.daemons[1:]]
            lines = "".join(f"{number}\n" for number in range(100)).encode()
            said = self.canopy(self.first, "publish", self.group, "--to-one", "--lines",
                               data=lines).splitlines()
            self.assertEqual(len(said), 100)
            self.assertLessEqual(set(said), {"peer-2", "peer-3"})
            for member, name in zip(members, ("peer-2", "peer-3")):
                events = [member.event() for _ in range(said.count(name))]
                self.assertTrue(all(event["anycast"] for event in events))

    def test_json_tells_the_member(self):
        with self.running(self.last, "join", "--json") as member:
            sent, = self.objects(self.first, "publish", "--header", "k=v", self.group, "x",
                                 "--to-one")
            self.assertEqual(sent["member"]["name"], "peer-3")
            event = member.event()
            self.assertEqual(event["id"], sent["id"])
            self.assertEqual(event["headers"], [{"key": "k", "value": "v"}])

    def test_nobody_who_takes_it_is_a_failure(self):
        self.canopy(self.first, "publish", self.group, "x", "--to-one", status=1)
        self.assertIn("no member", self.complaint)
        with self.running(self.second, "join", "--no-anycast"):
            self.canopy(self.first, "publish", self.group, "x", "--to-one", status=1)
            self.canopy(self.first, "publish", self.group, "x", "--to-one", "--wait",
                        "--timeout", "1", status=1)
            self.assertIn("no member", self.complaint)

    def test_a_member_can_be_waited_for(self):
        command = self.ring.client(self.first, "publish", self.group, "x", "--to-one", "--wait",
                                   "--timeout", str(DEADLINE_S))
        with subprocess.Popen(command, stdout=subprocess.PIPE) as publish:
            with self.running(self.second, "join", "--count", "1") as member:
                self.assertIn(b"taken by peer-2", publish.communicate(timeout=DEADLINE_S)[0])
                self.assertEqual(member.end(), ["x"])

    # --- Requests ---

    def test_a_text_replies(self):
        with self.running(self.second, "reply", "pong", "--count", "2") as replier:
            self.assertEqual(self.request("ping"), "pong")
            self.assertEqual(self.request("-", data=b"from input"), "pong")
            self.assertEqual(replier.end(), ["ping", "from input"])
            self.assertEqual(replier.process.returncode, 0)

    def test_a_command_replies(self):
        with self.running(self.second, "reply", "--exec", "tr a-z A-Z", "--count", "2"):
            self.assertEqual(self.request("hello"), "HELLO")
            self.assertEqual(self.request("-", "--timeout", str(DEADLINE_S), data=b"x" * 60_000),
                             "X" * 60_000)
        with self.running(self.second, "reply", "--exec", "yes | head -c 1000000"):
            reply, _ = self.objects(self.first, "request", self.group, "x", "--timeout",
                                    str(DEADLINE_S))
            self.assertEqual(len(reply["payload"]), 1_000_000)

    def test_the_output_is_whole_however_soon_a_command_ends(self):
        with self.running(self.second, "reply", "--exec", "cat"):
            for number in range(50):
                self.assertEqual(self.request(f"{number}"), f"{number}")

    def test_a_command_that_fails_is_told_with_its_status(self):
        with self.running(self.second, "reply", "--exec", "echo no; exit 3", "--header", "k=v"):
            self.assertEqual(self.request("x", status=1), "")
            self.assertEqual(self.complaint,
                             f"canopy: {self.group}: peer-2 has failed with status 3: no\n")
            reply, end = self.objects(self.first, "request", self.group, "x", status=1)
            self.assertEqual((reply["event"], reply["status"], reply["payload"]),
                             ("reply", 3, "no\n"))
            self.assertEqual(reply["headers"], [{"key": "k", "value": "v"}])
            self.assertEqual(end["event"], "end")

    def test_a_command_that_a_signal_ends_fails(self):
        with self.running(self.second, "reply", "--exec", "kill -TERM $$"):
            reply, _ = self.objects(self.first, "request", self.group, "x", status=1)
            self.assertEqual(reply["status"], 128 + signal.SIGTERM)

    def test_a_command_that_writes_too_much_is_stopped(self):
        with self.running(self.second, "reply", "--exec", "yes") as replier:
            reply, _ = self.objects(self.first, "request", self.group, "x", status=1)
            self.assertEqual(reply["status"], 125)
            replier.process.send_signal(signal.SIGINT)
            replier.end()
            self.assertIn("wrote more than 1048576 bytes", replier.complaint)

    def test_what_a_command_leaves_behind_does_not_hold_the_reply(self):
        with self.running(self.second, "reply", "--exec", "sleep 1000 & echo done", "--count", "1"):
            self.assertEqual(self.request("x"), "done\n")

    def test_any_bytes_pass(self):
        with self.running(self.second, "reply", "--exec", "cat") as replier:
            payload = bytes(range(256))
            reply, _ = self.objects(self.first, "request", self.group, "-", data=payload)
            self.assertEqual(base64.b64decode(reply["payload_base64"]), payload)
            self.assertTrue(all(character.isprintable() for character in replier.line()))
            told = subprocess.run(self.ring.client(self.first, "request", self.group, "-"),
                                  input=payload, capture_output=True, timeout=DEADLINE_S,
                                  check=True)
            self.assertEqual(told.stdout, payload)

    def test_a_terminal_is_told_printable_text(self):
        ours, theirs = os.openpty()
        with self.running(self.second, "reply", "--exec", r"printf 'a\n\033b\n'"):
            subprocess.run(self.ring.client(self.first, "request", self.group, "x"),
                           stdout=theirs, timeout=DEADLINE_S, check=True)
        os.close(theirs)
        with open(ours, "rb", buffering=0) as terminal:
            self.assertEqual(terminal.read(100), b"a\\n\\x1bb\r\n")

    def test_all_members_reply(self):
        with contextlib.ExitStack() as stack:
            for daemon in self.ring.daemons:
                stack.enter_context(self.running(daemon, "reply", "--exec", "hostname"))
            stack.enter_context(self.running(self.last, "join"))  # who listens only
            said = self.request("load", "--all", "--timeout", str(DEADLINE_S)).splitlines()
            self.assertEqual({line.split("\t")[0] for line in said},
                             {"peer-1", "peer-2", "peer-3"})
            self.request("load", "--all", "--replies", "2")
            *replies, end = self.objects(self.first, "request", self.group, "x", "--all")
            self.assertEqual(len(replies), PEERS)
            self.assertEqual((end["members"], end["complete"]), (PEERS, True))
            self.request("load", "--all", "--replies", "4", status=1)
            self.assertIn("3 of 4 replies", self.complaint)

    def test_of_all_a_failed_reply_is_not_one_of_those_asked_for(self):
        with self.running(self.first, "reply", "--exec", "exit 7"), \
             self.running(self.second, "reply", "yes"), \
             self.running(self.last, "reply", "--exec", "sleep 1; echo yes"):
            said = self.request("x", "--all", "--replies", "2", "--timeout", str(DEADLINE_S))
            self.assertEqual(said.count("yes"), 2)
            self.request("x", "--all", "--timeout", str(DEADLINE_S), status=1)
            self.assertIn("peer-1 has failed with status 7\n", self.complaint)

    def test_who_may_not_join_cannot_reply(self):
        self.canopy(self.first, "create", self.group, "--allow-join", "peer:peer-1")
        self.canopy(self.second, "reply", self.group, "x", status=1)
        self.assertTrue(self.complaint.startswith(f"canopy: {self.group}: access denied"),
                        self.complaint)

    def test_who_has_no_reply_says_so(self):
        self.request("x", status=1)
        self.assertIn("canopy reply", self.complaint)
        self.request("x", "--all", status=1)
        self.assertIn("no such group", self.complaint)
        with self.running(self.second, "reply", "--exec", "sleep 1000"):
            self.request("x", "--timeout", "0.5", status=1)
            self.assertIn("longer than --timeout", self.complaint)
            self.request("x", "--all", "--replies", "1", "--timeout", "0.5", status=1)
            self.assertIn("no reply before the deadline", self.complaint)

    def test_a_command_is_ended_at_the_deadline(self):
        with self.running(self.second, "reply", "--exec", "echo $$ >&2; exec sleep 1000",
                          "--json") as replier:
            self.request("x", "--timeout", "0.5", status=1)
            pid = int(replier.process.stderr.readline())
            self.assertEqual([replier.event()["event"] for _ in range(2)], ["request", "ended"])
            eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the command has ended")

    def test_what_has_a_session_of_its_own_is_ended_with_its_command(self):
        command = "setsid -f sh -c 'echo $$ >&2; exec sleep 1000'; sleep 1000"
        with self.running(self.second, "reply", "--exec", command, "--json",
                          "--parallel", "2") as replier:
            with self.start_request("kept", "--timeout", "1000") as kept:
                kept_pid = int(replier.process.stderr.readline())
                self.request("x", "--timeout", "0.5", status=1)
                pid = int(replier.process.stderr.readline())
                eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it has ended")
                self.assertTrue(pathlib.Path(f"/proc/{kept_pid}").exists())
                kept.kill()
                kept.communicate()
            eventually(lambda: not pathlib.Path(f"/proc/{kept_pid}").exists(), "it has ended")

    def test_ctrl_c_cancels_the_request(self):
        with self.running(self.second, "reply", "--exec", "exec sleep 1000", "--json") as replier:
            with self.start_request("x", "--timeout", "1000") as request:
                self.assertEqual(replier.event()["event"], "request")
                request.send_signal(signal.SIGINT)
                self.assertEqual(request.wait(DEADLINE_S), 1)
                request.communicate()
            self.assertEqual(replier.event()["event"], "ended")

    def test_the_commands_of_a_killed_replier_end(self):
        command = "echo $$ >&2; exec sleep 1000"
        with self.running(self.second, "reply", "--exec", command) as replier:
            with self.start_request("x", "--timeout", "1000") as request:
                pid = int(replier.process.stderr.readline())
                replier.process.send_signal(signal.SIGTERM)
                replier.end()
                self.assertEqual(replier.process.returncode, 0)
                eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it has ended")
                request.kill()
                request.communicate()

    def test_a_busy_member_is_passed_by(self):
        with self.running(self.first, "reply", "--exec", "exec sleep 1000") as busy, \
                self.running(self.second, "reply", "free"):
            with self.start_request("x", "--timeout", "1000") as request:
                self.assertEqual(busy.line(), "x")  # the nearest has it
                self.assertEqual(self.request("y"), "free")
                request.kill()
                request.communicate()

    # --- Errors ---

    def test_mistakes_in_the_command_line_say_what_to_do(self):
        for arguments, text in (
                (["request"], "canopy request --help"),
                (["request", "g"], "no message"),
                (["request", "a@", "x"], "NAME@CREATOR"),
                (["request", "g", "x", "--replies", "2"], "--all"),
                (["request", "g", "x", "--all", "--replies", "1001"], "1000"),
                (["request", "g", "x", "--header", "novalue"], "KEY=VALUE"),
                (["reply", "g"], "TEXT and --exec"),
                (["reply", "g", "x", "--exec", "y"], "TEXT and --exec"),
                (["reply", "g", "x", "--parallel", "0"], "--parallel"),
                (["reply", "g", "x", "--header", "k" * 256 + "=v"], "up to 255"),
                (["publish", "g", "x", "--to-one", "--ack", "root"], "--ack"),
                (["publish", "g", "x", "--wait"], "--to-one"),
        ):
            with self.subTest(arguments):
                self.assertEqual(self.canopy(self.first, *arguments, status=2), "")
                self.assertIn(text, self.complaint)

    def test_help_teaches(self):
        for command in ("request", "reply"):
            self.assertIn("canopy", self.canopy(self.first, command, "--help"))

    def test_closed_standard_input_harms_no_command(self):
        self.assertEqual(os.system(" ".join(
            f"'{word}'" for word in self.ring.client(self.first, "reply", self.group, "--exec",
                                                     "cat", "--timeout", "1")) + " <&-"), 0)


if __name__ == "__main__":
    unittest.main()
