"""Starts canopyd and other SQS servers for a benchmark, and puts canopy-bench's load on them."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from local_ring import Failure, stop_with_parent

UP_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60
POLL_S = 0.01
# Filling a slow server's queues, and its last answers.
RUN_TIMEOUT_S = 600
KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """What a process has used, in user and kernel."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """An SQS server: one that was started here, or one that runs already."""

    def __init__(self, name, url, process=None, log=None):
        self.name = name
        self.url = url
        self.process = process
        self.log = log

    def wait_until_up(self):
        deadline = time.monotonic() + UP_TIMEOUT_S
        while not self.answers():
            if self.process and self.process.poll() is not None or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-2000:] if self.log else ""
                raise Failure(f"{self.name} is not up at {self.url}\n{tail}")
            time.sleep(POLL_S)

    def answers(self):
        try:
            urllib.request.urlopen(self.url, timeout=UP_TIMEOUT_S).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid) if self.process else None

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(name, port, command, folder):
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, preexec_fn=stop_with_parent)
    return Server(name, f"http://127.0.0.1:{port}", process, log)


def start_canopy(options, folder):
    credentials = folder / "credentials"
    credentials.write_text(f"[bench]\naws_access_key_id = {KEY_ID}\n"
                           f"aws_secret_access_key = {SECRET}\n", encoding="utf-8")
    port = free_port()
    return start("canopy", port, [
        options.bin / "canopyd", "--name", "bench", "--listen", "127.0.0.1:0",
        "--control", folder / "control.sock", "--data", folder / "data",
        "--gateway", f"127.0.0.1:{port}", "--credentials", credentials, "--allow-anonymous",
        *options.canopyd], folder)


def run_bench(options, *arguments, timeout=RUN_TIMEOUT_S):
    """What canopy-bench says in JSON, one object a line, and its own processor time."""
    command = [str(options.bin / "canopy-bench"), *map(str, arguments), "--json"]
    before = os.times()
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                            check=False)
    after = os.times()
    if not result.stdout:
        raise Failure(f"{' '.join(command)}: {result.stderr.strip()}")
    cpu = (after.children_user + after.children_system
           - before.children_user - before.children_system)
    return [json.loads(text) for text in result.stdout.splitlines()], cpu


def say(what):
    """Tells a person who waits what is being done; nothing clears the line."""
    if sys.stderr.isatty():
        print(f"\r{what}\033[K", end="", file=sys.stderr, flush=True)


def add_bench_options(parser):
    build = pathlib.Path(__file__).resolve().parents[2] / "build/release/bin"
    parser.add_argument("--bin", type=pathlib.Path, default=build,
                        help="the folder of canopyd and canopy-bench (build/release/bin)")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path.cwd(),
                        help="a folder on the disk that matters, for a temporary one (.)")
    parser.add_argument("--canopyd", action="append", default=[], metavar="OPTION",
                        help="one more word for canopyd, as in --canopyd=--gateway-threads=2")
    parser.add_argument("--json", action="store_true", help="one object with every figure")


def find_programs(parser, options):
    for program in ("canopyd", "canopy-bench"):
        if not (options.bin / program).exists():
            parser.error(f"{options.bin} has no {program}: build it, or name --bin")


def print_columns(rows):
    """A table: words to the left, figures to the right, remarks in the last column."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *figures, last in rows:
        cells = [text.rjust(width) for text, width in zip(figures, widths[1:-1])]
        print("  ".join([first.ljust(widths[0]), *cells, last]).rstrip())
