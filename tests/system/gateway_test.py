#!/usr/bin/env python3
"""canopyd with a gateway: what it keeps, how it begins and ends, its options."""
import contextlib
import http.client
import itertools
import json
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from gateway_daemon import (DEADLINE_S, Daemon, Failed, check_store, eventually,  # noqa: E402
                            url_of)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="canopy-gateway-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def daemon(self, *arguments, **more):
        daemon = Daemon(self.folder, *arguments, **more)
        self.addCleanup(daemon.kill)
        return daemon

    def started(self, *arguments, **more):
        daemon = self.daemon(*arguments, **more)
        daemon.start()
        return daemon


class Sender(threading.Thread):
    """Sends numbered messages until its daemon is gone, and keeps what was acknowledged."""

    def __init__(self, daemon, name, queue, group=None):
        super().__init__()
        self.connection = daemon.connect()
        self.prefix = name
        self.queue = queue
        self.group = group
        self.acknowledged = []

    def run(self):
        with self.connection, contextlib.suppress(OSError, http.client.HTTPException):
            for number in itertools.count():
                body = f"{self.prefix}-{number}"
                more = {"MessageGroupId": self.group,
                        "MessageDeduplicationId": body} if self.group else {}
                self.connection.send(self.queue, body, **more)
                self.acknowledged.append(body)


class Durability(InFolder):
    def test_everything_acknowledged_survives_kill_9(self):
        daemon = self.started("--queue", "standard", "--queue", "ordered.fifo")
        acknowledged, in_order = set(), []
        for round_number in range(3):
            senders = [Sender(daemon, f"{round_number}-{i}", "standard") for i in range(4)]
            ordered = Sender(daemon, f"{round_number}", "ordered.fifo", group="g")
            for sender in [*senders, ordered]:
                sender.start()
            self.assertTrue(eventually(lambda: len(ordered.acknowledged) > 50))
            daemon.kill()
            for sender in [*senders, ordered]:
                sender.join(DEADLINE_S)
            daemon.start()
            acknowledged |= {body for sender in senders for body in sender.acknowledged}
            in_order += ordered.acknowledged
        with daemon.connect() as connection:
            received = connection.take_all("standard")
            self.assertEqual(acknowledged - set(received), set())
            self.assertEqual(len(received), len(set(received)))
            # What was on its way when the daemon was killed may be there, too.
            ordered = connection.take_all("ordered.fifo")
            self.assertEqual([body for body in ordered if body in set(in_order)], in_order)
            self.assertLessEqual(len(ordered), len(in_order) + 3)

    def test_what_was_deleted_stays_deleted(self):
        daemon = self.started("--queue", "q")
        with daemon.connect() as connection:
            for number in range(20):
                connection.send("q", str(number))
            messages = connection.receive("q")
            for message in messages:
                connection.delete("q", message)
        daemon.restart()
        with daemon.connect() as connection:
            left = connection.take_all("q")
        self.assertEqual(sorted([message["Body"] for message in messages] + left, key=int),
                         [str(number) for number in range(20)])

    def test_a_handle_and_a_deduplication_id_survive(self):
        daemon = self.started("--queue", "q.fifo")
        with daemon.connect() as connection:
            first = connection.send("q.fifo", "m", MessageGroupId="g", MessageDeduplicationId="d")
            message, = connection.receive("q.fifo", VisibilityTimeout=600)
        daemon.restart()
        with daemon.connect() as connection:
            again = connection.send("q.fifo", "m", MessageGroupId="g", MessageDeduplicationId="d")
            self.assertEqual(again["SequenceNumber"], first["SequenceNumber"])
            self.assertEqual(connection.receive("q.fifo"), [])
            connection.delete("q.fifo", message)

    def test_after_a_clean_end_nothing_is_left_to_apply(self):
        daemon = self.started("--queue", "q")
        with daemon.connect() as connection:
            for number in range(10):
                connection.send("q", str(number))
        self.assertEqual(daemon.stop(), 0, daemon.errors())
        status, text = check_store(daemon.data, "--json")
        report = json.loads(text)
        self.assertEqual((status, report["well"]), (0, True), text)
        self.assertEqual(report["store"]["applied"], report["log"]["last"])
        daemon.start()
        with daemon.connect() as connection:
            self.assertEqual(len(connection.take_all("q")), 10)

    def test_without_a_data_directory_it_says_that_nothing_is_kept(self):
        daemon = self.started("--queue", "q", data=False)
        self.assertTrue(daemon.says("kept in memory"))
        with daemon.connect() as connection:
            connection.send("q", "m")
            self.assertEqual(connection.take_all("q"), ["m"])
        self.assertEqual(daemon.stop(), 0)


