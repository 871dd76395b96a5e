#!/usr/bin/env python3
"""Random scenarios: the simulator prints what the oracle works out."""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import scenario_oracle

PROGRAM = os.path.join(os.environ["CANOPY_BIN_DIR"], "canopy-sim")
SEEDS = range(1, 121)


def same(got, expected):
    """Numbers within 0.1 %, `rejoins` and `children` as sets, the rest exactly."""
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(same(got[k], expected[k]) for k in expected)
    if isinstance(expected, float):
        return math.isclose(got, expected, rel_tol=1e-3, abs_tol=1e-6)
    return got == expected


class ScenarioOracle(unittest.TestCase):
    def test_random_scenarios_come_out_as_worked_out_from_global_knowledge(self):
        for seed in SEEDS:
            scenario = scenario_oracle.generate(seed)
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(scenario, file)
                file.flush()
                run = subprocess.run([PROGRAM, "scenario", file.name], capture_output=True,
                                     text=True, timeout=60, check=False)
            with self.subTest(seed=seed):
                self.assertEqual(run.returncode, 0, run.stderr)
                lines = run.stdout.splitlines()
                self.assertEqual(len(lines), len(scenario["steps"]))
                for number, expected in enumerate(scenario_oracle.Runner(scenario).run()):
                    got = json.loads(lines[number])
                    self.assertTrue(same(got, expected),
                                    f"step {number}:\n got      {got}\n expected {expected}")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
