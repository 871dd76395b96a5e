#!/usr/bin/env python3
"""What canopyd's gateway answers, field by field as AWS does, by both protocols."""
import base64
import concurrent.futures
import contextlib
import hashlib
import json
import pathlib
import re
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from gateway_daemon import ACCOUNT, Daemon, url_of  # noqa: E402
from protocols import (ARN, NAMESPACE, Json, Query, exchange, flattened,  # noqa: E402
                       in_namespace, parsed, text)

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
BODIES = ["zażółć 🎈", "\r", "\r\n\t", "&quot;", "]]>", "<a>&amp;'\"", " ", "{\"a\":\"\\u0000\"}"]
# Whose sums AWS has told.
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
TRACE_MD5 = "5ae4d5d7636402d80f4eb6d213245a88"
CUSTOM = {"UserId": {"DataType": "Number.bigint", "StringValue": "1234567890123456789012"}}
CUSTOM_MD5 = "797ab158d73dcb5242dedc4412c8e855"
GREETING = {"Help.Me": "Me", "Hello": "There", "General": "Kenobi"}
GREETING_MD5S = {
    ("General", "Hello", "Help.Me"): "4c360f3fdafd970e05fae2f149d997f5",
    ("General", "Hello"): "fca026605781cb4126a1e9044df24232",
    ("Hello",): "a311262e065454b75da111d535b8dacd",
    ("Hello", "Help.Me"): "83fee93c1bcd8b9a5a923ffacdc636c7"}


def md5(body):
    return hashlib.md5(body.encode()).hexdigest()


