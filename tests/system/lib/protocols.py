"""Asks a gateway in raw AWS JSON and in the query protocol, where SDKs hide what matters.

Both take an action and its members as the JSON protocol names them.
"""

import base64
import dataclasses
import http.client
import json
import urllib.parse
import xml.etree.ElementTree as ElementTree

from gateway_daemon import ACCOUNT, DEADLINE_S

NAMESPACE = "http://queue.amazonaws.com/doc/2012-11-05/"
TARGET = "AmazonSQS."
ARN = f"arn:aws:sqs:us-east-1:{ACCOUNT}:"

# Lists and maps whose elements the query protocol calls otherwise than the member.
ELEMENTS = {
    "Attributes": "Attribute", "AttributeNames": "AttributeName", "Tags": "Tag", "tags": "Tag",
    "TagKeys": "TagKey", "MessageAttributes": "MessageAttribute",
    "MessageSystemAttributes": "MessageSystemAttribute",
    "MessageAttributeNames": "MessageAttributeName",
    "MessageSystemAttributeNames": "MessageSystemAttributeName",
    "AWSAccountIds": "AWSAccountId", "Actions": "ActionName",
    "StringListValues": "StringListValue", "BinaryListValues": "BinaryListValue"}
KEYS = {"Tag": "Key"}


@dataclasses.dataclass
class Answer:
    """What came: the error's fields are empty if it is none."""
    status: int
    headers: dict  # names in lower case
    text: str
    result: object = None  # parsed: a dict, or an Element
    code: str = ""  # as the query protocol calls it
    type: str = ""  # as JSON calls it; empty in the query protocol
    message: str = ""
    fault: str = ""  # Sender or Receiver


def text(value="x", kind="String"):
    """A message attribute."""
    return {"DataType": kind, "StringValue": value}


def exchange(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, fields, answer.read().decode())
    finally:
        connection.close()


class Json:
    name = "json"

    def __init__(self, port):
        self.port = port

    def ask(self, action, path="/", **members):
        answer = exchange(self.port, "POST", path, json.dumps(members, default=encoded), {
            "X-Amz-Target": TARGET + action, "Content-Type": "application/x-amz-json-1.0"})
        answer.result = json.loads(answer.text)
        if answer.status != 200:
            answer.type = answer.result["__type"]
            answer.message = answer.result.get("message", "")
            answer.code, answer.fault = answer.headers["x-amzn-query-error"].split(";")
        return answer


class Query:
    name = "query"

    def __init__(self, port):
        self.port = port

    def ask(self, action, path="/", **members):
        form = {"Action": action, "Version": "2012-11-05"} | dict(flattened(action, members))
        return self.ask_by(urllib.parse.urlencode(form), path)

    def ask_by(self, form, path="/"):
        answer = exchange(self.port, "POST", path, form, {
            "Content-Type": "application/x-www-form-urlencoded"})
        return parsed(answer)


def parsed(answer):
    """Of the query protocol."""
    answer.result = ElementTree.fromstring(answer.text)
    if answer.status != 200:
        error = answer.result.find(in_namespace("Error"))
        answer.code, answer.message, answer.fault = (
            error.findtext(in_namespace(name)) for name in ("Code", "Message", "Type"))
    return answer


def in_namespace(path):
    return "/".join(f"{{{NAMESPACE}}}{step}" for step in path.split("/"))


def encoded(value):
    return base64.b64encode(value).decode()


def flattened(action, value, prefix=""):
    """The parameters of the query protocol for members of the JSON protocol."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from flattened_member(action, name, member, prefix)
    elif value is not None:
        yield prefix, encoded(value) if isinstance(value, bytes) else value


def flattened_member(action, name, member, prefix):
    dot = f"{prefix}." if prefix else ""
    if name == "Entries":
        name = f"{action}RequestEntry"
    element = ELEMENTS.get(name, name)
    if isinstance(member, list):
        for number, item in enumerate(member, 1):
            yield from flattened(action, item, f"{dot}{element}.{number}")
    elif name in ELEMENTS:
        for number, (key, item) in enumerate(member.items(), 1):
            yield f"{dot}{element}.{number}.{KEYS.get(element, 'Name')}", key
            yield from flattened(action, item, f"{dot}{element}.{number}.Value")
    else:
        yield from flattened(action, member, f"{dot}{name}")
