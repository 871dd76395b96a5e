#!/usr/bin/env python3
"""Debian's awscli, of which Debian 12's speaks the query protocol, against canopyd's gateway."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import skipping  # noqa: E402
from cli_cases import CliCases  # noqa: E402

PROGRAM = "/usr/bin/aws"


@unittest.skipIf(not pathlib.Path(PROGRAM).exists(), "awscli is not installed")
class Debians(CliCases, unittest.TestCase):
    program = PROGRAM


if __name__ == "__main__":
    skipping.run()
