# SPDX-License-Identifier: Apache-2.0
"""What tests of paceline run --command share."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PACELINE = os.environ["PACELINE"]

# Steps that take no time, of which a script for sh prints the length.
MICROSECONDS = ("--step-regex", "took ([0-9]+)", "--step-unit", "us")


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "r.jsonl"

    def script(self, text):
        path = self.folder / "train.py"
        path.write_text(text, encoding="utf-8")
        return shlex.join([sys.executable, "-u", str(path)])

    def paceline(self, *arguments, code=0):
        done = subprocess.run(
            [PACELINE, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_command(self, command, *more, code=0):
        arguments = ["--records", str(self.file), "--batch-size", "8"]
        done = self.paceline(
            "run", "--command", command, *arguments, *more, code=code
        )
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return done, [json.loads(line) for line in lines]

    def fails(self, command, *more):
        done, records = self.run_command(command, *more, code=1)
        self.assertEqual(records[-1]["ranks"], [])
        self.assertIn(f"failed: {records[-1]['error'][:40]}", done.stdout)
        return records[-1]["status"], records[-1]["error"]
