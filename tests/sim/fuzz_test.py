#!/usr/bin/env python3
"""canopy-sim fuzz: random faults leave a sound ring, and planted bugs are found."""
import json
import os
import pathlib
import subprocess
import unittest

BIN = pathlib.Path(os.environ["CANOPY_BIN_DIR"])
SANITIZED = bool(os.environ.get("CANOPY_SANITIZE"))
SEEDS = "1..20" if SANITIZED else "1..200"
PLANTED_SEEDS = "1..500"
RARE_SEEDS = "340..539"  # which of them take the rarest branches changes with the protocol


def fuzz(*arguments, planted_bug=None):
    program, environment = "canopy-sim", None
    if planted_bug:
        program = "canopy-sim-planted"
        environment = os.environ | {"CANOPY_PLANTED_BUG": planted_bug}
    return subprocess.run([str(BIN / program), "fuzz", *arguments], capture_output=True, text=True,
                          timeout=550, check=False, env=environment)


class Fuzz(unittest.TestCase):
    def test_every_seed_comes_right_and_repeats(self):
        result = fuzz("--seeds", SEEDS, "--twice", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("failed_seed", json.loads(result.stdout))

    @unittest.skipIf(SANITIZED, "takes long")
    def test_every_branch_that_is_marked_as_rare_is_taken(self):
        result = fuzz("--hard", "--rare", "--seeds", RARE_SEEDS)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_wire_format_changes_nothing(self):
        plain = fuzz("--seeds", "1..5", "--hashes")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        encoded = fuzz("--seeds", "1..5", "--hashes", "--encode")
        self.assertEqual(plain.stdout, encoded.stdout)

    def test_a_seed_that_once_failed_stays_mended(self):
        for seed in (
                "290",  # an old root that was adopted as a child and never joined
                "137",  # a forwarder whose only child turned out to be its ancestor
                "28",  # a root that was stopped served what another had served meanwhile
                "1532",  # a tracked message was placed again by the next root
                "1644",  # so was one whose acknowledgement was lost, behind its successor
                "942",  # a publisher's next peer took it for the root, and itself for the next
                "303",  # a newcomer acted beside one that hung and had never heard of it
                "707",  # a forwarder that left, its Leave lost, and forgot whom it had lost
                "1580",  # a root whose predecessors had all died at once knew of no members
                "79",  # two roots, of which one left the other's tree as if it were in another
                "1389",  # a tracked publish down a deep tree: each level took too much time
                "18026",  # several neighbours hung at once, and when they woke acted at once
                "19954",
                "17953",  # of those one had its leases from another of them, not from who waited
                "18626",
                "13675",  # one was given up wrongly, and then who was between the two hung
                "11794",  # an ordered group was founded anew by a JOIN, and served in no order
                "7234",  # its children took what came in no order for the order's all the same
                "7463",
                "6792",  # who woke after its request's deadline asked somebody else for a reply
                "1073",  # members moved on and on, and what was shown of them came after that
        ):
            result = fuzz("--seeds", seed)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_so_does_a_hard_one(self):
        for seed in (
                "6",  # what one side of a parted ring acknowledged the other passed over untold
                "26",
                "309",  # an old root's lost child became its successor's amid a message
                "132",  # forwarders that became members were counted for what had passed before,
                "290",  # as a new root sent it once more
                "336",
                "616",  # a root departed before it had told whom a forwarder could not reach
                "1346",  # what waited for a root that could not be reached was sent without end
                "205",  # a root's rounds lay below those that another had begun in its tree
                "363",  # a late copy of a message got a second place, behind later ones
                "423",  # so it did at a root to which the order had just been handed over
                "431",  # and at one that served again beside another
                "442",  # minutes later, when a parted ring had met again
                "443",  # and at one that knew nothing of the epoch before
                "641",  # a member was said to lack what had its other place before it began
                "1128",  # the order that a member got lay below the one that it had had before
                "1240",
                "399",  # so it did after messages without an order
                "1491",  # two rings knew only earlier starts of each other's peers
                "1693",
                "612",  # two that joined by each other asked nobody else
                "1668",  # somebody is alone after the faults: a daemon has its seeds
                "10",  # an asker's own member had a request within the call that sent it
                "927",  # who left, and was stopped meanwhile, passed old requests on as if fresh
        ):
            result = fuzz("--hard", "--seeds", seed)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_neighbors_that_lose_only_each_other_do_not_both_act(self):
        for seed in ("2841", "5345"):
            result = fuzz("--seeds", seed)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_bad_seeds_are_refused_with_a_hint(self):
        for seeds in ("a..b", "9..1", "1..", "-1..2"):
            result = fuzz("--seeds=" + seeds)
            self.assertEqual(result.returncode, 2)
            self.assertIn("1..100", result.stderr)

    def check_planted(self, name, *options):
        result = fuzz(*options, "--seeds", PLANTED_SEEDS, "--json", planted_bug=name)
        self.assertEqual(result.returncode, 1, f"{name}: not found in seeds {PLANTED_SEEDS}")
        seed = json.loads(result.stdout)["failed_seed"]
        self.assertIn(f"canopy-sim fuzz --seeds {seed}..{seed}", result.stderr)
        again = fuzz(*options, "--seeds", f"{seed}..{seed}", planted_bug=name)
        self.assertEqual(again.returncode, 1, "the printed command line does not show it again")


PLANTED = {bug: () for bug in (
    "activation-skipped", "tie-broken-wrongly", "lease-not-waited-for", "evicted-by-hearsay",
    "leave-not-pruned", "lost-forgotten", "right-not-checked", "word-not-repeated",
    "last-not-fetched", "anycast-retaken", "moves-forgotten")}
PLANTED["gap-not-told"] = ("--hard",)  # there are few gaps where all keeps within its bounds
for bug, options in PLANTED.items():
    setattr(Fuzz, "test_the_planted_bug_is_found_" + bug.replace("-", "_"),
            lambda self, bug=bug, options=options: self.check_planted(bug, *options))


if __name__ == "__main__":
    unittest.main()
