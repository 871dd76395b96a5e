#!/usr/bin/env python3
"""canopy-sim scribe: its figures at a small scale, that they repeat, and what it prints."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
SVG = "{http://www.w3.org/2000/svg}"
SANITIZED = bool(os.environ.get("CANOPY_SANITIZE"))
KEYS = ["memberships", "tree_nodes", "joins", "tables_per_node_mean", "tables_per_node_max",
        "entries_per_node_mean", "entries_per_node_median", "entries_per_node_max", "rad_median",
        "rad_max", "rmd_median", "rmd_max", "link_messages_scribe", "link_messages_ip",
        "link_messages_unicast", "link_stress_max_scribe", "link_stress_max_ip",
        "link_stress_max_unicast", "remover_moves", "wall_seconds", "max_rss_bytes"]


def scribe(*arguments):
    return subprocess.run([str(BIN / "canopy-sim"), "scribe", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, check=False)


def scribe_json(*arguments):
    result = scribe("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Scribe(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "takes a sanitizer minutes")
    def test_the_papers_experiment_comes_close_to_the_paper(self):
        report = scribe_json()
        self.assertEqual(list(report), KEYS)
        self.assertEqual(report["memberships"], 395_247)
        self.assertAlmostEqual(report["tables_per_node_mean"], 2.4, delta=0.2)
        self.assertAlmostEqual(report["entries_per_node_mean"], 6.2, delta=0.3)
        self.assertEqual(report["entries_per_node_median"], 3)
        self.assertLess(report["rad_median"], 1.68)
        self.assertLess(report["rmd_median"], 1.75)
        self.assertLess(report["link_messages_scribe"], 3.28 * report["link_messages_ip"])
        self.assertLess(report["link_stress_max_scribe"], 5.5 * report["link_stress_max_ip"])

    def test_trees_that_nodes_have_built_are_like_ideal_ones(self):
        options = ("--nodes", 600, "--groups", 60)
        ideal, built = (scribe_json(*options, "--tables", tables)
                        for tables in ("ideal", "protocol"))
        self.assertEqual(built["memberships"], ideal["memberships"])
        self.assertEqual(built["joins"], built["tree_nodes"] - 60)
        self.assertEqual(built["link_messages_ip"], ideal["link_messages_ip"])
        self.assertEqual(built["link_messages_unicast"], ideal["link_messages_unicast"])
        for key in ("tree_nodes", "tables_per_node_mean", "entries_per_node_mean", "rad_median",
                    "rmd_median", "link_messages_scribe"):
            self.assertAlmostEqual(built[key] / ideal[key], 1, delta=0.1, msg=key)

    def test_trees_are_repaired_after_failures(self):
        options = ("--nodes", 600, "--groups", 60)
        whole = scribe_json(*options)
        ideal, repaired = (scribe_json(*options, "--failures", 0.1, "--tables", tables)
                           for tables in ("ideal", "protocol"))
        self.assertLess(ideal["memberships"], whole["memberships"])
        self.assertGreater(ideal["memberships"], 0.8 * whole["memberships"])
        # Nobody is left out: the exit status would tell.
        self.assertEqual(repaired["memberships"], ideal["memberships"])
        self.assertGreater(repaired["joins"], ideal["joins"])
        for key, delta in (("tree_nodes", 0.1), ("entries_per_node_mean", 0.1),
                           ("rad_median", 0.2), ("link_messages_scribe", 0.15)):
            self.assertAlmostEqual(repaired[key] / ideal[key], 1, delta=delta, msg=key)

    def test_the_same_seed_gives_the_same_figures(self):
        reports = [scribe_json("--nodes", 800, "--groups", 40, "--seed", seed)
                   for seed in (5, 5, 6)]
        for report in reports:
            del report["wall_seconds"], report["max_rss_bytes"]
        self.assertEqual(reports[0], reports[1])
        self.assertNotEqual(reports[0], reports[2])

    def test_the_remover_holds_its_cap_exactly(self):
        options = ("--nodes", 2000, "--groups", 100)
        plain, capped = (scribe_json(*options, *more) for more in ((), ("--remover", 24)))
        self.assertGreater(plain["entries_per_node_max"], 24)
        self.assertEqual(plain["remover_moves"], 0)
        self.assertEqual(capped["entries_per_node_max"], 24)
        self.assertGreater(capped["remover_moves"], 0)
        self.assertEqual(capped["entries_per_node_mean"], plain["entries_per_node_mean"])

    def test_collapse_takes_forwarders_out_of_small_groups(self):
        options = ("--nodes", 2000, "--groups", 1200, "--sizes", "fixed:11")
        plain, collapsed = (scribe_json(*options, *more) for more in ((), ("--collapse",)))
        self.assertEqual(plain["memberships"], 1200 * 11)
        self.assertEqual(plain["joins"], plain["tree_nodes"] - 1200)
        self.assertLess(collapsed["entries_per_node_mean"], 0.7 * plain["entries_per_node_mean"])
        self.assertLess(collapsed["link_messages_scribe"], plain["link_messages_scribe"])
        self.assertEqual(collapsed["link_messages_unicast"], plain["link_messages_unicast"])

    def test_nodes_relieve_themselves_as_it_is_worked_out(self):
        options = ("--nodes", 600, "--groups", 60, "--remover", 20, "--collapse")
        ideal, built = (scribe_json(*options, "--tables", tables)
                        for tables in ("ideal", "protocol"))
        self.assertEqual(built["memberships"], ideal["memberships"])
        self.assertEqual(built["entries_per_node_max"], 20)
        self.assertGreater(built["remover_moves"], ideal["remover_moves"])  # with those upwards
        for key in ("tree_nodes", "tables_per_node_mean", "entries_per_node_mean", "rad_median",
                    "rmd_median", "link_messages_scribe"):
            self.assertAlmostEqual(built[key] / ideal[key], 1, delta=0.15, msg=key)

    def test_one_node_and_two_have_groups(self):
        alone = scribe_json("--nodes", 1, "--groups", 3, "--sizes", "fixed:1")
        self.assertEqual((alone["memberships"], alone["joins"]), (3, 0))
        two = scribe_json("--nodes", 2, "--groups", 1, "--sizes", "fixed:2")
        self.assertEqual((two["tree_nodes"], two["joins"]), (2, 1))
        self.assertEqual((two["rad_median"], two["rmd_max"]), (1, 1))

    def test_the_table_has_the_papers_figures_beside_those_measured(self):
        result = scribe("--nodes", 500, "--groups", 20)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("measured", "paper", "2.4, most 40", "6.2, median 3, most 1,059",
                     "2,489,824 / 758,853", "JOINs"):
            self.assertIn(text, result.stdout)
        few = scribe("--nodes", 500, "--groups", 20, "--sizes", "fixed:11", "--collapse")
        self.assertIn("8.5", few.stdout)

    def test_the_plots_are_charts_of_all_curves(self):
        curves = {"delay-penalty.svg": ["average delay (RAD)", "maximum delay (RMD)"],
                  "node-stress.svg": ["children tables", "children"],
                  "link-stress.svg": ["Scribe", "IP multicast", "unicast"]}
        with tempfile.TemporaryDirectory() as folder:
            plots = pathlib.Path(folder) / "new" / "plots"
            # The second time there is next to nothing to draw.
            for options in (("--nodes", 500, "--groups", 20), ("--nodes", 1, "--groups", 1)):
                result = scribe(*options, "--plot", plots)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(sorted(path.name for path in plots.iterdir()), sorted(curves))
                for name, legend in curves.items():
                    self.check_chart(plots / name, legend)

    def check_chart(self, path, legend):
        svg = xml.etree.ElementTree.parse(path).getroot()
        width, height = (float(svg.get(side)) for side in ("width", "height"))
        texts = [text.text for text in svg.iter(SVG + "text")]
        for name in legend:
            self.assertIn(name, texts)
        lines = list(svg.iter(SVG + "polyline"))
        self.assertEqual(len(lines), len(legend))
        for line in lines:
            for point in line.get("points").split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 <= x <= width and 0 <= y <= height, point)

    def test_a_folder_that_cannot_be_is_told_before_the_work(self):
        result = scribe("--plot", "/dev/null/plots")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("canopy-sim: --plot /dev/null/plots: ", result.stderr)

    def test_mistakes_in_the_command_line_are_refused(self):
        for arguments in (["--frob"], ["--nodes", 0], ["--nodes", 2_000_001], ["--groups", "1e3"],
                          ["--sizes", "fixed"], ["--sizes", "fixed:0"], ["--sizes", "fixed:-1"],
                          ["--sizes", "uniform"], ["--topology", "plane"], ["--tables", "none"],
                          ["--remover", 0], ["--failures", 1], ["--failures", "nan"],
                          ["--seed", -1]):
            with self.subTest(arguments):
                result = scribe(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, "^canopy-sim: .*\n$")
                self.assertIn(arguments[0], result.stderr)

    def test_sizes_that_do_not_fit_are_refused(self):
        for arguments, text in ((["--nodes", 10, "--sizes", "fixed:11"], "there are 10 nodes"),
                                (["--groups", 1_000_000, "--sizes", "fixed:1000"], "together")):
            result = scribe(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(text, result.stderr)

    def test_fails_where_its_output_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([str(BIN / "canopy-sim"), "scribe", "--nodes", "2"],
                                    stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                    check=False)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()
