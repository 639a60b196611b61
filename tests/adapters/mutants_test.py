# SPDX-License-Identifier: Apache-2.0
"""Wrong trainings (mutants.py) are not comparable, each by itself, in a report of
their records; right ones are.  The clock is another test's."""

import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACELINE = os.environ["PACELINE"]
MUTANTS = pathlib.Path(__file__).with_name("mutants.py")
RECIPE = {"batch_size": 4, "clip_norm": 1.0}


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record_of(self, model, optimizer, *more):
        """Of the adapter, started by Paceline."""
        done = subprocess.run(
            [
                PACELINE, "run", "--framework", "pytorch-ddp", "--model", model,
                "--batch-size", "4", "--clip-norm", "1", "--start", "formula",
                "--optimizer", optimizer, "--records", "r.jsonl", *more,
            ],
            cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = (self.folder / "r.jsonl").read_text(encoding="utf-8")
        (self.folder / "r.jsonl").unlink()
        return json.loads(text.splitlines()[0])

    def verdicts(self, record, ends):
        """By name, whether the report marks the figures."""
        lines = [record]
        for one in ends:
            other = copy.deepcopy(record)
            other["configuration"]["env"] = {"MUTANT": one["name"]}
            for key, value in one["end"].items():
                if "norm" in key or "loss" in key:
                    other["adapter"][key] = repr(value)
            lines.append(other)
        path = self.folder / "all.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = subprocess.run(
            [PACELINE, "report", str(path), "--format", "json"],
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout
        return {
            case["configuration"].get("env", {}).get("MUTANT", ""): case["not_comparable"]
            for case in json.loads(out)["cases"]
        }

    def check(self, model, optimizer, *more, **recipe):
        record = self.record_of(model, optimizer, *more)
        case = RECIPE | recipe | {
            "model": model, "optimizer": optimizer, "start": "formula",
            "threads": 1,
        }
        done = subprocess.run(
            [sys.executable, str(MUTANTS), json.dumps(case)],
            capture_output=True, text=True, timeout=500, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = [json.loads(line) for line in done.stdout.splitlines()]
        found = self.verdicts(record, ends)
        self.assertGreater(len(ends), 15)
        for one in ends:
            with self.subTest(model=model, optimizer=optimizer, name=one["name"]):
                reason = found[one["name"]]
                self.assertEqual(reason is None, one["right"], reason)

    def test_lenet(self):
        for optimizer in ("sgd", "adamw"):
            self.check("lenet", optimizer)

    @unittest.skipUnless(
        importlib.util.find_spec("transformers"),
        "transformers is missing: make adapters NAME=bert",
    )
    def test_bert_tiny(self):
        for optimizer in ("sgd", "adamw"):
            self.check(
                "bert-tiny", optimizer, "--sequence-length", "32",
                sequence_length=32,
            )


if __name__ == "__main__":
    unittest.main()