class Starting(InFolder):
    def test_a_port_in_use(self):
        daemon = self.started()
        second = self.daemon("--gateway", f"127.0.0.1:{daemon.port}", name="b")
        self.assertEqual(second.run(), 1)
        self.assertIn(f"127.0.0.1:{daemon.port}", second.errors())
        self.assertIn("in use", second.errors())
        with daemon.connect() as connection:
            connection.call("ListQueues")

    def test_a_data_directory_in_use(self):
        daemon = self.started()
        second = self.daemon(name="b")
        second.command[second.command.index("--data") + 1] = str(daemon.data)
        self.assertEqual(second.run(), 1)
        self.assertIn(f"in use by process {daemon.process.pid}", second.errors())
        status, text = check_store(daemon.data)
        self.assertEqual(status, 2)
        self.assertIn("in use", text)

    def test_a_directory_that_keeps_no_queues_cannot_be_checked(self):
        self.assertEqual(check_store(self.folder)[0], 2)

    def damage(self, file, offset):
        with file.open("r+b") as opened:
            opened.seek(offset)
            byte = opened.read(1)
            opened.seek(offset)
            opened.write(bytes([byte[0] ^ 0x55]))

    def filled(self):
        daemon = self.started("--queue", "q")
        with daemon.connect() as connection:
            for _ in range(20):
                connection.send("q", "x" * 1000)
        return daemon

    def assert_refused(self, daemon, file):
        daemon.find_url()
        self.assertEqual(daemon.run(), 1)
        self.assertIn(str(file), daemon.errors())
        status, text = check_store(daemon.data)
        self.assertEqual(status, 1)
        self.assertIn(str(file), text)
        self.assertEqual(json.loads(check_store(daemon.data, "--json")[1])["well"], False)

    def test_a_corrupt_log(self):
        daemon = self.filled()
        daemon.kill()
        segment = min((daemon.data / "log").glob("*.log"))
        self.damage(segment, 4000)
        self.assert_refused(daemon, segment)

    def test_a_store_without_its_files(self):
        daemon = self.filled()
        self.assertEqual(daemon.stop(), 0)
        table = min((daemon.data / "store").glob("*.sst"))
        table.unlink()
        self.assert_refused(daemon, table.stem)

    def test_a_corrupt_table_of_the_store_is_found_by_the_check(self):
        daemon = self.filled()
        self.assertEqual(daemon.stop(), 0)
        table = max((daemon.data / "store").glob("*.sst"), key=lambda file: file.stat().st_size)
        self.damage(table, 100)
        status, text = check_store(daemon.data)
        self.assertEqual(status, 1)
        self.assertIn(table.name, text)

    def test_a_log_of_another_directory(self):
        daemon, other = self.filled(), self.started(name="other")
        daemon.stop()
        other.stop()
        (daemon.data / "log").rename(self.folder / "gone")
        (other.data / "log").rename(daemon.data / "log")
        self.assertEqual(daemon.run(), 1)
        self.assertIn("another node", daemon.errors())

    def test_options_that_cannot_be_used(self):
        for arguments, text in [
                (["--queue", "bad name=1 x"], "ATTRIBUTE=VALUE"),
                (["--account", "12"], "twelve digits"),
                (["--gateway-key", "k"], "both or none"),
                (["--gateway", "9324"], "HOST:PORT"),
                (["--sqs-wait-max", "1500ms"], "whole seconds"),
                (["--queue", "q VisibilityTimeout=-1"], "'q' cannot be made")]:
            daemon = self.daemon(*arguments)
            self.assertEqual(daemon.run(), 2, arguments)
            self.assertIn(text, daemon.errors())
        for arguments, text in [
                (["--credentials", "/nowhere/at/all"], "/nowhere/at/all"),
                (["--gateway-certificate", "/dev/null", "--gateway-key", "/dev/null"],
                 "not a certificate")]:
            for check in ([], ["--check-config"]):
                daemon = self.daemon(*arguments, *check)
                self.assertEqual(daemon.run(), 1, arguments)
                self.assertIn(text, daemon.errors())

    def test_only_a_gateway_that_served_says_what_its_queues_did(self):
        said = "commands were applied in"
        daemon = self.started()
        second = self.daemon("--gateway", f"127.0.0.1:{daemon.port}", name="b")
        second.run()
        self.assertNotIn(said, second.errors())
        daemon.stop()
        self.assertIn(said, daemon.errors())


