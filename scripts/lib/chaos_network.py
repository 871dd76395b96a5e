"""Networks of this program's own: a bridge, and a namespace with one link to it for each host.

Everything is in the namespaces of this process, which enter() makes; it all ends with it.
"""

import ctypes
import os
import signal
import subprocess
import sys

INSIDE = "CANOPY_CHAOS_INSIDE"
NOT_ALLOWED = 77
BRIDGE = "bridge"
TABLE = "bridge chaos"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


class NotAllowed(Exception):
    """There can be no namespaces here; the message says why."""


def command_to_enter():
    """As root, or as a user who may be root in a namespace."""
    problem = ""
    for command in (UNSHARE, [UNSHARE[0], "--user", "--map-root-user", *UNSHARE[1:]]):
        try:
            tried = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=60,
                                   check=False)
        except OSError as error:
            raise NotAllowed(f"unshare cannot be run: {error}") from error
        if tried.returncode == 0:
            return command
        problem = tried.stderr.strip()
    raise NotAllowed(problem)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def enter(arguments):
    """Runs this program again, in namespaces of its own; its exit status.

    A signal ends it with everything in them, and so does the end of this process.
    """
    command = [*command_to_enter(), sys.executable, "-B", *arguments]
    with subprocess.Popen(command, env={**os.environ, INSIDE: "1"}, stdin=subprocess.DEVNULL,
                          start_new_session=True, preexec_fn=die_with_parent) as inner:
        try:
            return inner.wait()
        finally:
            inner.kill()


def is_inside():
    return INSIDE in os.environ


def run(*command, text=None):
    try:
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotAllowed(f"{command[0]} is missing: scripts/setup installs it") from error
    if result.returncode != 0:
        raise NotAllowed(f"{' '.join(command)}: {result.stderr.strip()}")


class Network:
    """Hosts count from 0. `delay_ms` one way and `loss_percent`, of each packet between two."""

    def __init__(self, hosts, delay_ms, loss_percent):
        self.hosts = hosts
        self.loss_percent = loss_percent
        self.deaf = set()   # nothing reaches them
        self.mute = set()   # nothing leaves them
        self.severed = []   # pairs of hosts that do not reach each other
        self.splits = []    # sets of hosts that are cut off from all others
        self.note = None    # what the kernel cannot do
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "link", "set", BRIDGE, "up")
        for host in range(hosts):
            self.add(host)
        self.apply()
        if delay_ms > 0:
            self.delay(delay_ms)

    def add(self, host):
        space = f"host-{host}"
        run("ip", "netns", "add", space)
        run("ip", "link", "add", self.port(host), "type", "veth", "peer", "name", "eth0",
            "netns", space)
        run("ip", "link", "set", self.port(host), "master", BRIDGE, "up")
        for words in ("link set lo up", f"address add {self.address(host)}/16 dev eth0",
                      "link set eth0 up"):
            run("ip", "-n", space, *words.split())

    def delay(self, milliseconds):
        try:
            for host in range(self.hosts):
                run("tc", "-n", f"host-{host}", "qdisc", "add", "dev", "eth0", "root", "netem",
                    "delay", f"{milliseconds}ms")
        except NotAllowed:
            self.note = "the kernel has no sch_netem: packets are lost, but not delayed"

    @staticmethod
    def port(host):
        return f"port-{host}"

    @staticmethod
    def address(host):
        return f"10.77.{host // 250}.{host % 250 + 1}"

    @staticmethod
    def before(host):
        """What runs a command there."""
        return ["nsenter", f"--net=/run/netns/host-{host}"]

    def plug(self, host, up):
        run("ip", "link", "set", self.port(host), "up" if up else "down")

    def apply(self):
        """Makes what is deaf, mute, severed or split so, in one step."""
        def ports(hosts):
            return "{ " + ", ".join(f'"{self.port(host)}"' for host in sorted(hosts)) + " }"

        rules = []
        if self.deaf:
            rules.append(f"oifname {ports(self.deaf)} drop")
        if self.mute:
            rules.append(f"iifname {ports(self.mute)} drop")
        for one, other in self.severed:
            rules.append(f"iifname {ports([one])} oifname {ports([other])} drop")
            rules.append(f"iifname {ports([other])} oifname {ports([one])} drop")
        for split in self.splits:
            rules.append(f"iifname {ports(split)} oifname != {ports(split)} drop")
            rules.append(f"iifname != {ports(split)} oifname {ports(split)} drop")
        if self.loss_percent > 0:
            rules.append(f"numgen random mod 100000 < {round(self.loss_percent * 1000)} drop")
        lines = "\n".join(rules)
        run("nft", "-f", "-", text=f"""table {TABLE} {{ }}
delete table {TABLE}
table {TABLE} {{
chain forward {{
type filter hook forward priority 0; policy accept;
{lines}
}}
}}
""")
