#!/usr/bin/env python3
"""canopy-sim disaster: rings come right again, in time and without storms."""
import json
import os
import pathlib
import subprocess
import unittest

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])


def disaster(*arguments):
    return subprocess.run([str(BIN / "canopy-sim"), "disaster", *arguments], capture_output=True,
                          text=True, timeout=550, check=False)


class Disaster(unittest.TestCase):
    def measure(self, *arguments):
        result = disaster(*arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        figures = json.loads(result.stdout)
        self.assertTrue(figures["whole"])
        self.assertEqual(figures["last_reached"], figures["last_members"])
        return figures

    def test_half_of_all_die(self):
        for profile, keys_max, leaf_sets_max in (("lan", 10, 20), ("wan", 60, 120)):
            figures = self.measure("half", "--nodes", "300", "--groups", "10",
                                   "--profile", profile)
            self.assertLess(figures["nodes_after"], 200)
            self.assertLessEqual(figures["keys_served_after_seconds"], keys_max)
            self.assertLessEqual(figures["leaf_sets_exact_after_seconds"], leaf_sets_max)

    def test_neighbors_die(self):
        figures = self.measure("neighbors", "--nodes", "100", "--groups", "10")
        self.assertEqual(figures["nodes_after"], 93)
        self.assertLessEqual(figures["keys_served_after_seconds"], 10)

    def test_a_zone_dies(self):
        figures = self.measure("zone", "--nodes", "200", "--groups", "10", "--profile", "wan")
        self.assertLess(figures["nodes_after"], 200)
        self.assertLessEqual(figures["keys_served_after_seconds"], 60)

    def test_parts_of_a_ring_meet_again_with_their_groups(self):
        figures = self.measure("partition", "--nodes", "150", "--groups", "20", "--profile", "wan")
        self.assertTrue(figures["sides_consistent"])
        self.assertGreater(figures["gaps_told"], 0)
        self.assertLessEqual(figures["leaf_sets_exact_after_seconds"], 120)
        self.assertLessEqual(figures["members_reached_after_seconds"], 120)

    def test_rings_that_never_met_become_one_through_a_seed(self):
        figures = self.measure("strangers", "--nodes", "150", "--groups", "10", "--profile", "wan")
        self.assertLessEqual(figures["leaf_sets_exact_after_seconds"], 120)

    def test_a_crowd_joins(self):
        figures = self.measure("flash-crowd", "--nodes", "100", "--groups", "10")
        self.assertEqual(figures["nodes_after"], 200)

    def test_a_stuck_node_costs_no_memory(self):
        stuck, calm = (self.measure(what, "--nodes", "60", "--groups", "10", "--span", "10m")
                       for what in ("stuck", "calm"))
        # What waits for it in the simulated network is not the others'.
        self.assertLessEqual(stuck["heap_bytes_during"], 1.25 * calm["heap_bytes_during"])

    def test_the_same_seed_is_the_same_run(self):
        one, other = (self.measure("neighbors", "--nodes", "60", "--groups", "4", "--seed", "3")
                      for _ in range(2))
        self.assertEqual(one["trace_hash"], other["trace_hash"])

    def test_wrong_usage_is_refused(self):
        for arguments in (["flood"], ["half", "--nodes", "2"], ["half", "--profile", "moon"],
                          ["half", "--span", "1m"], []):
            self.assertEqual(disaster(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