class Options(InFolder):
    def test_queues_of_the_configuration(self):
        file = self.folder / "canopy.toml"
        file.write_text('account = "111122223333"\nregion = "eu-west-1"\n'
                        'queue = ["dead", "jobs VisibilityTimeout=7 RedrivePolicy={\\"dead'
                        'LetterTargetArn\\":\\"arn:aws:sqs:eu-west-1:111122223333:dead\\",'
                        '\\"maxReceiveCount\\":3}", "in-order.fifo"]\n', encoding="utf-8")
        daemon = self.started("--config", file)
        with daemon.connect() as connection:
            urls = connection.call("ListQueues")["QueueUrls"]
            self.assertEqual([url.rsplit("/", 2)[1:] for url in urls], [
                ["111122223333", name] for name in ("dead", "in-order.fifo", "jobs")])
            attributes = connection.call("GetQueueAttributes", QueueUrl=urls[2],
                                         AttributeNames=["All"])["Attributes"]
            self.assertEqual(attributes["VisibilityTimeout"], "7")
            self.assertIn('"maxReceiveCount":3', attributes["RedrivePolicy"].replace(" ", ""))
            self.assertEqual(attributes["QueueArn"], "arn:aws:sqs:eu-west-1:111122223333:jobs")
            connection.call("SendMessage", QueueUrl=urls[2], MessageBody="kept")
        daemon.kill()
        file.write_text(file.read_text(encoding="utf-8").replace("Timeout=7", "Timeout=8"),
                        encoding="utf-8")
        daemon.start()
        with daemon.connect() as connection:
            attributes = connection.call("GetQueueAttributes", QueueUrl=urls[2],
                                         AttributeNames=["All"])["Attributes"]
        self.assertEqual((attributes["VisibilityTimeout"],
                          attributes["ApproximateNumberOfMessages"]), ("8", "1"))

    def test_creation_on_first_use(self):
        daemon = self.started("--create-on-first-use")
        with daemon.connect() as connection:
            self.assertEqual(connection.receive("a"), [])
            connection.send("b", "m")
            self.assertEqual(connection.take_all("b"), ["m"])
            connection.send("c.fifo", "m", MessageGroupId="g", MessageDeduplicationId="d")
            connection.call("GetQueueUrl", QueueName="d")
            with self.assertRaises(Failed) as raised:
                connection.call("DeleteQueue", QueueUrl=url_of("e"))
            self.assertEqual(raised.exception.code, "QueueDoesNotExist")
            with self.assertRaises(Failed):
                connection.send("no such name!", "m")
            urls = connection.call("ListQueues")["QueueUrls"]
        self.assertEqual([url.rsplit("/", 1)[1] for url in urls], ["a", "b", "c.fifo", "d"])

    def test_without_it_a_queue_has_to_be_made(self):
        daemon = self.started()
        with daemon.connect() as connection, self.assertRaises(Failed) as raised:
            connection.send("q", "m")
        self.assertEqual(raised.exception.code, "QueueDoesNotExist")

    def test_limits(self):
        daemon = self.started("--queue", "q", "--sqs-message-size", "2KiB", "--sqs-wait-max", "1s")
        with daemon.connect() as connection:
            connection.send("q", "x" * 2048)
            for call in (lambda: connection.send("q", "x" * 2049),
                         lambda: connection.receive("q", WaitTimeSeconds=2)):
                with self.assertRaises(Failed) as raised:
                    call()
                self.assertEqual(raised.exception.code, "InvalidParameterValueException")

    def test_looking_without_an_sdk(self):
        daemon = self.started("--queue", "q")
        with daemon.connect() as connection:
            for number in range(12):
                connection.send("q", f"body {number}")
            status, text = connection.get(f"/_aws/sqs/messages?QueueUrl={url_of('q')}",
                                          Accept="application/json")
            self.assertEqual((status, text.count('"Body"')), (200, 12), text)
            self.assertEqual(len(connection.take_all("q")), 12)
            self.assertEqual(connection.get("/health"), (200, '{"status":"ok"}'))
            self.assertIn('"sqs":"running"', connection.get("/_localstack/health")[1])

    def test_without_any_key_it_says_that_nobody_can_ask(self):
        daemon = self.daemon()
        daemon.command.remove("--allow-anonymous")
        daemon.start()
        self.assertTrue(daemon.says("knows no access key"))
        with daemon.connect() as connection, self.assertRaises(Failed) as raised:
            connection.call("ListQueues")
        self.assertEqual((raised.exception.status, raised.exception.code),
                         (403, "MissingAuthenticationTokenException"))

    def test_tls(self):
        certificate, key = self.folder / "certificate", self.folder / "key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True, timeout=DEADLINE_S)
        daemon = self.started("--gateway-certificate", certificate, "--gateway-key", key)
        self.assertTrue(daemon.url.startswith("https://"))
        with daemon.connect() as connection:
            connection.http.connect()
            context = ssl.create_default_context(cafile=certificate)
            connection.http.sock = context.wrap_socket(connection.http.sock,
                                                       server_hostname="127.0.0.1")
            self.assertTrue(connection.call("CreateQueue", QueueName="q")["QueueUrl"]
                            .startswith("https://"))


