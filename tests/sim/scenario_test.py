#!/usr/bin/env python3
"""canopy-sim scenario: the given files, random ones against the oracle, and bad input."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import scenario_oracle  # noqa: E402

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["CANOPY_SOURCE_DIR"])
GIVEN = sorted((SOURCE / "tests/data/scenarios").glob("*.json"))
SANITIZED = bool(os.environ.get("CANOPY_SANITIZE"))
RANDOM_SEEDS = range(20 if SANITIZED else 60)


def run(*arguments, program="canopy-sim", environment=None):
    return subprocess.run([str(BIN / program), *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, check=False, env=environment)


def same(expected, actual, field=None):
    """The rule of comparison: numbers within 0.1 %, rejoins and children as sets."""
    if isinstance(expected, dict):
        return (isinstance(actual, dict) and expected.keys() == actual.keys()
                and (field in ("rejoins", "children", "roots")
                     or list(expected) == list(actual))
                and all(same(expected[k], actual[k], k if field is None else field)
                        for k in expected))
    if isinstance(expected, list):
        if field == "children":
            expected, actual = sorted(expected), sorted(actual)
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return isinstance(actual, (int, float)) and abs(actual - expected) <= abs(expected) / 1000
    return expected == actual


def differences(expected_lines, output):
    actual_lines = [json.loads(line) for line in output.splitlines()]
    wrong = ["step %d: expected %s\n          got %s" % (i + 1, json.dumps(e), json.dumps(a))
             for i, (e, a) in enumerate(zip(expected_lines, actual_lines)) if not same(e, a)]
    if len(expected_lines) != len(actual_lines):
        wrong.append("%d lines instead of %d" % (len(actual_lines), len(expected_lines)))
    return wrong


def expected_of(path):
    text = path.with_suffix(".expected.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Scenarios(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, scenario):
        path = pathlib.Path(self.folder.name) / "scenario.json"
        text = scenario if isinstance(scenario, str) else json.dumps(scenario)
        path.write_text(text, encoding="utf-8")
        return path

    def test_given_scenarios_give_the_expected_lines(self):
        self.assertEqual(len(GIVEN), 5)
        for path in GIVEN:
            with self.subTest(path.stem):
                result = run("scenario", path)
                self.assertEqual(result.stderr, "")
                self.assertEqual(result.returncode, 0)
                self.assertEqual(differences(expected_of(path), result.stdout), [])

    def test_another_choice_of_the_next_hop_does_not_pass(self):
        environment = os.environ | {"CANOPY_PLANTED_BUG": "table-passed-over"}
        wrong = [difference for path in GIVEN for difference in differences(
            expected_of(path),
            run("scenario", path, program="canopy-sim-planted", environment=environment).stdout)]
        self.assertNotEqual(wrong, [])

    def test_random_scenarios_agree_with_the_oracle(self):
        for seed in RANDOM_SEEDS:
            with self.subTest(seed=seed):
                scenario = scenario_oracle.generate(seed)
                expected = list(scenario_oracle.Runner(scenario).run())
                result = run("scenario", self.write(scenario))
                self.assertEqual(result.stderr, "")
                self.assertEqual(result.returncode, 0)
                self.assertEqual(differences(expected, result.stdout), [])

    def test_wire_format_and_trace_change_nothing(self):
        for path in GIVEN:
            with self.subTest(path.stem):
                plain, encoded = (pathlib.Path(self.folder.name) / name for name in ("a", "b"))
                first = run("scenario", path, "--trace", plain)
                second = run("scenario", path, "--encode", "--trace", encoded)
                self.assertEqual(first.stdout, second.stdout)
                self.assertEqual(plain.read_bytes(), encoded.read_bytes())
                self.assertRegex(plain.read_text(encoding="utf-8"),
                                 r"(?m)^\d+ [0-9a-f]{4} [0-9a-f]{4} GroupJoin \d+$")
                hashes = [run("trace-hash", trace).stdout for trace in (plain, encoded)]
                self.assertRegex(hashes[0], "^[0-9a-f]{16}\n$")
                self.assertEqual(hashes[0], hashes[1])

    def test_rings_grown_by_the_protocol_keep_the_invariants(self):
        for seed in list(RANDOM_SEEDS)[:10]:
            with self.subTest(seed=seed):
                scenario = scenario_oracle.generate(seed)
                scenario["tables"] = "protocol"
                result = run("scenario", self.write(scenario))
                self.assertEqual(result.stderr, "")
                self.assertEqual(result.returncode, 0)
                self.assertEqual(len(result.stdout.splitlines()), len(scenario["steps"]))

    def test_bad_input_is_explained(self):
        good = json.loads(GIVEN[0].read_text(encoding="utf-8"))
        for change, message in [
                ({"steps": [{"op": "join", "group": "g", "node": "node-00"}]},
                 "steps[0].group: no step before this one creates \"g\""),
                ({"b": 9}, "b must be a whole number from 1 to 8"),
                ({"nodes": []}, "nodes must name at least one node")]:
            with self.subTest(message):
                path = self.write(good | change)
                result = run("scenario", path)
                self.assertEqual(result.stderr, "canopy-sim: %s: %s\n" % (path, message))
                self.assertEqual((result.returncode, result.stdout), (2, ""))
        for arguments in [("scenario", "/nowhere"), ("scenario", "/dev/zero"), ("scenario", "/"),
                          ("scenario",), (), ("jump",),
                          ("scenario", GIVEN[0], "--jump"), ("trace-hash", GIVEN[0]),
                          ("ring", "--nodes", "none"), ("ring", "--nodes", "0")]:
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, "^canopy-sim: .")

    def test_an_unknown_command_is_named(self):
        self.assertIn("no command 'jump'", run("jump").stderr)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([str(BIN / "canopy-sim"), "scenario", str(GIVEN[0])],
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=300,
                                    check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write to standard output", result.stderr)

    def test_help_is_not_an_error(self):
        for arguments in [("--help",), ("scenario", "--help"), ("ring", "--help"), ("--version",)]:
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertNotEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()
