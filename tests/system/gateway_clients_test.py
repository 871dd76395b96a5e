#!/usr/bin/env python3
"""boto3 against canopyd's gateway, in both protocols, with signatures."""
import json
import pathlib
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "lib"), str(HERE.parent / "gateway" / "lib")]
import sdk  # noqa: E402
from gateway_daemon import Daemon  # noqa: E402
from sdk import ACCOUNT, BODIES, OTHER_ACCOUNT, OTHER_KEY, REGION, error_of  # noqa: E402


class Signed(sdk.Signed):
    @classmethod
    def serve(cls, folder, keys):
        daemon = Daemon(folder, "--credentials", keys)
        daemon.start()
        return daemon


class Actions:
    """Run with each protocol."""

    def make_queue(self, suffix="", **attributes):
        name = self.id().rsplit(".", 1)[1][-60:] + suffix
        return self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def attribute(self, url, name):
        answer = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
        return answer["Attributes"][name]

    def receive(self, url, **more):
        return self.sqs.receive_message(QueueUrl=url, **more).get("Messages", [])

    def test_queues(self):
        url = self.make_queue(DelaySeconds="0")
        name = url.rsplit("/", 1)[1]
        self.assertEqual(url, f"{self.server.url}/{ACCOUNT}/{name}")
        self.assertEqual(self.sqs.get_queue_url(QueueName=name)["QueueUrl"], url)
        self.assertEqual(self.sqs.list_queues(QueueNamePrefix=name)["QueueUrls"], [url])
        self.assertEqual(self.attribute(url, "QueueArn"), f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "3"})
        self.assertEqual(self.attribute(url, "VisibilityTimeout"), "3")
        self.sqs.tag_queue(QueueUrl=url, Tags={"a": "b", "c": ""})
        self.sqs.untag_queue(QueueUrl=url, TagKeys=["a"])
        self.assertEqual(self.sqs.list_queue_tags(QueueUrl=url)["Tags"], {"c": ""})
        error = error_of(self.sqs.create_queue, QueueName=name, Attributes={"DelaySeconds": "5"})
        self.assertIn(error["Error"]["Code"], ("QueueAlreadyExists", "QueueNameExists"))
        self.sqs.delete_queue(QueueUrl=url)
        error = error_of(self.sqs.get_queue_url, QueueName=name)
        self.assertEqual(error["Error"]["Code"], "AWS.SimpleQueueService.NonExistentQueue")

    def test_pages_of_queues(self):
        urls = [self.make_queue(f"-{number}") for number in range(5)]
        prefix = urls[0].rsplit("/", 1)[1][:-1]
        pages = self.sqs.get_paginator("list_queues").paginate(
            QueueNamePrefix=prefix, PaginationConfig={"PageSize": 2})
        self.assertEqual([url for page in pages for url in page["QueueUrls"]], urls)

    def test_bodies_come_back_byte_for_byte(self):
        url = self.make_queue()
        for body in [*BODIES, "x" * 1_048_576]:
            self.sqs.send_message(QueueUrl=url, MessageBody=body)  # boto3 checks the MD5
            message, = self.receive(url)
            self.assertEqual(message["Body"], body)
            self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def test_attributes_of_messages(self):
        url = self.make_queue()
        attributes = {"text": {"DataType": "String.x", "StringValue": "ä & <"},
                      "number": {"DataType": "Number", "StringValue": "1e3"},
                      "bytes": {"DataType": "Binary.png", "BinaryValue": bytes(range(256))}}
        self.sqs.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=attributes)
        message, = self.receive(url, MessageAttributeNames=["All"], AttributeNames=["All"])
        self.assertEqual(message["MessageAttributes"], attributes)
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")
        self.assertEqual(message["Attributes"]["SenderId"], "alice")

    def test_batches(self):
        url = self.make_queue()
        sent = self.sqs.send_message_batch(QueueUrl=url, Entries=[
            {"Id": "a", "MessageBody": "1"}, {"Id": "b", "MessageBody": "2", "DelaySeconds": 901},
            {"Id": "c", "MessageBody": "3"}])
        self.assertEqual([entry["Id"] for entry in sent["Successful"]], ["a", "c"])
        self.assertEqual([entry["Id"] for entry in sent["Failed"]], ["b"])
        messages = self.receive(url, MaxNumberOfMessages=10)
        entries = [{"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
                   for i, message in enumerate(messages)]
        changed = self.sqs.change_message_visibility_batch(
            QueueUrl=url, Entries=[{**entry, "VisibilityTimeout": 60} for entry in entries])
        self.assertEqual(changed["Successful"], [{"Id": "0"}, {"Id": "1"}])
        deleted = self.sqs.delete_message_batch(
            QueueUrl=url, Entries=[entries[0], {"Id": "no", "ReceiptHandle": "garbage"}])
        self.assertEqual(deleted["Successful"], [{"Id": "0"}])
        self.assertEqual(deleted["Failed"][0]["Code"], "ReceiptHandleIsInvalid")
        self.assertEqual(self.attribute(url, "ApproximateNumberOfMessagesNotVisible"), "1")
        self.sqs.purge_queue(QueueUrl=url)
        self.assertEqual(self.attribute(url, "ApproximateNumberOfMessagesNotVisible"), "0")

    def test_fifo(self):
        url = self.make_queue(".fifo", FifoQueue="true", ContentBasedDeduplication="true")
        for group in "ab":
            for number in range(3):
                for _ in range(2):  # the second is a duplicate
                    self.sqs.send_message(QueueUrl=url, MessageBody=f"{group}{number}",
                                          MessageGroupId=group)
        first, = self.receive(url)
        bodies = [message["Body"] for message in self.receive(url, MaxNumberOfMessages=10)]
        # The group of the first one is blocked.
        self.assertEqual((first["Body"], bodies), ("a0", ["b0", "b1", "b2"]))
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
        bodies = [message["Body"] for message in self.receive(url, MaxNumberOfMessages=10)]
        self.assertEqual(bodies, ["a1", "a2"])

    def test_dead_letters_and_their_way_back(self):
        dead = self.make_queue("-dead")
        url = self.make_queue(RedrivePolicy=json.dumps({
            "deadLetterTargetArn": self.attribute(dead, "QueueArn"), "maxReceiveCount": 1}))
        self.assertEqual(self.sqs.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"], [url])
        sent = self.sqs.send_message(QueueUrl=url, MessageBody="poison")
        self.receive(url, VisibilityTimeout=0)
        self.assertEqual(self.receive(url), [])
        message, = self.receive(dead, WaitTimeSeconds=5, VisibilityTimeout=0)
        self.assertEqual((message["Body"], message["MessageId"]), ("poison", sent["MessageId"]))
        if not hasattr(self.sqs, "start_message_move_task"):
            return
        self.sqs.start_message_move_task(SourceArn=self.attribute(dead, "QueueArn"))
        message, = self.receive(url, WaitTimeSeconds=5)
        self.assertEqual(message["Body"], "poison")
        task, = self.sqs.list_message_move_tasks(
            SourceArn=self.attribute(dead, "QueueArn"))["Results"]
        self.assertEqual(task["ApproximateNumberOfMessagesMoved"], 1)

    def test_a_long_poll(self):
        url = self.make_queue()
        begin = time.monotonic()
        timer = threading.Timer(
            0.5, lambda: self.sqs.send_message(QueueUrl=url, MessageBody="late"))
        timer.start()
        message, = self.receive(url, WaitTimeSeconds=20)
        timer.join()
        self.assertEqual(message["Body"], "late")
        self.assertLess(time.monotonic() - begin, 10)

    def test_accounts_are_apart_but_for_permissions(self):
        url = self.make_queue()
        bob = self.client(key=OTHER_KEY)
        error = error_of(bob.send_message, QueueUrl=url, MessageBody="x")
        self.assertEqual(error["Error"]["Code"], "AccessDenied")
        self.sqs.add_permission(QueueUrl=url, Label="bob", AWSAccountIds=[OTHER_ACCOUNT],
                                Actions=["SendMessage"])
        bob.send_message(QueueUrl=url, MessageBody="x")
        self.assertEqual(error_of(bob.receive_message, QueueUrl=url)["Error"]["Code"],
                         "AccessDenied")
        self.sqs.remove_permission(QueueUrl=url, Label="bob")
        self.assertEqual(error_of(bob.send_message, QueueUrl=url, MessageBody="x")["Error"]["Code"],
                         "AccessDenied")
        self.assertEqual(bob.list_queues().get("QueueUrls", []), [])

    def test_signatures_are_checked(self):
        error = error_of(self.client(secret="wrong").list_queues)
        self.assertEqual(error["Error"]["Code"], "SignatureDoesNotMatch")
        who = self.client("sts").get_caller_identity()
        self.assertEqual((who["UserId"], who["Account"]), ("alice", ACCOUNT))


class Installed(Actions, sdk.Installed, Signed):
    pass


class Query(Actions, sdk.Query, Signed):
    pass


if __name__ == "__main__":
    unittest.main()