class Signals(InFolder):
    def write_key(self, key, secret):
        self.keys.write_text(f"[default]\naws_access_key_id = {key}\n"
                             f"aws_secret_access_key = {secret}\n", encoding="utf-8")

    def ask_by(self, daemon, key):
        """The error code of a request with this key and a wrong signature."""
        date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        with daemon.connect() as connection:
            _, text = connection.get(
                "/?Action=ListQueues", **{"X-Amz-Date": date, "Authorization":
                f"AWS4-HMAC-SHA256 Credential={key}/{date[:8]}/us-east-1/sqs/aws4_request, "
                f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}"})
        return re.search("<Code>(.*)</Code>", text).group(1)

    def test_sighup_reads_the_credentials_anew(self):
        self.keys = self.folder / "keys"
        self.write_key("AKIDONE", "s")
        daemon = self.started("--credentials", self.keys)
        self.assertEqual(self.ask_by(daemon, "AKIDONE"), "SignatureDoesNotMatch")
        self.assertEqual(self.ask_by(daemon, "AKIDTWO"), "InvalidClientTokenId")
        self.write_key("AKIDTWO", "s")
        daemon.signal(signal.SIGHUP)
        self.assertTrue(eventually(
            lambda: self.ask_by(daemon, "AKIDTWO") == "SignatureDoesNotMatch"))
        self.assertEqual(self.ask_by(daemon, "AKIDONE"), "InvalidClientTokenId")
        self.keys.write_text("no keys at all", encoding="utf-8")
        daemon.signal(signal.SIGHUP)
        self.assertTrue(daemon.says("stay in force"))
        self.assertEqual(self.ask_by(daemon, "AKIDTWO"), "SignatureDoesNotMatch")
        self.assertEqual(daemon.stop(), 0)

    def test_without_credentials_sighup_ends_it_as_the_end_of_its_terminal(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        daemon = self.started()
        daemon.signal(signal.SIGHUP)
        self.assertEqual(daemon.wait(), 0)

    def test_sigterm_answers_waiting_receives_and_closes_the_port(self):
        daemon = self.started("--queue", "q")
        answers = []

        def wait():
            with daemon.connect() as connection:
                answers.append(connection.receive("q", WaitTimeSeconds=20))

        waiting = [threading.Thread(target=wait) for _ in range(5)]
        for thread in waiting:
            thread.start()
        idle = daemon.connect()
        self.addCleanup(idle.http.close)
        idle.call("ListQueues")
        time.sleep(0.5)
        begin = time.monotonic()
        self.assertEqual(daemon.stop(), 0, daemon.errors())
        for thread in waiting:
            thread.join(DEADLINE_S)
        self.assertEqual(answers, [[]] * 5)
        self.assertLess(time.monotonic() - begin, 10)
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", daemon.port), 1)

    def test_a_second_signal_ends_it_at_once(self):
        daemon = self.started("--queue", "q", "--limit-departure", "60s")
        # A request of which only a part has come keeps its connection.
        half = socket.create_connection(("127.0.0.1", daemon.port), DEADLINE_S)
        self.addCleanup(half.close)
        half.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12")
        time.sleep(0.2)
        daemon.signal(signal.SIGTERM)
        self.assertTrue(daemon.says("departing"))
        self.assertIsNone(daemon.process.poll())
        daemon.signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(10), 1)


class Receiving(InFolder):
    def test_a_client_that_hangs_up_swallows_nothing(self):
        daemon = self.started("--queue", "q", "--queue", "q.fifo")
        for queue, more in (("q", {}), ("q.fifo", {"MessageGroupId": "g",
                                                   "MessageDeduplicationId": "d"})):
            gone = daemon.connect()
            gone.http.request("POST", "/", json.dumps({"QueueUrl": url_of(queue),
                                                       "WaitTimeSeconds": 20}),
                              {"X-Amz-Target": "AmazonSQS.ReceiveMessage"})
            time.sleep(0.3)
            gone.http.close()
            time.sleep(0.3)
            with daemon.connect() as connection:
                connection.send(queue, "m", **more)
                message, = connection.call(
                    "ReceiveMessage", QueueUrl=url_of(queue), WaitTimeSeconds=5,
                    AttributeNames=["ApproximateReceiveCount"])["Messages"]
                self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")

    def test_a_long_poll_wakes_for_a_message_and_for_one_that_becomes_due(self):
        daemon = self.started("--queue", "q")
        for delay in (0, 1):
            result = []

            def wait():
                with daemon.connect() as connection:
                    result.append(connection.receive("q", WaitTimeSeconds=10))
                    result.append(time.monotonic())

            thread = threading.Thread(target=wait)
            thread.start()
            time.sleep(0.3)
            with daemon.connect() as connection:
                sent = time.monotonic()
                connection.send("q", "m", DelaySeconds=delay)
            thread.join(DEADLINE_S)
            self.assertEqual(result[0][0]["Body"], "m")
            self.assertLess(result[1] - sent, delay + 1)
            with daemon.connect() as connection:
                connection.delete("q", result[0][0])


class FullDisk(InFolder):
    """A data directory on a small file system of its own, which gets full."""

    def setUp(self):
        super().setUp()
        self.mount = self.folder / "small"
        self.mount.mkdir()
        # Mounted in a namespace of the daemon's own, so that nothing is left behind.
        script = f"mount -t tmpfs -o size=400m small {self.mount} && exec \"$0\" \"$@\""
        prefix = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
        probe = subprocess.run([*prefix, "true"], capture_output=True, timeout=DEADLINE_S,
                               check=False)
        if probe.returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.daemon_in_it = self.daemon("--queue", "q", prefix=prefix, data=self.mount / "data")

    def test_sends_are_refused_reads_served_and_it_recovers(self):
        daemon = self.daemon_in_it
        daemon.start()
        inside = pathlib.Path(f"/proc/{daemon.process.pid}/root{self.mount}")
        body = "x" * 200_000
        sent = 0
        with daemon.connect() as connection:
            with (inside / "filler").open("wb") as filler:
                filler.write(b"x" * (230 << 20))
            with self.assertRaises(Failed) as raised:
                for _ in range(1000):
                    connection.send("q", body)
                    sent += 1
            self.assertEqual((raised.exception.status, raised.exception.code),
                             (503, "ServiceUnavailable"))
            self.assertTrue(daemon.says("No space left"))
            status, text = connection.get("/health")
            self.assertEqual(status, 503)
            self.assertRegex(text, "No space left|almost full")
            # Reading goes on.
            self.assertEqual(len(connection.receive("q", VisibilityTimeout=1)), 10)
            self.assertEqual(connection.call("GetQueueAttributes", QueueUrl=url_of("q"),
                                             AttributeNames=["ApproximateNumberOfMessages"])
                             ["Attributes"]["ApproximateNumberOfMessages"], str(sent - 10))
            (inside / "filler").unlink()
            self.assertTrue(eventually(lambda: connection.get("/health")[0] == 200))
            connection.send("q", "small")
            time.sleep(1.2)
            self.assertEqual(len(connection.take_all("q")), sent + 1)
        self.assertEqual(daemon.stop(), 0, daemon.errors())

    def test_deletes_are_taken_while_there_is_still_room_for_them(self):
        daemon = self.daemon_in_it
        daemon.start()
        inside = pathlib.Path(f"/proc/{daemon.process.pid}/root{self.mount}")

        def refused():
            try:
                connection.send("q", "m")
                return False
            except Failed as failed:
                return failed.code == "ServiceUnavailable"

        with daemon.connect() as connection:
            connection.send("q", "m")
            with (inside / "filler").open("wb") as filler:
                filler.write(b"x" * (310 << 20))
            self.assertTrue(eventually(refused))
            self.assertIn("almost full", connection.get("/health")[1])
            self.assertGreater(len(connection.take_all("q")), 0)
            (inside / "filler").unlink()
            self.assertTrue(eventually(lambda: not refused()))


if __name__ == "__main__":
    unittest.main()
