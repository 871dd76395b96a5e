"""Disturbs a cluster of real daemons while members receive, and tells what they missed.

Each daemon has a network of its own, with a link to all others that loses some packets. Some
daemons publish all the time, to an ordered group and to a best-effort one, and wait for the root's
word of each message; most are members of both. By a schedule that the seed gives, daemons are
killed and started again, stopped and continued, cut off in both directions or in one, cut off from
the next on the ring only, and the cluster is split in two. At the end everything is healed.

  promised  acknowledged messages of the ordered group are delivered, or told as a gap, to every
            member that was there; all have one order, without holes that are not told; nothing
            comes twice (in the best-effort group: within 128 messages); no daemon ends by itself;
            after the end all daemons are one ring, and every member gets what is published then
  counted   for each fault: the longest time that a member got nothing, how many deliveries of
            acknowledged messages are missing, and what members were told of that

A member that is hit itself, by a fault of one daemon, does not count for the longest pause.
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

import chaos_network as network
from chaos_faults import WORDS, Injector, plan
from chaos_load import Member, Publisher
from chaos_verdict import Verdict
from local_ring import Daemon, Failure, Ring

ORDERED, BEST_EFFORT = "ticks", "news"
GROUPS = (ORDERED, BEST_EFFORT)
PORT = 7400
SEEDS = 3           # daemons that others join by
PUBLISHERS = 5      # of each group
LOOK_S = 0.02
START_S = 90
WHOLE_S = 90        # after healing: the ring, and the trees
QUIET_S = 15        # after the last message: what is missing is filled in, or told
REMOVE_S = 5
LAST_S = 20         # for the last message

STATUS_BROKEN = 1

EPILOG = """
Needs Linux, ip, nft and unshare (scripts/setup installs them), and root, or the right to make user
namespaces; the status is 77 where that is not allowed. Delays need the kernel's sch_netem; without
it there is loss, but no delay.

  scripts/chaos overlay                            30 daemons for five minutes
  scripts/chaos overlay --seed 7                   another schedule
  scripts/chaos overlay --daemons 9 --seconds 40   what the tests do
  scripts/chaos overlay --seed 7 --keep            keeps logs, and what members got

