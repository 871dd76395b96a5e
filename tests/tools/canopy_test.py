"""The canopy command against a ring of real daemons: what it prints, its errors, its status."""

import base64
import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from canopy_case import PEERS, CanopyCase  # noqa: E402
from daemon_case import BIN, DEADLINE_S, Ring, eventually  # noqa: E402

ID_BITS = 160


def ring_distance(a, b):
    return min((a - b) % 2**ID_BITS, (b - a) % 2**ID_BITS)


def resident_bytes(pid):
    fields = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


class CanopyTest(CanopyCase):
    def group(self):
        """A group of this test's own."""
        return self.id().rsplit(".", 1)[-1]

    def is_member(self, daemon, group):
        return any(entry["group"] == group and entry["member"]
                   for entry in self.ask(daemon, "groups")["groups"])

    # --- Looking ---

    def test_status_tells_who_the_daemon_is(self):
        status = self.ask(self.first, "status")
        self.assertEqual(status["name"], "peer-1")
        self.assertEqual(status["state"], "active")
        self.assertEqual(status["cluster"], "canopy")
        self.assertEqual((status["digit_bits"], status["leaf_set_size"]), (4, 16))
        self.assertEqual(len(status["leaves"]), PEERS - 1)
        self.assertTrue(status["founded"])
        self.assertFalse(self.ask(self.last, "status")["founded"])
        self.assertEqual(status["cluster_uuid"], self.ask(self.last, "status")["cluster_uuid"])
        text = self.canopy(self.first, "status")
        for word in ("peer-1", status["id"], "active", self.first.address, "founded"):
            self.assertIn(word, text)
        self.assertGreater(len(self.canopy(self.first, "status", "--counters")), len(text))

    def test_ring_lists_every_peer_in_id_order(self):
        for daemon in self.ring.daemons:
            ring = self.ask(daemon, "ring")
            self.assertTrue(ring["complete"])
            ids = [peer["id"] for peer in ring["peers"]]
            self.assertEqual(len(ids), PEERS)
            self.assertEqual(ids, sorted(ids))
            self.assertEqual([peer["name"] for peer in ring["peers"] if peer["self"]],
                             [daemon.name])
        lines = self.canopy(self.last, "ring").splitlines()
        self.assertEqual(lines[0].split(), ["ID", "NAME", "ADDRESS", "ZONE"])
        self.assertEqual(len(lines), 1 + PEERS)
        self.assertEqual([line.split()[2] for line in lines if line.startswith("*")], ["peer-4"])

    def test_a_route_ends_at_the_closest_peer(self):
        peers = self.ask(self.first, "ring")["peers"]
        for key in ("0", "8", "f00", "1234567890abcdef1234567890abcdef12345678"):
            value = int(key.ljust(40, "0"), 16)
            closest = min(peers, key=lambda peer: (ring_distance(int(peer["id"], 16), value),
                                                   peer["id"]))
            route = self.ask(self.first, "route", key)
            self.assertEqual(route["root"]["name"], closest["name"])
            self.assertEqual(route["key"], key.ljust(40, "0"))
            self.assertEqual(route["self"]["name"], "peer-1")
            self.assertIn("root", self.canopy(self.first, "route", key))

    def test_a_route_can_go_to_a_name_or_a_group(self):
        by_name = self.ask(self.first, "route", "--name", "pricescanopy")
        self.assertEqual(by_name, self.ask(self.first, "route", "--group", "prices"))
        self.assertEqual(by_name, self.ask(self.first, "route", "--group", "prices@canopy"))
        by_creator = self.ask(self.first, "route", "--group", "prices@node-17")
        self.assertTrue(by_creator["key"].startswith("150d"))

    def test_a_tree_that_is_not_there_is_named(self):
        self.canopy(self.first, "tree", "nobodys", status=1)
        self.assertIn("nobodys: no such group", self.complaint)

    def test_a_group_that_is_not_there_is_named(self):
        for command in (["access"], ["access", "--allow-join", "anyone"], ["delete"], ["members"],
                        ["members", "--watch"]):
            self.canopy(self.first, command[0], "nobodys", *command[1:], status=1)
            self.assertTrue(self.complaint.startswith("canopy: nobodys: no such group"),
                            (command, self.complaint))
        self.canopy(self.first, "access", "nobodys", "--allow-join", "token:/nowhere", status=2)

    def test_trees_and_groups_show_who_is_where(self):
        group = self.group()
        with self.join(self.first, group), self.join(self.last, group + "@canopy"):
            tree = self.ask(self.last, "tree", group)
            self.assertTrue(tree["complete"])
            self.assertEqual(tree["creator"], "canopy")
            members = {node["name"] for node in tree["nodes"] if node["member"]}
            self.assertEqual(members, {"peer-1", "peer-4"})
            root = tree["nodes"][0]
            self.assertTrue(root["root"])
            self.assertIsNone(root["parent"])
            self.assertEqual(root["name"],
                             self.ask(self.first, "route", "--group", group)["root"]["name"])
            self.assertEqual(sum(len(node["children"]) for node in tree["nodes"]),
                             len(tree["nodes"]) - 1)
            for node in tree["nodes"]:
                self.assertEqual(node["forwarder"], not node["root"] and not node["member"])
                self.assertEqual(node["depth"] == 0, node["root"])
            self.assertEqual(root["root_round_trip_us"], 0)
            self.assertIsNone(root["round_trip_us"])
            # What is not known at the first look is measured for the next.
            eventually(lambda: all(node["root_round_trip_us"] is not None
                                   for node in self.ask(self.last, "tree", group)["nodes"]),
                       "all round trips are known")
            for node in self.ask(self.last, "tree", group)["nodes"]:
                if not node["root"]:
                    self.assertGreaterEqual(node["root_round_trip_us"], node["round_trip_us"])
            drawing = self.canopy(self.first, "tree", group)
            self.assertIn("2 members", drawing.splitlines()[0])
            self.assertRegex(drawing, r"\*  \w{8}  [\d.:]+  depth \d+, [\d.]+ ms")
            self.assertTrue(any("└─" in line and "*" in line for line in drawing.splitlines()))
            dot = self.canopy(self.first, "tree", group, "--dot")
            self.assertTrue(dot.startswith("digraph"))
            self.assertEqual(dot.count("->"), len(tree["nodes"]) - 1)
            entry = next(entry for entry in self.ask(self.last, "groups")["groups"]
                         if entry["group"] == group)
            self.assertTrue(entry["member"])
            self.assertEqual(entry["id"], tree["group_id"])
            self.assertRegex(self.canopy(self.last, "groups"), group + r"\s+\w+\s+.*member")

    # --- Messages ---

    def test_a_message_reaches_members_everywhere(self):
        group = self.group()
        with contextlib.ExitStack() as stack:
            joined = [stack.enter_context(self.join(daemon, group, "--count", "1"))
                      for daemon in self.ring.daemons]
            said = self.canopy(self.first, "publish", group, "hello, world")
            self.assertRegex(said, rf"^published to {group} as \w{{8}}-\d+, acknowledged by its "
                                   r"root peer-\d\n$")
            for each in joined:
                self.assertEqual(each.lines(), ["hello, world"])
                self.assertEqual(each.process.returncode, 0)

    def test_members_are_counted_and_may_be_required(self):
        group = self.group()
        with contextlib.ExitStack() as stack:
            for daemon in self.ring.daemons:
                stack.enter_context(self.join(daemon, group))
            said = self.canopy(self.first, "publish", group, "x", "--ack", "members")
            self.assertRegex(said, rf"^published to {group} as \w{{8}}-\d+, acknowledged by its "
                                   rf"root peer-\d; {PEERS} members have it, which is all\n$")
            result = self.ask(self.first, "publish", group, "x", "--ack", "members")
            self.assertEqual((result["ack"], result["members"], result["complete"]),
                             ("members", PEERS, True))
            self.assertEqual((result["unreachable"], result["unreachable_more"]), ([], 0))
            self.canopy(self.first, "publish", group, "x", "--require", str(PEERS))
            self.canopy(self.first, "publish", group, "x", "--require", str(PEERS + 1), status=1)
            self.assertEqual(self.complaint, f"canopy: {group}: {PEERS} members have it, fewer "
                                             f"than the {PEERS + 1} required\n")
            told = self.canopy(self.first, "publish", group, "x", "--json", "--require",
                               str(PEERS + 1), status=1).splitlines()
            self.assertEqual(json.loads(told[0])["members"], PEERS)
            self.assertIn("required", json.loads(told[1])["error"]["message"])

            said = self.canopy(self.first, "publish", group, "--lines", "--ack", "members",
                               data=b"a\nb\nc\n")
            self.assertEqual(said, f"published 3 messages to {group}, each to at least {PEERS} "
                                   "members, which is all\n")
            self.canopy(self.first, "publish", group, "--lines", "--require", "99",
                        data=b"a\nb\n", status=1)
            self.assertRegex(self.complaint, r"^canopy: line \d: .*fewer than the 99 required: ")

    def test_a_group_without_members_is_told(self):
        group = self.group()
        self.canopy(self.first, "create", group)
        said = self.canopy(self.first, "publish", group, "x", "--ack", "members")
        self.assertIn("; 0 members have it, which is all", said)
        self.canopy(self.first, "publish", group, "x", "--require", "1", status=1)

    def test_a_group_of_another_creator_is_another_group(self):
        group = self.group()
        with self.join(self.first, group + "@alice", "--json", "--count", "1") as joined:
            self.canopy(self.last, "publish", group, "to nobody", status=1)
            self.assertIn("no such group", self.complaint)
            self.canopy(self.last, "create", group)
            self.canopy(self.last, "publish", group, "to everybody's")
            self.canopy(self.last, "publish", group + "@alice", "to alice's")
            message = joined.events()[0]
            self.assertEqual((message["creator"], message["payload"]), ("alice", "to alice's"))

    def test_json_tells_id_and_headers(self):
        group = self.group()
        with self.join(self.last, group, "--json", "--count", "1") as joined:
            self.assertEqual(json.loads(joined.first_line)["event"], "joined")
            sent = self.ask(self.first, "publish", group, "x", "--header", "kind=a=b",
                            "--header", "kind=c")
            message = joined.events()[0]
            self.assertEqual(message["event"], "message")
            self.assertEqual((message["group"], message["creator"]), (group, "canopy"))
            self.assertEqual(message["id"], sent["id"])
            self.assertEqual(message["headers"], [{"key": "kind", "value": "a=b"},
                                                  {"key": "kind", "value": "c"}])
            self.assertEqual(sent["root"]["name"],
                             self.ask(self.first, "route", "--group", group)["root"]["name"])

    def test_any_bytes_pass_and_none_harms_a_terminal(self):
        group = self.group()
        payloads = [b"tab\there \x1b[31mred\x07", b"\xff\x00\xfe", "größer €".encode(), b"",
                    bytes(range(256)) * 100]
        for payload in payloads:
            with self.join(self.last, group, "--count", "1") as human, \
                    self.join(self.first, group, "--count", "1", "--json") as machine:
                self.canopy(self.first, "publish", group, "-", data=payload)
                message = machine.events()[0]
                got = (message["payload"].encode() if "payload" in message
                       else base64.b64decode(message["payload_base64"]))
                self.assertEqual(got, payload)
                line = human.lines()[0]
                self.assertTrue(all(character.isprintable() for character in line), line)
        self.assertIn("payload", message | {"payload": ""})

    def test_members_are_counted(self):
        group = self.group()
        self.canopy(self.first, "create", group)
        self.assertEqual(self.canopy(self.last, "members", group), "0 members\n")
        with self.join(self.first, group), self.join(self.first, group):
            eventually(lambda: self.canopy(self.last, "members", group) == "1 member\n",
                       "one member")
            with self.join(self.last, group):
                eventually(lambda: self.ask(self.first, "members", group) ==
                           {"group": group, "creator": "canopy", "members": 2,
                            "complete": True}, "two members")
        self.canopy(self.first, "members", group + "-nobody", status=1)

    def test_members_can_be_watched(self):
        group = self.group()
        self.canopy(self.first, "create", group)
        with subprocess.Popen(self.ring.client(self.last, "members", group, "--watch"),
                              stdout=subprocess.PIPE) as watch:
            self.assertEqual(watch.stdout.readline(), b"0 members\n")
            with self.join(self.first, group):
                while (line := watch.stdout.readline()).startswith(b"about"):
                    pass
                self.assertEqual(line, b"1 member\n")
            watch.send_signal(signal.SIGINT)
            self.assertEqual(watch.wait(DEADLINE_S), 0)

    def test_presence_tells_who_comes_and_who_goes(self):
        group = self.group()
        with self.join(self.first, group, "--presence") as human, \
                self.join(self.first, group, "--presence", "--json") as machine:
            self.assertEqual(human.process.stderr.readline(), b"canopy: 1 member\n")
            with self.join(self.last, group):
                self.assertEqual(human.process.stderr.readline(),
                                 f"canopy: 2 members (+1: {self.last.name})\n".encode())
            self.assertEqual(human.process.stderr.readline(),
                             f"canopy: 1 member (-1: {self.last.name})\n".encode())
            events = [json.loads(machine.process.stdout.readline()) for _ in range(3)]
            self.assertEqual([event["event"] for event in events], ["presence"] * 3)
            self.assertEqual([event["members"] for event in events], [1, 2, 1])
            self.assertEqual([name["name"] for name in events[1]["joined"]], [self.last.name])
            self.assertEqual([name["name"] for name in events[2]["left"]], [self.last.name])
            self.assertTrue(all(event["complete"] for event in events))

    def test_the_last_message_can_be_had_on_joining(self):
        for mode in ("best-effort", "ordered"):
            group = f"{self.group()}-{mode}"
            self.canopy(self.first, "create", group, "--mode", mode)
            with self.join(self.last, group, "--last", "--count", "1") as first:
                self.assertEqual(first.process.stderr.readline().decode(),
                                 f"canopy: {group}: no message yet, waiting for the first\n")
                self.canopy(self.first, "publish", group, "old")
                self.assertEqual(first.lines(), ["old"])
            self.canopy(self.first, "publish", group, "new")
            for daemon in self.ring.daemons:
                with self.join(daemon, group, "--last", "--count", "1") as late:
                    self.assertEqual(late.lines(), ["new"])
            with self.join(self.first, group, "--last", "--count", "2", "--json") as late:
                while json.loads(line := late.process.stdout.readline())["event"] != "message":
                    pass
                self.assertTrue(json.loads(line)["last"])
                self.canopy(self.last, "publish", group, "next")
                self.assertEqual([event["payload"] for event in late.events()], ["next"])

    def test_lines_are_messages_and_keep_their_order(self):
        group = self.group()
        count = 500
        lines = [f"line {number}" for number in range(count)]
        with self.join(self.last, group, "--count", str(count)) as joined:
            said = self.canopy(self.first, "publish", group, "-", "--lines",
                               data="\n".join(lines).encode())
            self.assertEqual(said, f"published {count} messages to {group}\n")
            self.assertEqual(joined.lines(), lines)
        results = self.canopy(self.first, "publish", group, "--lines", "--json", "--ack", "none",
                              data=b"a\n\nb\n").splitlines()
        self.assertEqual(len(results), 3)
        self.assertTrue(all(json.loads(line)["ack"] == "none" for line in results))
        told = self.canopy(self.first, "publish", group, "more", "--ack", "none")
        self.assertNotIn("acknowledged", told)

    def test_lines_from_a_file_and_a_slow_pipe(self):
        group = self.group()
        path = pathlib.Path(self.folder.name) / "lines"
        path.write_text("one\ntwo\n", encoding="utf-8")
        with self.join(self.last, group, "--count", "3") as joined:
            command = self.ring.client(self.first, "publish", group, "--lines")
            with path.open("rb") as lines:
                subprocess.run(command, stdin=lines, check=True, timeout=DEADLINE_S,
                               stdout=subprocess.DEVNULL)
            slow = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            slow.stdin.write(b"three\n")
            slow.stdin.flush()  # the pipe stays open: the line must not wait for its end
            self.assertEqual(joined.lines(), ["one", "two", "three"])
            self.assertIn(b"published 1 message ", slow.communicate(timeout=DEADLINE_S)[0])

    def test_closed_standard_files_are_no_input_and_no_output(self):
        publish = self.ring.client(self.first, "publish", "closed", "-")
        status = self.ring.client(self.first, "status")
        for closed, command, complaint in [
                ("<&-", publish, b"cannot read standard input"),
                ("<&-", [*publish, "--lines"], b"cannot read standard input"),
                (">&-", status, b"cannot write to standard output")]:
            result = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *command],
                                    capture_output=True, timeout=DEADLINE_S, check=False)
            self.assertEqual(result.returncode, 1, (command, result))
            self.assertIn(complaint + b": Bad file descriptor", result.stderr)

    def test_several_groups_at_once_are_told_apart(self):
        group = self.group()
        with self.join(self.last, group + "-a", group + "-b", "--count", "2",
                       "--json") as joined:
            eventually(lambda: self.is_member(self.last, group + "-b"), "both joined")
            self.canopy(self.first, "publish", group + "-b", "1")
            self.canopy(self.first, "publish", group + "-a", "2")
            got = {(event["group"], event["payload"]) for event in joined.events()
                   if event["event"] == "message"}
            self.assertEqual(got, {(group + "-b", "1"), (group + "-a", "2")})

    def test_create_tells_the_groups_id(self):
        group = self.group()
        created = self.ask(self.first, "create", group)
        self.assertEqual(created["group_id"],
                         self.ask(self.first, "route", "--group", group)["key"])
        self.assertIn(created["group_id"], self.canopy(self.last, "create", group))

    # --- Ends of a join ---

    def test_access_is_shown_changed_and_enforced(self):
        group = self.group()
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "secret"
            secret.write_text(self.canopy(self.first, "token"), encoding="ascii")
            created = self.ask(self.first, "create", group, "--mode", "ordered",
                               "--allow-join", f"token:{secret}",
                               "--allow-publish", f"peer:{self.first.name}")
            self.assertEqual((created["mode"], created["existed"]), ("ordered", False))
            again = self.canopy(self.last, "create", group, "--mode", "ordered")
            self.assertIn("was there already", again)
            self.canopy(self.last, "create", group, status=1)
            self.assertTrue(self.complaint.startswith(f"canopy: {group}: "), self.complaint)
            self.assertIn("it is ordered, for which `--mode ordered` asks", self.complaint)
            key = self.canopy(self.first, "token", str(secret)).strip()
            shown = self.ask(self.last, "access", group)
            self.assertEqual(shown["join"], [key])
            self.assertEqual(len(shown["manage"]), 1)
            self.assertIn(f"publish  peer:{self.first.name}\n",
                          self.canopy(self.last, "access", group))

            self.canopy(self.last, "join", group, status=1)
            self.assertRegex(self.complaint, "access denied.*--token-file or CANOPY_TOKEN")
            with self.join(self.last, group, "--count", "1", "--token-file", str(secret),
                           "--json") as joined:
                self.assertEqual(json.loads(joined.first_line)["mode"], "ordered")
                self.canopy(self.last, "publish", group, "no", status=1)
                self.assertIn("access denied", self.complaint)
                self.canopy(self.last, "access", group, "--allow-publish", "peer:nobody", status=1)
                self.canopy(self.first, "publish", group, "yes")
                self.assertEqual(joined.events()[-1]["payload"], "yes")
            changed = self.ask(self.first, "access", group, "--deny-join", key,
                               "--allow-publish", "anyone")
            self.assertEqual((changed["join"], changed["publish"]), ([], "anyone"))
            self.assertIn("deleted", self.canopy(self.first, "delete", group))
            self.canopy(self.last, "join", group, status=1)
            self.assertIn("no such group", self.complaint)

    def test_changes_of_access_at_the_same_time_are_all_made(self):
        group = self.group()
        self.canopy(self.first, "create", group, "--allow-publish", "nobody",
                    "--allow-manage", "anyone")
        with contextlib.ExitStack() as stack:
            changes = [stack.enter_context(subprocess.Popen(
                self.ring.client(daemon, "access", group, "--allow-publish", f"peer:{number}"),
                stdout=subprocess.DEVNULL))
                       for number, daemon in enumerate(self.ring.daemons)]
            self.assertEqual([change.wait(DEADLINE_S) for change in changes], [0] * PEERS)
        self.assertEqual(len(self.ask(self.first, "access", group)["publish"]), PEERS)

    def test_no_group_is_locked_for_good(self):
        group = self.group()
        self.canopy(self.first, "create", group, "--allow-manage", "nobody", status=2)
        self.assertIn("nobody could change or delete the group", self.complaint)
        self.canopy(self.first, "create", group)
        name = self.ring.daemons[0].name
        for change in ("--allow-manage=nobody", f"--deny-manage=peer:{name}"):
            self.canopy(self.first, "access", group, change, status=2)
            self.assertIn("nobody could change or delete the group", self.complaint)
        self.assertIn("deleted", self.canopy(self.first, "delete", group))

    def test_ctrl_c_leaves(self):
        group = self.group()
        with self.join(self.last, group) as joined:
            self.assertTrue(self.is_member(self.last, group))
            joined.process.send_signal(signal.SIGINT)
            self.assertEqual(joined.lines(), [])
            self.assertEqual(joined.process.returncode, 0)
        eventually(lambda: not self.is_member(self.last, group), "left")

    def test_a_killed_command_leaves(self):
        group = self.group()
        with self.join(self.last, group) as joined:
            joined.process.kill()
        eventually(lambda: not self.is_member(self.last, group), "left")

    def test_a_timeout_before_the_count_is_a_failure(self):
        group = self.group()
        self.canopy(self.first, "join", group, "--count", "2", "--timeout", "0.5", status=1)
        self.assertIn("0 of 2 messages", self.complaint)
        self.canopy(self.first, "join", group, "--timeout", "0.5")

    def test_ends_quietly_when_nobody_reads_the_output(self):
        group = self.group()
        with self.join(self.last, group) as joined:
            joined.process.stdout.close()
            self.assertEqual(joined.process.wait(DEADLINE_S), 0)
            self.assertEqual(joined.process.stderr.read(), b"")
            joined.process.stdout = None
        eventually(lambda: not self.is_member(self.last, group), "left")

    def test_a_client_that_does_not_read_costs_little_memory(self):
        group = self.group()
        line = b"x" * (256 << 10) + b"\n"
        with self.join(self.last, group, "--json") as joined:
            joined.process.send_signal(signal.SIGSTOP)
            before = resident_bytes(self.last.process.pid)
            for _ in range(4):
                self.canopy(self.first, "publish", group, "--lines", data=line * 64)
            grown = resident_bytes(self.last.process.pid) - before
            if not os.environ.get("CANOPY_SANITIZE"):  # which keeps what was freed for a while
                self.assertLess(grown, 48 << 20, "64 MiB were published")
            self.assertEqual(self.ask(self.last, "status")["state"], "active")
            joined.process.send_signal(signal.SIGCONT)
            kinds = set()
            while "lost" not in kinds:
                ready, _, _ = select.select([joined.process.stdout], [], [], DEADLINE_S)
                self.assertTrue(ready, f"no news of losses, only {kinds}")
                kinds.add(json.loads(joined.process.stdout.readline())["event"])

    # --- Errors ---

    def test_mistakes_in_the_command_line_say_what_to_do(self):
        for arguments, text in (
                ([], "canopy --help"),
                (["staus"], "did you mean status?"),
                (["frob"], "no command 'frob': canopy --help"),
                (["join"], "canopy join --help"),
                (["join", "a@"], "NAME@CREATOR"),
                (["join", "a", "--count", "0"], "--count"),
                (["join", "a", "--count", "-1"], "--count"),
                (["join", "a", "--count", str(1 << 64)], "--count"),
                (["join", "\x1b[31mred\n\r\x9b"], r"'\x1b[31mred\n\r"),
                (["ring", "extra"], "canopy ring --help"),
                (["route"], "give one of"),
                (["route", "prices"], "--group"),
                (["route", "aa", "--name", "b"], "give one of"),
                (["publish", "g"], "no message"),
                (["publish", "g", "text", "--lines"], "give -"),
                (["publish", "g", "x", "--header", "novalue"], "KEY=VALUE"),
                (["publish", "g", "x", "--ack", "all"], "--ack"),
                (["publish", "g", "x", "--require", "0"], "--require"),
                (["publish", "g", "x", "--ack", "root", "--require", "2"], "--ack members"),
                (["publish", "g", "x", *["--header=k=v"] * 65], "up to 64"),
                (["publish", "g", "x", "--header", "k" * 256 + "=v"], "up to 255"),
                (["publish", "g", "x", "--header", "k=" + "v" * 70_000], "up to 65536"),
                (["status", "--timeout", "soon"], "--timeout"),
        ):
            with self.subTest(arguments):
                self.assertEqual(self.canopy(self.first, *arguments, status=2), "")
                self.assertTrue(self.complaint.startswith("canopy: "))
                self.assertIn(text, self.complaint)

    def test_with_json_failures_are_objects_as_well(self):
        somebody, nobody = self.first.control, self.folder.name + "/nobody.sock"
        for arguments, socket_path, status, text in (
                (["tree", "g", "--dot"], somebody, 2, "one of"),
                (["frob"], somebody, 2, "frob"),
                (["status"], nobody, 1, "no daemon answers"),
                (["join", "g"], nobody, 1, "no daemon answers"),
                (["publish", "g", "-"], somebody, 1, "standard input")):
            with self.subTest(arguments):
                result = subprocess.run(
                    [BIN / "canopy", "--control", socket_path, *arguments, "--json"], check=False,
                    input="x" * (5 << 20), capture_output=True, text=True, timeout=DEADLINE_S)
                said = json.loads(result.stdout)
                self.assertEqual((result.returncode, list(said)), (status, ["error"]))
                self.assertIn(text, said["error"]["message"])
                self.assertEqual(result.stderr, f"canopy: {said['error']['message']}\n")
        said = self.ask(self.first, "publish", "g", "-", status=1, data=b"x" * ((1 << 20) + 1))
        self.assertEqual(said["error"]["code"], 7)
        self.assertIn("--limit-payload", said["error"]["message"])

    def test_a_line_that_fails_says_how_many_were_published(self):
        group = self.group()
        self.canopy(self.first, "create", group)
        lines = b"one\n" + b"x" * ((1 << 20) + 1) + b"\n" + b"three\n"
        self.canopy(self.first, "publish", group, "--lines", data=lines, status=1)
        self.assertRegex(self.complaint, r"^canopy: line 2: .*: 1 of 3 messages were published; "
                                         r"lines 2-3 were not\n$")
        self.canopy(self.first, "publish", group, "--lines", data=b"a\nb\n" + b"x" * (5 << 20),
                    status=1)
        self.assertRegex(self.complaint, r"line 3 has more than .*: \d of 2 messages that were "
                                         r"read were published; .*the input from line 3 on was "
                                         r"not read\n$")

    def test_a_line_that_fails_says_that_the_rest_was_not_read(self):
        group = self.group()
        self.canopy(self.first, "create", group)
        command = self.ring.client(self.first, "publish", group, "--lines")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as publish:
            publish.stdin.write(b"one\n" + b"x" * ((1 << 20) + 1) + b"\nthree\n")
            publish.stdin.flush()  # and may write more
            self.assertRegex(publish.stderr.read().decode(),
                             r"^canopy: line 2: .*: 1 of ([23]) messages that were read were "
                             r"published; (line 2 was|lines 2-3 were) not; the input from line "
                             r"[34] on was not read\n$")
            self.assertEqual(publish.wait(DEADLINE_S), 1)

    def test_an_option_of_the_daemon_without_its_value(self):
        result = subprocess.run([BIN / "canopyd", "--leaf-set"], capture_output=True, text=True,
                                timeout=DEADLINE_S, check=False)
        self.assertEqual((result.returncode, result.stderr),
                         (2, "canopyd: --leaf-set: no value is given\n"))

    def test_help_that_cannot_be_written_fails(self):
        for program in ("canopy", "canopyd", "canopy-sim"):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([BIN / program, "--help"], stdout=full, text=True,
                                        stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False)
            self.assertEqual(result.returncode, 1, program)
            self.assertEqual(result.stderr, f"{program}: cannot write to standard output\n")

    def test_says_how_to_find_a_daemon(self):
        environment = {**os.environ, "CANOPY_CONTROL": self.folder.name + "/nobody.sock"}
        result = subprocess.run([BIN / "canopy", "status"], env=environment, capture_output=True,
                                text=True, timeout=DEADLINE_S, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"no daemon answers at {self.folder.name}/nobody.sock", result.stderr)
        self.assertIn("canopyd", result.stderr)
        environment["CANOPY_CONTROL"] = str(self.first.control)
        result = subprocess.run([BIN / "canopy", "status"], env=environment, capture_output=True,
                                text=True, timeout=DEADLINE_S, check=False)
        self.assertIn("peer-1", result.stdout)

    def test_a_message_beyond_the_limit_is_refused(self):
        group = self.group()
        for size in ((1 << 20) + 1, 5 << 20):
            self.canopy(self.first, "publish", group, "-", data=b"x" * size, status=1)
            self.assertTrue(self.complaint)
        with self.join(self.last, group, "--count", "1") as joined:
            self.canopy(self.first, "publish", group, "-", data=b"x" * (1 << 20))
            self.assertEqual(len(joined.lines()[0]), 1 << 20)

    def test_help_and_version(self):
        self.assertRegex(self.canopy(self.first, "--version"), r"^canopy \d+\.\d+\.\d+\n$")
        overview = self.canopy(self.first, "--help")
        for command in ("status", "ring", "route", "create", "join", "publish", "groups", "tree",
                        "shutdown"):
            self.assertIn(command, overview)
            self.assertIn("--", self.canopy(self.first, command, "--help"))

    # --- The socket ---

    def test_the_socket_is_its_users_only(self):
        self.assertEqual(os.stat(self.first.control).st_mode & 0o777, 0o600)

    def test_garbage_closes_the_connection_and_nothing_else(self):
        pid = self.first.process.pid
        for garbage in (b"GET / HTTP/1.1\r\n\r\n" * 10,
                        struct.pack(">IBBH", 0xffffffff, 0x80, 0, 0),
                        struct.pack(">IBBH", 4, 0x80, 0, 0) + b"",
                        struct.pack(">IBBH", 6, 0x80, 0, 2) + b"\xff\xff",
                        struct.pack(">IBBH", 4, 0x01, 0, 0),
                        struct.pack(">IBBH", 4, 0x80, 0, 9),
                        os.urandom(4096)):
            before = resident_bytes(pid)
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(DEADLINE_S)
                client.connect(str(self.first.control))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    client.sendall(garbage)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65536):
                        pass
            self.assertLess(resident_bytes(pid) - before, 8 << 20)
        self.assertEqual(self.ask(self.first, "status")["state"], "active")
        self.assertIn("control client", self.first.log.read_text(encoding="utf-8"))

    def test_one_client_too_many_is_told_so(self):
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(64)]
            for client in clients:
                client.connect(str(self.first.control))
            self.canopy(self.first, "status", status=1)
            self.assertIn("has 64 clients, as many as it may have", self.complaint)
        eventually(lambda: self.ring.ask(self.first, "status"), "room again")

    def test_too_many_clients_are_turned_away(self):
        with contextlib.ExitStack() as stack:
            clients = []
            for _ in range(80):
                client = stack.enter_context(socket.socket(socket.AF_UNIX))
                client.settimeout(DEADLINE_S)
                client.connect(str(self.first.control))
                clients.append(client)
            self.assertEqual(clients[-1].recv(1), b"")
        eventually(lambda: self.ring.ask(self.first, "status"), "room again")


