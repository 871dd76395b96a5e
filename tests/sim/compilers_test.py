"""The simulator gives the same trace from the same seed whichever compiler built it.

CANOPY_OTHER_SIM names another compiler's canopy-sim, which scripts/test builds; without it there is
nothing to compare with.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

SIM = pathlib.Path(os.environ["CANOPY_BIN_DIR"]) / "canopy-sim"
OTHER_SIM = os.environ.get("CANOPY_OTHER_SIM")
SKIPPED = 77


def trace_hash(program, seed, nodes):
    result = subprocess.run(
        [program, "ring", "--nodes", str(nodes), "--seed", str(seed), "--json"],
        capture_output=True, text=True, timeout=300, check=True)
    return json.loads(result.stdout)["trace_hash"]


class TraceHashTest(unittest.TestCase):
    def test_is_the_same_across_compilers(self):
        for seed, nodes in ((1, 50), (2, 50), (3, 400)):
            with self.subTest(seed=seed, nodes=nodes):
                self.assertEqual(trace_hash(SIM, seed, nodes), trace_hash(OTHER_SIM, seed, nodes))


if __name__ == "__main__":
    if not OTHER_SIM:
        sys.exit(SKIPPED)
    unittest.main()
