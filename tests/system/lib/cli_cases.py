"""An AWS CLI against canopyd's gateway. A test names the program: class X(CliCases, TestCase)."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from gateway_daemon import ACCOUNT, DEADLINE_S, Daemon

README = pathlib.Path(os.environ["CANOPY_SOURCE_DIR"]) / "README.md"
README_PORT = "9324"


def environment_of(program):
    """Without the settings of whoever runs the tests, and with `aws` being the program."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("AWS_")}
    return environment | {
        "PATH": f"{pathlib.Path(program).parent}:{environment['PATH']}",
        "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "", "AWS_MAX_ATTEMPTS": "1"}


def readme_example():
    """The commands of README's block that calls the AWS CLI."""
    block = next(block for block in README.read_text(encoding="utf-8").split("```")
                 if block.startswith("console") and "alias sqs='aws" in block)
    return re.findall(r"^\$ (.*)$", block, re.MULTILINE)


class CliCases:
    program = ""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="canopy-cli-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.daemon = Daemon(cls.folder)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.close)

    def run_cli(self, *arguments):
        return subprocess.run(
            [self.program, "--endpoint-url", self.daemon.url, "--output", "json", *arguments],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
            env=environment_of(self.program))

    def sqs(self, *arguments):
        result = self.run_cli("sqs", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout or "{}")

    def refusal(self, *arguments):
        result = self.run_cli("sqs", *arguments)
        self.assertNotEqual(result.returncode, 0)
        return result.stderr

    def url(self, name):
        return f"{self.daemon.url}/{ACCOUNT}/{name}"

    def test_the_example_of_the_readme(self):
        commands = readme_example()
        self.assertEqual(len(commands), 5, commands)
        script = "shopt -s expand_aliases\nset -e\n" + "\n".join(commands)
        result = subprocess.run(
            ["bash", "-c", script.replace(README_PORT, str(self.daemon.port))],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
            env=environment_of(self.program))
        self.assertEqual(result.returncode, 0, result.stderr)
        decoder, answers, rest = json.JSONDecoder(), [], result.stdout.strip()
        while rest:
            answer, end = decoder.raw_decode(rest)
            answers.append(answer)
            rest = rest[end:].strip()
        created, sent, received = answers
        self.assertEqual(created, {"QueueUrl": self.url("jobs")})
        message, = received["Messages"]
        self.assertEqual((message["Body"], message["MessageId"]), ("hello", sent["MessageId"]))

    def test_messages_with_everything(self):
        url = self.sqs("create-queue", "--queue-name", "q.fifo", "--attributes",
                       "FifoQueue=true,ContentBasedDeduplication=true", "--tags",
                       "a=b,c=d")["QueueUrl"]
        self.assertEqual(self.sqs("list-queue-tags", "--queue-url", url)["Tags"],
                         {"a": "b", "c": "d"})
        body = self.folder / "body"
        body.write_bytes("zażółć 🎈 \r\n&quot;".encode())
        sent = self.sqs("send-message", "--queue-url", url, "--message-body", f"file://{body}",
                        "--message-group-id", "g", "--message-attributes", json.dumps({
                            "n": {"DataType": "Number.int", "StringValue": "5"}}))
        message, = self.sqs("receive-message", "--queue-url", url, "--attribute-names", "All",
                            "--message-attribute-names", "All", "--wait-time-seconds",
                            "5")["Messages"]
        self.assertEqual(message["Body"].replace("\r\n", "\n"), "zażółć 🎈 \n&quot;")
        self.assertEqual(message["MessageAttributes"],
                         {"n": {"DataType": "Number.int", "StringValue": "5"}})
        self.assertEqual(message["Attributes"]["SequenceNumber"], sent["SequenceNumber"])
        self.sqs("change-message-visibility", "--queue-url", url, "--receipt-handle",
                 message["ReceiptHandle"], "--visibility-timeout", "60")
        deleted = self.sqs("delete-message-batch", "--queue-url", url, "--entries", json.dumps([
            {"Id": "a", "ReceiptHandle": message["ReceiptHandle"]},
            {"Id": "b", "ReceiptHandle": "garbage"}]))
        self.assertEqual(deleted["Successful"], [{"Id": "a"}])
        self.assertEqual(deleted["Failed"][0]["Code"], "ReceiptHandleIsInvalid")

    def test_pages_errors_and_who_asks(self):
        for name in ("p1", "p2", "p3"):
            self.sqs("create-queue", "--queue-name", name)
        listed = self.sqs("list-queues", "--queue-name-prefix", "p", "--page-size", "2")
        self.assertEqual(listed["QueueUrls"], [self.url(name) for name in ("p1", "p2", "p3")])
        self.assertRegex(self.refusal("get-queue-url", "--queue-name", "none"),
                         r"\(AWS.SimpleQueueService.NonExistentQueue\).*does not exist")
        self.assertIn("(ReceiptHandleIsInvalid)", self.refusal(
            "delete-message", "--queue-url", self.url("p1"), "--receipt-handle", "garbage"))
        who = self.run_cli("sts", "get-caller-identity")
        self.assertEqual(json.loads(who.stdout)["Account"], ACCOUNT)
