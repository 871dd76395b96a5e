#!/usr/bin/env python3
"""boto3 against the gateway: its JSON, the query protocol of its predecessors, its signatures."""
import base64
import pathlib
import sys
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import sdk  # noqa: E402
from gateway_server import DEADLINE_S, Server  # noqa: E402
from sdk import ACCOUNT, BODIES, KEY, SECRET, botocore, client_of, error_of  # noqa: E402


class Signed(sdk.Signed):
    @classmethod
    def serve(cls, _, keys):
        return Server("--credentials", keys)


class Actions:
    """Run with each protocol."""

    def make_queue(self):
        return self.sqs.create_queue(
            QueueName=self.id().rsplit(".", 1)[1][-60:], tags={"a b": "c", "d": ""},
            Attributes={"DelaySeconds": "0", "Policy": "{}"})["QueueUrl"]

    def test_queues(self):
        url = self.make_queue()
        name = url.rsplit("/", 1)[1]
        self.assertEqual(url, f"{self.server.url}/{ACCOUNT}/{name}")
        self.assertEqual(self.sqs.get_queue_url(QueueName=name)["QueueUrl"], url)
        self.assertIn(url, self.sqs.list_queues(QueueNamePrefix=name)["QueueUrls"])
        self.assertNotIn("QueueUrls", self.sqs.list_queues(QueueNamePrefix="none such"))
        self.assertEqual(self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
                         ["Attributes"], {"DelaySeconds": "0", "Policy": "{}"})
        self.sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "3"})
        self.assertEqual(self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
                         ["Attributes"]["DelaySeconds"], "3")
        self.assertEqual(self.sqs.list_queue_tags(QueueUrl=url)["Tags"], {"a b": "c", "d": ""})
        self.sqs.tag_queue(QueueUrl=url, Tags={"e": "f"})
        self.sqs.untag_queue(QueueUrl=url, TagKeys=["a b", "d"])
        self.assertEqual(self.sqs.list_queue_tags(QueueUrl=url)["Tags"], {"e": "f"})
        self.sqs.add_permission(QueueUrl=url, Label="l", AWSAccountIds=[ACCOUNT], Actions=["*"])
        self.sqs.remove_permission(QueueUrl=url, Label="l")
        self.assertEqual(self.sqs.list_dead_letter_source_queues(QueueUrl=url)["queueUrls"], [url])
        self.sqs.purge_queue(QueueUrl=url)
        self.sqs.delete_queue(QueueUrl=url)
        error = error_of(self.sqs.purge_queue, QueueUrl=url)
        self.assertEqual(error["Error"]["Code"], "AWS.SimpleQueueService.NonExistentQueue")
        self.assertEqual(error["Error"]["Type"], "Sender")
        self.assertEqual(error["ResponseMetadata"]["HTTPStatusCode"], 400)

    def test_bodies_come_back_byte_for_byte(self):
        url = self.make_queue()
        for body in [*BODIES, "x" * 262_144]:
            self.sqs.send_message(QueueUrl=url, MessageBody=body)  # boto3 checks the MD5
            message, = self.sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"]
            self.assertEqual(message["Body"], body)
            self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def test_attributes_of_messages(self):
        url = self.make_queue()
        attributes = {"text": {"DataType": "String.x", "StringValue": "ä & <"},
                      "number": {"DataType": "Number", "StringValue": "1e3"},
                      "bytes": {"DataType": "Binary.png", "BinaryValue": bytes(range(256))}}
        self.sqs.send_message(
            QueueUrl=url, MessageBody="x", MessageAttributes=attributes, MessageGroupId="group",
            MessageSystemAttributes={
                "AWSTraceHeader": {"DataType": "String", "StringValue": "trace"}})
        message, = self.sqs.receive_message(
            QueueUrl=url, MessageAttributeNames=["All"], AttributeNames=["All"])["Messages"]
        self.assertEqual(message["MessageAttributes"], attributes)
        self.assertEqual(message["Attributes"],
                         {"AWSTraceHeader": "trace", "MessageGroupId": "group"})

    def test_batches(self):
        url = self.make_queue()
        sent = self.sqs.send_message_batch(QueueUrl=url, Entries=[
            {"Id": "a", "MessageBody": "1"}, {"Id": "b", "MessageBody": "refuse me"},
            {"Id": "c", "MessageBody": "3", "DelaySeconds": 0}])
        self.assertEqual([entry["Id"] for entry in sent["Successful"]], ["a", "c"])
        self.assertEqual(sent["Failed"], [{"Id": "b", "SenderFault": True, "Message": "Refused.",
                                           "Code": "InvalidMessageContents"}])
        messages = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
        entries = [{"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
                   for i, message in enumerate(messages)]
        changed = self.sqs.change_message_visibility_batch(
            QueueUrl=url, Entries=[{**entry, "VisibilityTimeout": 60} for entry in entries])
        self.assertEqual(changed["Successful"], [{"Id": "0"}, {"Id": "1"}])
        self.assertEqual(changed.get("Failed", []), [])
        deleted = self.sqs.delete_message_batch(
            QueueUrl=url, Entries=[entries[0], {"Id": "no", "ReceiptHandle": "garbage"}])
        self.assertEqual(deleted["Successful"], [{"Id": "0"}])
        self.assertEqual(deleted["Failed"][0]["Code"], "ReceiptHandleIsInvalid")
        error = error_of(self.sqs.delete_message_batch, QueueUrl=url, Entries=[])
        self.assertEqual(error["Error"]["Code"], "AWS.SimpleQueueService.EmptyBatchRequest")

    def test_an_empty_body_is_refused(self):
        url = self.make_queue()
        error = error_of(self.sqs.send_message, QueueUrl=url, MessageBody="")
        self.assertEqual(error["Error"]["Code"], "MissingParameter")
        self.assertEqual(error["ResponseMetadata"]["HTTPStatusCode"], 400)

    def test_a_garbage_handle(self):
        url = self.make_queue()
        error = error_of(self.sqs.delete_message, QueueUrl=url, ReceiptHandle="garbage")
        self.assertEqual(error["Error"]["Code"], "ReceiptHandleIsInvalid")
        self.assertEqual(error["ResponseMetadata"]["HTTPStatusCode"], 404)

    def test_a_wrong_secret_and_an_unknown_key(self):
        error = error_of(self.client(secret="wrong").list_queues)
        self.assertEqual(error["Error"]["Code"], "SignatureDoesNotMatch")
        self.assertEqual(error["ResponseMetadata"]["HTTPStatusCode"], 403)
        unknown = self.client(key="AKIDNOBODY")
        self.assertEqual(error_of(unknown.list_queues)["Error"]["Code"], "InvalidClientTokenId")

    def test_a_session_token_is_signed_and_ignored(self):
        self.client(aws_session_token="token").list_queues()

    def test_who_am_i(self):
        who = self.client("sts").get_caller_identity()
        self.assertEqual((who["UserId"], who["Account"], who["Arn"]),
                         ("alice", ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/alice"))


class Installed(Actions, sdk.Installed, Signed):
    pass


class Json(sdk.Installed, Signed):
    def setUp(self):
        super().setUp()
        if sdk.protocol_of(self.sqs) != "json":
            self.skipTest("the installed boto3 does not speak JSON to SQS")

    def test_errors_have_the_names_of_both_protocols(self):
        error = error_of(self.sqs.get_queue_url, QueueName="none")
        self.assertEqual(error["Error"]["QueryErrorCode"], "QueueDoesNotExist")
        self.assertEqual(error["Error"]["Message"], "The specified queue does not exist.")
        self.assertTrue(self.sqs.exceptions.QueueDoesNotExist)

    def test_move_tasks(self):
        arn = f"arn:aws:sqs:eu-west-1:{ACCOUNT}:q"
        self.assertEqual(self.sqs.start_message_move_task(SourceArn=arn)["TaskHandle"], "task+1")
        self.assertEqual(self.sqs.cancel_message_move_task(TaskHandle="task+1")
                         ["ApproximateNumberOfMessagesMoved"], 7)
        task, = self.sqs.list_message_move_tasks(SourceArn=arn)["Results"]
        self.assertEqual(task, {"Status": "COMPLETED", "SourceArn": arn,
                                "ApproximateNumberOfMessagesMoved": 3,
                                "ApproximateNumberOfMessagesToMove": 3,
                                "StartedTimestamp": 1_700_000_000_000})


class Query(Actions, sdk.Query, Signed):
    def test_errors_have_a_detail(self):
        error = error_of(self.sqs.get_queue_url, QueueName="none")
        self.assertEqual(error["Error"], {
            "Type": "Sender", "Code": "AWS.SimpleQueueService.NonExistentQueue", "Detail": None,
            "Message": "The specified queue does not exist for this wsdl version."})


class Signatures(Signed):
    """botocore's signers are the reference."""

    def ask(self, request):
        prepared = request.prepare()
        raw = urllib.request.Request(prepared.url, prepared.body, dict(prepared.headers.items()),
                                     method=prepared.method)
        try:
            with urllib.request.urlopen(raw, timeout=DEADLINE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def request(self, method="GET", path="/", query="Action=ListQueues", body=None):
        return botocore.awsrequest.AWSRequest(method, f"{self.server.url}{path}?{query}", data=body)

    def sign(self, signer, request, *arguments, at=0):
        credentials = botocore.credentials.Credentials(KEY, SECRET)
        with sdk.signing_at(at):
            signer(credentials, "sqs", "eu-west-1", *arguments).add_auth(request)
        return request

    def test_in_a_header_with_odd_paths_and_queries(self):
        for path in ("/", "//a/./b/../c/", f"/{ACCOUNT}/q", "/a%20b/%C3%A9", "/~x"):
            for query in ("Action=ListQueues", "Action=ListQueues&b=&a=%20%2F&a=1&A=~",
                          "Action=ListQueues&QueueNamePrefix=a%2Bb"):
                request = self.sign(botocore.auth.SigV4Auth, self.request(path=path, query=query))
                status, body = self.ask(request)
                self.assertNotIn("SignatureDoesNotMatch", body, (path, query))
                self.assertIn(status, (200, 400))

    def test_in_the_query(self):
        request = self.sign(botocore.auth.SigV4QueryAuth, self.request(), 60)
        self.assertEqual(self.ask(request)[0], 200)
        request.url = request.url.replace("ListQueues", "ListQueueTags")
        status, body = self.ask(request)
        self.assertEqual(status, 403)
        self.assertIn("<Code>SignatureDoesNotMatch</Code>", body)

    def test_a_query_expires(self):
        request = self.sign(botocore.auth.SigV4QueryAuth, self.request(), 60, at=-120)
        status, body = self.ask(request)
        self.assertEqual(status, 400)
        self.assertIn("<Code>RequestExpired</Code>", body)
        request = self.sign(botocore.auth.SigV4QueryAuth, self.request(), 3600, at=-1800)
        self.assertEqual(self.ask(request)[0], 200)

    def test_clocks_may_differ_by_a_quarter_of_an_hour(self):
        for at, status in ((-800, 200), (800, 200), (-1000, 403), (1000, 403)):
            request = self.sign(botocore.auth.SigV4Auth, self.request(), at=at)
            self.assertEqual(self.ask(request)[0], status, at)

    def test_a_payload_may_go_unsigned(self):
        request = self.request("POST", "/", "", b"Action=ListQueues")
        request.headers["X-Amz-Content-SHA256"] = "UNSIGNED-PAYLOAD"
        self.assertEqual(self.ask(self.sign(botocore.auth.SigV4Auth, request))[0], 200)

    def test_without_a_signature(self):
        status, body = self.ask(self.request())
        self.assertEqual(status, 403)
        self.assertIn("<Code>MissingAuthenticationToken</Code>", body)
        status, _ = self.ask(self.request(path="/_aws/sqs/messages", query="QueueUrl=x"))
        self.assertEqual(status, 403)


class Anonymous(unittest.TestCase):
    def test_keys_of_twelve_digits_are_accounts_apart(self):
        with Server("--anonymous") as server:
            urls = [client_of(server.url, key, "x").create_queue(QueueName="q")["QueueUrl"]
                    for key in ("test", "999988887777")]
            self.assertEqual(urls, [f"{server.url}/000000000000/q", f"{server.url}/999988887777/q"])
            url, = client_of(server.url, "999988887777", "x").list_queues()["QueueUrls"]
            self.assertEqual(url, urls[1])

    def test_binary_in_raw_json(self):
        with Server("--anonymous") as server:
            sqs = client_of(server.url, "test", "x")
            url = sqs.create_queue(QueueName="q")["QueueUrl"]
            sqs.send_message(QueueUrl=url, MessageBody="x", MessageAttributes={
                "b": {"DataType": "Binary", "BinaryValue": base64.b64decode("AAECAw==")}})
            message, = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
            self.assertEqual(message["MessageAttributes"]["b"]["BinaryValue"], b"\0\1\2\3")


if __name__ == "__main__":
    unittest.main()
