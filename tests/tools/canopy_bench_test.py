"""canopy-bench queue and http-echo, scripts/bench-queue, bench-scale and bench-groups: what they
measure and notice."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from programs import BIN, SOURCE  # noqa: E402

sys.path.insert(0, str(SOURCE / "tests/gateway/lib"))
from gateway_server import Server  # noqa: E402

TIMEOUT_S = 60
KEYS = {"messages", "errors", "messages_per_second", "requests_per_second", "p50_ms", "p95_ms",
        "p99_ms", "p999_ms", "max_ms"}
KEY_ID = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def run(*arguments):
    return subprocess.run([BIN / "canopy-bench", *map(str, arguments)], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)


class ForgetfulHandler(http.server.BaseHTTPRequestHandler):
    """An endpoint that acknowledges every message and keeps none."""

    protocol_version = "HTTP/1.1"
    ANSWERS = {"CreateQueue": {"QueueUrl": "http://localhost/000000000000/forgetful"},
               "SendMessage": {"MessageId": "1", "MD5OfMessageBody": "2"},
               "GetQueueAttributes": {"Attributes": {
                   "ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0",
                   "ApproximateNumberOfMessagesDelayed": "0"}}}

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        action = self.headers["X-Amz-Target"].split(".")[1]
        body = json.dumps(self.ANSWERS.get(action, {})).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class QueueTest(unittest.TestCase):
    def load(self, url, *arguments, connections=8, status=0):
        result = run("queue", "--endpoint", url, "--connections", connections, "--warm-up", 0.1,
                     "--seconds", 0.5, "--json", *arguments)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def assert_is_a_good_run(self, report):
        self.assertLessEqual(KEYS, report.keys())
        self.assertEqual(report["errors"], 0, report)
        self.assertEqual(report["duplicates"] + report["foreign"] + report["out_of_order"], 0)
        self.assertGreater(report["messages"], 0)
        self.assertGreater(report["p50_ms"], 0)
        self.assertLessEqual(report["p50_ms"], report["p99_ms"])
        self.assertLessEqual(report["p999_ms"], report["max_ms"])

    def test_every_mode_measures_messages_and_latencies(self):
        with Server("--anonymous") as server:
            single = self.load(server.url)
            self.assert_is_a_good_run(single)
            self.assertEqual(single["messages"], single["requests"])
            tens = self.load(server.url, "--batch", 10, "--threads", 2)
            self.assert_is_a_good_run(tens)
            self.assertEqual(tens["messages"], 10 * tens["requests"])
            for arguments in (["--mode", "receive", "--backlog", 200],
                              ["--mode", "receive", "--batch", 10, "--backlog", 100, "--prefetch"],
                              ["--mode", "mixed", "--batch", "1..10", "--queues", 2],
                              ["--mode", "mixed", "--fifo"]):
                report = self.load(server.url, *arguments)
                self.assert_is_a_good_run(report)
                self.assertLessEqual(report["messages"], report["receive"]["messages"])

    def test_a_rate_is_kept_and_requests_held_back_count(self):
        with Server("--anonymous") as server:
            slow = self.load(server.url, "--rate", 500)
            self.assertAlmostEqual(slow["messages"], 250, delta=60)
            # Nothing can be so fast: most requests have waited for most of the time.
            flood = self.load(server.url, "--rate", 1_000_000, connections=1)
            self.assertGreater(flood["unsent"], flood["messages"])
            self.assertGreater(flood["p50_ms"], 100)

    def test_signs_so_that_the_gateway_believes_it(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        credentials = pathlib.Path(folder.name) / "credentials"
        credentials.write_text(f"[default]\naws_access_key_id = {KEY_ID}\n"
                               f"aws_secret_access_key = {SECRET}\n", encoding="utf-8")
        sign = ["--signed", "--access-key", KEY_ID, "--secret"]
        with Server("--credentials", credentials) as server:
            self.assert_is_a_good_run(self.load(server.url, *sign, SECRET, "--batch", "1..10",
                                                "--mode", "mixed"))
            refused = run("queue", "--endpoint", server.url, *sign, "another")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("InvalidSignature", refused.stderr)

    def test_a_server_that_loses_messages_fails(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ForgetfulHandler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            report = self.load(f"http://127.0.0.1:{server.server_address[1]}", status=1)
            server.shutdown()
        self.assertFalse(report["right"])
        self.assertEqual(report["messages_left_reported"], 0)
        self.assertGreater(report["messages_left"], 0)

    def test_mistakes_are_told(self):
        for arguments, text in ((["--endpoint", "localhost"], "http://HOST:PORT"),
                                (["--endpoint", "http://127.0.0.1:1"], "Connection refused"),
                                (["--endpoint", "http://a:1", "--batch", "11"], "1 to 10"),
                                (["--endpoint", "http://a:1", "--mode", "fast"], "--mode"),
                                (["--endpoint", "http://a:1", "--blocked", "9"], "--fifo"),
                                (["--endpoint", "http://a:1", "--signed"], "--access-key")):
            result = run("queue", *arguments)
            self.assertIn(result.returncode, (1, 2), arguments)
            self.assertIn(text, result.stdout + result.stderr)


class EchoTest(unittest.TestCase):
    def test_the_bare_server_is_measured_in_the_same_terms(self):
        result = run("http-echo", "--seconds", 0.5, "--warm-up", 0, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertLessEqual(KEYS, report.keys())
        self.assertEqual(report["errors"], 0)
        self.assertGreater(report["messages"], 0)


class ComparisonTest(unittest.TestCase):
    """scripts/bench-queue, with the gateway's test server in canopyd's place."""

    STAND_IN = """#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
