#!/usr/bin/env python3
"""Clients of npm against canopyd's gateway; src/README.md says how to get them."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
import skipping  # noqa: E402
from gateway_daemon import DEADLINE_S, Daemon  # noqa: E402

SCRIPTS = HERE / "lib" / "node"
MODULES = pathlib.Path(os.environ.get("CANOPY_NODE_MODULES") or
                       pathlib.Path(os.environ["CANOPY_SOURCE_DIR"]) / "build/node_modules")


@unittest.skipIf(shutil.which("node") is None, "node is not installed")
class Node(unittest.TestCase):
    def run_script(self, script, *modules):
        for module in modules:
            if not (MODULES / module / "package.json").exists():
                self.skipTest(f"{module} is not in {MODULES}")
        with tempfile.TemporaryDirectory(prefix="canopy-node-") as folder, Daemon(folder) as daemon:
            environment = os.environ | {"CANOPY_NODE_MODULES": str(MODULES),
                                        "ENDPOINT": daemon.url}
            result = subprocess.run(["node", str(SCRIPTS / script)], capture_output=True, text=True,
                                    timeout=DEADLINE_S, check=False, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_sdk(self):
        self.run_script("sdk.mjs", "@aws-sdk/client-sqs")

    def test_sqs_consumer(self):
        self.run_script("consumer.mjs", "@aws-sdk/client-sqs", "sqs-consumer")

    def test_sqs_producer(self):
        self.run_script("producer.mjs", "@aws-sdk/client-sqs", "sqs-producer")


if __name__ == "__main__":
    skipping.run()
