"""boto3 as clients use it: by the protocol that it speaks, and by the one of its predecessors.

A test that imports this is skipped where boto3 is not installed.
"""

import os
import pathlib
import shutil
import sys
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


def client_of(url, key, secret, service="sqs", session=None, **more):
    config = botocore.config.Config(retries={"max_attempts": 0}, read_timeout=DEADLINE_S)
    return (session or boto3.Session()).client(
        service, endpoint_url=url, region_name="eu-west-1", aws_access_key_id=key,
        aws_secret_access_key=secret, config=config, **more)


def error_of(call, **arguments):
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        return error.response
    raise AssertionError("no error")


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
        session.client("sqs", region_name="eu-west-1", aws_access_key_id="x",
                       aws_secret_access_key="x")
    return session
