#!/usr/bin/env python3
"""canopyd is killed at random moments under load, on a disk that then loses what was not synced.

    crash_test.py                         the tests
    crash_test.py --rounds 200 --seed 7   that many crashes

Whatever a client was told stays true: no message that was acknowledged is lost, none whose deletion
was is back, FIFO groups are in order and without duplicates, deduplication ids and receive attempts
are remembered, queues are as they were made. What got no answer may have happened or not."""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("CANOPY_BIN_DIR", str(ROOT / "build" / "release" / "bin"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import crash_load  # noqa: E402
from crash_disk import DISKS, Unavailable  # noqa: E402
from crash_ledger import Definitions, Problems, QueueLedger  # noqa: E402
from gateway_daemon import Daemon, Failed, check_store, url_of  # noqa: E402

QUEUES = ("standard", "ordered.fifo")
ROUND_S_MAX = 1.2


class Found(Exception):
    """What the rounds have shown not to be true."""


class Rounds:
    """Crashes of one daemon, whose disk keeps what it has from one to the next."""

    def __init__(self, folder, kind, seed, no_sync=None, memory="8MiB"):
        self.seed = seed
        self.random = random.Random(seed)
        self.disk = DISKS[kind](folder, self.random, no_sync)
        self.problems = Problems()
        self.queues = [QueueLedger(name, self.problems) for name in QUEUES]
        self.definitions = Definitions(self.problems)
        self.counts = crash_load.Counts()
        self.restart_s_max = 0
        # With little memory the store writes files, and the log is cut, in a short time.
        self.daemon = Daemon(folder, *(f"--queue={name}" for name in QUEUES),
                             f"--limit-storage-memory={memory}", data=self.disk.data,
                             environment=self.disk.environment)

    def close(self):
        self.daemon.kill()
        self.disk.close()

    def start(self):
        self.disk.prepare()
        begin = time.monotonic()
        try:
            self.daemon.start()
        except AssertionError as error:
            raise Found(f"canopyd does not start again: {error}") from error
        self.restart_s_max = max(self.restart_s_max, time.monotonic() - begin)

    def run(self, number, last):
        """One round; raises what it found."""
        load = crash_load.Load(f"{self.seed}-{number}", self.daemon, self.queues,
                               self.definitions, self.problems)
        load.start()
        time.sleep(self.random.uniform(0.02, ROUND_S_MAX))
        load.end()
        if self.random.random() < 0.1:
            self.stop()
        else:
            self.disk.crash(self.daemon)
            self.counts["crashes"] += 1
        self.counts += load.join()
        if last or self.random.random() < 0.2:
            self.check_files()
        self.start()
        self.check(last or self.random.random() < 0.5)
        if self.problems:
            raise Found(str(self.problems))

    def stop(self):
        """As against the crashes: in good order."""
        try:
            status = self.daemon.stop()
        except subprocess.TimeoutExpired:
            raise Found("canopyd does not end when it is told to") from None
        if status != 0:
            self.problems.add(f"canopyd did not end well: {self.daemon.errors()}")

    def check_files(self):
        status, text = check_store(self.disk.data)
        self.counts["checks of the files"] += 1
        if status != 0:
            self.problems.add(f"canopyd --check-store says {text}")

    # --- What the daemon says ---

    def check(self, empty):
        with self.daemon.connect() as connection:
            self.expect_answers("queues", self.check_definitions, connection)
            for queue in self.queues:
                self.expect_answers(queue.name, self.check_queue, connection, queue, empty)

    def expect_answers(self, name, check, *arguments):
        try:
            check(*arguments)
        except Failed as failed:
            self.problems.add(f"{name}: after the crash: {failed}")

    def check_queue(self, connection, queue, empty):
        held = [message for message in queue.held() if not message.doubtful]
        queue.restarted()
        self.repeat_receives(connection, queue)
        self.repeat_sends(connection, queue)
        self.use_old_handles(connection, queue, held)
        if empty:
            self.empty(connection, queue)

    def check_definitions(self, connection):
        urls = connection.call("ListQueues", QueueNamePrefix="a-").get("QueueUrls", [])
        self.definitions.found({
            url.rsplit("/", 1)[1]: connection.call(
                "GetQueueAttributes", QueueUrl=url,
                AttributeNames=["VisibilityTimeout", "DelaySeconds"])["Attributes"]
            for url in urls})

    def repeat_receives(self, connection, queue):
        """Those without an answer, which may have hidden their messages."""
        for attempt in sorted(queue.attempts):
            crash_load.receive(connection, queue, attempt)
        queue.attempts.clear()

    def repeat_sends(self, connection, queue):
        if not queue.is_fifo:
            queue.unanswered.clear()
            return
        # Before anything else is sent to their groups: half of those that got no answer.
        for messages in queue.unanswered:
            if self.random.random() < 0.5:
                crash_load.send(connection, queue, messages)
                self.counts["sent again"] += len(messages)
        queue.unanswered.clear()
        # The last ones, and some others.
        known = queue.deduplicated()
        some = known[-60:] + self.random.sample(known, min(len(known), 40))
        for first in range(0, len(some), crash_load.BATCH_MAX):
            crash_load.send(connection, queue, some[first:first + crash_load.BATCH_MAX])
        self.counts["repeated"] += len(some)

    def use_old_handles(self, connection, queue, held):
        """Deletes some of what was received before the crash, and gives back the rest."""
        for message in held:
            if not message.delete_asked and self.random.random() < 0.2:
                crash_load.delete(connection, queue, [message])
                self.counts["deleted by old handles"] += 1
        # A standard queue has forgotten that they are hidden.
        for message in queue.held():
            try:
                connection.call("ChangeMessageVisibility", QueueUrl=url_of(queue.name),
                                ReceiptHandle=message.handle, VisibilityTimeout=0)
            except Failed as failed:
                if not message.delete_asked:
                    queue.complain(message, f"cannot be given back: {failed}")
            queue.released([message])

    def empty(self, connection, queue):
        while messages := crash_load.receive(connection, queue):
            crash_load.delete(connection, queue, messages)
            self.counts["received after crashes"] += len(messages)
        queue.emptied()
        counts = connection.call("GetQueueAttributes", QueueUrl=url_of(queue.name),
                                 AttributeNames=["All"])["Attributes"]
        left = {name: count for name, count in counts.items()
                if name.startswith("ApproximateNumber") and count != "0"}
        if left:
            self.problems.add(f"{queue.name} is empty, but {left}")


def run_rounds(kind, seed, rounds, after_round=lambda number, done: None, **more):
    """What was counted; raises what was found."""
    with tempfile.TemporaryDirectory(prefix="canopy-crash-") as folder:
        done = Rounds(folder, kind, seed, **more)
        try:
            done.start()
            for number in range(1, rounds + 1):
                try:
                    done.run(number, number == rounds)
                except Found as found:
                    raise Found(f"seed {seed}, round {number}: {found}") from None
                after_round(number, done)
        finally:
            done.close()
        return done


class Crashes(unittest.TestCase):
    def run_on(self, kind, **more):
        try:
            return run_rounds(kind, seed=1, **more)
        except Unavailable as reason:
            return self.skipTest(f"{DISKS[kind].name}: {reason}")

    def test_what_clients_were_told_is_true_after_the_loss_of_a_file_system(self):
        self.run_on("loop", rounds=5)

    def test_what_clients_were_told_is_true_after_the_loss_of_what_was_not_synced(self):
        self.run_on("shim", rounds=3)


class WithoutSyncs(Crashes):
    """A canopyd with that bug is found out within ten rounds: the tests test something."""

    def run_on(self, kind, **more):
        run = super().run_on
        # Those of the log's records; the store, which writes nothing, knows nothing better.
        with self.assertRaises(Found) as raised:
            run(kind, no_sync=("/log", 1), memory="256MiB", **more | {"rounds": 10})
        if kind == "loop":  # the other one leaves pieces, and canopyd names them
            self.assertRegex(str(raised.exception), "is lost|is back|taken twice|None")
        for part in ("/log", "/store"):
            with self.assertRaisesRegex(Found, "does not start again"):
                run(kind, no_sync=(part, 0), **more | {"rounds": 10})


class Progress:
    """A line on the terminal, if there is one."""

    WIDTH = 30

    def __init__(self, rounds):
        self.rounds = rounds
        self.begin = time.monotonic()

    def show(self, number, done):
        if not sys.stderr.isatty():
            return
        bar = "#" * (self.WIDTH * number // self.rounds)
        left = (time.monotonic() - self.begin) / number * (self.rounds - number)
        print(f"\r[{bar:<{self.WIDTH}}] {number}/{self.rounds} rounds, {done.counts['sent']:,} "
              f"messages, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print(file=sys.stderr)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=200, help="crashes")
    parser.add_argument("--seed", type=int, default=1, help="decides all that is random")
    parser.add_argument("--disk", choices=["auto", *DISKS], default="auto",
                        help="what loses the data; auto: the first of them that can be had")
    parser.add_argument("--no-sync", metavar="PART", help="leave out the syncs of files whose path "
                        "has this in it, such as /log: the rounds have to fail")
    parser.add_argument("--but-first", metavar="N", type=int, default=0,
                        help="with --no-sync: but for the first syncs after each opening")
    return parser.parse_args(arguments)


def run_by_hand(arguments):
    options = parse(arguments)
    no_sync = (options.no_sync, options.but_first) if options.no_sync else None
    kinds = list(DISKS) if options.disk == "auto" else [options.disk]
    for kind in kinds:
        progress = Progress(options.rounds)
        begin = time.monotonic()
        try:
            done = run_rounds(kind, options.seed, options.rounds, progress.show,
                              no_sync=no_sync)
        except Unavailable as reason:
            print(f"{DISKS[kind].name}: cannot be had here: {reason}", flush=True)
            continue
        except Found as found:
            progress.end()
            print(f"{DISKS[kind].name}: {found}")
            return 1
        progress.end()
        print(f"{DISKS[kind].name}: seed {options.seed}, {options.rounds} rounds in "
              f"{time.monotonic() - begin:.0f} s, longest start {done.restart_s_max:.2f} s")
        for name, count in sorted(done.counts.items()):
            print(f"{count:>10,}  {name}")
        return 0
    return 77


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] != "-v":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        sys.exit(run_by_hand(sys.argv[1:]))
    unittest.main()
