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
        strategies = "fusion,optimal-merge,neighbor-allreduce,ddp,python-ddp,fsdp2"
        self.run_program("--model", "theirs:build", "--batch-size", "8", "--strategy", strategies)
        records = dict(zip(strategies.split(","), self.records(), strict=True))
        for name, record in records.items():
            with self.subTest(strategy=name):
                self.assertIsNone(record.get("error"))
                self.assertIn(name, record["configuration"]["strategy"])
                self.assertEqual([len(rank["step_ns"]) for rank in record["ranks"]], [6, 6])
        [version] = {record["environment"]["torch_version"] for record in records.values()}
        self.assertRegex(version, r"^[0-9]+\.[0-9]+")
        losses = {name: record["adapter"]["loss_fifth"] for name, record in records.items()}
        for name in ("ddp", "python-ddp", "fsdp2"):
            self.assertAlmostEqual(losses["fusion"], losses[name], delta=1e-6)

    def test_bytes_are_those_of_the_plan_and_steps_alone_are_timed_in_turn(self):
        self.run_program("--model", "theirs:build", "--batch-size", "8", "--strategy", "wfbp,ddp,none")
        wfbp, ddp, none = self.records()
        elements = 16 * 32 + 32 + 32 * 4 + 4
        for record in (wfbp, ddp):
            wire = record["wire"]
            self.assertEqual(wire["measured_bytes_per_step"], wire["planned_bytes_per_step"])
            self.assertGreaterEqual(wire["measured_bytes_per_step"], 4 * elements)
            for rank in record["ranks"]:
                self.assertEqual(len(rank["paired_step_ns"]), len(rank["compute_only_step_ns"]))
                self.assertGreaterEqual(len(rank["pair_of_step"]), 2)
        self.assertEqual(none["wire"]["measured_bytes_per_step"], 0)
        self.assertFalse(none["ranks"][0].get("compute_only_step_ns"))

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


if __name__ == "__main__":
    unittest.main()