def simplified(element):
    """An element as (name, text or list of such)."""
    name = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    return name, [simplified(child) for child in element] or (element.text or "")


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="canopy-answers-")
        cls.addClassCleanup(folder.cleanup)
        cls.daemon = Daemon(folder.name)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.close)
        cls.json, cls.query = Json(cls.daemon.port), Query(cls.daemon.port)

    def ask(self, action, **members):
        """By JSON, where only the effect matters: the members of the answer."""
        answer = self.json.ask(action, **members)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.result

    def make_queue(self, suffix="", **attributes):
        name = self.id().rsplit(".", 1)[1][-60:] + suffix
        if suffix.endswith(".fifo"):
            attributes = {"FifoQueue": "true"} | attributes
        self.ask("CreateQueue", QueueName=name, Attributes=attributes)
        return name

    def on(self, queue, action, **members):
        return self.ask(action, QueueUrl=url_of(queue), **members)

    def receive(self, queue, **members):
        return self.on(queue, "ReceiveMessage", **members).get("Messages", [])

    def attributes(self, queue, *names):
        return self.on(queue, "GetQueueAttributes", AttributeNames=list(names or ["All"])).get(
            "Attributes", {})

    def in_xml(self, action, **members):
        """The members of a result in XML, once the envelope around it is as it should be."""
        answer = self.query.ask(action, **members)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.headers["content-type"], "text/xml")
        self.assertTrue(answer.text.startswith("<?xml version=\"1.0\"?>"))
        name, children = simplified(answer.result)
        self.assertEqual(name, f"{action}Response")
        *result, (metadata, ((request_id, value),)) = children
        self.assertEqual((metadata, request_id, value),
                         ("ResponseMetadata", "RequestId", answer.headers["x-amzn-requestid"]))
        if not result:
            return None
        (result_name, fields), = result
        self.assertEqual(result_name, f"{action}Result")
        return fields

    # --- Shapes. ---

    def test_the_envelope_of_json(self):
        answer = self.json.ask("ListQueues", QueueNamePrefix="none")
        self.assertEqual((answer.status, answer.text), (200, "{}"))
        self.assertEqual(answer.headers["content-type"], "application/x-amz-json-1.0")
        self.assertRegex(answer.headers["x-amzn-requestid"], f"^{UUID}$")
        self.assertNotIn("x-amzn-query-error", answer.headers)

    def test_an_error_of_json(self):
        answer = self.json.ask("GetQueueUrl", QueueName="none")
        self.assertEqual(answer.result, {"__type": "com.amazonaws.sqs#QueueDoesNotExist",
                                         "message": "The specified queue does not exist."})
        self.assertEqual(answer.headers["x-amzn-query-error"],
                         "AWS.SimpleQueueService.NonExistentQueue;Sender")
        self.assertEqual(answer.headers["content-type"], "application/x-amz-json-1.0")

    def test_an_error_of_xml(self):
        answer = self.query.ask("GetQueueUrl", QueueName="none")
        self.assertEqual(answer.status, 400)
        self.assertEqual(simplified(answer.result), ("ErrorResponse", [
            ("Error", [("Type", "Sender"), ("Code", "AWS.SimpleQueueService.NonExistentQueue"),
                       ("Message", "The specified queue does not exist for this wsdl version."),
                       ("Detail", "")]),
            ("RequestId", answer.headers["x-amzn-requestid"])]))
        self.assertNotIn("x-amzn-query-error", answer.headers)

    def test_actions_without_a_result(self):
        for ask, nothing in ((self.ask, {}), (self.in_xml, None)):
            url = {"QueueUrl": url_of(self.make_queue())}
            for action, members in (
                    ("SetQueueAttributes", {"Attributes": {"DelaySeconds": "0"}}),
                    ("TagQueue", {"Tags": {"a": "b"}}), ("UntagQueue", {"TagKeys": ["a"]}),
                    ("AddPermission",
                     {"Label": "l", "AWSAccountIds": [ACCOUNT], "Actions": ["*"]}),
                    ("RemovePermission", {"Label": "l"}), ("PurgeQueue", {}), ("DeleteQueue", {})):
                self.assertEqual(ask(action, **url, **members), nothing, action)

    def test_a_message_on_its_way(self):
        queue = self.make_queue()
        url = {"QueueUrl": url_of(queue)}
        sent = dict(self.in_xml("SendMessage", **url, MessageBody="a\r<", MessageAttributes=CUSTOM,
                                MessageSystemAttributes={"AWSTraceHeader": text(TRACE)}))
        self.assertEqual(list(sent), ["MessageId", "MD5OfMessageBody", "MD5OfMessageAttributes",
                                      "MD5OfMessageSystemAttributes"])
        self.assertRegex(sent["MessageId"], f"^{UUID}$")
        self.assertEqual(list(sent.values())[1:], [md5("a\r<"), CUSTOM_MD5, TRACE_MD5])
        asked = {"VisibilityTimeout": 0, "AttributeNames": ["AWSTraceHeader"],
                 "MessageAttributeNames": ["All"]}
        (name, fields), = self.in_xml("ReceiveMessage", **url, **asked)
        self.assertEqual(name, "Message")
        self.assertEqual([field for field, _ in fields], [
            "MessageId", "ReceiptHandle", "MD5OfBody", "Body", "Attribute",
            "MD5OfMessageAttributes", "MessageAttribute"])
        self.assertEqual(dict(fields)["Body"], "a\r<")
        self.assertEqual(dict(fields)["MessageAttribute"], [
            ("Name", "UserId"), ("Value", [("StringValue", CUSTOM["UserId"]["StringValue"]),
                                           ("DataType", "Number.bigint")])])
        message, = self.ask("ReceiveMessage", **url, **asked)["Messages"]
        handle = message.pop("ReceiptHandle")
        self.assertEqual(message, {
            "MessageId": sent["MessageId"], "MD5OfBody": md5("a\r<"), "Body": "a\r<",
            "Attributes": {"AWSTraceHeader": TRACE}, "MD5OfMessageAttributes": CUSTOM_MD5,
            "MessageAttributes": CUSTOM})
        self.assertIsNone(self.in_xml("ChangeMessageVisibility", **url, ReceiptHandle=handle,
                                      VisibilityTimeout=9))
        self.assertIsNone(self.in_xml("DeleteMessage", **url, ReceiptHandle=handle))
        self.assertEqual(self.ask("DeleteMessage", **url, ReceiptHandle=handle), {})
        self.assertEqual(self.in_xml("ReceiveMessage", **url), "")
        self.assertIn("<ReceiveMessageResult/>", self.query.ask("ReceiveMessage", **url).text)
        self.assertEqual(self.json.ask("ReceiveMessage", **url).text, "{}")

    def test_batches(self):
        queue = self.make_queue()
        url = {"QueueUrl": url_of(queue)}
        fine = {"Id": "a", "MessageBody": "m"}
        self.assertEqual(set(self.ask("SendMessageBatch", **url, Entries=[fine])), {"Successful"})
        self.assertEqual(set(self.ask("DeleteMessageBatch", **url, Entries=[
            {"Id": "a", "ReceiptHandle": "garbage"}])), {"Failed"})
        (name, entry), (failed, failure) = self.in_xml("SendMessageBatch", **url, Entries=[
            fine, {"Id": "b", "MessageBody": "m", "DelaySeconds": 901}])
        self.assertEqual((name, failed), ("SendMessageBatchResultEntry", "BatchResultErrorEntry"))
        self.assertEqual([field for field, _ in entry], ["Id", "MessageId", "MD5OfMessageBody"])
        self.assertEqual(failure[:3], [("Id", "b"), ("SenderFault", "true"),
                                       ("Code", "InvalidParameterValue")])
        handles = [message["ReceiptHandle"]
                   for message in self.receive(queue, MaxNumberOfMessages=10)]
        for action, more in (("ChangeMessageVisibilityBatch", {"VisibilityTimeout": 9}),
                             ("DeleteMessageBatch", {})):
            self.assertEqual(
                self.in_xml(action, **url, Entries=[
                    {"Id": str(i), "ReceiptHandle": handle, **more}
                    for i, handle in enumerate(handles)]),
                [(f"{action}ResultEntry", [("Id", str(i))]) for i in range(2)])

    def test_lists_of_queues(self):
        names = [self.make_queue(f"-{number}") for number in range(3)]
        urls = [f"{self.daemon.url}/{ACCOUNT}/{name}" for name in names]
        asked = {"QueueNamePrefix": names[0][:-1], "MaxResults": 2}
        first = self.ask("ListQueues", **asked)
        self.assertEqual(first["QueueUrls"], urls[:2])
        self.assertEqual(self.ask("ListQueues", **asked, NextToken=first["NextToken"]),
                         {"QueueUrls": urls[2:]})
        fields = self.in_xml("ListQueues", **asked)
        self.assertEqual(fields, [("QueueUrl", urls[0]), ("QueueUrl", urls[1]),
                                  ("NextToken", first["NextToken"])])
        self.assertEqual(self.in_xml("ListQueues", QueueNamePrefix="none"), "")
        self.assertNotIn("NextToken", self.ask("ListQueues"))

    def test_who_asks(self):
        who = exchange(self.daemon.port, "POST", "/", "Action=GetCallerIdentity")
        for part in (f"<Account>{ACCOUNT}</Account>", f"<Arn>arn:aws:iam::{ACCOUNT}:root</Arn>",
                     'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'):
            self.assertIn(part, who.text)

    # --- Queues. ---

    def test_attributes_of_a_new_queue(self):
        begin = int(time.time())
        for suffix, more in (("", {}), (".fifo", {
                "FifoQueue": "true", "ContentBasedDeduplication": "false",
                "DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"})):
            queue = self.make_queue(suffix)
            shown = self.attributes(queue)
            created = shown.pop("CreatedTimestamp")
            self.assertEqual(shown.pop("LastModifiedTimestamp"), created)
            self.assertTrue(begin <= int(created) <= int(time.time()))
            self.assertEqual(shown, more | {
                "ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesDelayed": "0",
                "ApproximateNumberOfMessagesNotVisible": "0", "DelaySeconds": "0",
                "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
                "QueueArn": ARN + queue, "ReceiveMessageWaitTimeSeconds": "0",
                "SqsManagedSseEnabled": "true", "VisibilityTimeout": "30"})
            self.assertEqual(self.attributes(queue, "Policy"), {})
            self.assertEqual(
                self.in_xml("GetQueueAttributes", QueueUrl=url_of(queue),
                            AttributeNames=["VisibilityTimeout", "DelaySeconds"]),
                [("Attribute", [("Name", "DelaySeconds"), ("Value", "0")]),
                 ("Attribute", [("Name", "VisibilityTimeout"), ("Value", "30")])])

    def test_a_change_is_dated_and_empties(self):
        queue = self.make_queue()
        created = int(self.attributes(queue)["CreatedTimestamp"])
        while int(time.time()) == created:
            time.sleep(0.05)
        policy = '{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*"}}'
        self.on(queue, "SetQueueAttributes", Attributes={"Policy": policy, "DelaySeconds": "7"})
        shown = self.attributes(queue)
        self.assertEqual((shown["Policy"], shown["DelaySeconds"]), (policy, "7"))
        self.assertEqual(int(shown["CreatedTimestamp"]), created)
        self.assertGreater(int(shown["LastModifiedTimestamp"]), created)
        self.on(queue, "SetQueueAttributes", Attributes={"Policy": ""})
        self.assertNotIn("Policy", self.attributes(queue))

    def test_one_kind_of_encryption(self):
        queue = self.make_queue(KmsMasterKeyId="alias/k")
        names = ("KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled")
        self.assertEqual(self.attributes(queue, *names), {
            "KmsMasterKeyId": "alias/k", "KmsDataKeyReusePeriodSeconds": "300",
            "SqsManagedSseEnabled": "false"})
        self.on(queue, "SetQueueAttributes", Attributes={"SqsManagedSseEnabled": "true"})
        self.assertEqual(self.attributes(queue, *names), {"SqsManagedSseEnabled": "true"})

    def test_a_queue_is_made_again_with_what_it_has(self):
        queue = self.make_queue(VisibilityTimeout="69", DelaySeconds="1")
        for attributes in ({}, {"DelaySeconds": "1"}, {"MaximumMessageSize": "1048576"}):
            self.ask("CreateQueue", QueueName=queue, Attributes=attributes)
        self.on(queue, "SetQueueAttributes", Attributes={"DelaySeconds": "2"})
        self.ask("CreateQueue", QueueName=queue, Attributes={"DelaySeconds": "2"})
        answer = self.query.ask("CreateQueue", QueueName=queue, Attributes={"DelaySeconds": "1"})
        self.assertEqual((answer.status, answer.code), (400, "QueueAlreadyExists"))

    def test_tags(self):
        queue = self.make_queue()
        self.assertEqual(self.on(queue, "ListQueueTags"), {})
        self.on(queue, "TagQueue", Tags={"MyTag": "1", "mytag": "2", "empty": ""})
        self.on(queue, "TagQueue", Tags={"MyTag": "3"})
        self.assertEqual(self.on(queue, "ListQueueTags")["Tags"],
                         {"MyTag": "3", "mytag": "2", "empty": ""})
        self.on(queue, "UntagQueue", TagKeys=["mytag", "none", "MyTag"])
        self.assertEqual(self.in_xml("ListQueueTags", QueueUrl=url_of(queue)),
                         [("Tag", [("Key", "empty"), ("Value", "")])])

    def test_permissions_make_a_policy(self):
        queue = self.make_queue()
        statement = {"Sid": "a", "Effect": "Allow", "Principal": {
            "AWS": [f"arn:aws:iam::{ACCOUNT}:root", "arn:aws:iam::111122223333:root"]},
                     "Action": "SQS:ReceiveMessage", "Resource": ARN + queue}
        self.on(queue, "AddPermission", Label="a", AWSAccountIds=[ACCOUNT, "111122223333"],
                Actions=["ReceiveMessage"])
        self.assertEqual(json.loads(self.attributes(queue)["Policy"]), {
            "Version": "2008-10-17", "Id": f"{ARN}{queue}/SQSDefaultPolicy",
            "Statement": [statement]})
        again = self.json.ask("AddPermission", QueueUrl=url_of(queue), Label="a",
                              AWSAccountIds=["111122223333"], Actions=["ReceiveMessage"])
        self.assertEqual(again.message,
                         "Value a for parameter Label is invalid. Reason: Already exists.")
        self.on(queue, "RemovePermission", Label="a")
        self.assertNotIn("Policy", self.attributes(queue))

    def test_a_deleted_queue_is_gone(self):
        queue = self.make_queue()
        self.on(queue, "DeleteQueue")
        for protocol in (self.json, self.query):
            answer = protocol.ask("SendMessage", QueueUrl=url_of(queue), MessageBody="m")
            self.assertEqual((answer.status, answer.code),
                             (400, "AWS.SimpleQueueService.NonExistentQueue"))
        self.make_queue()
        self.assertEqual(self.attributes(queue)["ApproximateNumberOfMessages"], "0")

    # --- Addresses. ---

    def test_addresses_of_a_queue(self):
        queue = self.make_queue()
        own = f"{self.daemon.url}/{ACCOUNT}/{queue}"
        for url in (own, url_of(queue), f"/{ACCOUNT}/{queue}", queue,
                    f"http://elsewhere:1/queue/us-east-1/{ACCOUNT}/{queue}",
                    f"https://sqs.us-east-1.amazonaws.com/{ACCOUNT}/{queue}",
                    f"https://queue.amazonaws.com/{ACCOUNT}/{queue}"):
            for protocol in (self.json, self.query):
                answer = protocol.ask("SendMessage", QueueUrl=url, MessageBody="m")
                self.assertEqual(answer.status, 200, url)
        self.assertEqual(self.attributes(queue)["ApproximateNumberOfMessages"], "14")
        answer = self.query.ask("GetQueueUrl", QueueName=queue, QueueOwnerAWSAccountId=ACCOUNT)
        self.assertIn(f"<QueueUrl>{own}</QueueUrl>", answer.text)

    def plain(self, action, **members):
        """By the query protocol, which AWS also answers in JSON."""
        form = {"Action": action} | dict(flattened(action, members))
        answer = exchange(self.daemon.port, "POST", "/", urllib.parse.urlencode(form), {
            "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"})
        self.assertEqual(answer.headers["content-type"], "application/json")
        return answer.status, json.loads(answer.text)

    def test_json_of_the_query_protocol(self):
        queue = self.make_queue()
        url = {"QueueUrl": url_of(queue)}
        status, sent = self.plain("SendMessage", **url, MessageBody="m", MessageAttributes=CUSTOM)
        message_id = sent["SendMessageResponse"]["SendMessageResult"].pop("MessageId")
        request_id = sent["SendMessageResponse"]["ResponseMetadata"].pop("RequestId")
        self.assertRegex(request_id, f"^{UUID}$")
        self.assertEqual((status, sent), (200, {"SendMessageResponse": {
            "SendMessageResult": {
                "MD5OfMessageBody": md5("m"), "MD5OfMessageAttributes": CUSTOM_MD5,
                "MD5OfMessageSystemAttributes": None, "SequenceNumber": None},
            "ResponseMetadata": {}}}))
        _, got = self.plain("ReceiveMessage", **url, MessageAttributeNames=["All"],
                            AttributeNames=["SenderId"])
        message, = got["ReceiveMessageResponse"]["ReceiveMessageResult"]["messages"]
        message.pop("ReceiptHandle")
        self.assertEqual(message, {
            "MessageId": message_id, "MD5OfBody": md5("m"), "Body": "m",
            "Attributes": [{"Name": "SenderId", "Value": ACCOUNT}],
            "MD5OfMessageAttributes": CUSTOM_MD5,
            "MessageAttributes": [{"Name": "UserId", "Value": CUSTOM["UserId"]}]})
        _, got = self.plain("ReceiveMessage", **url)
        self.assertEqual(got["ReceiveMessageResponse"]["ReceiveMessageResult"],
                         {"messages": None})
        _, found = self.plain("ListQueues", QueueNamePrefix=queue)
        self.assertEqual(found["ListQueuesResponse"]["ListQueuesResult"]["queueUrls"],
                         [f"{self.daemon.url}/{ACCOUNT}/{queue}"])
        status, failed = self.plain("GetQueueUrl", QueueName="none")
        failed.pop("RequestId")
        self.assertEqual((status, failed), (400, {"Error": {
            "Code": "AWS.SimpleQueueService.NonExistentQueue", "Type": "Sender",
            "Message": "The specified queue does not exist for this wsdl version."}}))

    def get(self, path, **members):
        return exchange(self.daemon.port, "GET", f"{path}?{urllib.parse.urlencode(members)}")

    def test_actions_on_the_url_of_a_queue(self):
        queue, other = self.make_queue(), self.make_queue("-2")
        path = f"/{ACCOUNT}/{queue}"
        self.assertEqual(self.get(path, Action="SendMessage", MessageBody="foobar").status, 200)
        self.assertIn("<Body>foobar</Body>", self.get(path, Action="ReceiveMessage").text)
        shown = self.get(path, **{"Action": "GetQueueAttributes", "AttributeName.1": "QueueArn"})
        self.assertIn(f"<Attribute><Name>QueueArn</Name><Value>{ARN}{queue}</Value></Attribute>",
                      shown.text)
        shown = self.get(path, **{"Action": "GetQueueAttributes", "AttributeName.1": "QueueArn",
                                  "QueueUrl": url_of(other)})
        self.assertIn(f"{ARN}{other}<", shown.text)
        found = self.get(path, Action="GetQueueUrl", QueueName=other)
        self.assertIn(f"/{ACCOUNT}/{other}</QueueUrl>", found.text)
        for action in ("CreateQueue", "ListQueues", "FooBar"):
            answer = parsed(self.get(path, Action=action, QueueName="x"))
            self.assertEqual((answer.status, answer.code, answer.message),
                             (400, "InvalidAction",
                              f"The action {action} is not valid for this endpoint."))
        answer = parsed(self.get(path, Action="SendMessage"))
        self.assertEqual(answer.code, "MissingParameter")
        answer = self.get(path)
        self.assertEqual(answer.status, 404)
        self.assertIn("<UnknownOperationException", answer.text)
        self.assertEqual(self.json.ask("ReceiveMessage", path).text, "{}")
        self.assertEqual(self.get(path, Action="DeleteQueue").status, 200)

    # --- Messages. ---

    def test_bodies_come_back_byte_for_byte(self):
        queue = self.make_queue()
        for sender, receiver in ((self.json, self.query), (self.query, self.json)):
            for body in BODIES:
                sender.ask("SendMessage", QueueUrl=url_of(queue), MessageBody=body)
                got = receiver.ask("ReceiveMessage", QueueUrl=url_of(queue))
                if receiver is self.query:
                    message, = got.result.iter(in_namespace("Message"))
                    found = [message.findtext(in_namespace(name)) for name in (
                        "Body", "MD5OfBody", "ReceiptHandle")]
                    if "\r" in body:
                        self.assertIn("&#xd;", got.text)
                else:
                    message, = got.result["Messages"]
                    found = [message[name] for name in ("Body", "MD5OfBody", "ReceiptHandle")]
                self.assertEqual(found[:2], [body, md5(body)])
                self.on(queue, "DeleteMessage", ReceiptHandle=found[2])

    def test_sums_only_of_what_is_there(self):
        queue = self.make_queue()
        sent = self.on(queue, "SendMessage", MessageBody="m")
        self.assertEqual(set(sent), {"MessageId", "MD5OfMessageBody"})
        sent = self.on(queue, "SendMessage", MessageBody="m", MessageAttributes=CUSTOM)
        self.assertEqual(sent["MD5OfMessageAttributes"], CUSTOM_MD5)
        self.assertNotIn("MD5OfMessageSystemAttributes", sent)
        self.on(queue, "SendMessage", MessageBody="m", MessageAttributes={
            "attr.1øßä": text("names have letters of other scripts")})

    def test_which_attributes_of_messages_are_shown(self):
        queue = self.make_queue(VisibilityTimeout="0")
        self.on(queue, "SendMessage", MessageBody="msg", MessageAttributes={
            name: text(value) for name, value in GREETING.items()})
        everything = ("General", "Hello", "Help.Me")
        for asked, shown in (([], ()), (["All"], everything), (["*"], everything),
                             ([".*"], everything), (["Foo", "Help"], ()),
                             (["Hello", "General"], ("General", "Hello")),
                             (["Foo", "Hello"], ("Hello",)), (["Hel.*"], ("Hello", "Help.Me")),
                             (["AWS."], ()), (["..foo"], ())):
            message, = self.receive(queue, MessageAttributeNames=asked)
            self.assertEqual(message.get("MessageAttributes", {}),
                             {name: text(GREETING[name]) for name in shown}, asked)
            self.assertEqual(message.get("MD5OfMessageAttributes"), GREETING_MD5S.get(shown))

    def test_which_system_attributes_are_shown(self):
        queue = self.make_queue(VisibilityTimeout="0")
        self.on(queue, "SendMessage", MessageBody="m")
        usual = {"SenderId", "SentTimestamp", "ApproximateReceiveCount",
                 "ApproximateFirstReceiveTimestamp"}
        for member in ("AttributeNames", "MessageSystemAttributeNames"):
            for asked, shown in (([], set()), (["All"], usual), (["SenderId"], {"SenderId"}),
                                 (["SenderId", "SequenceNumber"], {"SenderId"})):
                message, = self.receive(queue, **{member: asked})
                self.assertEqual(set(message.get("Attributes", {})), shown)
                self.assertEqual("Attributes" in message, bool(shown))
        message, = self.receive(queue, AttributeNames=["All"])
        for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"):
            self.assertRegex(message["Attributes"][name], r"^\d{13}$")
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "9")

    def test_fifo_messages(self):
        queue = self.make_queue(".fifo", ContentBasedDeduplication="true")
        sent = [self.on(queue, "SendMessage", MessageBody="m", MessageGroupId="g",
                        MessageDeduplicationId=number, DelaySeconds=0) for number in "1123"]
        self.assertEqual(sent[0], sent[1])
        numbers = [answer["SequenceNumber"] for answer in sent[1:]]
        self.assertTrue(all(re.fullmatch(r"\d{20}", number) for number in numbers))
        self.assertEqual(numbers, sorted(set(numbers)))
        messages = self.receive(queue, AttributeNames=["All"], MaxNumberOfMessages=10)
        self.assertEqual([message["Attributes"]["SequenceNumber"] for message in messages],
                         numbers)
        self.assertEqual(set(messages[0]["Attributes"]), {
            "SenderId", "SentTimestamp", "ApproximateReceiveCount", "SequenceNumber",
            "ApproximateFirstReceiveTimestamp", "MessageGroupId", "MessageDeduplicationId"})
        self.assertEqual(self.receive(queue), [])

    def test_handles(self):
        queue = self.make_queue()
        self.on(queue, "SendMessage", MessageBody="m")
        message, = self.receive(queue)
        handle = message["ReceiptHandle"]
        # As some clients send it: not escaped.
        form = (f"Action=DeleteMessage&QueueUrl={url_of(queue)}&ReceiptHandle=" + handle)
        self.assertEqual(self.query.ask_by(form).status, 200)
        counts = self.attributes(queue)
        self.assertEqual(counts["ApproximateNumberOfMessagesNotVisible"], "0")
        for protocol in (self.json, self.query):
            gone = protocol.ask("ChangeMessageVisibility", QueueUrl=url_of(queue),
                                ReceiptHandle=handle, VisibilityTimeout=42)
            self.assertEqual((gone.status, gone.code, gone.message), (
                400, "InvalidParameterValue", f"Value {handle} for parameter ReceiptHandle is "
                "invalid. Reason: Message does not exist or is not available for visibility "
                "timeout change."))
        self.on(queue, "SendMessage", MessageBody="m")
        self.assertEqual(len(self.receive(queue, ReceiveRequestAttemptId="attempt")), 1)

    def test_an_older_handle_may_change_how_long_a_message_is_hidden(self):
        queue = self.make_queue()
        self.on(queue, "SendMessage", MessageBody="m")
        older, = self.receive(queue, VisibilityTimeout=0)
        self.assertEqual(len(self.receive(queue)), 1)
        self.on(queue, "ChangeMessageVisibility", ReceiptHandle=older["ReceiptHandle"],
                VisibilityTimeout=0)
        self.assertEqual(len(self.receive(queue)), 1)

    def test_the_trace_of_a_request(self):
        queue = self.make_queue(VisibilityTimeout="0")
        send = json.dumps({"QueueUrl": url_of(queue), "MessageBody": "m"})
        sent = exchange(self.daemon.port, "POST", "/", send, {
            "X-Amz-Target": "AmazonSQS.SendMessage", "X-Amzn-Trace-Id": TRACE})
        self.assertNotIn("MD5OfMessageSystemAttributes", json.loads(sent.text))
        message, = self.receive(queue, AttributeNames=["AWSTraceHeader"])
        self.assertEqual(message["Attributes"], {"AWSTraceHeader": TRACE})

    def test_which_of_two_lists_of_names_holds(self):
        queue = self.make_queue(VisibilityTimeout="0")
        self.on(queue, "SendMessage", MessageBody="m")
        both = {"AttributeNames": ["SenderId"],
                "MessageSystemAttributeNames": ["ApproximateReceiveCount"]}
        message, = self.receive(queue, **both)
        self.assertEqual(set(message["Attributes"]), {"ApproximateReceiveCount"})
        (_, fields), = self.in_xml("ReceiveMessage", QueueUrl=url_of(queue), **both)
        self.assertEqual([dict(value)["Name"] for name, value in fields if name == "Attribute"],
                         ["SenderId"])

    def test_a_fifo_handle_that_has_expired(self):
        queue = self.make_queue(".fifo")
        self.on(queue, "SendMessage", MessageBody="m", MessageGroupId="g",
                MessageDeduplicationId="d")
        message, = self.receive(queue, VisibilityTimeout=0)
        handle = message["ReceiptHandle"]
        for protocol in (self.json, self.query):
            answer = protocol.ask("DeleteMessage", QueueUrl=url_of(queue), ReceiptHandle=handle)
            self.assertEqual((answer.status, answer.code, answer.message), (
                400, "InvalidParameterValue", f"Value {handle} for parameter ReceiptHandle is "
                "invalid. Reason: The receipt handle has expired."))

    # --- Dead letters. ---

    def test_dead_letters(self):
        dead, queue = self.make_queue("-dead"), self.make_queue("-source")
        self.on(queue, "SetQueueAttributes", Attributes={"RedrivePolicy": json.dumps({
            "deadLetterTargetArn": ARN + dead, "maxReceiveCount": 1})})
        url = f"{self.daemon.url}/{ACCOUNT}/{queue}"
        self.assertEqual(self.on(dead, "ListDeadLetterSourceQueues"), {"queueUrls": [url]})
        self.assertEqual(self.in_xml("ListDeadLetterSourceQueues", QueueUrl=url_of(dead)),
                         [("QueueUrl", url)])
        sent = self.on(queue, "SendMessage", MessageBody="poison", MessageAttributes=CUSTOM)
        first, = self.receive(queue, VisibilityTimeout=0, AttributeNames=["All"])
        self.assertEqual(self.receive(queue), [])
        message, = self.receive(dead, VisibilityTimeout=0, AttributeNames=["All"],
                                MessageAttributeNames=["All"])
        self.assertEqual([message[name] for name in ("MessageId", "Body", "MessageAttributes")],
                         [sent["MessageId"], "poison", CUSTOM])
        self.assertEqual(message["Attributes"]["DeadLetterQueueSourceArn"], ARN + queue)
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "2")
        for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"):
            self.assertEqual(message["Attributes"][name], first["Attributes"][name])

        self.assertEqual(self.ask("ListMessageMoveTasks", SourceArn=ARN + dead), {"Results": []})
        handle = dict(self.in_xml("StartMessageMoveTask", SourceArn=ARN + dead))["TaskHandle"]
        task = json.loads(base64.b64decode(handle, validate=True))
        self.assertRegex(task.pop("taskId"), f"^{UUID}$")
        self.assertEqual(task, {"sourceArn": ARN + dead})
        message, = self.receive(queue, WaitTimeSeconds=20)
        self.assertEqual(message["Body"], "poison")
        self.assertNotEqual(message["MessageId"], sent["MessageId"])
        deadline = time.monotonic() + 60
        while True:
            task, = self.ask("ListMessageMoveTasks", SourceArn=ARN + dead)["Results"]
            if task["Status"] == "COMPLETED":
                break
            self.assertLess(time.monotonic(), deadline, task)
        started = task.pop("StartedTimestamp")
        self.assertLess(abs(started / 1000 - time.time()), 120)
        self.assertEqual(task, {"Status": "COMPLETED", "SourceArn": ARN + dead,
                                "ApproximateNumberOfMessagesMoved": 1,
                                "ApproximateNumberOfMessagesToMove": 1})

    # --- Values of other kinds. ---

    def test_numbers_and_booleans_are_taken_for_texts(self):
        queue = self.make_queue()
        self.on(queue, "SetQueueAttributes", Attributes={"DelaySeconds": 0})
        self.on(queue, "SendMessage", MessageBody=False, MessageAttributes={
            "a": {"DataType": "Number", "StringValue": 2345}})
        message, = self.receive(queue, MessageAttributeNames=["All"])
        self.assertEqual((message["Body"], message["MessageAttributes"]["a"]["StringValue"]),
                         ("false", "2345"))

    def test_what_is_no_request(self):
        target = {"X-Amz-Target": "AmazonSQS.SendMessage"}
        for body, message in (
                ("{", None), ("[]", None), ('{"QueueUrl":"q","MessageBody":"\ud800"}', None),
                ('{"QueueUrl":"q","MessageBody":{}}',
                 "Start of structure or map found where not expected."),
                ('{"QueueUrl":"q","MessageBody":[]}', "Start of list found where not expected"),
                ('{"QueueUrl":"q","MessageBody":"m","DelaySeconds":"5"}',
                 "STRING_VALUE can not be converted to an Integer")):
            answer = exchange(self.daemon.port, "POST", "/",
                              body.encode("utf-8", "surrogatepass"), target)
            self.assertEqual(answer.status, 400, body)
            error = json.loads(answer.text)
            self.assertEqual(error["__type"], "com.amazon.coral.service#SerializationException")
            if message:
                self.assertEqual(error["message"], message)
        for action in ("Dance", ""):
            answer = exchange(self.daemon.port, "POST", "/", "{}",
                              {"X-Amz-Target": f"AmazonSQS.{action}"})
            self.assertEqual(answer.status, 404)
            self.assertEqual(json.loads(answer.text)["__type"],
                             "com.amazon.coral.service#UnknownOperationException")

    # --- What emulators have. ---

    def test_looking_at_a_queue(self):
        queue = self.make_queue()
        for body in ("1", "2"):
            self.on(queue, "SendMessage", MessageBody=body)
        path = f"/_aws/sqs/messages?QueueUrl={url_of(queue)}"
        for _ in range(2):
            shown = exchange(self.daemon.port, "GET", path, None, {"Accept": "application/json"})
            messages = json.loads(shown.text)["ReceiveMessageResponse"]["ReceiveMessageResult"]
            self.assertEqual([message["Body"] for message in messages["Message"]], ["1", "2"])
        shown = exchange(self.daemon.port, "GET", f"/_aws/sqs/messages/us-east-1/{ACCOUNT}/{queue}")
        self.assertEqual(re.findall("<Body>(.)</Body>", shown.text), ["1", "2"])
        self.assertEqual(self.attributes(queue)["ApproximateNumberOfMessages"], "2")
        self.receive(queue)
        shown = exchange(self.daemon.port, "GET", f"{path}&ShowInvisible=true")
        self.assertEqual(re.findall("<Body>(.)</Body>", shown.text), ["1", "2"])
        self.assertEqual(re.findall("<Name>IsVisible</Name><Value>(.*?)</Value>", shown.text),
                         ["false", "true"])
        self.assertEqual(exchange(self.daemon.port, "GET", "/health").text, '{"status":"ok"}')
        emulator = json.loads(exchange(self.daemon.port, "GET", "/_localstack/health").text)
        self.assertEqual(emulator["services"]["sqs"], "running")

    # --- Under load. ---

    def test_an_empty_queue_under_load_is_empty_and_nothing_else(self):
        empty, busy = self.make_queue("-empty"), self.make_queue("-busy")
        done = threading.Event()

        def load():
            with self.daemon.connect() as connection:
                while not done.is_set():
                    connection.send(busy, "m" * 1000)
                    for message in connection.receive(busy):
                        connection.delete(busy, message)

        def look():
            with self.daemon.connect() as connection:
                for wait in (0, 0, 0, 1) * 5:  # an error or what is no JSON raises
                    self.assertEqual(connection.receive(empty, WaitTimeSeconds=wait), [])

        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            with contextlib.ExitStack() as stack:
                stack.callback(done.set)
                loads = [pool.submit(load) for _ in range(4)]
                for looked in [pool.submit(look) for _ in range(20)]:
                    looked.result()
            for loaded in loads:
                loaded.result()


class Flattening(unittest.TestCase):
    """The tests above rest on it."""

    def test_members_become_parameters(self):
        self.assertEqual(dict(flattened("SendMessageBatch", {"QueueUrl": "u", "Entries": [
            {"Id": "1", "MessageAttributes": {"a": {"DataType": "Binary", "BinaryValue": b"\0"}}},
            {"Id": "2"}]})), {
                "QueueUrl": "u", "SendMessageBatchRequestEntry.1.Id": "1",
                "SendMessageBatchRequestEntry.1.MessageAttribute.1.Name": "a",
                "SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType": "Binary",
                "SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.BinaryValue": "AA==",
                "SendMessageBatchRequestEntry.2.Id": "2"})
        self.assertEqual(dict(flattened("TagQueue", {"Tags": {"a": "b"}})),
                         {"Tag.1.Key": "a", "Tag.1.Value": "b"})


if __name__ == "__main__":
    unittest.main()
