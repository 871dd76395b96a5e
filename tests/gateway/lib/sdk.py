"""boto3 as clients use it: by the protocol that it speaks, and by the one of its predecessors.

A test that imports this is skipped where boto3 is not installed.
"""

import contextlib
import datetime
import os
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

from gateway_server import DEADLINE_S

try:
    import boto3
    import botocore
    import botocore.auth
    import botocore.awsrequest
    import botocore.config
    import botocore.credentials
    import botocore.exceptions
except ImportError:
    print("skipped: boto3 is not installed")
    sys.exit(77)

# Descriptions of SQS by the query protocol, as botocore had them until 1.31.80.
QUERY_MODELS = [os.environ.get("CANOPY_QUERY_MODELS", ""),
                "/usr/lib/python3/dist-packages/botocore/data"]

REGION = "eu-west-1"
KEY, SECRET, ACCOUNT = "AKIDALICE", "alice's secret/+", "111122223333"
OTHER_KEY, OTHER_ACCOUNT = "AKIDBOB", "444455556666"
BODIES = ["plain", "zażółć 🎈", "\r\n\ttabs", "&quot;<a>]]>", "{\"a\": \"\\u0000\"}", " "]


def client_of(url, key, secret, service="sqs", session=None, **more):
    config = botocore.config.Config(retries={"max_attempts": 0}, read_timeout=DEADLINE_S)
    return (session or boto3.Session()).client(
        service, endpoint_url=url, region_name=REGION, aws_access_key_id=key,
        aws_secret_access_key=secret, config=config, **more)


def error_of(call, **arguments):
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        return error.response
    raise AssertionError("no error")


def protocol_of(client):
    return client.meta.service_model.metadata["protocol"]


def query_models(folder):
    """A folder with the query protocol's description of SQS; skips the tests without one."""
    model = next((path for base in QUERY_MODELS if base
                  for path in pathlib.Path(base).glob("sqs/2012-11-05/service-2.json*")), None)
    if model is None:
        raise unittest.SkipTest("python3-botocore, which describes the query protocol, "
                                "is not installed")
    target = folder / "models" / "sqs" / "2012-11-05"
    target.mkdir(parents=True)
    shutil.copy(model, target)
    return target.parent.parent


def query_session(models):
    """A session whose clients speak the query protocol."""
    with mock.patch.dict(os.environ, {"AWS_DATA_PATH": str(models)}):
        session = boto3.Session()
        # The search path is read when the first description is.
        session.client("sqs", region_name=REGION, aws_access_key_id="x",
                       aws_secret_access_key="x")
    return session


@contextlib.contextmanager
def signing_at(offset_s):
    """Within it botocore signs as if it were so many seconds later."""
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    moment = now + datetime.timedelta(seconds=offset_s)
    if hasattr(botocore.auth, "get_current_datetime"):
        patch = mock.patch("botocore.auth.get_current_datetime", lambda *_, **__: moment)
    else:  # until botocore 1.40
        clock = types.SimpleNamespace(datetime=types.SimpleNamespace(
            utcnow=lambda: moment, strptime=datetime.datetime.strptime))
        patch = mock.patch("botocore.auth.datetime", clock)
    with patch:
        yield


class Signed(unittest.TestCase):
    """A server that verifies signatures and knows the keys of alice and bob.

    A subclass has serve(folder, keys): what it returns has a url, and a close() for the end.
    """

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="canopy-clients-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        keys = cls.folder / "keys"
        keys.write_text("".join(
            f"[{name}]\naws_access_key_id = {key}\naws_secret_access_key = {SECRET}\n"
            f"account = {account}\nuser = {name}\n"
            for name, key, account in (("alice", KEY, ACCOUNT), ("bob", OTHER_KEY, OTHER_ACCOUNT))),
            encoding="utf-8")
        cls.server = cls.serve(cls.folder, keys)
        cls.addClassCleanup(cls.server.close)

    def client(self, service="sqs", key=KEY, secret=SECRET, **more):
        return client_of(self.server.url, key, secret, service, self.session, **more)


class Installed:
    """Clients of the installed boto3, by the protocol that it speaks."""

    def setUp(self):
        self.session = boto3.Session()
        self.sqs = self.client()


class Query:
    """Clients of the installed boto3, made to speak the query protocol."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.models = query_models(cls.folder)

    def setUp(self):
        self.session = query_session(self.models)
        self.sqs = self.client()
        self.assertEqual(protocol_of(self.sqs), "query")
