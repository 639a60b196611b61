# SPDX-License-Identifier: Apache-2.0
"""`paceline run --model MODULE:FACTORY`: the program PACELINE times networks of the user under strategies."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

FACTORY = """
import torch

def build():
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    target = torch.arange(8) % 4
    return net, torch.randn(8, 16), lambda out: torch.nn.functional.cross_entropy(out, target[: len(out)])
"""


class OwnNetwork(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "theirs.py").write_text(FACTORY)

    def run_program(self, *words, status=0):
        few = ["--ranks", "2", "--warmup", "5", "--steps", "6", "--threads", "1"]
        return self.run_words("run", *few, "--records", "r.jsonl", "--yes", *words, status=status)

    def run_words(self, *words, status=0):
        done = subprocess.run(
            [os.environ["PACELINE"], *words],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=200,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def records(self):
        return [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]

    def test_strategies_are_cases_of_one_sweep(self):
        strategies = "fusion,optimal-merge,neighbor-allreduce,ddp"
        self.run_program("--model", "theirs:build", "--batch-size", "8", "--strategy", strategies)
        records = dict(zip(strategies.split(","), self.records(), strict=True))
        for name, record in records.items():
            with self.subTest(strategy=name):
                self.assertIsNone(record.get("error"))
                self.assertIn(name, record["configuration"]["strategy"])
                self.assertEqual([len(rank["step_ns"]) for rank in record["ranks"]], [6, 6])
        losses = {name: record["adapter"]["loss_fifth"] for name, record in records.items()}
        self.assertAlmostEqual(losses["fusion"], losses["ddp"], delta=1e-6)

    def test_micro_batches_are_parts_of_the_batch(self):
        self.run_program("--model", "theirs:build", "--batch-size", "8", "--accumulate", "2", "--strategy", "wfbp")
        [record] = self.records()
        self.assertIsNone(record.get("error"))

    def test_another_size_of_the_batch_is_told(self):
        self.run_program("--model", "theirs:build", "--batch-size", "4", "--strategy", "bsp", status=1)
        [record] = self.records()
        self.assertIn("has 8 samples: --batch-size 8", record["error"])

    def test_what_is_not_there_is_told(self):
        self.run_program("--model", "theirs:other", "--batch-size", "8", "--strategy", "bsp", status=1)
        self.assertIn("'theirs:other'", self.records()[0]["error"])

    def test_it_is_profiled_for_predictions(self):
        job = ["theirs:build", "--cluster", "clusters/2x2-1gbe.toml", "--ranks", "4"]
        job[2] = str(pathlib.Path(__file__).resolve().parents[2] / job[2])
        self.assertIn("fusion", self.run_words("predict", *job, "--strategy", "fusion,wfbp"))
        self.assertTrue((self.folder / "theirs.build.profile.json").exists())
        self.assertIn("fusion", self.run_words("advise", *job))
        self.assertIn("theirs:other", self.run_words("predict", "theirs:other", *job[1:], status=2))

    def test_a_strategy_of_another_program_is_rejected(self):
        printed = self.run_program("--model", "theirs:build", "--strategy", "python-ddp", status=2)
        self.assertIn("'python-ddp' does not train theirs:build", printed)


if __name__ == "__main__":
    unittest.main()
