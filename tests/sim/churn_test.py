#!/usr/bin/env python3
"""canopy-sim churn: what it measures, that it repeats, and what it prints."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
KEYS = ["lookups", "lost", "lost_share", "incorrect", "incorrect_share", "delay_stretch",
        "prompt_delay_stretch", "waited", "control_per_node_per_second", "control_by_kind",
        "repair_seconds_p99", "live_nodes_mean", "trace_hash"]
SMALL = ["--nodes", 100, "--session", "1h", "--hours", 0.5, "--lookups", 0.1]


def churn(*arguments):
    return subprocess.run([str(BIN / "canopy-sim"), "churn", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, check=False)


def churn_json(*arguments):
    result = churn("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Churn(unittest.TestCase):
    def test_nodes_come_and_go_and_the_ring_goes_on(self):
        report = churn_json(*SMALL)
        self.assertLessEqual(set(KEYS), set(report))
        self.assertTrue(20 < report["arrivals"] < 100, report["arrivals"])
        self.assertTrue(20 < report["failures"] < 100, report["failures"])
        self.assertTrue(70 < report["live_nodes_mean"] < 130, report["live_nodes_mean"])
        self.assertTrue(14_000 < report["lookups"] < 22_000, report["lookups"])
        self.assertLess(report["lost_share"], 0.005)
        self.assertLess(report["incorrect_share"], 0.005)
        self.assertGreater(report["prompt_delay_stretch"], 1)
        self.assertGreater(report["delay_stretch"], report["prompt_delay_stretch"])
        self.assertLess(report["waited"], report["lookups"] / 20)
        self.assertAlmostEqual(sum(report["control_by_kind"].values()),
                               report["control_per_node_per_second"], places=3)
        self.assertGreater(report["repair_seconds_p99"], 0)

    def test_the_same_seed_gives_the_same_run_and_another_seed_another(self):
        hashes = [churn_json(*SMALL, "--loss", 0.05, "--seed", seed)["trace_hash"]
                  for seed in (5, 5, 6)]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])

    def test_the_wire_format_changes_nothing(self):
        plain, encoded = (churn_json(*SMALL, *more)["trace_hash"] for more in ((), ("--encode",)))
        self.assertEqual(plain, encoded)

    def test_it_draws_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            plot = pathlib.Path(folder) / "churn.svg"
            table = churn(*SMALL, "--plot", plot)
            self.assertEqual(table.returncode, 0, table.stderr)
            self.assertIn("delivered wrongly", table.stdout)
            curves = xml.etree.ElementTree.parse(plot).iter("{http://www.w3.org/2000/svg}polyline")
            self.assertEqual(len(list(curves)), 4)
        result = churn(*SMALL, "--plot", "/nowhere/churn.svg")
        self.assertEqual((result.returncode, result.stdout), (2, ""), "not after the run")
        self.assertIn("/nowhere/churn.svg", result.stderr)

    def test_mistakes_in_the_command_line_are_refused(self):
        for wrong in ("", "5", "h", "-1h", "nanm", "0s", "1e9h", "5 m", "5d"):
            result = churn("--session", wrong)
            self.assertEqual(result.returncode, 2, wrong)
            self.assertIn("--session", result.stderr)


if __name__ == "__main__":
    unittest.main()