class LonelyDaemonTest(unittest.TestCase):
    def test_the_only_daemon_of_a_user_is_found_without_an_option(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
            environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
            environment.pop("CANOPY_CONTROL", None)

            def canopy(*arguments):
                return subprocess.run([BIN / "canopy", *arguments], env=environment, text=True,
                                      capture_output=True, timeout=DEADLINE_S, check=False)

            start = [BIN / "canopyd", "--name", "solo", "--listen", "127.0.0.1:0"]
            daemon = subprocess.Popen(start, env=environment, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            try:
                eventually(lambda: canopy("status").returncode == 0, "answers")
                self.assertIn("solo", canopy("status").stdout)
                second = subprocess.run(start, env=environment, capture_output=True, text=True,
                                        timeout=DEADLINE_S, check=False)
                self.assertEqual(second.returncode, 1)
                self.assertIn("another daemon answers", second.stderr)
                self.assertIn("--control", second.stderr)
                self.assertEqual(canopy("shutdown").returncode, 0)
                self.assertEqual(daemon.wait(DEADLINE_S), 0)
            finally:
                daemon.kill()
                daemon.wait()


class ShutdownTest(unittest.TestCase):
    def test_a_daemon_stops_when_asked(self):
        with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
            ring = Ring(BIN, pathlib.Path(folder))
            try:
                ring.start(2)
                daemon = ring.daemons[1]
                result = subprocess.run(ring.client(daemon, "shutdown"), capture_output=True,
                                        text=True, timeout=DEADLINE_S, check=False)
                self.assertEqual((result.returncode, result.stdout), (0, "peer-2 has stopped\n"))
                self.assertEqual(daemon.process.wait(DEADLINE_S), 0)
                self.assertFalse(daemon.control.exists())
                eventually(lambda: ring.peers_seen_by(ring.daemons[0]) == 1, "gone from the ring")
            finally:
                ring.stop()


if __name__ == "__main__":
    unittest.main()
