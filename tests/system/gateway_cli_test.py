#!/usr/bin/env python3
"""The AWS CLI on the PATH against canopyd's gateway."""
import pathlib
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import skipping  # noqa: E402
from cli_cases import CliCases  # noqa: E402

PROGRAM = shutil.which("aws")
DEBIANS = "/usr/bin/aws"


@unittest.skipIf(PROGRAM is None, "no aws is on the PATH")
@unittest.skipIf(PROGRAM == DEBIANS, "the aws on the PATH is Debian's")
class OnThePath(CliCases, unittest.TestCase):
    program = PROGRAM


if __name__ == "__main__":
    skipping.run()
