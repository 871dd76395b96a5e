#!/usr/bin/env python3
"""The boto3 of Debian 12, which speaks the query protocol to SQS, against canopyd's gateway."""
import os
import pathlib
import subprocess
import sys

PYTHON = "/usr/bin/python3"
CASES = pathlib.Path(__file__).resolve().parent / "gateway_clients_test.py"


def where_boto3_is(python):
    result = subprocess.run([python, "-c", "import boto3; print(boto3.__file__)"],
                            capture_output=True, text=True, timeout=60, check=False)
    return result.stdout.strip()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


if not pathlib.Path(PYTHON).exists() or not where_boto3_is(PYTHON):
    skip("python3-boto3 is not installed")
if where_boto3_is(PYTHON) == where_boto3_is(sys.executable):
    skip("python3-boto3 is what gateway_clients_test runs")
# That version leaves its connections to the garbage collector.
os.execv(PYTHON, [PYTHON, "-B", "-W", "ignore::ResourceWarning", str(CASES), "Installed"])
