"""What disturbs a cluster: daemons killed, stopped and cut off, by a schedule that a seed gives."""

import dataclasses
import hashlib
import random
import signal
import time

KINDS = ("kill", "stop", "unplug", "deaf", "mute", "link", "split")

WORDS = {
    "kill": "killed, and started again",
    "stop": "stopped (SIGSTOP), and continued",
    "unplug": "its link is down",
    "deaf": "nothing reaches it",
    "mute": "nothing that it sends arrives",
    "link": "nothing passes between it and the next on the ring",
    "split": "cut off from all others",
}

# Who is to be hit: a role in a tree, or anybody. Roots and forwarders are few, and matter most.
WISHES = ("root", "forwarder", "root", "anybody", "forwarder", "anybody")

OVERLAP = 0.25         # so often a fault begins while another is on
PAUSE_S = (2.0, 6.0)   # between others
FIRST_S = 3.0
LONGEST_S = {"kill": 8, "stop": 20, "unplug": 20, "deaf": 15, "mute": 15, "link": 20,
             "split": 25}
SHORTEST_S = 1.5


@dataclasses.dataclass
class Fault:
    kind: str
    wish: str
    choice: float          # 0 to 1: which of the candidates
    share: float           # of all daemons, for a split
    begin: float           # seconds after the start, as planned
    end: float
    hosts: tuple = ()      # once it is on
    roles: str = ""
    rings: tuple = ()      # how many daemons each ring had when a split ended
    began_at: float = 0.0  # monotonic
    ended_at: float = 0.0
    is_on: bool = False

    def name(self):
        return self.kind + (f" of {len(self.hosts)}" if len(self.hosts) > 1 else "")


def plan(seed, seconds):
    """Faults in the order of their beginning; the last ends in time."""
    rng = random.Random(seed)
    scale = min(1.0, seconds / 200)
    faults, now, kinds, wishes = [], FIRST_S, [], []
    while True:
        kinds = kinds or rng.sample(KINDS, len(KINDS))
        wishes = wishes or rng.sample(WISHES, len(WISHES))
        kind = kinds.pop()
        longest = max(SHORTEST_S, LONGEST_S[kind] * scale)
        end = now + rng.uniform(SHORTEST_S, max(longest, SHORTEST_S + 1))
        fault = Fault(kind, wishes.pop(), rng.random(), rng.uniform(0.1, 0.5), now, end)
        pause = rng.uniform(*PAUSE_S) * max(scale, 0.4)
        if end > seconds:
            return faults
        faults.append(fault)
        overlaps = rng.random() < OVERLAP
        now = rng.uniform(now, end) if overlaps else max(f.end for f in faults) + pause


class Injector:
    """Begins and ends the faults, each when it is due."""

    def __init__(self, network, daemons, faults, roles, leaves):
        self.network, self.daemons, self.faults = network, daemons, faults
        self.roles = roles    # () -> {role: hosts}, as it is now
        self.leaves = leaves  # (host) -> hosts in its leaf set
        self.started = time.monotonic()

    def look(self):
        now = time.monotonic() - self.started
        # Asking for the roles takes time: each lasts as long as planned all the same.
        for fault in self.faults:
            if not fault.began_at and now >= fault.begin:
                self.begin(fault)
            elif fault.is_on and time.monotonic() - fault.began_at >= fault.end - fault.begin:
                self.end(fault)

    def on(self):
        return [fault for fault in self.faults if fault.is_on]

    def busy(self):
        return {host for fault in self.on() for host in fault.hosts}

    def begin(self, fault):
        roles = self.roles()
        count = len(self.daemons)
        free = [host for host in range(count) if host not in self.busy()]
        wished = [host for host in roles.get(fault.wish, ()) if host in free]
        candidates = wished or free
        if fault.kind == "split":
            size = max(2, round(fault.share * count))
            chosen = random.Random(fault.choice).sample(free, min(size, len(free)))
            fault.hosts = tuple(sorted(chosen))
        elif fault.kind == "link":
            one = candidates[int(fault.choice * len(candidates))]
            fault.hosts = (one, next_on_ring(one, free))
        else:
            fault.hosts = (candidates[int(fault.choice * len(candidates))],)
        fault.roles = describe(roles, fault.hosts)
        self.switch(fault, True)
        fault.began_at = time.monotonic()
        fault.is_on = True

    def end(self, fault):
        if fault.kind == "split":
            busy = {host for other in self.on() if other is not fault for host in other.hosts}
            fault.rings = rings({host: self.leaves(host) for host in range(len(self.daemons))
                                 if host not in busy})
        self.switch(fault, False)
        fault.ended_at = time.monotonic()
        fault.is_on = False

    def end_all(self):
        for fault in self.on():
            self.end(fault)

    def switch(self, fault, on):
        getattr(self, fault.kind)(fault.hosts, on)

    def kill(self, hosts, on):
        for host in hosts:
            daemon = self.daemons[host]
            if on:
                daemon.process.kill()
                daemon.process.wait()
            else:
                daemon.start()

    def stop(self, hosts, on):
        for host in hosts:
            self.daemons[host].process.send_signal(signal.SIGSTOP if on else signal.SIGCONT)

    def unplug(self, hosts, on):
        for host in hosts:
            self.network.plug(host, not on)

    def deaf(self, hosts, on):
        (self.network.deaf.update if on else self.network.deaf.difference_update)(hosts)
        self.network.apply()

    def mute(self, hosts, on):
        (self.network.mute.update if on else self.network.mute.difference_update)(hosts)
        self.network.apply()

    def link(self, hosts, on):
        (self.network.severed.append if on else self.network.severed.remove)(hosts)
        self.network.apply()

    def split(self, hosts, on):
        (self.network.splits.append if on else self.network.splits.remove)(set(hosts))
        self.network.apply()


def next_on_ring(host, others):
    def place(other):
        return int(hashlib.sha1(f"d{other}".encode()).hexdigest(), 16)

    return min((other for other in others if other != host),
               key=lambda other: (place(other) - place(host)) % (1 << 160))


def rings(leaves):
    """The sizes of what hangs together by leaf sets, the largest first."""
    sizes, left = [], set(leaves)
    while left:
        ring, found = set(), {left.pop()}
        while found:
            host = found.pop()
            ring.add(host)
            near = {other for other in left if other in leaves[host] or host in leaves[other]}
            left -= near
            found |= near
        sizes.append(len(ring))
    return tuple(sorted(sizes, reverse=True))


def describe(roles, hosts):
    """What the hosts were just before."""
    parts = []
    for role in sorted(roles):
        count = sum(host in roles[role] for host in hosts)
        if count and len(hosts) == 1:
            parts.append(role)
        elif count:
            parts.append(f"{count} {role}")
    return ", ".join(parts) or "none"
