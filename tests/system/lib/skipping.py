"""Runs the tests of a program some of which need what may not be there."""

import sys
import unittest


def run():
    """unittest.main() that says what was skipped, and is a skip itself if everything was."""
    result = unittest.main(module="__main__", exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {reason} ({test})")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun <= len(result.skipped) else 0)