The status is 0 if everything promised was kept, 1 if not, 2 for a mistake in the command line.
"""


class HostedRing(Ring):
    """A ring whose daemons are hosts of a network."""

    def __init__(self, programs, folder, hosts):
        super().__init__(programs, folder)
        self.network = hosts

    def address(self, host):
        return f"{self.network.address(host)}:{PORT}"

    def add_host(self, host):
        joins = [word for seed in range(min(SEEDS, self.network.hosts)) if seed != host
                 for word in ("--join", self.address(seed))]
        daemon = Daemon(f"d{host}", self.folder, self.programs / "canopyd",
                        [*joins, *(["--found"] if host == 0 else []),
                         "--digit-bits", "2", "--leaf-set", "4"],
                        self.address(host), self.network.before(host))
        daemon.host = host
        self.daemons.append(daemon)
        return daemon

    def start_all(self):
        first = self.add_host(0)
        self.wait_for(first.has_announced_its_address, START_S, "the first daemon to listen")
        self.wait_for(lambda: self.peers_seen_by(first) == 1, START_S, "the first daemon to found")
        for host in range(1, self.network.hosts):
            self.add_host(host)
        self.wait_for(self.is_complete, START_S, f"a ring of {self.network.hosts} peers")


class Progress:
    """One line on a terminal, now and then one elsewhere."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.next = 0
        self.text = ""

    def show(self, text, now=False):
        if not now and (time.monotonic() < self.next or text == self.text):
            return
        self.text = text
        self.next = time.monotonic() + (0.5 if self.terminal else 30)
        print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n",
              file=sys.stderr, flush=True)

    def end(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Chaos:
    def __init__(self, options, folder):
        self.options = options
        self.progress = Progress()
        self.network = network.Network(options.daemons, options.delay, options.loss)
        self.ring = HostedRing(options.bin, folder, self.network)
        self.members, self.publishers = [], []
        self.injector = None
        self.begun = time.monotonic()
        self.load = threading.Thread(target=self.keep_looking, daemon=True)
        self.load_goes_on = True
        self.broken = []
        self.figures = {"daemons": options.daemons, "seconds": options.seconds,
                        "seed": options.seed, "loss_percent": options.loss,
                        "delay_ms": 0 if self.network.note else options.delay}

    # --- The course ---

    def run(self):
        self.progress.show(f"{self.options.daemons} daemons begin", now=True)
        self.ring.start_all()
        self.create_groups()
        self.join()
        self.disturb()
        self.heal()
        self.finish()
        return self.report()

    def create_groups(self):
        for group, mode in ((ORDERED, "ordered"), (BEST_EFFORT, "best-effort")):
            if self.ring.ask(self.ring.daemons[0], "create", group, "--mode", mode) is None:
                raise Failure(f"{group} could not be created")

    def join(self):
        # Two of three are members: so there are forwarders, and publishers that are no members.
        self.members = [Member(self.ring, daemon, GROUPS) for daemon in self.ring.daemons
                        if daemon.host % 3 != 1]
        self.load.start()
        self.turn(lambda: all(member.live() and all(map(member.live().joined, GROUPS))
                              for member in self.members), START_S, "members join",
                  "not all members could join")
        step = max(1, self.options.daemons // PUBLISHERS)
        self.publishers = [Publisher(self.ring, daemon, group, self.options.rate / PUBLISHERS)
                           for daemon in self.ring.daemons[1::step][:PUBLISHERS]
                           for group in GROUPS]
        self.turn(lambda: all(publisher.acked for publisher in self.publishers), START_S,
                  "publishers begin", "not all publishers had an answer")

    def disturb(self):
        faults = plan(self.options.seed, self.options.seconds)
        self.injector = Injector(self.network, self.ring.daemons, faults, self.roles, self.leaves)
        self.begun = self.injector.started
        until = self.begun + self.options.seconds
        while time.monotonic() < until:
            self.injector.look()
            self.check_daemons()
            time.sleep(LOOK_S)
            on = ", ".join(f"{fault.name()} {self.names(fault.hosts[:3])}"
                           for fault in self.injector.on())
            self.progress.show(f"{time.monotonic() - self.begun:.0f} of {self.options.seconds:.0f} "
                               f"s: {on or 'nothing'} is on")
        self.injector.end_all()

    def heal(self):
        begin = time.monotonic()
        whole = self.turn(self.is_one_ring, WHOLE_S, "one ring again?",
                          f"after {WHOLE_S} s not all daemons see all others", every=1.0)
        self.figures["ring_whole_s"] = round(time.monotonic() - begin, 1) if whole else None
        joined = self.turn(lambda: all(member.live() and all(map(member.live().joined, GROUPS))
                                       for member in self.members), WHOLE_S, "all joined again?",
                           f"after {WHOLE_S} s more not all members are joined")
        self.figures["members_joined_s"] = round(time.monotonic() - begin, 1) if joined else None
        time.sleep(2)

    def finish(self):
        self.load_ended = time.monotonic()
        for publisher in self.publishers:
            publisher.end()
        for publisher in self.publishers:
            publisher.stop(self.load_ended + 30)
        self.publish_last()
        begin = time.monotonic()
        while time.monotonic() < begin + QUIET_S:
            self.progress.show("what is missing is filled in, or told")
            self.check_daemons()
            time.sleep(LOOK_S)
        for member in self.members:
            if member.live() is None:
                self.broken.append(f"{member.daemon.name} is not joined at the end")

    def publish_last(self):
        self.figures["last_message_s"] = {}
        for group in GROUPS:
            text, begin = f"last of {group}", time.monotonic()
            answer = None
            while answer is None and time.monotonic() < begin + LAST_S:
                answer = self.ring.ask(self.ring.daemons[0], "publish", group, text)
            if answer is None:
                self.broken.append(f"{group}: nothing can be published at the end")
                continue
            lacking = self.await_last(group, text, begin)
            took = time.monotonic() - begin
            self.figures["last_message_s"][group] = None if lacking else round(took, 2)
            if lacking:
                self.broken.append(f"{group}: after {LAST_S} s the last message has not come to "
                                   f"{', '.join(lacking)}")

    def await_last(self, group, text, begin):
        while True:
            lacking = [member.daemon.name for member in self.members
                       if member.live() is None or not any(
                           event.kind == "message" and event.data[2] == text
                           for event in member.live().since(begin, group))]
            if not lacking or time.monotonic() > begin + LAST_S:
                return lacking
            self.progress.show(f"{group}: the last message for {', '.join(lacking)}")
            time.sleep(LOOK_S)

    # --- Helpers ---

    def turn(self, done, seconds, doing, problem, every=0.1):
        """Lets everything run until `done`; false, and a broken promise, if it takes too long."""
        deadline, next_check = time.monotonic() + seconds, 0
        while True:
            time.sleep(LOOK_S)
            self.check_daemons()
            self.progress.show(doing)
            if time.monotonic() >= next_check:
                if done():
                    return True
                next_check = time.monotonic() + every
            if time.monotonic() > deadline:
                self.broken.append(problem)
                return False

    def keep_looking(self):
        """In a thread of its own: nothing that is asked holds up the load."""
        while self.load_goes_on:
            for one in (*self.members, *self.publishers):
                one.look()
            time.sleep(LOOK_S)

    def check_daemons(self):
        killed = {host for fault in (self.injector.on() if self.injector else ())
                  for host in fault.hosts if fault.kind == "kill"}
        for daemon in self.ring.daemons:
            if daemon.host not in killed and not daemon.is_running():
                status = daemon.process.returncode
                self.broken.append(f"{daemon.name} ended by itself with status {status}; its log "
                                   f"ends:\n{daemon.log_tail()}")
                daemon.start()

    def is_one_ring(self):
        return self.ring.is_complete()

    def roles(self):
        """Hosts by their place in the trees, as the first daemon that answers tells it."""
        roles = {"publisher": {publisher.daemon.host for publisher in self.publishers},
                 "root": set(), "forwarder": set()}
        busy = self.injector.busy()
        asked = next((d for d in self.ring.daemons if d.host not in busy), self.ring.daemons[0])
        for group in GROUPS:
            tree = self.ring.ask(asked, "tree", group, "--timeout", "2") or {"nodes": []}
            for number, node in enumerate(tree["nodes"]):
                if not node["name"]:
                    continue
                host = int(node["name"][1:])
                if number == 0:
                    roles["root"].add(host)
                    roles[f"root of {group}"] = {host}
                elif not node["member"]:
                    roles["forwarder"].add(host)
        return roles

    def leaves(self, host):
        status = self.ring.ask(self.ring.daemons[host], "status", "--timeout", "2")
        return {int(leaf["name"][1:]) for leaf in status["leaves"]} if status else {host}

    @staticmethod
    def names(hosts):
        return " ".join(f"d{host}" for host in hosts)

    # --- The report ---

    def report(self):
        sessions = [session for member in self.members for session in member.sessions]
        faults = [fault for fault in self.injector.faults if fault.began_at]
        verdict = Verdict(sessions, self.publishers, GROUPS, ORDERED, faults,
                          (self.begun, self.load_ended))
        verdict.judge()
        self.broken += verdict.broken
        damages = {group: verdict.damages(group) for group in GROUPS}
        self.figures["published"] = {group: len(verdict.acked[group]) for group in GROUPS}
        self.figures["delivered_twice"] = dict(verdict.repeated)
        self.figures["publishes_failed"] = sum(len(p.failures) for p in self.publishers)
        self.figures["faults"] = [self.fault_figures(fault, {g: damages[g][n] for g in GROUPS})
                                  for n, fault in enumerate(faults)]
        self.figures["worst"] = {group: self.worst(faults, damages[group]) for group in GROUPS}
        self.figures["broken"] = self.broken
        return self.figures

    def fault_figures(self, fault, damages):
        figures = {"kind": fault.kind, "daemons": self.names(fault.hosts).split(),
                   "roles": fault.roles, "rings": fault.rings,
                   "begin_s": round(fault.began_at - self.begun, 1),
                   "lasted_s": round(fault.ended_at - fault.began_at, 1)}
        for group, damage in damages.items():
            figures[group] = {"pause_s": round(damage.pause.seconds, 2),
                              "pause_of": damage.pause.daemon, "missed": damage.missed,
                              "gaps_told": damage.gaps, "lost_told": damage.lost}
        return figures

    def worst(self, faults, damages):
        if not faults:
            return None
        number = max(range(len(faults)), key=lambda n: damages[n].pause.seconds)
        pause = damages[number].pause
        end = pause.begin + pause.seconds
        on = [fault for fault in faults if fault.began_at < end and pause.begin < fault.ended_at]
        return {"pause_s": round(pause.seconds, 2), "daemon": pause.daemon,
                "begin_s": round(pause.begin - self.begun, 1),
                "faults": [f"{fault.kind} of {self.names(fault.hosts)} ({fault.roles}), "
                           f"{WORDS[fault.kind]}, from {fault.began_at - self.begun:.1f} to "
                           f"{fault.ended_at - self.begun:.1f} s" for fault in on]}

    def stop(self):
        self.load_goes_on = False
        if self.load.is_alive():
            self.load.join()
        for publisher in self.publishers:
            publisher.stop(0)
        for member in self.members:
            if member.sessions:
                member.sessions[-1].stop()
        stubborn = self.ring.stop()
        if stubborn:
            self.broken.append(f"did not end within 10 s of SIGTERM: {', '.join(stubborn)}")

    def dump(self, folder):
        with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
            for member in self.members:
                for number, session in enumerate(member.sessions):
                    for group, events in session.events.items():
                        for event in events:
                            print(json.dumps([round(event.at - self.begun, 3), member.daemon.name,
                                              number, group, event.kind, event.data]), file=file)
            for publisher in self.publishers:
                for at, key, place in publisher.acked:
                    print(json.dumps([round(at - self.begun, 3), publisher.daemon.name, 0,
                                      publisher.group, "acked", [key, place, None]]), file=file)
                for at, text in publisher.failures:
                    print(json.dumps([round(at - self.begun, 3), publisher.daemon.name, 0,
                                      publisher.group, "refused", text]), file=file)


def print_report(figures, note):
    if note:
        print(f"note: {note}")
    head = (f"{'at':>7} {'for':>6}  {'fault':<7} {'whom':<16} "
            + "".join(f"{group + ': pause':>16} {'missed':>7} {'told':>6}" for group in GROUPS))
    print(head)
    for fault in figures["faults"]:
        whom = " ".join(fault["daemons"])
        whom = whom if len(whom) <= 16 else f"{len(fault['daemons'])} daemons"
        line = (f"{fault['begin_s']:>5.1f} s {fault['lasted_s']:>4.1f} s  {fault['kind']:<7} "
                f"{whom:<16} ")
        for group in GROUPS:
            damage = fault[group]
            told = damage["gaps_told"] if group == ORDERED else damage["lost_told"]
            line += f"{damage['pause_s']:>14.2f} s {damage['missed']:>7} {told:>6}"
        rings = ", ".join(map(str, fault["rings"]))
        print(f"{line}  {fault['roles']}" + (f"; rings at its end: {rings}" if rings else ""))
    print(f"\nmissed: deliveries of acknowledged messages; told: gaps ({ORDERED}), or messages "
          f"said to be lost ({BEST_EFFORT})")
    for group, count in figures["published"].items():
        print(f"{group}: {count} messages acknowledged; "
              f"{figures['delivered_twice'].get(group, 0)} deliveries were repetitions")
    print(f"publishers were told of {figures['publishes_failed']} failures")
    for group, worst in figures["worst"].items():
        if worst:
            print(f"worst in {group}: {worst['daemon']} got nothing for {worst['pause_s']} s, from "
                  f"{worst['begin_s']} s on; meanwhile: {'; '.join(worst['faults']) or 'no fault'}")
    print(f"after healing: one ring after {figures['ring_whole_s']} s, all members joined after "
          f"{figures['members_joined_s']} s, the last message after "
          + ", ".join(f"{seconds} s ({group})"
                      for group, seconds in figures["last_message_s"].items()))
    for broken in figures["broken"]:
        print(f"BROKEN: {broken}")
    if not figures["broken"]:
        print("every promise was kept")


def parse():
    def number(kind, least, most):
        def convert(text):
            value = kind(text)
            if not least <= value <= most:
                raise argparse.ArgumentTypeError(f"{text} is not in {least} to {most}")
            return value
        convert.__name__ = "number"
        return convert

    parser = argparse.ArgumentParser(prog="scripts/chaos overlay", description=__doc__,
                                     epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"),
                        metavar="DIR", help="the folder of canopyd and canopy; else they are built")
    parser.add_argument("--daemons", type=number(int, 5, 200), default=30, metavar="N",
                        help="(30)")
    parser.add_argument("--seconds", type=number(float, 10, 86_400), default=300, metavar="S",
                        help="how long it is disturbed (300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the schedule (1)")
    parser.add_argument("--rate", type=number(float, 1, 1000), default=20, metavar="R",
                        help="messages a second to each group (20)")
    parser.add_argument("--loss", type=number(float, 0, 50), default=0.5, metavar="P",
                        help="percent of packets that get lost (0.5)")
    parser.add_argument("--delay", type=number(int, 0, 1000), default=5, metavar="MS",
                        help="of each packet, one way (5), if the kernel can")
    parser.add_argument("--json", action="store_true", help="one object with every figure")
    parser.add_argument("--keep", action="store_true",
                        help="keep logs and events in a folder, and say which")
    parser.add_argument("--try", dest="tries", action="store_true",
                        help="only say, by the status, whether it can be done here")
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def inside(options):
    """In the namespaces: the folder is this one's parent's to remove."""
    try:
        chaos = Chaos(options, options.folder)
    except network.NotAllowed as problem:
        print(f"chaos: skipped, no networks of its own here: {problem}", file=sys.stderr)
        return network.NOT_ALLOWED
    if options.tries:
        return 0
    try:
        figures = chaos.run()
    except Failure as failure:
        print(f"chaos: {failure}", file=sys.stderr)
        return STATUS_BROKEN
    finally:
        try:
            chaos.progress.show("daemons end", now=True)
            chaos.stop()
            chaos.progress.end()
        finally:
            if options.keep:
                chaos.dump(options.folder)
    if options.json:
        print(json.dumps(figures))
    else:
        print_report(figures, chaos.network.note)
    return STATUS_BROKEN if chaos.broken else 0


class Stopped(Exception):
    """A signal asks for the end."""


def on_signal(number, _frame):
    raise Stopped(number)


def outside(options):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="canopy-chaos-"))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    try:
        return network.enter([*sys.argv, "--folder", str(folder)])
    except network.NotAllowed as problem:
        print(f"chaos: skipped, no namespaces here: {problem}", file=sys.stderr)
        return network.NOT_ALLOWED
    except Stopped as stopped:
        return 128 + stopped.args[0]
    finally:
        if options.keep:
            print(f"chaos: logs and events are in {folder}", file=sys.stderr)
        else:
            remove(folder)


def remove(folder):
    """Also while those who write there are only just ending."""
    deadline = time.monotonic() + REMOVE_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(LOOK_S)


def main():
    options = parse()
    options.bin = options.bin.resolve()
    return inside(options) if network.is_inside() else outside(options)


if __name__ == "__main__":
    sys.exit(main())
