#!/usr/bin/env python3
"""What canopyd's gateway refuses, in AWS's codes and words, by both protocols."""
import base64
import json
import pathlib
import sys
import tempfile
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from gateway_daemon import ACCOUNT, Daemon, url_of  # noqa: E402
from protocols import ARN, Json, Query, text  # noqa: E402

QUERY = "AWS.SimpleQueueService."
INVALID = ("InvalidParameterValue", "InvalidParameterValueException")
MISSING = ("MissingParameter", "MissingRequiredParameterException")
ATTRIBUTE_NAME = ("InvalidAttributeName", "InvalidAttributeName")
ATTRIBUTE_VALUE = ("InvalidAttributeValue", "InvalidAttributeValue")
CONTENTS = ("InvalidMessageContents", "InvalidMessageContents")
NO_QUEUE = (QUERY + "NonExistentQueue", "QueueDoesNotExist")
NO_RESOURCE = ("ResourceNotFoundException", "ResourceNotFoundException")
BAD_HANDLE = ("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid")
UNSUPPORTED = (QUERY + "UnsupportedOperation", "UnsupportedOperation")
OVER_LIMIT = ("OverLimit", "OverLimit")
STATUSES = {NO_RESOURCE: 404, BAD_HANDLE: 404, OVER_LIMIT: 403}
NOT_IN_XML = ("was found in the message body, the set of allowed characters is #x9 | #xA | #xD | "
              "#x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
NAME_RULE = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
ID_RULE = ("A batch entry id can only contain alphanumeric characters, hyphens and underscores. It "
           "can be at most 80 letters long.")
NOT_FOR_KIND = "The request include parameter that is not valid for this queue type."
NO_DEDUPLICATION = ("The queue should either have ContentBasedDeduplication enabled or "
                    "MessageDeduplicationId provided explicitly")
ONE_ENCRYPTION = ("You can use one type of server-side encryption (SSE) at one time. You can "
                  "either enable KMS SSE or SQS SSE.")
ALLOW_FORMAT = ("Invalid value for the parameter RedriveAllowPolicy. Reason: Amazon SQS can't "
                "create the redrive allow policy, as it’s in an unsupported format.")


def missing(name):
    return f"The request must contain the parameter {name}."


def invalid_value(name):
    return f"Invalid value for the parameter {name}."


def bad_parameter(value, name, reason):
    return f"Value {value} for parameter {name} is invalid. Reason: {reason}"


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="canopy-errors-")
        cls.addClassCleanup(folder.cleanup)
        queues = ("q", "q.fifo", "other", "dead", "dead.fifo", "small MaximumMessageSize=1024",
                  "source RedrivePolicy=" + json.dumps(cls.redrive("dead", 5),
                                                       separators=(",", ":")))
        arguments = [word for queue in queues for word in ("--queue", queue)]
        cls.daemon = Daemon(folder.name, *arguments, data=False)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.close)
        cls.protocols = (Json(cls.daemon.port), Query(cls.daemon.port))

    @staticmethod
    def redrive(queue, receives):
        return {"deadLetterTargetArn": ARN + queue, "maxReceiveCount": receives}

    def refuses(self, expected, message, action, protocols=None, **members):
        """By each protocol; a message of None is not looked at."""
        code, kind = expected
        for protocol in protocols or self.protocols:
            with self.subTest(protocol=protocol.name, action=action, members=members):
                answer = protocol.ask(action, **members)
                self.assertEqual((answer.code, answer.status),
                                 (code, STATUSES.get(expected, 400)), answer.text)
                self.assertEqual(answer.fault, "Sender")
                if protocol.name == "json":
                    self.assertEqual(answer.type, f"com.amazonaws.sqs#{kind}")
                if message is not None:
                    self.assertEqual(answer.message, message)

    def on(self, queue, expected, message, action, **members):
        self.refuses(expected, message, action, QueueUrl=url_of(queue), **members)

    def send(self, expected, message, queue="q", **members):
        self.on(queue, expected, message, "SendMessage", **({"MessageBody": "m"} | members))

    def batch(self, expected, message, action="SendMessageBatch", queue="q", entries=()):
        self.on(queue, expected, message, action, Entries=list(entries))

    def create(self, expected, message, name="new", **attributes):
        self.refuses(expected, message, "CreateQueue", QueueName=name, Attributes=attributes)

    def set(self, expected, message, queue="q", **attributes):
        self.on(queue, expected, message, "SetQueueAttributes", Attributes=attributes)

    def failed(self, queue, action, *entries):
        """(code, message) of each entry that failed, the same by each protocol."""
        answers = []
        for protocol in self.protocols:
            answer = protocol.ask(action, QueueUrl=url_of(queue), Entries=list(entries))
            self.assertEqual(answer.status, 200, answer.text)
            answers.append(failures_of(answer))
        self.assertEqual(*answers)
        return answers[0]

    # --- Queues. ---

    def test_queues_that_are_not_there(self):
        for action, members in (
                ("DeleteQueue", {}), ("PurgeQueue", {}), ("ListQueueTags", {}),
                ("GetQueueAttributes", {"AttributeNames": ["All"]}),
                ("SetQueueAttributes", {"Attributes": {"DelaySeconds": "1"}}),
                ("SendMessage", {"MessageBody": "m"}), ("ReceiveMessage", {}),
                ("DeleteMessage", {"ReceiptHandle": "h"}), ("TagQueue", {"Tags": {"a": "b"}}),
                ("ChangeMessageVisibility", {"ReceiptHandle": "h", "VisibilityTimeout": 1}),
                ("DeleteMessageBatch", {"Entries": [{"Id": "1", "ReceiptHandle": "h"}]}),
                ("ListDeadLetterSourceQueues", {}), ("RemovePermission", {"Label": "l"})):
            self.on("none", NO_QUEUE, None, action, **members)
        json_protocol, query = self.protocols
        self.refuses(NO_QUEUE, "The specified queue does not exist.", "GetQueueUrl",
                     [json_protocol], QueueName="none")
        self.refuses(NO_QUEUE, "The specified queue does not exist for this wsdl version.",
                     "GetQueueUrl", [query], QueueName="none")
        self.refuses(NO_QUEUE, None, "GetQueueUrl", QueueName="q",
                     QueueOwnerAWSAccountId="999988887777")

    def test_names_of_queues(self):
        for name in ("a b", "a/b", "é", "a.b", "x" * 81, "a.fifo"):
            self.create(INVALID, NAME_RULE, name)
        for name in ("a", "a.fif", ".fifo", "x" * 76 + ".fifo"):
            self.create(INVALID, "The name of a FIFO queue can only include alphanumeric "
                        "characters, hyphens, or underscores, must end with .fifo suffix and be 1 "
                        "to 80 in length.", name, FifoQueue="true")
        self.create(INVALID, "Queue name cannot be empty", "")
        unnamed = "Value for parameter QueueName is invalid. Reason: Must specify a queue name."
        self.refuses(INVALID, unnamed, "CreateQueue")
        self.refuses(INVALID, unnamed, "GetQueueUrl")
        self.refuses(INVALID, unnamed, "GetQueueUrl", QueueName="")

    def test_a_queue_that_is_there_with_another_attribute(self):
        self.create(("QueueAlreadyExists", "QueueNameExists"), "A queue already exists with the "
                    "same name and a different value for attribute VisibilityTimeout", "q",
                    VisibilityTimeout="31")

    def test_addresses_of_queues(self):
        self.refuses(MISSING, missing("QueueUrl"), "PurgeQueue")
        json_protocol, query = self.protocols
        for protocol in (json_protocol, query):
            answer = protocol.ask("PurgeQueue", QueueUrl="http://localhost/a/b/c")
            self.assertEqual((answer.status, answer.code), (404, "InvalidAddress"))
            self.assertEqual(answer.message,
                             "The address http://localhost/a/b/c is not valid for this endpoint.")

    def test_values_of_attributes(self):
        for name, values in {
                "DelaySeconds": ("-1", "901", "5.5", " 6", "", "x"),
                "MaximumMessageSize": ("1023", "1048577"),
                "MessageRetentionPeriod": ("59", "1209601"),
                "ReceiveMessageWaitTimeSeconds": ("-1", "21"),
                "VisibilityTimeout": ("-1", "43201"), "SqsManagedSseEnabled": ("yes",),
                "KmsDataKeyReusePeriodSeconds": ("59", "86401"), "Policy": ("{", "[]")}.items():
            for value in values:
                self.create(ATTRIBUTE_VALUE, invalid_value(name), **{name: value})
                self.set(ATTRIBUTE_VALUE, invalid_value(name), **{name: value})

    def test_names_of_attributes(self):
        for name in ("Foo", "QueueArn", "CreatedTimestamp", "ContentBasedDeduplication"):
            self.create(ATTRIBUTE_NAME, f"Unknown Attribute {name}.", **{name: "true"})
            self.set(ATTRIBUTE_NAME, f"Unknown Attribute {name}.", **{name: "true"})
        self.create(ATTRIBUTE_NAME, "Unknown Attribute FifoQueue.", FifoQueue="false")
        self.set(ATTRIBUTE_NAME, "Unknown Attribute FifoQueue.", FifoQueue="true")
        for name in ("DeduplicationScope", "FifoThroughputLimit"):
            self.set(ATTRIBUTE_NAME, f"You can specify the {name} only when FifoQueue is set to "
                     "true.", **{name: "perQueue"})
        self.on("q", ATTRIBUTE_NAME, "Unknown Attribute Foo.", "GetQueueAttributes",
                AttributeNames=["QueueArn", "Foo"])
        self.on("q", MISSING, missing("Attribute.Name"), "SetQueueAttributes")

    def test_attributes_that_exclude_each_other(self):
        self.set(ATTRIBUTE_NAME, ONE_ENCRYPTION, KmsMasterKeyId="k", SqsManagedSseEnabled="true")
        self.create(ATTRIBUTE_NAME, ONE_ENCRYPTION, KmsMasterKeyId="k",
                    SqsManagedSseEnabled="true")
        self.set(ATTRIBUTE_VALUE, invalid_value("FifoThroughputLimit") + " Reason: To set "
                 "FifoThroughputLimit to perMessageGroupId, the DeduplicationScope must be "
                 "messageGroup.", "q.fifo", FifoThroughputLimit="perMessageGroupId")
        self.set(ATTRIBUTE_VALUE, invalid_value("FifoQueue") + " Reason: Modifying queue type is "
                 "not supported.", "q.fifo", FifoQueue="false")
        self.set(ATTRIBUTE_VALUE, invalid_value("DeduplicationScope"), "q.fifo",
                 DeduplicationScope="all")

    def test_redrive_policies(self):
        for policy in ("no", " ", "[]", "4"):
            self.set(ATTRIBUTE_VALUE, invalid_value("RedrivePolicy") + " Reason: Redrive policy is "
                     "not a valid JSON map.", RedrivePolicy=policy)
        for policy, reason in (
                ({}, "Redrive policy does not contain mandatory attribute: maxReceiveCount."),
                ({"maxReceiveCount": 5},
                 "Redrive policy does not contain mandatory attribute: deadLetterTargetArn."),
                (self.redrive("dead", 0),
                 "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both "
                 "inclusive."),
                (self.redrive("dead", 1001),
                 "Invalid value for maxReceiveCount: 1001, valid values are from 1 to 1000 both "
                 "inclusive."),
                ({"deadLetterTargetArn": "dummy", "maxReceiveCount": 42},
                 "Invalid value for deadLetterTargetArn."),
                ({"deadLetterTargetArn": f"arn:aws:sns:us-east-1:{ACCOUNT}:t",
                  "maxReceiveCount": 42},
                 "Only SQS queues are valid resources for deadLetterTargetArn."),
                (self.redrive("none", 5), "Dead letter target does not exist."),
                (self.redrive("none.fifo", 5),
                 "Dead-letter queue must be same type of queue as the source."),
                (self.redrive("dead", 5) | {"more": 1}, "Only following attributes are supported: "
                 "[maxReceiveCount, deadLetterTargetArn].")):
            document = json.dumps(policy)
            self.set(INVALID, bad_parameter(document, "RedrivePolicy", reason),
                     RedrivePolicy=document)

    def test_redrive_allow_policies(self):
        for policy in ("no", "[]", "{}", '{"redrivePermission":"some"}',
                       '{"redrivePermission":"allowAll","more":1}',
                       '{"redrivePermission":"byQueue","sourceQueueArns":"a"}'):
            self.set(ATTRIBUTE_VALUE, ALLOW_FORMAT, RedriveAllowPolicy=policy)
        arns = [f"{ARN}{number}" for number in range(11)]
        for policy, reason in (
                ({"redrivePermission": "byQueue"}, "When you specify the byQueue permission type, "
                 "you must also specify one or more sourceQueueArns values."),
                ({"redrivePermission": "byQueue", "sourceQueueArns": arns},
                 "The maximum number of source queue ARNs you can specify is 10."),
                ({"redrivePermission": "denyAll", "sourceQueueArns": arns[:1]}, "To specify one or "
                 "more source queue ARNs, you must set redrivePermission to byQueue.")):
            document = json.dumps(policy)
            reason = f"Amazon SQS can't create the redrive allow policy. {reason}"
            self.set(INVALID, bad_parameter(document, "RedriveAllowPolicy", reason),
                     RedriveAllowPolicy=document)

    def test_tags(self):
        self.on("q", MISSING, missing("Tags"), "TagQueue")
        self.on("q", INVALID, "Tag keys must be between 1 and 128 characters in length.",
                "UntagQueue")
        self.on("q", INVALID, "Too many tags added for queue q.", "TagQueue",
                Tags={str(number): "" for number in range(51)})

    def test_permissions(self):
        def add(expected, message, label="l", accounts=(ACCOUNT,), actions=("SendMessage",)):
            self.on("q", expected, message, "AddPermission", Label=label,
                    AWSAccountIds=list(accounts), Actions=list(actions))

        add(MISSING, missing("Label"), label="")
        add(INVALID, bad_parameter("[]", "PrincipalId", "Unable to verify."), accounts=())
        add(MISSING, missing("Actions"), actions=())
        add(INVALID, bad_parameter("SQS:CreateQueue", "ActionName", "Only the queue owner is "
                                   "allowed to invoke this action."), actions=["CreateQueue"])
        add(INVALID, bad_parameter("SQS:Dance", "ActionName", "Please refer to the appropriate "
                                   "WSDL for a list of valid actions."), actions=["Dance"])
        add(INVALID, bad_parameter("12", "PrincipalId", "Unable to verify."), accounts=["12"])
        self.on("q", INVALID, bad_parameter("none", "Label", "can't find label."),
                "RemovePermission", Label="none")

    def test_lists_of_queues(self):
        out_of_range = ("Value for parameter MaxResults is invalid. Reason: MaxResults must be an "
                        "integer between 1 and 1000.")
        for value in (-1, 1001):
            self.refuses(INVALID, out_of_range, "ListQueues", MaxResults=value)
            self.on("dead", INVALID, out_of_range, "ListDeadLetterSourceQueues", MaxResults=value)
        expired = "Invalid or expired next token."
        self.refuses(INVALID, expired, "ListQueues", MaxResults=1, NextToken="invalid token")
        self.on("dead", INVALID, expired, "ListDeadLetterSourceQueues", NextToken="q")

    def test_a_purge_too_many(self):
        for protocol, queue in zip(self.protocols, ("other", "small")):
            self.assertEqual(protocol.ask("PurgeQueue", QueueUrl=url_of(queue)).status, 200)
            answer = protocol.ask("PurgeQueue", QueueUrl=url_of(queue))
            self.assertEqual((answer.status, answer.code, answer.message), (
                403, QUERY + "PurgeQueueInProgress",
                f"Only one PurgeQueue operation on {queue} is allowed every 60 seconds."))

    # --- Messages. ---

    def test_bodies(self):
        self.on("q", MISSING, missing("MessageBody"), "SendMessage")
        self.send(MISSING, missing("MessageBody"), MessageBody="")
        self.send(CONTENTS, f"Invalid binary character '#x0' {NOT_IN_XML}", MessageBody="a\0b")
        self.send(CONTENTS, f"Invalid binary character '#xFFFF' {NOT_IN_XML}",
                  MessageBody="a\uffffb")
        too_long = "One or more parameters are invalid. Reason: Message must be shorter than {} " \
                   "bytes."
        self.send(INVALID, too_long.format(1_048_576), MessageBody="x" * 1_048_577)
        self.send(INVALID, too_long.format(1024), "small", MessageBody="é" * 512 + "x")
        self.send(INVALID, too_long.format(1024), "small", MessageBody="x" * 1017,
                  MessageAttributes={"a": text("b")})

    def test_delays_and_groups(self):
        for delay in (-1, 901):
            self.send(INVALID, bad_parameter(delay, "DelaySeconds", "DelaySeconds must be >= 0 and "
                                             "<= 900."), DelaySeconds=delay)
        self.send(INVALID, bad_parameter("d", "MessageDeduplicationId", NOT_FOR_KIND),
                  MessageDeduplicationId="d")
        self.send(MISSING, missing("MessageGroupId"), "q.fifo", MessageDeduplicationId="d")
        self.send(INVALID, NO_DEDUPLICATION, "q.fifo", MessageGroupId="g")
        self.send(INVALID, bad_parameter(2, "DelaySeconds", NOT_FOR_KIND), "q.fifo",
                  MessageGroupId="g", MessageDeduplicationId="d", DelaySeconds=2)
        rule = "{} can only include alphanumeric and punctuation characters. 1 to 128 in length."
        for name in ("MessageGroupId", "MessageDeduplicationId"):
            for value in ("a b", "x" * 129):
                ids = {"MessageGroupId": "g", "MessageDeduplicationId": "d", name: value}
                self.send(INVALID, bad_parameter(value, name, rule.format(name)), "q.fifo", **ids)

    def test_attributes_of_messages(self):
        reserved = ("You can't use message attribute names beginning with 'AWS.' or 'Amazon'. "
                    "These strings are reserved for internal use.")
        unknown_type = ("The type of message (user) attribute 'a' is invalid. You must use only "
                        "the following supported type prefixes: Binary, Number, String.")
        for attributes, message in (
                ({"a": text("")}, "Message (user) attribute 'a' must contain a non-empty value of "
                 "type 'String'."),
                ({"a": {"DataType": "Binary"}}, "Message (user) attribute 'a' must contain a "
                 "non-empty value of type 'Binary'."),
                ({"a": text("x", "Strin")}, unknown_type),
                ({"a": text("x", "Stringy")}, unknown_type),
                ({"a": text("12a", "Number")},
                 "Can't cast the value of message (user) attribute 'a' to a number."),
                ({"a": text("x", "")}, "The message (user) attribute 'a' must contain a non-empty "
                 "message attribute type."),
                ({"a": text("x", "String." + "x" * 250)},
                 "Message (user) attribute type must be shorter than 256 bytes."),
                ({"x" * 257: text()},
                 "Message (user) attribute name must be shorter than 256 bytes."),
                ({"": text()},
                 "The request must contain non-empty message (user) attribute names."),
                ({"aWs.x": text()}, reserved), ({"AMAZON.x": text()}, reserved),
                ({str(number): text() for number in range(11)},
                 "Number of message attributes [11] exceeds the allowed maximum [10]."),
                ({"a": text("a\x08")}, None)):
            self.send(INVALID, message, MessageAttributes=attributes)
        for name in (".a", "a.", "a..b", "a b", "a!", 'a"', "a§", "a(", "a?"):
            self.send(INVALID, None, MessageAttributes={name: text()})
        self.send(INVALID, "Message system attribute name 'Hello' is invalid.",
                  MessageSystemAttributes={"Hello": text()})
        self.send(UNSUPPORTED, "Message attribute list values in SendMessage operation are not "
                  "supported.", MessageAttributes={
                      "a": {"DataType": "String", "StringListValues": ["b"]}})

    def test_receives(self):
        for name, value, reason in (
                ("MaxNumberOfMessages", 0, "Must be between 1 and 10, if provided."),
                ("MaxNumberOfMessages", 11, "Must be between 1 and 10, if provided."),
                ("WaitTimeSeconds", -1, "Must be >= 0 and <= 20, if provided."),
                ("WaitTimeSeconds", 21, "Must be >= 0 and <= 20, if provided."),
                ("VisibilityTimeout", -1, "Must be >= 0 and <= 43200, if provided."),
                ("VisibilityTimeout", 43201, "Must be >= 0 and <= 43200, if provided.")):
            self.on("q", INVALID, bad_parameter(value, name, reason), "ReceiveMessage",
                    **{name: value})

    def test_handles(self):
        garbage = 'The input receipt handle "garbage" is not a valid receipt handle.'
        self.on("q", BAD_HANDLE, garbage, "DeleteMessage", ReceiptHandle="garbage")
        self.on("q", BAD_HANDLE, garbage, "ChangeMessageVisibility", ReceiptHandle="garbage",
                VisibilityTimeout=1)
        self.on("q", MISSING, missing("ReceiptHandle"), "DeleteMessage")
        self.on("q", MISSING, missing("ReceiptHandle"), "ChangeMessageVisibility",
                VisibilityTimeout=1)
        self.on("q", MISSING, missing("VisibilityTimeout"), "ChangeMessageVisibility",
                ReceiptHandle="garbage")
        for value in (-1, 43201):
            self.on("q", INVALID, bad_parameter(value, "VisibilityTimeout", "VisibilityTimeout "
                                                "must be an integer between 0 and 43200."),
                    "ChangeMessageVisibility", ReceiptHandle="garbage", VisibilityTimeout=value)

    # --- Batches. ---

    def test_batches_as_a_whole(self):
        for action, more in (("SendMessageBatch", {"MessageBody": "m"}),
                             ("DeleteMessageBatch", {"ReceiptHandle": "h"}),
                             ("ChangeMessageVisibilityBatch",
                              {"ReceiptHandle": "h", "VisibilityTimeout": 1})):
            self.batch((QUERY + "EmptyBatchRequest", "EmptyBatchRequest"),
                       f"There should be at least one {action}RequestEntry in the request.", action)
            self.batch((QUERY + "TooManyEntriesInBatchRequest", "TooManyEntriesInBatchRequest"),
                       "Maximum number of entries per request are 10. You have sent 11.", action,
                       entries=[{"Id": str(number), **more} for number in range(11)])
            self.batch((QUERY + "BatchEntryIdsNotDistinct", "BatchEntryIdsNotDistinct"),
                       "Id same repeated.", action, entries=[{"Id": "same", **more}] * 2)
            for entry_id in ("", " ", "a:b", "é", "x" * 81):
                self.batch((QUERY + "InvalidBatchEntryId", "InvalidBatchEntryId"), ID_RULE, action,
                           entries=[{"Id": entry_id, **more}])
            self.batch(MISSING, missing(f"{action}RequestEntry.2.Id"), action,
                       entries=[{"Id": "1", **more}, more])
        half = {"MessageBody": "x" * 524_288}
        self.batch((QUERY + "BatchRequestTooLong", "BatchRequestTooLong"), "Batch requests cannot "
                   "be longer than 1048576 bytes. You have sent 1048577 bytes.", entries=[
                       {"Id": "1", **half}, {"Id": "2", **half}, {"Id": "3", "MessageBody": "x"}])

    def test_entries_of_a_batch(self):
        fine = {"Id": "fine", "MessageBody": "m"}
        self.assertEqual(self.failed("q", "SendMessageBatch", fine, {"Id": "1"},
                                     {"Id": "2", "MessageBody": ""},
                                     {"Id": "3", "MessageBody": "a\x0b"},
                                     {"Id": "4", "MessageBody": "m", "DelaySeconds": 901}), [
            ("1", MISSING[0], missing("SendMessageBatchRequestEntry.2.MessageBody")),
            ("2", MISSING[0], missing("SendMessageBatchRequestEntry.3.MessageBody")),
            ("3", CONTENTS[0], f"Invalid binary character '#xB' {NOT_IN_XML}"),
            ("4", INVALID[0], bad_parameter(901, "DelaySeconds",
                                            "DelaySeconds must be >= 0 and <= 900."))])
        self.assertEqual(self.failed("small", "SendMessageBatch",
                                     {"Id": "1", "MessageBody": "x" * 1025}), [
            ("1", INVALID[0], "One or more parameters cannot be validated. Reason: Message must "
             "be shorter than 1024 bytes.")])
        self.assertEqual(self.failed("q", "DeleteMessageBatch", {"Id": "1"},
                                     {"Id": "2", "ReceiptHandle": "garbage"}), [
            ("1", MISSING[0], missing("ReceiptHandle")),
            ("2", BAD_HANDLE[0],
             'The input receipt handle "garbage" is not a valid receipt handle.')])
        self.assertEqual(self.failed(
            "q", "ChangeMessageVisibilityBatch", {"Id": "1", "VisibilityTimeout": 1},
            {"Id": "2", "ReceiptHandle": "garbage"},
            {"Id": "3", "ReceiptHandle": "garbage", "VisibilityTimeout": -85}), [
            ("1", MISSING[0], missing("ReceiptHandle")),
            ("2", MISSING[0],
             missing("ChangeMessageVisibilityBatchRequestEntry.2.VisibilityTimeout")),
            ("3", INVALID[0], bad_parameter(-85, "VisibilityTimeout", "VisibilityTimeout must be "
                                            "an integer between 0 and 43200."))])

    def test_a_batch_of_a_fifo_queue_is_refused_as_a_whole(self):
        fine = {"Id": "1", "MessageBody": "m", "MessageGroupId": "g",
                "MessageDeduplicationId": "whole"}
        for wrong, message in (
                ({"MessageGroupId": None}, missing("MessageGroupId")),
                ({"MessageDeduplicationId": None}, NO_DEDUPLICATION),
                ({"DelaySeconds": 3}, bad_parameter(3, "DelaySeconds", NOT_FOR_KIND))):
            self.batch(INVALID, message, queue="q.fifo", entries=[fine, fine | {"Id": "2"} | wrong])
        count, = Json(self.daemon.port).ask(
            "GetQueueAttributes", QueueUrl=url_of("q.fifo"),
            AttributeNames=["ApproximateNumberOfMessages"]).result["Attributes"].values()
        self.assertEqual(count, "0")

    # --- Dead letters. ---

    def test_move_tasks(self):
        def start(expected, message, **members):
            self.refuses(expected, message, "StartMessageMoveTask", **members)

        form = "You must use this format to specify the {}: " \
               "arn:<partition>:<service>:<region>:<account-id>:<resource-id>"
        gone = "The resource that you specified for the {} parameter doesn't exist."
        start(MISSING, missing("SourceArn"))
        start(INVALID, form.format("SourceArn"), SourceArn="dead")
        start(NO_RESOURCE, gone.format("SourceArn"), SourceArn=ARN + "none")
        start(INVALID, "Source queue must be configured as a Dead Letter Queue.",
              SourceArn=ARN + "q")
        dead = {"SourceArn": ARN + "dead"}
        start(INVALID, form.format("DestinationArn"), DestinationArn="q", **dead)
        start(NO_RESOURCE, gone.format("DestinationArn"), DestinationArn=ARN + "none", **dead)
        start(INVALID, "Source queue arn and destination queue arn cannot be the same.",
              DestinationArn=ARN + "dead", **dead)
        start(INVALID, "The source queue and destination queue must be of the same queue type.",
              DestinationArn=ARN + "q.fifo", **dead)
        for rate in (0, 501):
            start(INVALID, "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: "
                  "You must enter a number that's between 1 and 500.",
                  MaxNumberOfMessagesPerSecond=rate, **dead)
        self.refuses(INVALID, "Value for parameter TaskHandle is invalid.",
                     "CancelMessageMoveTask", TaskHandle="garbage")
        self.refuses(MISSING, missing("TaskHandle"), "CancelMessageMoveTask")
        for queue, message in (("none", gone.format("SourceArn")),
                               ("dead", "Task does not exist.")):
            handle = json.dumps({"taskId": str(uuid.uuid4()), "sourceArn": ARN + queue})
            self.refuses(NO_RESOURCE, message, "CancelMessageMoveTask",
                         TaskHandle=base64.b64encode(handle.encode()).decode())
        self.refuses(NO_RESOURCE, gone.format("SourceArn"), "ListMessageMoveTasks",
                     SourceArn=ARN + "none")

    def test_a_second_move_task(self):
        json_protocol, query = self.protocols
        for number in range(3):
            json_protocol.ask("SendMessage", QueueUrl=url_of("dead"), MessageBody=str(number))
        task = {"SourceArn": ARN + "dead", "DestinationArn": ARN + "q",
                "MaxNumberOfMessagesPerSecond": 1}
        handle = json_protocol.ask("StartMessageMoveTask", **task).result["TaskHandle"]
        self.refuses(INVALID, "There is already a task running. Only one active task is allowed "
                     "for a source queue arn at a given time.", "StartMessageMoveTask", **task)
        self.assertEqual(query.ask("CancelMessageMoveTask", TaskHandle=handle).status, 200)


def failures_of(answer):
    """(id, code, message) of the entries of a batch that failed, from either protocol."""
    if isinstance(answer.result, dict):
        return [(entry["Id"], entry["Code"], entry["Message"])
                for entry in answer.result.get("Failed", [])]
    entries = [element for element in answer.result.iter()
               if element.tag.endswith("}BatchResultErrorEntry")]
    fields = [{child.tag.split("}")[1]: child.text for child in entry} for entry in entries]
    return [(entry["Id"], entry["Code"], entry["Message"]) for entry in fields]


if __name__ == "__main__":
    unittest.main()
