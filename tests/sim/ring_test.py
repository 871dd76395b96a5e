#!/usr/bin/env python3
"""canopy-sim ring: what it measures, that it repeats, and what it prints."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
SANITIZED = bool(os.environ.get("CANOPY_SANITIZE"))
NODES = 150 if SANITIZED else 600
KEYS = ["nodes", "incorrect_deliveries", "lost_lookups", "leaf_sets_exact", "hops_share",
        "mean_hops", "delay_stretch", "messages_per_join", "bytes_per_node", "virtual_seconds",
        "wall_seconds", "events", "trace_hash"]


def ring(*arguments):
    return subprocess.run([str(BIN / "canopy-sim"), "ring", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, check=False)


def ring_json(*arguments):
    result = ring("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Ring(unittest.TestCase):
    def test_a_grown_ring_routes_like_one_with_ideal_tables(self):
        report = ring_json("--nodes", NODES, "--seed", 3)
        self.assertEqual(list(report)[:len(KEYS)], KEYS)
        self.assertEqual(report["nodes"], NODES)
        self.assertEqual(report["incorrect_deliveries"], 0)
        self.assertEqual(report["lost_lookups"], 0)
        self.assertIs(report["leaf_sets_exact"], True)
        self.assertAlmostEqual(sum(report["hops_share"]), 1, places=3)
        self.assertEqual(len(report["hops_share"]), len(report["ideal_hops_share"]))
        for share, ideal in zip(report["hops_share"], report["ideal_hops_share"]):
            self.assertLess(abs(share - ideal), 0.02)
        self.assertLess(report["delay_stretch"], 1.1 * report["ideal_delay_stretch"])
        self.assertGreater(report["messages_per_join"], 10)
        self.assertLess(report["messages_per_join"], 300)
        self.assertGreater(report["bytes_per_node"], 0)

    def test_tables_hold_peers_of_the_own_zone_and_routes_get_no_longer(self):
        plain = ring_json("--nodes", NODES, "--seed", 3)
        zoned = ring_json("--nodes", NODES, "--seed", 3, "--zones", 10)
        possible = zoned["table_entries_own_zone_possible"]
        self.assertGreater(possible, 0.1 * zoned["table_entries"])
        self.assertGreaterEqual(zoned["table_entries_own_zone"], 0.95 * possible)
        self.assertLess(zoned["delay_stretch"], 1.1 * plain["delay_stretch"])
        self.assertNotIn("table_entries", plain)

    @unittest.skipIf(SANITIZED, "memory is the sanitizer's")
    def test_a_node_takes_less_than_8_kilobytes(self):
        # What a ring takes whatever its size would hide it in one as small as this.
        small, large = (report["nodes"] * report["bytes_per_node"] for report in
                        (ring_json("--nodes", nodes, "--seed", 3) for nodes in (300, 1500)))
        self.assertLess((large - small) / (1500 - 300), 8192)

    def test_the_same_seed_gives_the_same_run_and_another_seed_another(self):
        hashes = [ring_json("--nodes", 60, "--seed", seed)["trace_hash"] for seed in (5, 5, 6)]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])

    def test_the_wire_format_changes_nothing(self):
        plain, encoded = (ring_json("--nodes", 60, "--seed", 5, *more)
                          for more in ((), ("--encode",)))
        self.assertEqual(plain["trace_hash"], encoded["trace_hash"])

    def test_the_trace_hashes_to_the_trace_hash(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace"
            report = ring_json("--nodes", 40, "--trace", trace)
            result = subprocess.run([str(BIN / "canopy-sim"), "trace-hash", str(trace)],
                                    capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(result.stdout.strip(), report["trace_hash"])

    def test_one_node_and_two_are_rings(self):
        for nodes in (1, 2):
            report = ring_json("--nodes", nodes)
            self.assertIs(report["leaf_sets_exact"], True)
            self.assertEqual(report["incorrect_deliveries"], 0)

    def test_mistakes_in_the_command_line_are_refused(self):
        self.check_refused(["--frob"], "--frob")
        for nonsense in ("", " ", "x", "nan", "-nan", "inf", "-inf", "infinity", "-1", "1e400",
                         "0x10", " 5", "5 ", "5x", "1,5", "--", "٣"):
            for option in ("--nodes", "--seed", "--join-rate"):
                self.check_refused([f"{option}={nonsense}"], option)
        for arguments in ((["--nodes", 0], ["--nodes", 2_000_001], ["--nodes", 1.5],
                           ["--seed", 1 << 64], ["--seed", "1e3"], ["--join-rate", 0],
                           ["--join-rate", "1e-300"], ["--join-rate", "1e300"])):
            self.check_refused(arguments, arguments[0])
            self.assertRegex(ring(*arguments).stderr, r"is no number from [0-9.]+ to [0-9.]+")

    def test_leading_zeros_make_no_octal_number(self):
        self.assertEqual(ring_json("--nodes", "010")["nodes"], 10)

    def check_refused(self, arguments, text):
        with self.subTest(arguments):
            result = ring(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, "^canopy-sim: .*\n$")
            self.assertIn(text, result.stderr)

    def test_fails_where_its_output_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([str(BIN / "canopy-sim"), "ring", "--nodes", "2"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to standard output", result.stderr)

    def test_a_directory_or_a_device_is_no_trace(self):
        for path in ("/", "/dev/zero", "/nowhere"):
            result = subprocess.run([str(BIN / "canopy-sim"), "trace-hash", path], timeout=60,
                                    capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertEqual(result.stderr, f"canopy-sim: {path}: cannot be read\n")

    def test_the_table_names_what_it_shows(self):
        result = ring("--nodes", 20, "--join-rate", 2)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("20 (20 active)", "exact", "(0 lost, 0 delivered wrongly)", "delay stretch",
                     "messages per join", "bytes a node", "trace hash"):
            self.assertIn(text, result.stdout)


if __name__ == "__main__":
    unittest.main()
