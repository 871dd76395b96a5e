"""The simulator gives the same trace from the same seed: twice, and when another compiler built it.

CANOPY_OTHER_SIM names the other compiler's canopy-sim (scripts/test builds it); without it only
the repetition is tested.
"""

import json
import os
import pathlib
import subprocess
import unittest

SIM = pathlib.Path(os.environ["CANOPY_BIN_DIR"]) / "canopy-sim"
OTHER_SIM = os.environ.get("CANOPY_OTHER_SIM")

RINGS = [(seed, nodes) for seed in (1, 2) for nodes in (50, 400)]


def trace_hash(program, seed, nodes):
    result = subprocess.run(
        [program, "ring", "--nodes", str(nodes), "--seed", str(seed), "--json"],
        capture_output=True, text=True, timeout=300, check=True)
    return json.loads(result.stdout)["trace_hash"]


class TraceHashTest(unittest.TestCase):
    def test_is_the_same_twice(self):
        for seed, nodes in RINGS:
            with self.subTest(seed=seed, nodes=nodes):
                self.assertEqual(trace_hash(SIM, seed, nodes), trace_hash(SIM, seed, nodes))

    def test_differs_between_seeds(self):
        self.assertNotEqual(trace_hash(SIM, 1, 50), trace_hash(SIM, 2, 50))

    @unittest.skipUnless(OTHER_SIM, "CANOPY_OTHER_SIM is not set")
    def test_is_the_same_across_compilers(self):
        for seed, nodes in RINGS:
            with self.subTest(seed=seed, nodes=nodes):
                self.assertEqual(trace_hash(SIM, seed, nodes), trace_hash(OTHER_SIM, seed, nodes))


if __name__ == "__main__":
    unittest.main()