port = words[words.index("--gateway") + 1].split(":")[1]
read, write = os.pipe()
os.dup2(read, 0)
os.set_inheritable(write, True)
os.execv({server!r}, [{server!r}, "--port", port, "--anonymous",
                      "--credentials", words[words.index("--credentials") + 1]])
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "canopy-bench").symlink_to((BIN / "canopy-bench").resolve())
        stand_in = programs / "canopyd"
        server = str((BIN / "gateway_test_server").resolve())
        stand_in.write_text(self.STAND_IN.format(server=server), encoding="utf-8")
        stand_in.chmod(0o755)
        self.command = [sys.executable, "-B", SOURCE / "scripts/bench-queue", "--bin", programs,
                        "--directory", self.folder, "--seconds", "0.2", "--connections", "4"]

    def compare(self, *arguments):
        return subprocess.run([*self.command, *arguments], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)

    def test_puts_the_servers_and_the_yardsticks_beside_each_other(self):
        with Server("--anonymous") as peer:
            result = self.compare("--only", "signed-single", "--only", "latency", "--json",
                                  "--peer", f"other={peer.url}")
        report = json.loads(result.stdout)
        # Those that they are compared with came along.
        self.assertEqual(list(report["lines"]), ["single", "latency", "signed-single"])
        for name, line in report["lines"].items():
            self.assertEqual(list(line), ["canopy", "other"], name)
            for server in line.values():
                self.assertLessEqual(KEYS, server.keys())
                self.assertTrue(server["right"])
            self.assertIn("server_cpu_us_per_message", line["canopy"])
        self.assertGreater(report["echo"]["requests_per_second"], 0)
        self.assertEqual({name: entry["batch"] for name, entry in report["disk"].items()},
                         {"single": 4, "signed-single": 4})
        reached = all(target["reached"] for target in report["targets"])
        self.assertEqual(result.returncode, 0 if reached else 1)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["bin"])

    def test_prints_a_table(self):
        result = self.compare("--only", "kib-tens")
        lines = result.stdout.splitlines()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(lines[1].startswith("1 KiB, batches of 10"), result.stdout)
        self.assertIn("bare HTTP server: ", result.stdout)

    def test_says_what_is_missing(self):
        for arguments, text in ((["--fauxqs", self.folder], "npm install"),
                                (["--peer", "nowhere"], "NAME=URL"),
                                (["--bin", self.folder], "build it")):
            result = self.compare(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(text, result.stderr)


class ScaleTest(unittest.TestCase):
    """scripts/bench-scale, with little of everything."""

    def measure(self, part, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [sys.executable, "-B", SOURCE / "scripts/bench-scale", "--bin", BIN, "--directory",
                 folder, "--only", part, "--json", *map(str, arguments)],
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            self.assertEqual(os.listdir(folder), [])
        rows = json.loads(result.stdout)
        reached = all(row["reached"] for row in rows)
        self.assertEqual(result.returncode, 0 if reached else 1, result.stderr)
        return rows

    def test_backlogs_and_blocked_groups_are_compared(self):
        for part in ("backlog", "blocked"):
            rows = self.measure(part, "--messages", 2000, "--seconds", 0.2)
            self.assertEqual([row["unit"] for row in rows], 2 * ["messages/s", "", "MiB"])
            self.assertTrue(all(row["value"] > 0 for row in rows), rows)

    def test_queues_are_counted_and_there_after_a_restart(self):
        rows = self.measure("queues", "--queues", 200)
        self.assertEqual(rows[0]["what"], "200 empty queues: created")

    def test_polls_get_their_messages(self):
        rows = self.measure("polls", "--polls", 100)
        swallowed = next(row for row in rows if "swallowed" in row["what"])
        self.assertEqual(swallowed["value"], 0)

    def test_groups_are_joined_counted_and_mended(self):
        result = subprocess.run(
            [sys.executable, "-B", SOURCE / "scripts/bench-groups", "--bin", BIN, "--groups", "2",
             "--groups", "30", "--daemons", "3", "--idle", "1", "--settle", "1", "--json"],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        figures = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1 if figures["misses"] else 0, result.stderr)
        self.assertEqual([ring["groups"] for ring in figures["results"]], [2, 30])
        for ring in figures["results"]:
            self.assertTrue(ring["repaired"])
            self.assertGreater(ring["join_messages"], 0)
            self.assertGreater(ring["memory_kib"], 0)

    def test_says_what_is_too_few(self):
        result = subprocess.run([SOURCE / "scripts/bench-scale", "--bin", BIN, "--polls", "1"],
                                capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--polls: at least 100", result.stderr)


if __name__ == "__main__":
    unittest.main()
